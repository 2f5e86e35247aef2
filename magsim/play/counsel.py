"""A bot at the player's side, the best there is: hints in a game, a post-mortem after it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from magsim.board import format_board, format_dice
from magsim.decision import Decision, Place, Power
from magsim.errors import MagsimError
from magsim.play.game import Game
from magsim.play.language import Phrase, Tongue
from magsim.rules import Rules

if TYPE_CHECKING:
    from magsim.entrants import Entrant
    from magsim.play.advice import Regret

REGRETS = 3
"""How many decisions a post-mortem names."""
_LEAST = 0.05
"""Points; what cost less is shown as nothing."""


def decision_phrase(decision: Decision, tongue: Tongue) -> Phrase:
    """A decision in words, to follow a colon."""
    match decision:
        case Place():
            return Phrase(tongue.notation(str(decision)))
        case Power():
            return tongue.say("Power {power}", power=decision)
    return tongue.say("RUIN on {cell}", cell=str(decision)[-2:])


class Counsel:
    """One bot that is asked for advice in one game; it is loaded when it is first asked.

    ``spec`` is None for the strongest of those installed; ``tell`` shows what takes a while.
    """

    def __init__(
        self, spec: str | None, seconds: float, tongue: Tongue, tell: Callable[[Phrase], None]
    ) -> None:
        self._spec = spec
        self._seconds = seconds
        self._tongue = tongue
        self._tell = tell
        self._entrant: Entrant | None = None

    def prepare(self, rules: Rules) -> None:
        """Load a bot that was chosen by its spec, before the game begins.

        Raises:
            MagsimError: if there is none of that spec, or it lacks what it relies on.
        """
        if self._spec is not None:
            self._load(rules)

    def _load(self, rules: Rules) -> "Entrant":
        """The bot, loaded and compiled.

        Raises:
            MagsimError: if there is none of that spec, or it lacks what it relies on.
        """
        from magsim.entrants import enter_one
        from magsim.registry import strongest

        if self._entrant is None:
            spec = strongest(rules) if self._spec is None else self._spec
            self._entrant = enter_one("--advisor", spec, self._seconds, rules)
        return self._entrant

    def close(self) -> None:
        """Let the bot's process go."""
        if self._entrant is not None:
            from magsim.pool import stop_workers

            stop_workers()

    def advise(self, game: Game, count: int) -> list[Phrase]:
        """What the bot would do on the dice as they are, staged or not; its best options.

        Raises:
            MagsimError: if the bot is at fault.
        """
        from magsim.play.advice import hint

        say, entrant = self._tongue.say, self._load(game.rules)
        bot = entrant.bot.spec
        self._tell(say("{bot} thinks …", bot=bot))
        found = hint(
            game.board,
            game.hand,
            game.powers_left,
            game.rules,
            game.turn,
            entrant,
            self._seconds,
            count,
        )
        said = [self._advice(entrant, found.decision)]
        if count > 1 and found.options:
            said.append(
                say("The best options, with the final score to expect of each, exactly:")
                if entrant.bot.exact
                else say(
                    "Its options in the order of preference, with the score it expects from each:"
                )
            )
            said += [
                say(
                    "{place}. {decision}: {points}",
                    place=place,
                    decision=decision_phrase(option, self._tongue),
                    points="–" if option.estimate is None else f"{option.estimate:.1f}",
                )
                for place, option in enumerate(found.options[:count], 1)
            ]
        return said

    def _advice(self, entrant: "Entrant", decision: Decision) -> Phrase:
        say, bot = self._tongue.say, entrant.bot.spec
        words = decision_phrase(decision, self._tongue)
        if decision.estimate is None:
            return say("{bot} would do this: {decision}.", bot=bot, decision=words)
        points = f"{decision.estimate:.1f}"
        if entrant.bot.exact:
            return say(
                "Perfect play is this: {decision}; {points} points are to be expected in the end.",
                decision=words,
                points=points,
            )
        return say(
            "{bot} would do this: {decision}; it expects {points} points in the end.",
            bot=bot,
            decision=words,
            points=points,
        )

    def review(self, game: Game) -> list[Phrase]:
        """The decisions that cost most by the bot's estimates, or why none can be named."""
        from magsim.play.advice import regrets

        say = self._tongue.say
        try:
            entrant = self._load(game.rules)
            bot = entrant.bot.spec
            self._tell(say("{bot} looks back at your decisions …", bot=bot))
            found = regrets(game.rules, game.steps, entrant, self._seconds)
        except MagsimError as error:
            return [say("There is no post-mortem: {error}", error=error)]
        shown = [regret for regret in found if regret.cost >= _LEAST][:REGRETS]
        if entrant.bot.exact:
            return self._exact_review(found, shown)
        if not shown:
            return [say("{bot} would have done no better anywhere, by its own estimates.", bot=bot)]
        return [
            say("What cost most, by the estimates of {bot} of the final score:", bot=bot),
            *(self._regret(regret, bot) for regret in shown),
        ]

    def _exact_review(self, found: list["Regret"], shown: list["Regret"]) -> list[Phrase]:
        """What decisions cost in all, and those that cost most, against perfect play."""
        say, cost = self._tongue.say, sum(regret.cost for regret in found)
        if not found:
            return [say("You played perfectly: no other decision was worth more.")]
        if not shown:
            return [
                say(
                    "You played all but perfectly: your decisions cost {points} points in all.",
                    points=f"{cost:.2g}",
                )
            ]
        return [
            say(
                "Against perfect play your decisions cost {points} points in all, exactly; most of "
                "it here:",
                points=f"{cost:.1f}",
            ),
            *(self._regret(regret, None) for regret in shown),
        ]

    def _regret(self, regret: "Regret", bot: str | None) -> Phrase:
        """One decision that cost points, by the estimates of a bot or, without one, exactly."""
        tongue = self._tongue
        facts = {
            "turn": regret.step.turn,
            "board": format_board(regret.step.board),
            "dice": format_dice(regret.step.dice),
            "made": decision_phrase(regret.step.decision, tongue),
            "value": f"{regret.value:.1f}",
            "better": decision_phrase(regret.better, tongue),
            "better_value": f"{regret.better_value:.1f}",
            "cost": f"{regret.cost:.1f}",
        }
        if bot is None:
            return tongue.say(
                "Turn {turn}, {board}, dice {dice}: you did {made} ({value}), "
                "perfect play is {better} ({better_value}): {cost} points.",
                **facts,
            )
        return tongue.say(
            "Turn {turn}, {board}, dice {dice}: you did {made} ({value}), "
            "{bot} would have done {better} ({better_value}): {cost} points.",
            bot=bot,
            **facts,
        )
