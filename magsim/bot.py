"""What a bot sees and answers: the position, the ``Bot`` base class and its typed options.

A newcomer writes ``decide(position)``; a fast bot overrides ``decide_batch`` and does its work in
one compiled call. A bot sees positions and a key for its own randomness, nothing of seed, dice to
come or simulator. How bots are found is the business of ``registry``.
"""

import dataclasses
import math
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, ClassVar, NamedTuple, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from magsim import engine
from magsim.board import CELLS, DICE, SIDES, empty_cells, format_board, format_dice
from magsim.decision import (
    LOWER,
    RAISE,
    REROLL,
    Decision,
    Place,
    Power,
    Ruin,
    pack_decision,
    pack_power,
    unpack_decision,
    unpack_power,
)
from magsim.engine import RuleValues
from magsim.rules import Rules


def make_rule_values(rules: Rules) -> RuleValues:
    """The rules as compiled code takes them, in arrays of their own."""
    return engine.rule_values(
        minimum=rules.minimum,
        max_difference=rules.max_difference,
        ruin_penalty=rules.ruin_penalty,
        straight=rules.straight,
        four=rules.four,
        two_pairs=rules.two_pairs,
        power_costs=rules.power_costs,
    )


rule_values = cache(make_rule_values)
"""The rules as compiled code takes them, the same arrays each time."""


def format_position(board: int, dice: Sequence[int], powers_left: int) -> str:
    """A position in text: board, dice, Powers left; the rules are named apart."""
    return f"{format_board(board)} {format_dice(dice)} powers={powers_left}"


@dataclass(frozen=True, slots=True)
class Position:
    """What a bot decides on: a packed board, four dice (ascending), Powers left, the rules."""

    board: int
    dice: tuple[int, ...]
    powers_left: int
    rules: Rules

    def __str__(self) -> str:
        return format_position(self.board, self.dice, self.powers_left)

    @property
    def _hand(self) -> int:
        return engine.HAND_INDEX[self.dice]

    def outcomes(self) -> list[int]:
        """The distinct boards that a legal placement can leave; empty in MAGDAGDON (R4, R17)."""
        found = np.empty(engine.MAX_OUTCOMES, np.int64)
        values = rule_values(self.rules)
        count = engine.outcomes(self.board, self._hand, values, engine.MAX_OUTCOMES, found)
        return [int(board) for board in found[:count]]

    def placements(self) -> list[Place]:
        """One placement for each outcome, in the same order."""
        return [self.placement(outcome) for outcome in self.outcomes()]

    def placement(self, outcome: int) -> Place:
        """The placement that leaves this outcome."""
        place = unpack_decision(outcome, self.board, self.dice)
        assert isinstance(place, Place)
        return place

    def in_magdagdon(self) -> bool:
        """Whether no legal placement exists (R17)."""
        return bool(engine.in_magdagdon(self.board, self._hand, rule_values(self.rules)))

    def legal_cells(self, die: int) -> tuple[int, ...]:
        """The cells on which this die may be staged first (R8-R11)."""
        mask = int(engine.legal_cells(self.board, die, rule_values(self.rules)))
        return tuple(cell for cell in range(CELLS) if mask >> cell & 1)

    def powers(self) -> list[Power]:
        """The distinct legal Powers: raises, lowers and rerolls by the values of dice (R12-R14)."""
        if self.powers_left < 1:
            return []
        packed = [pack_power(kind, 1 << k) for kind in (RAISE, LOWER) for k in range(DICE)]
        packed += [pack_power(REROLL, mask) for mask in range(1, 1 << DICE)]
        powers = dict.fromkeys(unpack_power(code, self.dice) for code in packed)
        barred = {Power("raise", (SIDES,)), Power("lower", (1,))}
        return [power for power in powers if power not in barred]

    def ruins(self) -> list[Ruin]:
        """The cells that may become a RUIN: every empty one in MAGDAGDON, else none (R18, R19)."""
        return [Ruin(cell) for cell in empty_cells(self.board)] if self.in_magdagdon() else []

    def decisions(self) -> list[Decision]:
        """Every distinct legal decision: placements, Powers, RUINs."""
        return [*self.placements(), *self.powers(), *self.ruins()]

    def after(self, decision: Place | Ruin) -> int:
        """The board after a placement or a RUIN."""
        return pack_decision(decision, self.board, self.dice)

    def score(self, board: int) -> int:
        """The score of a board under these rules, before the cost of Powers (R25)."""
        return int(engine.score(board, rule_values(self.rules)))

    def alone(self, key: int) -> "Positions":
        """A batch of this position only, with the key of its own randomness."""
        return Positions(
            boards=np.array([self.board], np.int64),
            hands=np.array([self._hand], np.int64),
            powers_left=np.array([self.powers_left], np.int64),
            keys=np.array([key], np.uint64),
            rules=self.rules,
        )

    @property
    def power_cost(self) -> int | None:
        """What the next Power costs in points (R6), None if none is left."""
        return self.rules.power_cost(self.rules.powers - self.powers_left)


@dataclass(frozen=True, slots=True)
class Positions:
    """A batch of n positions under one set of rules; ``keys`` feed the bot's own randomness.

    ``boards`` int64 (n,), ``hands`` int64 (n,) as in ``engine``, ``powers_left`` int64 (n,),
    ``keys`` uint64 (n,): a key depends on seed, game index, bot spec, turn and step, one way.
    """

    boards: NDArray[np.int64]
    hands: NDArray[np.int64]
    powers_left: NDArray[np.int64]
    keys: NDArray[np.uint64]
    rules: Rules

    def __len__(self) -> int:
        return len(self.boards)

    @property
    def values(self) -> RuleValues:
        """The rules as kernels take them."""
        return rule_values(self.rules)

    def position(self, row: int) -> Position:
        """One of the positions, for plain Python."""
        return Position(
            int(self.boards[row]),
            engine.HANDS[self.hands[row]],
            int(self.powers_left[row]),
            self.rules,
        )

    def rows(self, start: int, stop: int) -> "Positions":
        """A copy of the rows from ``start`` up to ``stop``; nothing done to it reaches this one."""
        return Positions(
            self.boards[start:stop].copy(),
            self.hands[start:stop].copy(),
            self.powers_left[start:stop].copy(),
            self.keys[start:stop].copy(),
            self.rules,
        )


class Answers(NamedTuple):
    """A batch of decisions: ``decisions`` int64 (n,), packed as in ``decision``.

    ``estimates``, if given, float (n,): the final scores the bot expects, in points, NaN for none.
    """

    decisions: NDArray[np.int64]
    estimates: NDArray[np.floating[Any]] | None = None


MAX_ESTIMATE = 1e9
"""In points; far beyond any score, and well within the records' float."""


class BadAnswer(ValueError):
    """A plain bot answered something that is no decision in its position."""


def pack_answer(decision: Decision, position: Position) -> tuple[int, float]:
    """The packed decision and its estimate (NaN for none).

    Raises:
        BadAnswer: if it is no decision here, or the estimate no number.
    """
    try:
        packed = pack_decision(decision, position.board, position.dice)
        estimate = math.nan if decision.estimate is None else float(decision.estimate)
        if abs(estimate) > MAX_ESTIMATE:
            raise ValueError(f"an estimate is a score, at most {MAX_ESTIMATE:g}")
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        raise BadAnswer(f"answered {reprlib.repr(decision)}: {error}") from error
    return packed, estimate


def option(
    default: Any,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """An option of a bot: a class attribute annotated as int, float, bool or str."""
    limits = {"minimum": minimum, "maximum": maximum, "choices": choices}
    return dataclasses.field(default=default, metadata={"help": help, **limits})


@dataclass_transform(field_specifiers=(option,), eq_default=False)
class Bot:
    """The base of every bot. Subclass it, and write ``decide`` or ``decide_batch``.

    Options are annotated class attributes made by ``option``. ``spec`` is the canonical bot spec,
    set when the bot is loaded. Decisions may depend on the position, the options and the bot's own
    randomness only: no state is to be kept from one decision to another.
    """

    spec: ClassVar[str] = ""
    compiled: ClassVar[bool] = False
    """Whether the bot has kernels, to be compiled before games are fanned out."""
    strength: ClassVar[float] = 0.0
    """Mean score in SURVIVAL, in points, as its author measured it; the strongest installed bot
    gives hints where none is ``exact``."""
    exact: ClassVar[bool] = False
    """Whether ``rank`` gives every legal decision with its exact worth under perfect play; such a
    bot gives hints before all others, wherever it can play."""
    random: ClassVar[Random] = Random()
    """This decision's own random numbers; the same for the same seed, game, turn and bot spec."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "decide" in vars(cls) and "decide_batch" not in vars(cls):
            cls.decide_batch = Bot.decide_batch  # type: ignore[method-assign]  # by decide
        if {"decide", "decide_batch"} & vars(cls).keys():
            for name in {"rank", "strength", "exact"} - vars(cls).keys():
                setattr(cls, name, getattr(Bot, name))  # what it had belongs to another decide
        dataclass(eq=False)(cls)

    def relies_on(self, rules: Rules) -> str:  # noqa: ARG002 - most bots rely on nothing
        """What decisions under these rules depend on beside the bot's sources and options.

        It is asked before anything is played. A text, other than "", is kept in the manifest of a
        run, which goes on only where the bot relies on the same; so it stands for all the bytes
        that the bot reads.

        Raises:
            MagsimError: if that is not there; its sentence says what to do about it.
        """
        return ""

    def prepare(self, rules: Rules) -> None:
        """Get ready to decide many positions under rules, as by reading tables.

        Games ask it before their first decision, within the same time limit; it is not timed.
        """

    def train(self, rules: Rules, seed: int, games: int, told: Callable[[int], object]) -> bytes:
        """Learn rules from nothing by so many games; the content of a file to play by.

        The same seed and games give the same bytes. ``told`` is to be called with how many more
        games are done, now and then.
        """
        raise NotImplementedError(f"{type(self).__name__} has no train()")

    def decide(self, position: Position) -> Decision:
        """The decision in a position: a ``Place``, a ``Power`` or a ``Ruin``."""
        raise NotImplementedError(f"{type(self).__name__} has no decide()")

    def decide_batch(self, positions: Positions) -> Answers:
        """The decisions in a batch of positions, each row on its own; asks ``decide`` for each."""
        decisions = np.empty(len(positions), np.int64)
        estimates = np.empty(len(positions), np.float32)
        for row in range(len(positions)):
            position = positions.position(row)
            self.random.seed(int(positions.keys[row]))
            decisions[row], estimates[row] = pack_answer(self.decide(position), position)
        return Answers(decisions, estimates)

    def rank(self, position: Position, key: int, count: int) -> list[Decision]:
        """Up to ``count`` legal decisions as the bot likes them, the best first; for explanations.

        The first is the decision that ``decide_batch`` makes for this position and key. Each has an
        ``estimate``: what the bot expects of it, in points and Powers paid, by the measure that it
        decides by. Games never ask for it. A bot that does not override it ranks nothing: the list
        is its decision alone. ``self.random`` is seeded with the key before.
        """
        answers = self.decide_batch(position.alone(key))
        decision = unpack_decision(int(answers.decisions[0]), position.board, position.dice)
        estimate = math.nan if answers.estimates is None else float(answers.estimates[0])
        known = None if math.isnan(estimate) else estimate
        return [dataclasses.replace(decision, estimate=known)][:count]
