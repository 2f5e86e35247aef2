"""The decisions of a game one by one, for whoever judges them afterwards."""

from typing import NamedTuple

from magsim.decision import Decision


class Step(NamedTuple):
    """One decision: the turn (from 1), the position that it was made in, and what was decided.

    ``board`` is packed, ``dice`` are the four dice as they were, ascending.
    """

    turn: int
    board: int
    dice: tuple[int, ...]
    powers_left: int
    decision: Decision
