"""Multisets of up to four dice, as kernels of the solver take them.

Hands of each size are counted from 0 on, in the order of ``engine.HANDS``: 6 of one die,
21 *pairs*, 56 *triples*, 126 *rolls*.
"""

from collections import Counter
from functools import cache
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import DICE, SIDES
from magsim.engine import FIRST_HAND, HAND_ADD, HAND_INDEX, HANDS

Steps = NDArray[np.uint8]

_VALUES = range(1, SIDES + 1)
PAIRS, TRIPLES, ROLLS = (FIRST_HAND[size + 1] - FIRST_HAND[size] for size in (2, 3, 4))
WAYS = SIDES**DICE
"""How many ways four dice can fall."""


class Hands(NamedTuple):
    """Steps between hands; where there are fewer than a row holds, the first is repeated.

    Kernels use them as indices only, for which unsigned bytes are the fastest.
    """

    pair: Steps
    """``[die, die]``: their pair; shape (7, 7)."""
    joined: Steps
    """``[pair, pair]``: the roll of both; shape (21, 21)."""
    weight: NDArray[np.int64]
    """``[roll]``: in how many of the 1296 ways it falls; shape (126,)."""
    moves: Steps
    """``[roll]``: the rolls that raising or lowering one die makes of it (R13); shape (126, 8)."""
    add_to_die: Steps
    """``[die - 1, die]``: the pair; shape (6, 7)."""
    add_to_pair: Steps
    """``[pair, die]``: the triple; shape (21, 7)."""
    add_to_triple: Steps
    """``[triple, die]``: the roll; shape (56, 7)."""
    from_pair: Steps
    """``[pair]``: what taking one die away leaves, as die - 1; shape (21, 2)."""
    from_triple: Steps
    """``[triple]``: the pairs that taking one die away leaves; shape (56, 3)."""
    from_roll: Steps
    """``[roll]``: the triples that taking one die away leaves; shape (126, 4)."""


def of_size(size: int) -> tuple[tuple[int, ...], ...]:
    """All hands of so many dice, in order."""
    return HANDS[FIRST_HAND[size] : FIRST_HAND[size + 1]]


def number(dice: tuple[int, ...]) -> int:
    """The number of a hand among those of its size; the dice may come in any order."""
    return HAND_INDEX[tuple(sorted(dice))] - FIRST_HAND[len(dice)]


def _padded(rows: list[set[int]], width: int) -> Steps:
    return np.array([[*row, *[min(row)] * (width - len(row))] for row in rows], np.uint8)


def _added(size: int) -> Steps:
    table = HAND_ADD[FIRST_HAND[size] : FIRST_HAND[size + 1]] - FIRST_HAND[size + 1]
    table[:, 0] = 0  # no die is a 0
    return table.astype(np.uint8)


def _taken(size: int) -> Steps:
    rows = [{number(hand[:k] + hand[k + 1 :]) for k in range(size)} for hand in of_size(size)]
    return _padded(rows, size)


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
    pairs = of_size(2)
    joined = [[number(one + other) for other in pairs] for one in pairs]
    return Hands(
        pair=np.pad(_added(1), ((1, 0), (0, 0))),
        joined=np.array(joined, np.uint8),
        weight=np.array([_ways(roll) for roll in of_size(DICE)]),
        moves=_padded([_moved(roll) for roll in of_size(DICE)], 2 * DICE),
        add_to_die=_added(1),
        add_to_pair=_added(2),
        add_to_triple=_added(3),
        from_pair=_taken(2),
        from_triple=_taken(3),
        from_roll=_taken(4),
    )
