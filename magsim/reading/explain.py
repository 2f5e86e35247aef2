"""What a bot would decide in a position, and which decisions it likes best there.

Asked about a turn of a recorded game, it is given the key of its own randomness that it would have
had in the run: about a game of its own, it answers what it answered then. It runs in a process
apart, as in a tournament, which is told the position and the key, and never a seed.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar

import numpy as np

from magsim import dice
from magsim import rules as law
from magsim.asking import Asked, TimeUp, Watch
from magsim.bot import BadAnswer, Bot, Position, pack_answer
from magsim.decision import Decision
from magsim.engine import HAND_INDEX
from magsim.errors import BotFault
from magsim.reading.apart import ask_apart
from magsim.reading.replay import Game
from magsim.referee import describe, exception_words

OPTIONS = 5
"""How many decisions are shown, unless the bot knows the exact worth of all."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a bot decides, and its best options, best first; none if it ranks none."""

    decision: Decision
    options: tuple[Decision, ...]
    exact: bool = False
    """Whether these are all options, with their exact worth under perfect play."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What a bot is asked about: a position, and the ``key`` of its own randomness there.

    ``game`` (an index) and ``turn`` (from 1) say where the position is from, should it be at fault.
    """

    game: int
    turn: int
    position: Position
    key: int

    def asked(self) -> Asked:
        """The inquiry as a watch notes it."""
        at, now = self.position, time.time_ns() // 1_000_000
        return Asked(self.game, self.turn, at.board, HAND_INDEX[at.dice], at.powers_left, 1, now)


def inquiry(game: Game, turn: int, bot_spec: str) -> Inquiry:
    """About the roll of a recorded turn, as it lay before any Power, for a canonical bot spec.

    Raises:
        MagsimError: if the game has no such turn.
    """
    position = game.turn(turn).start
    keys = dice.bot_keys(game.seed, np.array([game.index], np.uint64), bot_spec)
    return Inquiry(game.index, turn, position, int(dice.decision_keys(keys, turn, 0)[0]))


def explain(about: Inquiry, bot: Bot, watch: Watch, count: int | None = None) -> Explanation:
    """Ask a bot about a position: its decision, and up to ``count`` options.

    Unless told, it is asked for ``OPTIONS`` options, or for all if its worths are exact.

    Raises:
        BotFault: if the bot raises, takes too long, answers what is no legal decision, names an
            option twice, or contradicts itself.
    """
    position, key = about.position, about.key
    whole = count is None and bot.exact
    limit = sys.maxsize if whole else count or OPTIONS

    def fault(what: str) -> BotFault:
        return BotFault(describe(bot.spec, position.rules, about.asked(), what))

    def ask(work: Callable[[], Result]) -> Result:
        bot.random.seed(key)
        try:
            with watch.within(about.asked(), loading=bot.compiled):
                return work()
        finally:
            watch.disarm()

    try:
        decision = ask(lambda: Bot.rank(bot, position, key, 1))[0]
        options: tuple[Decision, ...] = ()
        if type(bot).rank is not Bot.rank:
            options = ask(lambda: tuple(islice(bot.rank(position, key, limit), limit)))
        packed = [pack_answer(option, position)[0] for option in (decision, *options)]
    except TimeUp:
        raise fault(f"gave no answer within {watch.seconds:g} s") from None
    except BadAnswer as error:
        raise fault(str(error)) from error
    except BaseException as error:  # an exit, too, is the bot's
        raise fault(f"raised {exception_words(error)}") from error
    for option in (decision, *options):
        try:
            law.check(position.board, position.dice, position.powers_left, option, position.rules)
        except law.IllegalDecision as error:
            raise fault(f"decided '{option}', which is illegal: {error}") from error
    if options and packed[0] != packed[1]:
        raise fault(f"decides '{decision}' and ranks '{options[0]}' first")
    seen: set[int] = set()
    for option, code in zip(options, packed[1:], strict=True):
        if code in seen:
            raise fault(f"ranks '{option}' twice")
        seen.add(code)
    return Explanation(decision, options, whole)


def explain_apart(
    about: Inquiry, bot: Bot, source: str, seconds: float, count: int | None = None
) -> Explanation:
    """Ask a bot as ``explain`` does, in a process that it may hang or take down.

    ``source`` is the spec that loads the bot anywhere on this machine. The process stays for the
    next question; ``stop_workers`` of ``pool`` ends it.

    Raises:
        BotFault: if the bot does not do what a bot must, within so many ``seconds`` an answer.
    """
    work = partial(explain, about, count=count)
    return ask_apart(work, bot, source, about.position.rules, seconds)
