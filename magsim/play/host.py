"""Who brings a sitting together: the game and its save, the rival, the counsel, and the end."""

import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from magsim.errors import BotFault, MagsimError
from magsim.play import aftermath, saves, scores, terminal
from magsim.play.commands import shown
from magsim.play.counsel import Counsel
from magsim.play.game import Game
from magsim.play.language import Phrase, Tongue
from magsim.play.saves import Sitting
from magsim.play.scores import HighScore
from magsim.play.screen import Screen
from magsim.play.session import Prompt, Session
from magsim.rules import DIFFICULTIES, Rules

if TYPE_CHECKING:
    from magsim.reading.replay import Game as RivalGame


@dataclass(frozen=True, slots=True)
class Host:
    """Plays sittings to their end, or until the player leaves.

    ``runs`` is the folder of recorded games that scores are compared with; ``review`` asks for a
    post-mortem; ``seconds`` is the time limit of a bot's decision.
    """

    tongue: Tongue
    screen: Screen
    counsel: Counsel
    runs: Path
    review: bool
    seconds: float

    def ask_difficulty(self) -> Rules | None:
        """The difficulty that the player names, by its first letters; None if none is named."""
        read = self._reader(lambda _before, _begun: [f"{name} " for name in DIFFICULTIES])
        while True:
            names = " / ".join(DIFFICULTIES)
            self.screen.tell(self.tongue.say("Which difficulty? {names}", names=names))
            try:
                typed = read().strip().lower()
            except EOFError:
                return None
            except KeyboardInterrupt:
                self.screen.tell("")
                raise
            meant = [name for name in DIFFICULTIES if typed and name.startswith(typed)]
            if meant:
                return DIFFICULTIES[meant[0]]
            if typed in ("q", "quit", "exit"):
                return None
            if typed:
                word = shown(typed)
                self.screen.tell(self.tongue.say("There is no difficulty “{word}”.", word=word))

    def begin(self, rules: Rules, seed: int | None, against: str | None) -> None:
        """Play a new game.

        Raises:
            MagsimError: if it cannot be saved, the rival is no bot or at fault, or no advice can
                be had from the one that is to give it.
        """
        self.counsel.prepare(rules)
        source = None
        if against is not None:
            from magsim.registry import worker_spec

            source = worker_spec(against)  # found from any folder when the game goes on
        sitting = saves.begin(rules, seed, source)
        with saves.claimed(sitting.name):
            self._play(sitting, self._rival(sitting), [])

    def resume(self, difficulty: str | None) -> None:
        """Go on with the game of this difficulty, or of any, that was played last.

        A rival that is gone, or at fault by now, is left out.

        Raises:
            MagsimError: if there is none, or it cannot be read, or is played elsewhere, or no
                advice can be had from the one that is to give it.
        """
        elsewhere = None
        for name in saves.names():
            try:
                if difficulty not in (None, saves.load(name).game.rules.name):
                    continue
                with saves.claimed(name):
                    self._go_on(saves.load(name))
                    return
            except saves.BeingPlayed as error:
                elsewhere = error
            except saves.Gone:
                continue
        if elsewhere:
            raise elsewhere
        at = f" at {difficulty}" if difficulty else ""
        raise MagsimError(f"there is no saved game{at} to go on with in {saves.folder()}")

    def _go_on(self, sitting: Sitting) -> None:
        self.counsel.prepare(sitting.game.rules)
        rival, greeting = None, []
        try:
            rival = self._rival(sitting)
        except BotFault:  # what it says of the fault would tell of dice to come
            fault = f"bot {sitting.against} is at fault"
            greeting.append(self.tongue.say("The rival does not play on: {error}", error=fault))
        except MagsimError as error:
            greeting.append(self.tongue.say("The rival does not play on: {error}", error=error))
        self._play(sitting, rival, greeting)

    def _play(self, sitting: Sitting, rival: "RivalGame | None", greeting: list[Phrase]) -> None:
        def rival_stands(game: Game) -> Phrase | None:
            return aftermath.rival_phrase(game, rival, self.tongue) if rival else None

        def complete(before: str, begun: str) -> list[str]:
            return terminal.completions(session.sitting.game, before, begun)

        read = self._reader(complete)
        prompt = Prompt(self.tongue, self.screen, read, self.counsel.advise, rival_stands)
        session = Session(sitting, prompt)
        with contextlib.closing(self.counsel):
            try:
                over = session.run(greeting)
            except KeyboardInterrupt:
                self.screen.tell("", session.saved())
                raise
            if over:
                self._conclude(session.sitting, rival, read)

    def _reader(self, completer: terminal.Completer) -> Callable[[], str]:
        if sys.stdin.isatty():
            return terminal.terminal_reader(completer)
        return terminal.pipe_reader()

    def _rival(self, sitting: Sitting) -> "RivalGame | None":
        """The rival's game on the same dice, if there is a rival.

        Raises:
            MagsimError: if it is no bot, or at fault.
        """
        if sitting.against is None:
            return None
        from magsim.entrants import enter_one
        from magsim.play.advice import rival_game

        try:
            rules = sitting.game.rules
            entrant = enter_one("--against", sitting.against, self.seconds, rules)
            self.screen.tell(self.tongue.say("{bot} thinks …", bot=entrant.bot.spec))
            return rival_game(entrant, rules, sitting.game.seed, self.seconds)
        except KeyboardInterrupt:
            self.screen.tell("", self.tongue.say("Stopped."))
            raise

    def _conclude(
        self, sitting: Sitting, rival: "RivalGame | None", read: Callable[[], str]
    ) -> None:
        """Keep the score, then say how the game went.

        Raises:
            MagsimError: if the score cannot be written.
        """
        try:
            entry = scores.add(sitting, datetime.now(UTC).isoformat(timespec="seconds"))
        except MagsimError as error:
            kept = "the game is kept, and magsim play --resume tries again"
            raise MagsimError(f"{error}; {kept}") from error
        saves.remove(sitting.name)
        try:
            self._tell_end(sitting.game, entry, rival)
            self._look_back(sitting.game, entry.score, read)
        except KeyboardInterrupt:
            self.screen.tell("", self.tongue.say("Stopped; the score is kept."))
            raise

    def _tell_end(self, game: Game, entry: HighScore, rival: "RivalGame | None") -> None:
        ranked, _ = scores.read(entry.difficulty)
        captions, boards = [str(self.tongue.say("you"))], [game.board]
        if rival:
            captions.append(rival.bot)
            boards.append(rival.turns[-1].board)
        self.screen.page([])
        self.screen.boards(captions, boards)
        self.screen.tell(*aftermath.ending(entry, game, ranked, self.tongue))
        if rival:
            self.screen.tell(*aftermath.comparison(game, rival, self.tongue))

    def _look_back(self, game: Game, score: int, read: Callable[[], str]) -> None:
        """The score among recorded games, and the post-mortem; at a terminal on another screen."""
        if not self.screen.plain:
            self.screen.tell("", self.tongue.say("{key} goes on.", key="Enter"))
            try:
                read()
            except EOFError:
                return
            self.screen.page([])
        self.screen.tell(*aftermath.standing_phrases(score, game, self.runs, self.tongue))
        if self.review:
            self.screen.tell(*self.counsel.review(game))
