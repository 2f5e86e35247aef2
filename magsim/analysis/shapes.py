"""Boards up to symmetry, as text: which cells are covered, with what, or are RUINs.

The board has eight symmetries; the values of dice have none, since numbers count.
"""

from functools import cache

from magsim.board import SIZE

COVERED = "X"


def symmetric(board: str) -> set[str]:
    """The texts of a board's images under the eight symmetries of the square."""
    rows = board.split("/")
    images = set()
    for _ in range(4):
        rows = ["".join(row[column] for row in reversed(rows)) for column in range(SIZE)]
        images |= {"/".join(rows), "/".join(row[::-1] for row in rows)}
    return images


@cache
def canonical(board: str) -> str:
    """The one text that stands for a board and its images: the last in order."""
    return max(symmetric(board))


@cache
def shape(board: str) -> str:
    """A board up to symmetry with ``X`` for every number, whatever its value."""
    return canonical("".join(COVERED if sign.isdigit() else sign for sign in board))
