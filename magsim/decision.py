"""Decisions: place dice, use a Power, or accept a RUIN; their text notation and packed form.

A bot answers with one of these; the records and messages print them. Whether a decision is legal
is for ``rules`` and ``engine`` to say.

In text a placement is ``3b2 4b3`` (die, cell), a Power ``+3``, ``-3`` or ``reroll 14`` (by the
values of the dice), a RUIN ``ruin c3``.

Packed, a decision is one ``int64``: a non-negative one is *the board after it* (the outcome of a
placement, or the board with one more RUIN); a negative one is a Power, ``-1 - (kind << 4 | mask)``,
where bit k of the mask stands for the k-th of the four dice in ascending order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import index

from magsim.board import (
    CELL_NAMES,
    CELLS,
    DICE,
    EMPTY,
    RUIN,
    NotationError,
    cell_value,
    format_dice,
    parse_cell,
    parse_dice,
    with_cell,
)

RAISE, LOWER, REROLL = 0, 1, 2
POWER_KINDS = ("raise", "lower", "reroll")


@dataclass(frozen=True, slots=True)
class Place:
    """Put dice on cells: ``placements`` holds (die, cell) pairs; their order does not matter.

    ``estimate`` is, in any decision, the final score that the bot expects, in points, if it cares
    to say; it is recorded and does not influence the game.
    """

    placements: tuple[tuple[int, int], ...]
    estimate: float | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return " ".join(f"{die}{CELL_NAMES[cell]}" for die, cell in self.placements) or "nothing"


@dataclass(frozen=True, slots=True)
class Power:
    """Use a Majda Power: ``kind`` is raise, lower (one die) or reroll (one or more), R13 and R14.

    ``dice`` holds the values of the dice it is used on.
    """

    kind: str
    dice: tuple[int, ...]
    estimate: float | None = field(default=None, compare=False)

    def __str__(self) -> str:
        sign = {"raise": "+", "lower": "-"}.get(self.kind, f"{self.kind} ")
        return f"{sign}{format_dice(self.dice)}"


@dataclass(frozen=True, slots=True)
class Ruin:
    """Accept MAGDAGDON and let ``cell`` become a RUIN (R18)."""

    cell: int
    estimate: float | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"ruin {CELL_NAMES[self.cell]}"


Decision = Place | Power | Ruin


def parse_decision(text: str) -> Decision:
    """The decision of a text such as ``3b2 4b3``, ``+3``, ``-3``, ``reroll 14`` or ``ruin c3``.

    >>> print(parse_decision("reroll 41"))
    reroll 14

    Raises:
        NotationError: if it is none of these.
    """
    words = text.split()
    match words:
        case ["ruin", cell]:
            return Ruin(parse_cell(cell))
        case ["reroll", dice]:
            return Power("reroll", parse_dice(dice))
        case [word] if word[0] in "+-" and len(word) == 2:
            return Power("raise" if word[0] == "+" else "lower", parse_dice(word[1:]))
        case [_, *_] if all(len(word) == 3 for word in words):
            return Place(tuple((parse_dice(word[0])[0], parse_cell(word[1:])) for word in words))
    raise NotationError(
        f"decision {text!r}: write a placement as '3b2 4b3', a Power as '+3', '-3' or 'reroll 14', "
        "a RUIN as 'ruin c3'"
    )


def pack_place(board: int, placements: Sequence[tuple[int, int]]) -> int:
    """The outcome of dice on empty cells, as a packed decision.

    Raises:
        ValueError: if a die is no die, or a cell is off the board, taken, or used twice.
    """
    outcome = board
    for die, cell in ((index(die), index(cell)) for die, cell in placements):
        if not 1 <= die <= 6:
            raise ValueError(f"{die!r} is not the value of a die")
        if not 0 <= cell < CELLS:
            raise ValueError(f"{cell!r} is not a cell")
        if cell_value(outcome, cell) != EMPTY:
            raise ValueError(f"{CELL_NAMES[cell]} is not empty")
        outcome = with_cell(outcome, cell, die)
    return outcome


def pack_power(kind: int, mask: int) -> int:
    """The packed form of a Power: its kind and which of the four sorted dice, as a bit mask."""
    return -1 - (kind << DICE | mask)


def pack_decision(decision: Decision, board: int, dice: Sequence[int]) -> int:
    """The packed form of a decision in the position of ``board`` and ``dice`` (ascending).

    Raises:
        ValueError: if the decision has no packed form here: a die that is not there, a cell that
            is taken.
    """
    match decision:
        case Place():
            return pack_place(board, decision.placements)
        case Ruin():
            cell = index(decision.cell)
            if not 0 <= cell < CELLS or cell_value(board, cell) != EMPTY:
                raise ValueError("a RUIN goes on an empty cell (R18)")
            return with_cell(board, cell, RUIN)
        case Power():
            if decision.kind not in POWER_KINDS:
                raise ValueError(f"a Power is one of {', '.join(POWER_KINDS)}")
            mask = 0
            for die in decision.dice:
                free = [k for k, value in enumerate(dice) if value == die and not mask >> k & 1]
                if not free:
                    raise ValueError(f"there is no such die among {format_dice(dice)}")
                mask |= 1 << free[0]
            return pack_power(POWER_KINDS.index(decision.kind), mask)
    raise ValueError("a decision is a Place, a Power or a Ruin")


def unpack_power(packed: int, dice: Sequence[int]) -> Power:
    """The Power of a negative packed decision; ``dice`` are the four dice in ascending order."""
    kind, mask = divmod(-1 - packed, 1 << DICE)
    return Power(
        POWER_KINDS[kind] if kind < len(POWER_KINDS) else f"power {kind}",
        tuple(int(die) for k, die in enumerate(dice) if mask >> k & 1),
    )


def unpack_decision(packed: int, board: int, dice: Sequence[int]) -> Decision:
    """The decision of a packed one, legal or not, with placements in ascending order of cells.

    Raises:
        ValueError: if a number on the board changes or a cell holds no number: no decision does
            that.
    """
    if packed < 0:
        return unpack_power(packed, dice)
    changed = [cell for cell in range(CELLS) if cell_value(packed ^ board, cell)]
    if any(cell_value(board, cell) != EMPTY for cell in changed):
        raise ValueError("a cell that is not empty changes")
    if len(changed) == 1 and cell_value(packed, changed[0]) == RUIN:
        return Ruin(changed[0])
    if any(cell_value(packed, cell) >= RUIN for cell in changed):
        raise ValueError("a placed die has no value from 1 to 6")
    return Place(tuple((cell_value(packed, cell), cell) for cell in changed))
