"""Windows of 2x2 and 2x3 cells and their codes: what neighbouring lines are worth to each other.

A code has three bits a cell: 0 empty, 1-6 a number, 7 a RUIN. A window is read in one of its images
under the symmetries of the board, so that all windows of a kind share a table: 2x2 cells in a
corner, at an edge or in the centre; 2x3 cells at an edge or not.
"""

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS
from magsim.compiled import kernel
from magsim.engine import transpose

_SQUARES, _BLOCKS = 1 << 12, 1 << 18
"""How many codes there are of 2x2 and of 2x3 cells."""
WINDOWS = 21
CORNERS, EDGES, CENTRES, OUTER, MIDDLE = range(5)
"""The kinds of windows: 2x2 cells in a corner, at an edge, in the centre; 2x3 with two rows ...

at an edge, or with those in the middle.
"""
KIND = np.repeat([CORNERS, EDGES, CENTRES, OUTER, MIDDLE], [4, 4, 1, 8, 4])
"""``[window]``: its kind."""
_SIZES = np.array([_SQUARES, _SQUARES, _SQUARES, _BLOCKS, _BLOCKS])
CODES = int(_SIZES.sum())
"""How many codes there are of all kinds, which begin ..."""
OFFSET = (np.cumsum(_SIZES) - _SIZES)[KIND]
"""``[window]``: ... at this number."""


@kernel
def _packed(board: int) -> int:
    """A board with three bits a cell in each row of 16 bits."""
    pairs = board & 0x0707070707070707 | board >> 1 & 0x3838383838383838
    return pairs & 0x003F003F003F003F | pairs >> 2 & 0x0FC00FC00FC00FC0


@kernel
def _flipped(board: int) -> int:
    """A board with left and right exchanged."""
    outer = board >> 12 & 0x000F000F000F000F | (board & 0x000F000F000F000F) << 12
    return outer | board >> 4 & 0x00F000F000F000F0 | (board & 0x00F000F000F000F0) << 4


@kernel
def _pair(one: int, other: int, at: int, bits: int) -> int:
    """The code of parts of two rows, from bit ``at`` on."""
    mask = (1 << bits) - 1
    return one >> at & mask | (other >> at & mask) << bits


@kernel
def window_codes(board: int, codes: NDArray[np.int64]) -> None:
    """Write the codes of all windows, numbered through all kinds; shape (21,)."""
    for k in range(2):
        across = transpose(board) if k else board
        for side in range(2):
            rows = _packed(_flipped(across) if side else across)
            a, b, c, d = rows & 0xFFF, rows >> 16 & 0xFFF, rows >> 32 & 0xFFF, rows >> 48 & 0xFFF
            codes[9 + 4 * k + 2 * side] = _pair(a, b, 0, 9)
            codes[10 + 4 * k + 2 * side] = _pair(d, c, 0, 9)
            codes[17 + 2 * k + side] = _pair(b, c, 0, 9)
            if k == 0:
                codes[2 * side] = _pair(a, b, 0, 6)
                codes[2 * side + 1] = _pair(d, c, 0, 6)
            if side == 0:
                codes[4 + 2 * k] = _pair(a, b, 3, 6)
                codes[5 + 2 * k] = _pair(d, c, 3, 6)
                codes[8] = _pair(b, c, 3, 6)
    codes += OFFSET


@kernel
def _transposed(code: int) -> int:
    """The code of 2x2 cells with rows and columns exchanged."""
    return code & 0o7007 | (code & 0o0070) << 3 | code >> 3 & 0o0070


@kernel
def _turned(code: int) -> int:
    """The code of 2x2 cells with left and right exchanged."""
    return (code & 0o0707) << 3 | code >> 3 & 0o0707


@kernel
def alike(kind: int, code: int, images: NDArray[np.int64]) -> int:
    """Write the codes of a kind that mean the same, as symmetries keep the window; how many.

    A corner is transposed, an edge turned left to right, the centre both, rows in the middle are
    exchanged. Codes are those of the kind alone, without ``OFFSET``; ``images`` has shape (8,).
    """
    images[0] = code
    if kind == CORNERS:
        images[1] = _transposed(code)
    elif kind == EDGES:
        images[1] = _turned(code)
    elif kind == MIDDLE:
        images[1] = code >> 9 | (code & 511) << 9
    elif kind == CENTRES:
        for k in range(1, 8):
            images[k] = _transposed(images[k - 1]) if k & 1 else _turned(images[k - 1])
        return 8
    else:
        return 1
    return 2


def _windows_of_cells() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``WINDOWS_OF`` and ``SHIFTS``."""
    windows, shifts = np.full((2, CELLS, WINDOWS), -1)
    codes = np.empty(WINDOWS, np.int64)
    for cell in range(CELLS):
        window_codes(1 << 4 * cell, codes)
        (found,) = np.nonzero(codes > OFFSET)
        windows[cell, : len(found)] = found
        shifts[cell, : len(found)] = [
            int(code).bit_length() - 1 for code in (codes - OFFSET)[found]
        ]
    most = int((windows >= 0).sum(axis=1).max())
    return windows[:, :most].copy(), shifts[:, :most].copy()


WINDOWS_OF, SHIFTS = _windows_of_cells()
"""``[cell, k]``: its k-th window, -1 after the last, and the lowest bit that the cell has in it."""
