"""Geometry of the board, the packed board, and the text notation of boards, cells and dice.

Everything else is built on this module; it knows nothing of rules, scores or bots.

A packed board is one integer, four bits a cell, cell 0 (``a1``) in the lowest bits::

        a   b   c   d          bits of a cell     0 empty, 1-6 a number, 7 a RUIN
    1   0   1   2   3          4*cell .. 4*cell+3
    2   4   5   6   7
    3   8   9  10  11          row r is the 16-bit slice  board >> 16*r & 0xFFFF
    4  12  13  14  15

A RUIN is 7, so bit 3 of every cell, and with it bit 63, is always clear: a board is a non-negative
``int64``, and compiled code never mixes signed with unsigned (which numba would turn into floats).
"""

from collections.abc import Iterable, Sequence

from magsim.errors import MagsimError

SIZE = 4
CELLS = SIZE * SIZE
DICE = 4
SIDES = 6
EMPTY = 0
RUIN = SIDES + 1
EMPTY_BOARD = 0

CELL_NAMES = tuple(f"{column}{row}" for row in "1234" for column in "abcd")
SYMBOLS = ".123456R"
ROWS = tuple(tuple(range(SIZE * row, SIZE * row + SIZE)) for row in range(SIZE))
COLUMNS = tuple(tuple(range(column, CELLS, SIZE)) for column in range(SIZE))
LINES = ROWS + COLUMNS


def _neighbours(cell: int) -> tuple[int, ...]:
    row, column = divmod(cell, SIZE)
    steps = ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
    return tuple(SIZE * r + c for r, c in steps if 0 <= r < SIZE and 0 <= c < SIZE)


NEIGHBOURS = tuple(_neighbours(cell) for cell in range(CELLS))


class NotationError(MagsimError, ValueError):
    """A text is not the notation of a board, a cell, dice or a decision."""


def cell_value(board: int, cell: int) -> int:
    """What stands on ``cell``: ``EMPTY``, a number 1-6 or ``RUIN``."""
    return board >> 4 * cell & 15


def with_cell(board: int, cell: int, value: int) -> int:
    """The board with ``value`` on ``cell``, which must be empty."""
    return board | value << 4 * cell


def cell_values(board: int) -> tuple[int, ...]:
    """The 16 cells, ``a1`` first, row by row."""
    return tuple(cell_value(board, cell) for cell in range(CELLS))


def empty_cells(board: int) -> tuple[int, ...]:
    """The empty cells in ascending order."""
    return tuple(cell for cell in range(CELLS) if cell_value(board, cell) == EMPTY)


def is_number(value: int) -> bool:
    """Whether a cell's value is a number, neither empty nor a RUIN (R1)."""
    return EMPTY < value < RUIN


def pack_cells(values: Iterable[int]) -> int:
    """The packed board of 16 cell values.

    >>> format_board(pack_cells([0] * 5 + [3, 4] + [0] * 9))
    '..../.34./..../....'
    """
    board = EMPTY_BOARD
    for cell, value in enumerate(values):
        board = with_cell(board, cell, value)
    return board


def parse_board(text: str) -> int:
    """The packed board of a text such as ``..../.34./..R./....`` (R2).

    Raises:
        NotationError: if the text is not four rows of four of ``.123456R``.
    """
    rows = text.split("/")
    if len(rows) != SIZE or any(len(row) != SIZE for row in rows):
        raise NotationError(f"board {text!r}: a board is four rows of four cells, joined by '/'")
    for symbol in "".join(rows):
        if symbol not in SYMBOLS:
            raise NotationError(f"board {text!r}: cell {symbol!r} is not one of {SYMBOLS}")
    return pack_cells(SYMBOLS.index(symbol) for symbol in "".join(rows))


def format_board(board: int) -> str:
    """The text of a board, its four rows joined by ``/`` (R2).

    >>> format_board(parse_board("..../.34./..R./...."))
    '..../.34./..R./....'
    """
    symbols = [SYMBOLS[value] for value in cell_values(board)]
    return "/".join("".join(symbols[cell] for cell in row) for row in ROWS)


def parse_cell(text: str) -> int:
    """The cell of a name such as ``b2``.

    Raises:
        NotationError: if there is no such cell.
    """
    if text not in CELL_NAMES:
        raise NotationError(f"cell {text!r}: a cell is a column a-d and a row 1-4, such as b2")
    return CELL_NAMES.index(text)


def parse_dice(text: str) -> tuple[int, ...]:
    """The values of dice written as digits, in ascending order.

    >>> parse_dice("6233")
    (2, 3, 3, 6)
    """
    if not text or not all(symbol in "123456" for symbol in text):
        raise NotationError(f"dice {text!r}: dice are written as digits 1-6, such as 2336")
    return tuple(sorted(int(symbol) for symbol in text))


def format_dice(dice: Sequence[int]) -> str:
    """Dice as digits in ascending order."""
    return "".join(str(die) for die in sorted(dice))
