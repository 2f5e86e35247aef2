"""How ``lookahead`` and ``mcts`` judge a board: by its lines, by its openness, by Powers unspent.

Everything is made from the rules at run time, once for each; all worths are in 1/256 point.
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


class Judge(NamedTuple):
    """What the search needs to judge a board, beside ``RuleValues``."""

    line: NDArray[np.int32]
    """``[code]``: the expected final worth of a line (``lines.expected_worth``); (65536,)."""
    crossing: NDArray[np.int64]
    """``[8 * one + other]``: the code of a confined empty cell (``lines.crossings``); (64,)."""
    far: NDArray[np.int64]
    """``[v, 0 or 1]``: the lanes of the values 1-3 or 4-6 that may not stand next to v; (8, 2)."""
    openness: NDArray[np.int64]
    """``[empty cells, values that fit nowhere]``: a correction; (17, 7)."""
    spare: NDArray[np.int64]
    """``[powers_left, empty cells]``: the worth of unspent Powers; (P + 1, 17)."""
    reach: int
    """How many dice a turn to come is thought to place (or the required minimum, if more)."""


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
def count_unfit(cells: int, low_values: int, high_values: int) -> int:
    """How many values fit on none of the cells, given ``blocked_lanes``."""
    cells *= LANES
    low_values = cells & ~low_values
    high_values = cells & ~high_values
    count = 0
    for lane in (0, 16, 32):
        count += low_values >> lane & 0xFFFF == 0
        count += high_values >> lane & 0xFFFF == 0
    return count


@kernel
def openness_worth(board: int, judge: Judge) -> int:
    """The correction for a board on which few values fit, or many cells are left to fill."""
    empty = empty_mask(board)
    low_values, high_values = blocked_lanes(board, judge.far)
    cells = empty & around(number_mask(board))
    return judge.openness[count_bits(empty), count_unfit(cells, low_values, high_values)]


@kernel
def lines_worth(board: int, judge: Judge) -> int:
    """The sum of the expected final worth of the eight lines of a board."""
    total = 0
    for lines in (view(board, judge.crossing), view(transpose(board), judge.crossing)):
        for k in range(SIZE):
            total += judge.line[lines >> 16 * k & 0xFFFF]
    return total


@kernel
def static_worth(board: int, judge: Judge) -> int:
    """The worth of a board by itself, Powers not counted; exact when it is full."""
    return lines_worth(board, judge) + openness_worth(board, judge)


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


def openness() -> NDArray[np.int64]:
    """``Judge.openness``: each value that fits nowhere costs ``UNFIT`` while the game is open."""
    table = np.zeros((CELLS + 1, SIDES + 1), np.int64)
    for empty in range(OPEN_CELLS, CELLS + 1):
        table[empty] = -UNFIT * POINT * np.arange(SIDES + 1)
    return table


@cache
def judge(rules: Rules) -> Judge:
    """The judge of these rules."""
    values = rule_values(rules)
    return Judge(
        expected_worth(values),
        crossings(values),
        far_lanes(values),
        openness(),
        spare_worth(rules),
        rules.minimum,
    )
