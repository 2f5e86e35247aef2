"""A sitting at the prompt: a line in, what it means done or refused, the screen again.

A command works on a copy of the game, which takes the game's place once it is on disk: what cannot
be saved has not happened, and no dice are seen that could be rolled again.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace

from magsim import rules as law
from magsim.board import CELL_NAMES, format_dice
from magsim.decision import Place, Power
from magsim.errors import MagsimError
from magsim.play import commands, pages, saves
from magsim.play.commands import Command, Refusal
from magsim.play.game import DieIsStaged, Game, Placement
from magsim.play.language import Phrase, Tongue
from magsim.play.saves import Sitting
from magsim.play.screen import Screen, score_phrase

Advisor = Callable[[Game, int], list[Phrase]]
"""Says what a bot would do in a game, and so many of its best options."""

Rival = Callable[[Game], Phrase | None]
"""Says how the rival stands after the turns that the player has finished, if there is a rival."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Where a sitting happens: its language, its screen, and where its lines come from.

    ``read`` gives the next line and raises ``EOFError`` when there is none.
    """

    tongue: Tongue
    screen: Screen
    read: Callable[[], str]
    advise: Advisor
    rival: Rival


class Session:
    """One sitting, from the screen that greets the player to the end of the game or to ``quit``."""

    def __init__(self, sitting: Sitting, prompt: Prompt) -> None:
        self.sitting = sitting
        self._prompt = prompt
        self._say = prompt.tongue.say
        self.chosen: int | None = None

    def run(self, greeting: Sequence[Phrase] = ()) -> bool:
        """Play on, with a greeting on the first screen; whether the game has come to its end.

        Raises:
            MagsimError: if the game cannot be saved as it begins.
        """
        saves.save(self.sitting)
        if not self.sitting.game.over:
            self._show([*greeting])
        while not self.sitting.game.over:
            try:
                line = self._prompt.read()
            except EOFError:
                self._prompt.screen.tell(self.saved())
                return False
            if not commands.words_of(line):
                self._show([])
            elif self._answer(line):
                return False
        return True

    def saved(self) -> Phrase:
        """That the game is saved, and how to go on with it."""
        return self._say(
            "The game is saved; {command} goes on with it.", command="magsim play --resume"
        )

    def _show(self, messages: list[Phrase], changed: bool = True) -> None:
        game = self.sitting.game
        title = [
            Phrase(self._prompt.tongue.notation(game.rules.name.upper())),
            self._say("turn {turn}", turn=game.turn),
        ]
        if self.sitting.seed_chosen:
            title.append(self._say("seed {seed}", seed=game.seed))
        rival = self._prompt.rival(game)
        if rival:
            title.append(rival)
        self._prompt.screen.show(game, Phrase(" · ".join(title)), self.chosen, messages, changed)

    def _answer(self, line: str) -> bool:
        """Do what a line says, or say why not; whether the player leaves."""
        try:
            command = commands.parse(line, self._prompt.tongue)
            if command.verb == "quit":
                self._prompt.screen.tell(self.saved())
                return True
            if command.verb in ("help", "rules", "score"):
                self._page(command.verb)
                return False
            said = self._done(command)
            if self.sitting.game.over:
                self._prompt.screen.page(said)
            else:
                self._show(said, changed=command.verb not in ("why", "hint", "save"))
        except Refusal as refusal:
            self._show([refusal.sentence], changed=False)
        except MagsimError as error:
            self._show([self._say("Nothing has changed: {error}", error=error)], changed=False)
        return False

    def _page(self, name: str) -> None:
        """Show a page in the place of the board."""
        game, tongue, screen = self.sitting.game, self._prompt.tongue, self._prompt.screen
        match name:
            case "help":
                screen.page([tongue.say("Commands; the first letters of a word are enough.")])
                screen.rows(pages.help_rows(tongue))
            case "rules":
                screen.page(pages.rules_page(game.rules, tongue))
            case _:
                screen.page([score_phrase(game.score, tongue), *screen.lines(game)])
        screen.tell_way_back()

    def _done(self, command: Command) -> list[Phrase]:
        """Do a command; what there is to say of it.

        Raises:
            Refusal: if it cannot be done.
            MagsimError: if it cannot be saved, or a bot is at fault.
        """
        match command.verb:
            case "show":
                return []
            case "save":
                saves.save(self.sitting)
                return [self.saved()]
            case "choose":
                return self._choose(command)
            case "why":
                return self._why(command)
        sitting = replace(self.sitting, game=copy(self.sitting.game))
        said = self._acted(sitting, command)
        saves.save(sitting)
        self.sitting = sitting
        if command.verb != "hint":
            self.chosen = None
        return said

    def _acted(self, sitting: Sitting, command: Command) -> list[Phrase]:
        game = sitting.game
        try:
            match command.verb:
                case "hint":
                    sitting.hints += 1
                    return self._hint(game, command.count)
                case "place":
                    return self._place(game, command)
                case "undo":
                    return self._undo(game, command)
                case "power":
                    return self._power(game, command)
                case "done":
                    return self._confirm(game)
                case _:
                    return self._accept(game, command)
        except law.IllegalDecision as error:
            raise Refusal(self._refused(error, game, command)) from error

    def _refused(self, error: law.IllegalDecision, game: Game, command: Command) -> Phrase:
        """The sentence for a rule that is broken."""
        say, hand = self._say, " ".join(map(str, game.hand))
        match error:
            case law.TooFewDice():
                return self._prompt.tongue.count(
                    "At least {n} die must be staged before the turn can be confirmed (R5).",
                    "At least {n} dice must be staged before the turn can be confirmed (R5).",
                    game.required,
                )
            case DieIsStaged():
                return say("That die is staged; take it back first (R15).")
            case law.NoSuchDie():
                return say("The dice are {dice}: they do not hold what you ask for.", dice=hand)
            case law.NoPowerLeft():
                return say("No Power is left (R12).")
            case law.BeyondTheDie():
                return say("No die goes below 1 or above 6 (R13).")
            case law.NotInMagdagdon():
                return say(
                    "There is a legal way to place enough of these dice: no RUIN is accepted (R19)."
                )
            case law.CellNotEmpty():
                cell = CELL_NAMES[command.cell or 0]
                return say("{cell} is not empty: it cannot become a RUIN (R18).", cell=cell)
        raise AssertionError(f"no sentence for {error!r}")

    def _hint(self, game: Game, count: int) -> list[Phrase]:
        try:
            return self._prompt.advise(game, count)
        except KeyboardInterrupt:
            raise Refusal(self._say("The hint was stopped.")) from None

    def _choose(self, command: Command) -> list[Phrase]:
        game, die = self.sitting.game, command.die or 0
        try:
            game.require([die])
        except law.IllegalDecision as error:
            raise Refusal(self._refused(error, game, command)) from error
        self.chosen = die
        if not game.legal_cells(die):
            return [self._say("No cell is legal for the {die} now.", die=die)]
        return []

    def _placements(self, command: Command) -> tuple[Placement, ...]:
        if not any(die == 0 for die, _ in command.placements):
            return command.placements
        if self.chosen is None:
            raise Refusal(
                self._say("Say which die, as in “{example}”, or choose one.", example="3 b2")
            )
        return tuple((self.chosen, cell) for _, cell in command.placements)

    def _place(self, game: Game, command: Command) -> list[Phrase]:
        placements = self._placements(command)
        game.require([die for die, _ in placements])
        misfit = game.misfit(placements)
        if misfit:
            raise Refusal(self._obstacle(*misfit))
        game.stage(placements)
        if command.then_done:
            return self._confirm(game)
        return [self._say("Staged: {placements}.", placements=Place(placements))]

    def _undo(self, game: Game, command: Command) -> list[Phrase]:
        if not game.staged:
            raise Refusal(self._say("No die is staged; turns and Powers cannot be undone."))
        if command.everything:
            back = game.take_back_all()
            return [self._say("Taken back: {placements}.", placements=Place(back))]
        cell = game.staged[-1][1] if command.cell is None else command.cell
        named = tuple(placement for placement in game.staged if placement[1] == cell)
        if not named:
            raise Refusal(self._say("No die is staged on {cell}.", cell=CELL_NAMES[cell]))
        back = game.take_back(cell)
        others = tuple(placement for placement in back if placement[1] != cell)
        said = [self._say("Taken back: {placements}.", placements=Place(named))]
        if others:
            said.append(
                self._prompt.tongue.count(
                    "It leaned on that die and is taken back, too: {placements}.",
                    "They leaned on that die and are taken back, too: {placements}.",
                    len(others),
                    placements=Place(others),
                )
            )
        return said

    def _power(self, game: Game, command: Command) -> list[Phrase]:
        power = command.power
        assert power is not None
        if command.everything:
            power = Power(power.kind, game.available)
            if not power.dice:
                raise Refusal(self._say("All dice are staged; take some back first (R15)."))
        game.use(power)
        return [
            self._say(
                "{power}: the dice are {dice} now.",
                power=power,
                dice=" ".join(format_dice(game.hand)),
            )
        ]

    def _confirm(self, game: Game) -> list[Phrase]:
        placed = Place(game.staged)
        game.confirm()
        return [self._say("Placed: {placements}.", placements=placed)]

    def _accept(self, game: Game, command: Command) -> list[Phrase]:
        assert command.cell is not None
        game.accept(command.cell)
        return [self._say("{cell} is a RUIN now.", cell=CELL_NAMES[command.cell])]

    def _why(self, command: Command) -> list[Phrase]:
        game, cell = self.sitting.game, command.cell
        assert cell is not None
        named = command.die or self.chosen
        dice = [named] if named else sorted(set(game.available))
        if not dice:
            raise Refusal(self._say("All dice are staged."))
        said = []
        for die in dice:
            obstacle = game.obstacle(die, cell)
            if obstacle is None:
                said.append(
                    self._say("A {die} may be staged on {cell}.", die=die, cell=CELL_NAMES[cell])
                )
            else:
                said.append(self._obstacle(die, cell, obstacle))
        return list(dict.fromkeys(said))

    def _obstacle(self, die: int, cell: int, obstacle: law.Obstacle) -> Phrase:
        """Why a die cannot be staged on a cell, with the rule."""
        say, name, game = self._say, CELL_NAMES[cell], self.sitting.game
        match obstacle.reason:
            case "ruin":
                return say("{cell} is a RUIN and stays one (R18).", cell=name)
            case "taken":
                return say("{cell} holds a number already (R8).", cell=name)
            case "apart":
                return say(
                    "No number is beside {cell}, above or below it, and a die needs one (R9).",
                    cell=name,
                )
        return self._prompt.tongue.count(
            "A {die} on {cell} differs by more than {limit} from the number on {cells} (R10).",
            "A {die} on {cell} differs by more than {limit} from the numbers on {cells} (R10).",
            len(obstacle.cells),
            die=die,
            cell=name,
            limit=game.rules.max_difference,
            cells=" ".join(CELL_NAMES[next_to] for next_to in obstacle.cells),
        )
