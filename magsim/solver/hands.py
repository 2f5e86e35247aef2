"""Multisets of up to four dice, as kernels of the solver take them.

Hands of each size are counted from 0 on, in the order of ``engine.HANDS``: the empty hand, 6 of one
die, 21 pairs, 56 triples, 126 *rolls*.
"""

from collections import Counter
from functools import cache
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import DICE, SIDES
from magsim.engine import FIRST_HAND, HAND_INDEX, HANDS

Steps = NDArray[np.uint8]

_VALUES = range(1, SIDES + 1)
COUNTS = tuple(FIRST_HAND[size + 1] - FIRST_HAND[size] for size in range(DICE + 1))
"""``[size]``: how many hands there are."""
TRIPLES, ROLLS = COUNTS[3:]
WAYS = SIDES**DICE
"""How many ways four dice can fall."""


class Hands(NamedTuple):
    """Steps between hands; where there are fewer than a row holds, the first is repeated.

    Kernels use them as indices only, for which unsigned bytes are the fastest.
    """

    add: Steps
    """``[size, hand, die]``: the hand of one die more; shape (4, 56, 7)."""
    take: Steps
    """``[size, hand]``: what taking one die away leaves; shape (5, 126, 4)."""
    joined: Steps
    """``[size, hand, rest]``: the roll of a hand so large and of the other dice; (5, 126, 126)."""
    moves: Steps
    """``[roll]``: the rolls that raising or lowering one die makes of it (R13); shape (126, 8)."""
    weight: NDArray[np.int64]
    """``[roll]``: in how many of the 1296 ways it falls; shape (126,)."""


def of_size(size: int) -> tuple[tuple[int, ...], ...]:
    """All hands of so many dice, in order."""
    return HANDS[FIRST_HAND[size] : FIRST_HAND[size + 1]]


def number(dice: tuple[int, ...]) -> int:
    """The number of a hand among those of its size; the dice may come in any order."""
    return HAND_INDEX[tuple(sorted(dice))] - FIRST_HAND[len(dice)]


def _padded(row: set[int], width: int) -> list[int]:
    return [*sorted(row), *[min(row)] * (width - len(row))]


def _added() -> Steps:
    table = np.zeros((DICE, TRIPLES, SIDES + 1), np.uint8)
    for size in range(DICE):
        for k, hand in enumerate(of_size(size)):
            table[size, k, 1:] = [number((*hand, die)) for die in _VALUES]
    return table


def _taken() -> Steps:
    table = np.zeros((DICE + 1, ROLLS, DICE), np.uint8)
    for size in range(1, DICE + 1):
        for k, hand in enumerate(of_size(size)):
            table[size, k] = _padded({number(hand[:i] + hand[i + 1 :]) for i in range(size)}, DICE)
    return table


def _joined() -> Steps:
    table = np.zeros((DICE + 1, ROLLS, ROLLS), np.uint8)
    for size in range(DICE + 1):
        rolls = [[number(hand + rest) for rest in of_size(DICE - size)] for hand in of_size(size)]
        table[size, : COUNTS[size], : COUNTS[DICE - size]] = rolls
    return table


def _moved(roll: tuple[int, ...]) -> set[int]:
    return {
        number((*roll[:k], die + step, *roll[k + 1 :]))
        for k, die in enumerate(roll)
        for step in (-1, 1)
        if die + step in _VALUES
    }


def _ways(roll: tuple[int, ...]) -> int:
    ways = factorial(DICE)
    for count in Counter(roll).values():
        ways //= factorial(count)
    return ways


@cache
def hand_tables() -> Hands:
    """All tables; they are the same for all rules."""
    rolls = of_size(DICE)
    return Hands(
        add=_added(),
        take=_taken(),
        joined=_joined(),
        moves=np.array([_padded(_moved(roll), 2 * DICE) for roll in rolls], np.uint8),
        weight=np.array([_ways(roll) for roll in rolls]),
    )
