"""How bots that look ahead judge a board: by its lines, windows, openness, and Powers unspent.

A ``Judge`` is made from the rules alone here, and by learning in ``network``. All worths are in
1/256 point.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS, RUIN, SIDES, SIZE
from magsim.bot import rule_values
from magsim.compiled import kernel
from magsim.engine import (
    LOW_BIT,
    NEIGHBOUR_MASK,
    RuleValues,
    around,
    count_bits,
    empty_mask,
    number_mask,
    transpose,
)
from magsim.rules import Rules
from magsim_bots.lines import POINT, crossings, expected_worth, view
from magsim_bots.windows import CODES, WINDOWS, window_codes

INNER = np.array([0, 1, 1, 0])
"""``[k]``: whether the k-th row or column is an inner one."""
LANES = 0x0001_0001_0001
"""A mask of cells times this is the mask three times, in lanes of 16 bits: one for each value."""

POWER_GAINS = (0, 0, 0, 0, 2, 4, 9, 14, 20, 27, 35, 46, 60, 78, 97, 125)
"""What the best Power of a turn gains before its cost, in points: 16 quantiles.

Measured in self-play under the published rules with a Power that is too dear to use, and then
stretched by 1.4, which scored best there.
"""
UNFIT = 10
"""What it costs, in points, that a value fits nowhere on the board ...

A regression of final scores on it gave 10 to 25; 10 scored best in self-play."""
OPEN_CELLS = 5
"""... while so many cells are empty."""

ENDLESS = 1 << 40
"""The limits in a ``Judge`` that is not to be trusted so far: nothing is left out."""


class Judge(NamedTuple):
    """What the search needs to judge a board, beside ``RuleValues``."""

    part: NDArray[np.int64]
    """``[powers_left, empty cells]``: which part of the next two tables is for it; (P + 1, 17).

    Counts of Powers that share a part have the same ``openness``, too.
    """
    line: NDArray[np.int32]
    """``[2 * part + inner, code]``: what a line is worth, of the edge or not; (2 * parts, 65536).

    Codes are those of ``lines.view``.
    """
    window: NDArray[np.int16]
    """``[part, code]``: what a window is worth beside (``windows``); (parts or 0, 536576)."""
    codes: NDArray[np.int64]
    """Room for the codes of windows; shape (21,). One thread at a time uses a judge."""
    crossing: NDArray[np.int64]
    """``[8 * one + other]``: the code of a confined empty cell (``lines.crossings``); (64,)."""
    far: NDArray[np.int64]
    """``[v, 0 or 1]``: the lanes of the values 1-3 or 4-6 that may not stand next to v; (8, 2)."""
    openness: NDArray[np.int32]
    """``[powers_left, empty cells, values]``: what it is worth which values fit somewhere.

    Value v is bit v - 1; shape (P + 1, 17, 64).
    """
    spare: NDArray[np.int64]
    """``[powers_left, empty cells]``: the worth of unspent Powers; (P + 1, 17)."""
    reach: int
    """How many dice a turn to come is thought to place (or the required minimum, if more)."""
    trim: int
    """A placement that leaves the board worse by more than this than another of the same dice is
    not gone on with where all rolls are looked at."""
    slack: int
    """Boards that look worse than the best one by more than this need not be looked at further."""
    lead: int
    """What a search finds worse than the best by more than this is dropped from it."""
    doubt: int
    """How many visits it takes until what a search finds beyond a worth counts half."""


@kernel
def blocked_lanes(board: int, far: NDArray[np.int64]) -> tuple[int, int]:
    """For each value in its lane the cells next to a number that does not allow it (R10)."""
    low_values, high_values = 0, 0
    numbers = number_mask(board)
    while numbers:
        low = numbers & -numbers
        numbers ^= low
        cell = np.int64(LOW_BIT[low])
        beside = NEIGHBOUR_MASK[cell] * LANES
        low_values |= beside & far[board >> 4 * cell & 15, 0]
        high_values |= beside & far[board >> 4 * cell & 15, 1]
    return low_values, high_values


@kernel
def fitting(cells: int, low_values: int, high_values: int) -> int:
    """Which values fit on one of the cells, bit v - 1 for v, given ``blocked_lanes``."""
    cells *= LANES
    low_values = cells & ~low_values
    high_values = cells & ~high_values
    found = 0
    for k in range(3):
        found |= (low_values >> 16 * k & 0xFFFF != 0) << k
        found |= (high_values >> 16 * k & 0xFFFF != 0) << (k + 3)
    return found


@kernel
def fitting_values(board: int, judge: Judge) -> int:
    """Which values fit next to a number of a board, bit v - 1 for v."""
    low_values, high_values = blocked_lanes(board, judge.far)
    cells = empty_mask(board) & around(number_mask(board))
    return fitting(cells, low_values, high_values)


@kernel
def lines_worth(board: int, part: int, judge: Judge) -> int:
    """What the eight lines of a board are worth."""
    total = 0
    for lines in (view(board, judge.crossing), view(transpose(board), judge.crossing)):
        for k in range(SIZE):
            total += judge.line[2 * part + INNER[k], lines >> 16 * k & 0xFFFF]
    return total


@kernel
def windows_worth(board: int, part: int, judge: Judge) -> int:
    """What the windows of a board are worth."""
    total = 0
    window_codes(board, judge.codes)
    for k in range(WINDOWS):
        total += judge.window[part, judge.codes[k]]
    return total


@kernel
def static_worth(board: int, left: int, judge: Judge) -> int:
    """The worth of a board with so many Powers left, ``spare`` apart; exact when it is full."""
    empty = count_bits(empty_mask(board))
    part = judge.part[left, empty]
    total = lines_worth(board, part, judge)
    total += judge.openness[left, empty, fitting_values(board, judge)]
    return total + windows_worth(board, part, judge) if len(judge.window) else total


def far_lanes(values: RuleValues) -> NDArray[np.int64]:
    """``Judge.far`` of these rules."""
    far = np.zeros((RUIN + 1, 2), np.int64)
    for value in range(1, SIDES + 1):
        for die in range(1, SIDES + 1):
            if not values.near[value] >> die & 1:
                far[value, (die - 1) // 3] |= 0xFFFF << 16 * ((die - 1) % 3)
    return far


def spare_worth(rules: Rules) -> NDArray[np.int64]:
    """``Judge.spare`` of these rules.

    An optimal stopping problem: each turn to come offers a Power of a random gain (``POWER_GAINS``,
    in proportion to the bonuses), to be used at its cost or not.
    """
    turns = CELLS // rules.minimum + 2
    bonuses = rules.straight + rules.four + rules.two_pairs
    gains = [gain * POINT * bonuses // 120 for gain in POWER_GAINS]
    worth = np.zeros((rules.powers + 1, turns + 1), np.int64)
    for left in range(1, rules.powers + 1):
        cost = rules.power_costs[rules.powers - left] * POINT
        for turn in range(1, turns + 1):
            wait, use = int(worth[left, turn - 1]), int(worth[left - 1, turn - 1]) - cost
            worth[left, turn] = sum(max(wait, gain + use) for gain in gains) // len(gains)
    spare = np.zeros((rules.powers + 1, CELLS + 1), np.int64)
    for empty in range(CELLS + 1):
        turn, rest = divmod(empty, rules.minimum)
        mixed = worth[:, turn] * (rules.minimum - rest) + worth[:, turn + 1] * rest
        spare[:, empty] = mixed // rules.minimum
    return spare


def openness(powers: int) -> NDArray[np.int32]:
    """``Judge.openness``: each value that fits nowhere costs ``UNFIT`` while the game is open."""
    table = np.zeros((powers + 1, CELLS + 1, 1 << SIDES), np.int32)
    unfit = SIDES - np.bitwise_count(np.arange(1 << SIDES)).astype(np.int32)
    table[:, OPEN_CELLS:] = -UNFIT * POINT * unfit
    return table


@cache
def judge(rules: Rules) -> Judge:
    """The judge of these rules, made from them alone."""
    values = rule_values(rules)
    return Judge(
        part=np.zeros((rules.powers + 1, CELLS + 1), np.int64),
        line=np.stack([expected_worth(values)] * 2),
        window=np.empty((0, CODES), np.int16),
        codes=np.empty(WINDOWS, np.int64),
        crossing=crossings(values),
        far=far_lanes(values),
        openness=openness(rules.powers),
        spare=spare_worth(rules),
        reach=rules.minimum,
        trim=ENDLESS,
        slack=ENDLESS,
        lead=ENDLESS,
        doubt=0,
    )
