"""What kernels of the solver work with: tables of the rules, what lies below, room to work in."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS, DICE, SIDES
from magsim.rules import Rules
from magsim.solver.classes import Classes, Masks, mask_tables
from magsim.solver.hands import COUNTS, ROLLS, TRIPLES, Hands, hand_tables
from magsim.solver.lanes import LANES
from magsim.solver.lines import Lines, line_tables
from magsim.solver.stakes import FORBIDDEN

Values = NDArray[np.int32]
Flags = NDArray[np.uint8]
Averages = NDArray[np.float64]

MOST_HELD = 2
LEVEL, VALUE, WORD, REST = range(4)
"""What ``Work.choice`` holds."""
MOST_NEXT = CELLS * SIDES
"""In how many ways one die can be placed, at most."""
ROOM = 512
"""How many look-ups wait for each other, so that their cache misses overlap."""


class Tables(NamedTuple):
    """What kernels look up, made once for rules."""

    masks: Masks
    lines: Lines
    hands: Hands


def tables_of(rules: Rules) -> Tables:
    """All tables that kernels need for rules.

    Raises:
        MagsimError: if an empty cell may know more than a nibble holds.
    """
    return Tables(mask_tables(), line_tables(rules), hand_tables())


class Below(NamedTuple):
    """What a turn leads to: by dice placed, 1 to 4 (where fewer are listed, the last repeated)."""

    layers: tuple[Classes, Classes, Classes, Classes]
    vectors: tuple[Values, Values, Values, Values]
    """Values, ``[class, level]``, but where ``held`` dice are left those of W.

    ``[class, hand * levels + level]``.
    """
    held: int


class Waiting(NamedTuple):
    """Classes to be looked up, by dice placed (0 after a RUIN); shapes (5, room)."""

    counts: NDArray[np.int64]
    """How many there are; shape (5,)."""
    key: NDArray[np.int64]
    mask: NDArray[np.int64]
    """Canonical."""
    hand: NDArray[np.int64]
    """The dice placed."""
    gain: NDArray[np.int64]
    """Since the turn began, in 1/scale points."""
    word: NDArray[np.int64]
    """As it came about: neither normalised nor turned."""
    rest: NDArray[np.int64]
    """Its empty cells."""
    child: NDArray[np.int64]
    """The class; before it is found, its bucket."""


class Work(NamedTuple):
    """Room for the work on some classes."""

    counts: NDArray[np.int64]
    """``[dice placed - 1]``: how many ways to go on are listed; shape (4,)."""
    word: NDArray[np.int64]
    """``[dice placed - 1, way]``: the word, not normalised; like the next five (4, 96)."""
    mask: NDArray[np.int64]
    """The empty cells."""
    closed: NDArray[np.int64]
    """Cells that no further die goes on, as another way places it there earlier."""
    hand: NDArray[np.int64]
    """The dice placed."""
    left: NDArray[np.int64]
    """The dice that may go on being placed, as in ``engine.HANDS``, or any."""
    gain: NDArray[np.int64]
    """Since the turn began, in 1/scale points."""
    waiting: Waiting
    choice: NDArray[np.int64]
    """The best placement at one level (shape 4): ``LEVEL``, -1 where none is asked for, ...

    ``VALUE``, gain and value; ``WORD`` with its dice in it; ``REST``, the empty cells left.
    """
    met: Flags
    """``[dice placed, hand]``: whether these can be placed and then be stopped at; (5, 126)."""
    best: Values
    """``[hand, rest * levels + level]``: gain and W; shape (126, 21 * levels) at most."""
    stop: Values
    """``[dice placed, hand, level]``: gain and value, if no more are placed; (4, 56, levels)."""
    ruined: Values
    """``[level, lane]``: the value after the best RUIN, not paid for; shape (levels, 8)."""
    roll: Values
    """``[level, roll, lane]``: what the roll is worth; shape (levels, 126, 8)."""
    power: Values
    """``[roll, lane]``: what it is worth after the best Power, not paid for; shape (126, 8)."""
    kept: Averages
    """``[size, hand, lane]``: 1296 times what a reroll of all other dice is worth; (4, 56, 8).

    Of all but a part of the hand, where that is better.
    """
    value: Values
    """``[level, lane]``: what the classes are worth; shape (levels, 8), like ``paid``."""
    paid: Values
    """``[level, lane]``: the most that a roll was worth for which a Power pays; shape (levels, 8).

    ``FORBIDDEN`` where none does.
    """
    missing: NDArray[np.int64]
    """How many classes were not found; shape (1,)."""


def new_work(levels: int, held: int) -> Work:
    """Room for the work on classes with so many levels, and vectors of so many dice."""
    nodes = np.empty((6, DICE, MOST_NEXT), np.int64)
    waiting = Waiting(
        np.zeros(DICE + 1, np.int64), *(np.empty((DICE + 1, ROOM), np.int64) for _ in range(7))
    )
    return Work(
        counts=np.empty(DICE, np.int64),
        word=nodes[0],
        mask=nodes[1],
        closed=nodes[2],
        hand=nodes[3],
        left=nodes[4],
        gain=nodes[5],
        waiting=waiting,
        choice=np.full(4, -1, np.int64),
        met=np.zeros((DICE + 1, ROLLS), np.uint8),
        best=np.full((COUNTS[DICE - held], COUNTS[held] * levels), FORBIDDEN),
        stop=np.full((DICE, TRIPLES, levels), FORBIDDEN),
        ruined=np.empty((levels, LANES), np.int32),
        roll=np.empty((levels, ROLLS, LANES), np.int32),
        power=np.empty((ROLLS, LANES), np.int32),
        kept=np.empty((DICE, TRIPLES, LANES), np.float64),
        value=np.empty((levels, LANES), np.int32),
        paid=np.empty((levels, LANES), np.int32),
        missing=np.zeros(1, np.int64),
    )
