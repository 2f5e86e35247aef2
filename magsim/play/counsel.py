"""The strongest bot at the player's side: hints in a game, a post-mortem after it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from magsim.board import format_board, format_dice
from magsim.decision import Decision, Place, Power
from magsim.errors import MagsimError
from magsim.play.game import Game
from magsim.play.language import Phrase, Tongue

if TYPE_CHECKING:
    from magsim.play.advice import Regret
    from magsim.tournament import Entrant

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
    """One bot that is asked for advice; it is loaded when it is first asked.

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

    def load(self) -> "Entrant":
        """The bot, loaded and compiled.

        Raises:
            MagsimError: if there is none of that spec.
        """
        from magsim.registry import strongest
        from magsim.tournament import enter_one

        if self._entrant is None:
            spec = strongest() if self._spec is None else self._spec
            self._entrant = enter_one("--advisor", spec, self._seconds)
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

        say, entrant = self._tongue.say, self.load()
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
        said = [self._advice(bot, found.decision)]
        if count > 1 and found.options:
            said.append(
                say("Its options in the order of preference, with the score it expects from each:")
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

    def _advice(self, bot: str, decision: Decision) -> Phrase:
        words = decision_phrase(decision, self._tongue)
        if decision.estimate is None:
            return self._tongue.say("{bot} would do this: {decision}.", bot=bot, decision=words)
        return self._tongue.say(
            "{bot} would do this: {decision}; it expects {points} points in the end.",
            bot=bot,
            decision=words,
            points=f"{decision.estimate:.1f}",
        )

    def review(self, game: Game) -> list[Phrase]:
        """The decisions that cost most by the bot's estimates, or why none can be named."""
        from magsim.play.advice import regrets

        say = self._tongue.say
        try:
            entrant = self.load()
            bot = entrant.bot.spec
            self._tell(say("{bot} looks back at your decisions …", bot=bot))
            found = regrets(game.rules, game.steps, entrant, self._seconds)
            found = [regret for regret in found if regret.cost >= _LEAST][:REGRETS]
        except MagsimError as error:
            return [say("There is no post-mortem: {error}", error=error)]
        if not found:
            return [say("{bot} would have done no better anywhere, by its own estimates.", bot=bot)]
        return [
            say("What cost most, by the estimates of {bot} of the final score:", bot=bot),
            *(self._regret(regret, bot) for regret in found),
        ]

    def _regret(self, regret: "Regret", bot: str) -> Phrase:
        return self._tongue.say(
            "Turn {turn}, {board}, dice {dice}: you did {made} ({value}), "
            "{bot} would have done {better} ({better_value}): {cost} points.",
            turn=regret.step.turn,
            board=format_board(regret.step.board),
            dice=format_dice(regret.step.dice),
            made=decision_phrase(regret.step.decision, self._tongue),
            value=f"{regret.value:.1f}",
            bot=bot,
            better=decision_phrase(regret.better, self._tongue),
            better_value=f"{regret.better_value:.1f}",
            cost=f"{regret.cost:.1f}",
        )
