"""Asking a bot for decisions and checking every one before it counts.

Whatever a bot does wrong becomes a ``BotFault`` whose sentence names bot, difficulty, game, turn,
position and decision. ``engine`` judges; ``rules``, the readable law, says why not.
"""

import reprlib
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from magsim import engine
from magsim import rules as law
from magsim.asking import Asked, TimeUp, Watch
from magsim.bot import (
    MAX_ESTIMATE,
    Answers,
    BadAnswer,
    Bot,
    Position,
    Positions,
    format_position,
    make_rule_values,
)
from magsim.compiled import kernel
from magsim.decision import unpack_decision
from magsim.engine import Boards, RuleValues
from magsim.errors import BotFault
from magsim.rules import Rules

Ints = NDArray[np.int64]

MESSAGE_LENGTH = 200
_SLICE_SECONDS = 0.5
"""A batch is asked in slices of about this long, or of a quarter of the time limit if that is less,
so that a hang shows."""


def describe(bot: str, rules: Rules, asked: Asked, what: str) -> str:
    """The sentence that reports a bot's fault: what it did, and where."""
    position = format_position(asked.board, engine.HANDS[asked.hand], asked.powers_left)
    first = "" if asked.batch == 1 else f" (the first of a batch of {asked.batch})"
    where = f"game {asked.game}, turn {asked.turn}, position {position}{first}"
    return f"bot {bot} ({rules.name}) {what}; {where}"


def describe_death(bot: str, rules: Rules, asked: Asked | None, seconds: float) -> str:
    """The sentence that reports that a process ended while a bot was asked.

    ``asked`` is what it was asked last, as far as that is known; ``seconds`` is the time limit.
    """
    what = "took its process down"
    if asked is None:
        return f"bot {bot} ({rules.name}) {what}"
    if time.time() - asked.at / 1000 >= seconds:
        what = f"gave no answer within {seconds:g} s and could not be interrupted"
    return describe(bot, rules, asked, what)


def explain_illegal(position: Position, packed: int) -> str:
    """The illegal decision in text, and the rule it breaks."""
    try:
        decision = unpack_decision(packed, position.board, position.dice)
    except ValueError as error:
        return f"{packed:#x}, which is no decision here: {error}"
    try:
        law.check(position.board, position.dice, position.powers_left, decision, position.rules)
    except law.IllegalDecision as error:
        return f"'{decision}', which is illegal: {error}"
    raise AssertionError(f"engine and rules disagree on '{decision}' at {position}")


@kernel
def _first_illegal(
    boards: Boards, hands: Ints, powers_left: Ints, decisions: Ints, values: RuleValues
) -> int:
    """The first row whose decision is illegal, or -1."""
    for row in range(len(boards)):
        if not engine.is_legal(boards[row], hands[row], powers_left[row], decisions[row], values):
            return row
    return -1


def _shape_problem(answers: object, count: int) -> str | None:
    """What is wrong with the form of a batch of answers, if anything."""
    if not isinstance(answers, Answers):
        return f"answered {reprlib.repr(answers)}, not Answers"
    decisions, estimates = answers
    if type(decisions) is not np.ndarray or decisions.dtype != np.int64:
        return f"answered decisions {reprlib.repr(decisions)}, not an int64 array"
    if decisions.shape != (count,):
        return f"answered decisions of shape {decisions.shape} to {count} positions"
    if estimates is None:
        return None
    if type(estimates) is not np.ndarray or estimates.dtype.kind != "f":
        return f"answered estimates {reprlib.repr(estimates)}, not a float array"
    if estimates.shape != (count,):
        return f"answered estimates of shape {estimates.shape} to {count} positions"
    if (np.abs(estimates) > MAX_ESTIMATE).any():
        return f"estimated a score beyond {MAX_ESTIMATE:g}"
    return None


def exception_words(error: BaseException) -> str:
    """The first of an exception's own words, even where they are broken."""
    try:
        words = str(error)
    except BaseException:
        words = ""
    return f"{type(error).__name__}: {words.partition(chr(10))[0][:MESSAGE_LENGTH]}"


class Referee:
    """Puts positions to one bot in slices, times it, and checks what it answers.

    ``seconds`` were spent in the bot on ``decisions``, the very first one left out.
    """

    def __init__(self, bot: Bot, rules: Rules, watch: Watch) -> None:
        self._bot = bot
        self._rules = rules
        self._values = make_rule_values(rules)  # its own, whatever a bot does to those it is given
        self._watch = watch
        self._plain = type(bot).decide_batch is Bot.decide_batch
        self._slice = 1
        self._first = True
        self.decisions = 0
        self.seconds = 0.0

    def ask(self, positions: Positions, games: Ints, turn: int) -> tuple[Ints, NDArray[np.float32]]:
        """Legal packed decisions and estimates (NaN for none), each (n,).

        Raises:
            BotFault: if the bot raises, takes too long, or answers anything but legal decisions.
        """
        decisions = np.empty(len(positions), np.int64)
        estimates = np.full(len(positions), np.nan, np.float32)
        start = 0
        while start < len(positions):
            stop = min(len(positions), start + self._slice)
            answers = self._ask_slice(positions.rows(start, stop), games[start:stop], turn)
            if answers is None:
                self._slice = 1
                continue
            decisions[start:stop] = answers.decisions
            if answers.estimates is not None:
                estimates[start:stop] = answers.estimates
            start = stop
        self._watch.disarm()
        return decisions, estimates

    def _ask_slice(self, positions: Positions, games: Ints, turn: int) -> Answers | None:
        """The checked answers; None where several positions took longer than one may."""

        def fault(what: str, row: int = 0, batch: int = len(positions)) -> BotFault:
            asked = _asked(positions, games, turn, row, batch)
            return BotFault(describe(self._bot.spec, self._rules, asked, what))

        started = time.perf_counter()
        try:
            loading = self._first and self._bot.compiled
            with self._watch.within(_asked(positions, games, turn, 0, len(positions)), loading):
                if self._first:
                    self._bot.prepare(self._rules)
                answers = self._bot.decide_batch(positions.rows(0, len(positions)))
        except TimeUp:
            if len(positions) > 1:
                return None
            raise fault(f"gave no answer within {self._watch.seconds:g} s") from None
        except BadAnswer as error:
            raise fault(str(error)) from error
        except BaseException as error:  # an exit, too, is the bot's and not the worker's
            raise fault(f"raised {exception_words(error)}") from error
        self._account(time.perf_counter() - started, len(positions))
        problem = _shape_problem(answers, len(positions))
        if problem:
            raise fault(problem)
        answers = Answers(answers.decisions.copy(), answers.estimates)
        self._check(answers.decisions, positions, fault)
        return answers

    def _account(self, seconds: float, asked: int) -> None:
        if self._first:
            self._first = False  # it may have loaded compiled code, which is no thinking
            return
        self.decisions += asked
        self.seconds += seconds
        if not self._plain:
            aim = min(_SLICE_SECONDS, self._watch.seconds / 4)
            room = int(aim * asked / max(seconds, 1e-9))
            self._slice = max(1, min(room, 8 * self._slice))

    def _check(self, decisions: Ints, positions: Positions, fault: Callable[..., BotFault]) -> None:
        boards, hands, powers_left = positions.boards, positions.hands, positions.powers_left
        row = int(_first_illegal(boards, hands, powers_left, decisions, self._values))
        if row >= 0:
            illegal = explain_illegal(positions.position(row), int(decisions[row]))
            raise fault(f"decided {illegal}", row, 1)


def _asked(positions: Positions, games: Ints, turn: int, row: int, batch: int) -> Asked:
    return Asked(
        int(games[row]),
        turn,
        int(positions.boards[row]),
        int(positions.hands[row]),
        int(positions.powers_left[row]),
        batch,
        time.time_ns() // 1_000_000,
    )
