"""A board as a value: made from text, compared, scored, and drawn in a notebook."""

from dataclasses import dataclass, fields, replace
from operator import index
from typing import Any

from magsim import rules as law
from magsim.board import CELLS, NotationError, format_board, parse_board
from magsim.errors import MagsimError
from magsim.notebook.pictures import board_picture
from magsim.rules import Rules, Score
from magsim.variants import checked, difficulties

_BITS = int("7" * CELLS, 16)
"""The bits that a packed board may have."""


def number(what: str, value: object, low: int, high: int) -> int:
    """A whole number within limits.

    Raises:
        MagsimError: if it is none.
    """
    try:
        found = index(value)  # type: ignore[arg-type]  # that is the question
    except TypeError:
        found = low - 1
    if isinstance(value, bool) or not low <= found <= high:
        raise MagsimError(f"{what} {value!r} is to be a whole number from {low} to {high}")
    return found


def _own(rules: Rules) -> Rules:
    """Rules that somebody made, with the limits that all rules have.

    Raises:
        MagsimError: if the name is no text or a value is not allowed.
    """
    if not isinstance(rules.name, str) or not rules.name or not rules.name.isprintable():
        raise MagsimError(f"rules {rules.name!r}: their name is to be a printable text")
    values: dict[str, Any] = {}
    for key in (field.name for field in fields(rules) if field.name != "name"):
        value = getattr(rules, key)
        values[key] = checked(
            key, list(value) if isinstance(value, tuple) else value, f"rules {rules.name!r}"
        )
    return replace(rules, **values)


def rules_of(difficulty: str | Rules) -> Rules:
    """The rules of a difficulty by its name; rules themselves, checked.

    Raises:
        MagsimError: if it is not the name of one difficulty, or a value is not allowed.
    """
    if isinstance(difficulty, Rules):
        return _own(difficulty)
    if not isinstance(difficulty, str):
        raise MagsimError(f"difficulty {difficulty!r}: give a name or magsim.Rules")
    found = difficulties(difficulty)
    if len(found) > 1:
        raise MagsimError(f"difficulty {difficulty!r}: name one difficulty, not {len(found)}")
    return found[0]


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
        return law.score(self.packed, at, number("powers_used", powers_used, 0, at.powers))

    def _repr_html_(self) -> str:
        return board_picture(self.packed, f"Board {self}")
