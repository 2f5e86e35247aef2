"""The value of one turn, exact over all rolls: the best placement of each, Powers included.

Placements are those of up to ``Judge.reach`` dice (of the required minimum if that is more), and at
most ``growth.MOST_CELLS`` cells are looked at.
Maxima are pushed from each set of dice to the rolls that contain it, and rerolls are sums over
throws. All in integers.
"""

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS, DICE, SIDES
from magsim.compiled import kernel
from magsim.decision import LOWER, RAISE, REROLL
from magsim.engine import (
    ANY_HAND,
    FIRST_HAND,
    FIRST_ROLL,
    HAND_ADD,
    HAND_DICE,
    HAND_REMOVE,
    HANDS,
    RuleValues,
    count_bits,
    empty_mask,
    required_minimum,
)
from magsim_bots.growth import NOTHING, best_ruin, grow
from magsim_bots.judge import ENDLESS, Judge, static_worth
from magsim_bots.lines import POINT

HAND_COUNT = len(HANDS)
THROWS = SIDES**DICE
"""A fresh roll is one of so many ordered throws."""
IN_A_ROW = 2
"""How many Powers bots think of using in one turn; after each they think again."""
NO_SPARE = np.zeros(CELLS + 1, np.int64)
"""``Judge.spare`` where unspent Powers do not count."""


@kernel
def place_values(
    least: int,
    empty: int,
    spare: NDArray[np.int64],
    best: NDArray[np.int64],
    ruin: int,
    value: NDArray[np.int64],
) -> None:
    """For each roll the best of its legal placements, or the RUIN; ``value`` has shape (210,)."""
    for hand in range(FIRST_HAND[least], HAND_COUNT):
        size = DICE
        while hand < FIRST_HAND[size]:
            size -= 1
        top = best[hand]
        if top > NOTHING:
            top += spare[empty - size]
        if size > least:
            for k in range(size):
                top = max(top, value[HAND_REMOVE[hand, HAND_DICE[hand, k]]])
        value[hand] = top
    for roll in range(FIRST_ROLL, HAND_COUNT):
        if value[roll] <= NOTHING:
            value[roll] = ruin + spare[empty - 1]


@kernel
def sum_throws(value: NDArray[np.int64]) -> None:
    """Fill the smaller hands of ``value``: the sum over all throws of the dice they lack."""
    for back in range(FIRST_ROLL):
        hand = FIRST_ROLL - 1 - back
        total = 0
        for die in range(1, SIDES + 1):
            total += value[HAND_ADD[hand, die]]
        value[hand] = total


@kernel
def _use_powers(cost: int, fewer: NDArray[np.int64], value: NDArray[np.int64]) -> None:
    """Raise the worth of each roll to that of its best Power, which leads to ``fewer`` Powers."""
    kept = np.empty(FIRST_ROLL, np.int64)
    size, throws = 0, THROWS
    for hand in range(FIRST_ROLL):
        while hand >= FIRST_HAND[size + 1]:
            size += 1
            throws //= SIDES
        kept[hand] = fewer[hand] // throws - cost
        for k in range(size):
            kept[hand] = max(kept[hand], kept[HAND_REMOVE[hand, HAND_DICE[hand, k]]])
    for roll in range(FIRST_ROLL, HAND_COUNT):
        top = value[roll]
        for k in range(DICE):
            die = HAND_DICE[roll, k]
            rest = HAND_REMOVE[roll, die]
            top = max(top, kept[rest])
            if die < SIDES:
                top = max(top, fewer[HAND_ADD[rest, die + 1]] - cost)
            if die > 1:
                top = max(top, fewer[HAND_ADD[rest, die - 1]] - cost)
        value[roll] = top


@kernel
def turn_values(
    board: int,
    left: int,
    in_a_row: int,
    values: RuleValues,
    judge: Judge,
    found: NDArray[np.int64],
) -> None:
    """Write what each roll of the next turn is worth with up to ``left`` Powers to use.

    ``found[k]`` is for k Powers, in 1/256 point; its shape is (left + 1 or more, 210), and the rows
    for ``left`` Powers and for those after one to ``in_a_row`` uses are written; at the last none
    is thought to be used in this turn. For a hand of fewer than four dice it is the *sum* over all
    ordered throws of the dice it lacks, so ``found[k, 0] / 1296`` is the expectation over a fresh
    roll. Powers count with their costs from here on. The board must have an empty cell.
    """
    best = np.empty(HAND_COUNT, np.int64)
    reach = max(judge.reach, required_minimum(board, values))
    empty = count_bits(empty_mask(board))
    least = max(required_minimum(board, values), 1)
    ruin = 0
    last = max(0, left - in_a_row)
    for k in range(last, left + 1):
        if k == last or judge.part[k, empty] != judge.part[k - 1, empty]:
            best[:] = NOTHING
            for most in range(reach if judge.trim >= ENDLESS else least, reach + 1):
                # Fewer dice first: what is trimmed is held against the best of all.
                grow(board, ANY_HAND, k, most, values, judge, NO_SPARE, best, best, best)
            ruin = best_ruin(board, k, judge)
        place_values(least, empty, judge.spare[k], best, ruin, found[k])
        if k > last:
            cost = values.power_costs[len(values.power_costs) - k] * POINT
            _use_powers(cost, found[k - 1], found[k])
        sum_throws(found[k])


@kernel
def turn_worth(board: int, left: int, values: RuleValues, judge: Judge) -> int:
    """The expected worth of a board before the roll of a turn, in 1/256 point."""
    if empty_mask(board) == 0:
        return static_worth(board, left, judge)
    found = np.empty((left + 1, HAND_COUNT), np.int64)
    turn_values(board, left, IN_A_ROW, values, judge, found)
    return found[left, 0] // THROWS


@kernel
def best_power(hand: int, cost: int, fewer: NDArray[np.int64]) -> tuple[int, int]:
    """The best Power on a roll: 1296 times its worth, and its packed decision; the first on ties.

    ``fewer`` is what hands are worth after it (``turn_values``); ``cost`` is in the same units.
    """
    best, decision = NOTHING * THROWS, 0
    for k in range(DICE):
        die = HAND_DICE[hand, k]
        rest = HAND_REMOVE[hand, die]
        if die < SIDES and fewer[HAND_ADD[rest, die + 1]] * THROWS > best:
            best = fewer[HAND_ADD[rest, die + 1]] * THROWS
            decision = -1 - (RAISE << DICE | 1 << k)
        if die > 1 and fewer[HAND_ADD[rest, die - 1]] * THROWS > best:
            best = fewer[HAND_ADD[rest, die - 1]] * THROWS
            decision = -1 - (LOWER << DICE | 1 << k)
    for mask in range(1, 1 << DICE):
        kept, weight = hand, THROWS
        for k in range(DICE):
            if mask >> k & 1:
                kept = HAND_REMOVE[kept, HAND_DICE[hand, k]]
                weight //= SIDES
        if fewer[kept] * weight > best:
            best = fewer[kept] * weight
            decision = -1 - (REROLL << DICE | mask)
    return best - cost * THROWS, decision
