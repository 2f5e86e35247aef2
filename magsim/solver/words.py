"""The word of a board's class: 16 nibbles in which only what still matters is kept.

A class is a mask of empty cells (bit c for cell c) and one ``int64``, in the layout of a packed
board::

        a   b   c   d          a cell of the mask (empty)       any other cell
    1   0   1   2   3          0   free: no number is next      0   erased: a RUIN, or a number
    2   4   5   6   7              to it                            whose lines earn nothing more
    3   8   9  10  11          1   dead: no number ever comes   1-6 a number in a line that can
    4  12  13  14  15          2.. the values that fit here         still earn a bonus (R22, R23)

    nibble of a cell: bits 4*cell .. 4*cell+3          row r: word >> 16*r & 0xFFFF

The codes from 2 on are numbered in ``lines``. Where cells are empty, the word 0 is the class of all
boards without a number, on which a die goes anywhere (R8): once there is a number, every cell is
next to one, or within reach of one by way of empty cells, or dead, and the word is not 0.

Sets of cells come in two forms: a *mask* of 16 bits, and *bits*: the lowest bit of each nibble.
The symmetries of the square are numbered 0-7: bit 2 transposes, then bit 0 turns the rows upside
down, then bit 1 the columns.
"""

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS, SIZE
from magsim.compiled import lean_kernel

Words = NDArray[np.int64]

SYMMETRIES = 8
LOWEST = 0x1111111111111111
_HAS_RIGHT = 0x0111011101110111
_HAS_LEFT = 0x1110111011101110

FREE, DEAD = 0, 1

_FIRST_FACTOR, _SECOND_FACTOR = -0x61C8864680B583EB, 0x3F51AFD7ED558CCD
_FIRST_INVERSE, _SECOND_INVERSE = (
    (pow(factor, -1, 2**64) + 2**63) % 2**64 - 2**63 for factor in (_FIRST_FACTOR, _SECOND_FACTOR)
)


def _destinations(symmetry: int) -> tuple[int, ...]:
    """Where each cell goes."""
    found = []
    for cell in range(CELLS):
        row, column = divmod(cell, SIZE)
        if symmetry & 4:
            row, column = column, row
        if symmetry & 1:
            row = SIZE - 1 - row
        if symmetry & 2:
            column = SIZE - 1 - column
        found.append(SIZE * row + column)
    return tuple(found)


DESTINATIONS = tuple(_destinations(symmetry) for symmetry in range(SYMMETRIES))
INVERSE = tuple(
    DESTINATIONS.index(tuple(there.index(cell) for cell in range(CELLS))) for there in DESTINATIONS
)
"""``[symmetry]``: the one that undoes it."""


@lean_kernel
def transpose(word: int) -> int:
    """The word with rows and columns exchanged."""
    moved = ((word >> 12) ^ word) & 0x0000F0F00000F0F0
    word ^= moved ^ (moved << 12)
    moved = ((word >> 24) ^ word) & 0x00000000FF00FF00
    return word ^ moved ^ (moved << 24)


@lean_kernel
def flip_rows(word: int) -> int:
    """The word upside down."""
    outer = ((word >> 48) & 0xFFFF) | (word << 48)
    return outer | ((word >> 16) & 0xFFFF0000) | ((word << 16) & 0xFFFF00000000)


@lean_kernel
def flip_columns(word: int) -> int:
    """The word with left and right exchanged."""
    outer = ((word >> 12) & 0x000F000F000F000F) | ((word << 12) & -0x0FFF0FFF0FFF1000)
    return outer | ((word >> 4) & 0x00F000F000F000F0) | ((word << 4) & 0x0F000F000F000F00)


@lean_kernel
def image(symmetry: int, word: int) -> int:
    """The word under a symmetry."""
    if symmetry & 4:
        word = transpose(word)
    if symmetry & 1:
        word = flip_rows(word)
    if symmetry & 2:
        word = flip_columns(word)
    return word


@lean_kernel
def least_image(word: int, symmetries: int) -> int:
    """The least of the images under symmetries, bit s for symmetry s; bit 0 must be set."""
    best = word
    if symmetries != 1:
        for symmetry in range(1, SYMMETRIES):
            if symmetries >> symmetry & 1:
                best = min(best, image(symmetry, word))
    return best


@lean_kernel
def neighbours(bits: int) -> int:
    """The cells orthogonally next to any of a set, as bits."""
    below = bits << 16
    above = (bits >> 16) & 0x0000FFFFFFFFFFFF
    return below | above | ((bits & _HAS_RIGHT) << 4) | ((bits & _HAS_LEFT) >> 4)


@lean_kernel
def without(word: int, cell: int) -> int:
    """The word with nothing on a cell: what a RUIN leaves, not yet normalised."""
    return word & ~(15 << 4 * cell)


@lean_kernel
def _beside(word: int, bits: int, cell: int, die: int, step: Words) -> int:
    """The word after a number came next to ``cell``; only empty cells (``bits``) take note."""
    at = 4 * cell
    if bits >> at & 1:
        code = word >> at & 15
        word ^= (code ^ step[code, die]) << at
    return word


@lean_kernel
def placed(word: int, bits: int, cell: int, die: int, step: Words) -> int:
    """The word after a die is placed on ``cell``, not yet normalised.

    ``bits`` are the cells that are empty then, ``step`` is that of ``lines.Lines``.
    """
    word = without(word, cell) | die << 4 * cell
    if cell >= 4:
        word = _beside(word, bits, cell - 4, die, step)
    if cell < 12:
        word = _beside(word, bits, cell + 4, die, step)
    if cell & 3 != 0:
        word = _beside(word, bits, cell - 1, die, step)
    if cell & 3 != 3:
        word = _beside(word, bits, cell + 1, die, step)
    return word


@lean_kernel
def _out_of_reach(word: int, bits: int) -> int:
    """The free cells to which no number can come by way of empty ones, as bits (R9, R20)."""
    fitting = (word >> 1 | word >> 2 | word >> 3) & LOWEST
    free = bits & ~(fitting | word)
    reached = bits & fitting
    more = neighbours(reached) & free
    while more:
        free &= ~more
        reached |= more
        more = neighbours(reached) & free
    return free


@lean_kernel
def _row_mask(bits: int, row: int) -> int:
    """The empty cells of a row, bit k for its k-th."""
    line = bits >> 16 * row
    return (line & 1) | (line >> 3 & 2) | (line >> 6 & 4) | (line >> 9 & 8)


@lean_kernel
def _is_live(empty: int, line: int, live: NDArray[np.uint8]) -> int:
    return int(live[empty, line >> 3] >> (line & 7) & 1)


@lean_kernel
def _open_lines(word: int, bits: int, live: NDArray[np.uint8]) -> int:
    """All nibbles of the lines that can still earn a bonus, set to 15."""
    across, bits_across = transpose(word), transpose(bits)
    found = 0
    for k in range(SIZE):
        empty = _row_mask(bits, k)
        if empty and _is_live(empty, word >> 16 * k & 0xFFFF, live):
            found |= 0xFFFF << 16 * k
        empty = _row_mask(bits_across, k)
        if empty and _is_live(empty, across >> 16 * k & 0xFFFF, live):
            found |= 0x000F000F000F000F << 4 * k
    return found


@lean_kernel
def normalised(word: int, bits: int, live: NDArray[np.uint8]) -> int:
    """The word of a class, from that of a board with a number, or of a class and a step from it.

    Free cells out of reach become dead, and numbers in lines that earn nothing more are erased.
    ``bits`` are the empty cells; ``live`` is that of ``lines.Lines``.
    """
    word |= _out_of_reach(word, bits)
    return word & (_open_lines(word, bits, live) | bits * 15)


@lean_kernel
def column(word: int, k: int) -> int:
    """The four nibbles of a column, as a row has them."""
    line = word >> 4 * k
    return (line & 15) | (line >> 12 & 0xF0) | (line >> 24 & 0xF00) | (line >> 36 & 0xF000)


@lean_kernel
def points(word: int, bits: int, cell: int, die: int, bonus: Words) -> int:
    """What a die earned that was just placed on ``cell``: itself twice, and bonuses (R21, R22).

    ``word`` is as ``placed`` returns it, ``bits`` are the cells that are empty then.
    """
    earned = 2 * die
    row = cell >> 2
    if not bits >> 16 * row & 0x1111:
        earned += bonus[word >> 16 * row & 0xFFFF]
    if not bits >> 4 * (cell & 3) & 0x0001000100010001:
        earned += bonus[column(word, cell & 3)]
    return earned


@lean_kernel
def scrambled(word: int) -> int:
    """The *key* of a word: every bit of the word has a part in its upper bits; none is lost."""
    word ^= (word >> 32) & 0xFFFFFFFF
    word *= _FIRST_FACTOR
    word ^= (word >> 29) & 0x7FFFFFFFF
    return word * _SECOND_FACTOR


@lean_kernel
def unscrambled(key: int) -> int:
    """The word of a key."""
    key *= _SECOND_INVERSE
    key ^= (key >> 29) & 0x7FFFFFFFF ^ (key >> 58) & 0x3F
    key *= _FIRST_INVERSE
    return key ^ (key >> 32) & 0xFFFFFFFF
