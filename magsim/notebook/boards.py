"""A board as a value: made from text, compared, scored, and drawn in a notebook."""

from dataclasses import dataclass
from operator import index

from magsim import rules as law
from magsim.board import CELLS, NotationError, format_board, parse_board
from magsim.notebook.pictures import board_picture
from magsim.rules import Rules, Score
from magsim.variants import rules_of, whole_number

_BITS = int("7" * CELLS, 16)
"""The bits that a packed board may have."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Board:
    """A board of 16 cells: its text notation, or the packed integer of it, as a value.

    The text is four rows, top first, joined by ``/``: ``.`` is empty, ``1`` to ``6`` a number,
    ``R`` a RUIN. A notebook shows it as a picture.

    >>> board = Board("..../.34./..R./....")
    >>> board
    Board('..../.34./..R./....')
    >>> board == Board(board.packed)
    True
    >>> board.score("survival").total
    -1

    Raises:
        MagsimError: if the text is no board, or the integer no packed one.
    """

    packed: int
    """Four bits a cell, ``a1`` lowest: 0 empty, 1-6 a number, 7 a RUIN."""

    def __init__(self, board: "str | int | Board") -> None:
        if isinstance(board, Board):
            packed = board.packed
        elif isinstance(board, str):
            packed = parse_board(board)
        elif isinstance(board, bool):
            raise NotationError(f"board {board!r}: give a text or a packed board")
        else:
            try:
                packed = index(board)
            except TypeError:
                raise NotationError(f"board {board!r}: give a text or a packed board") from None
            if packed & _BITS != packed:
                raise NotationError(f"board {packed}: no packed board has these bits")
        object.__setattr__(self, "packed", packed)

    def __str__(self) -> str:
        return format_board(self.packed)

    def __repr__(self) -> str:
        return f"Board({str(self)!r})"

    def score(self, rules: str | Rules, powers_used: int = 0) -> Score:
        """The score of the board by its parts, finished or not.

        ``rules`` are a difficulty's name or ``magsim.Rules``; so many Powers are paid for. Of the
        parts, ``base``, ``bonuses``, the costs and the ``total`` are points, the others counts.

        Raises:
            MagsimError: if there is no such difficulty, it has fewer Powers, or a value is not
                allowed.
        """
        at = rules_of(rules)
        return law.score(self.packed, at, whole_number("powers_used", powers_used, 0, at.powers))

    def _repr_html_(self) -> str:
        return board_picture(self.packed, f"Board {self}")
