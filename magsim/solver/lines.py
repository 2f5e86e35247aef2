"""What empty cells and unfinished lines know, as tables: built from the rules, read by kernels.

An empty cell knows which values fit beside the numbers next to it, an interval (R10); its *code* is
0 while there is no number (``FREE``), 1 where nothing fits (``DEAD``), and from 2 on the number of
the interval. With the published rules there are 13 intervals; no ``max_difference`` has more than
14, so that a code is always a nibble.
"""

from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import SIDES, SIZE
from magsim.errors import MagsimError
from magsim.rules import Rules, line_bonus
from magsim.solver.words import DEAD, FREE

_VALUES = range(1, SIDES + 1)
_CODES = 16
_CONTENTS = 1 << 4 * SIZE
ANY_DIE = sum(1 << value for value in _VALUES)
"""All six values, as bits 1-6."""

Interval = tuple[int, int]


class Lines(NamedTuple):
    """The law of cells and lines as kernels take it; a line is its four nibbles, 16 bits."""

    step: NDArray[np.int64]
    """``[code, v]``: the code of an empty cell after a v came next to it; shape (16, 7)."""
    fits: NDArray[np.int64]
    """``[code]``: the values that may be placed there now, as bits 1-6 (R9, R10); shape (16,)."""
    live: NDArray[np.uint8]
    """``[empty cells of the line, line >> 3]``: bit ``line & 7`` is set if it can earn a bonus.

    Shape (16, 8192).
    """
    bonus: NDArray[np.int64]
    """``[line]``: what a full line earns, in points (R22); shape (65536,)."""


def _common(one: Interval, other: Interval) -> Interval:
    return max(one[0], other[0]), min(one[1], other[1])


def _intervals(beside: list[Interval]) -> list[Interval]:
    """Those beside one number, and all that several of them have in common, ascending."""
    found: set[Interval] = set()
    waiting = list(beside)
    while waiting:
        interval = waiting.pop()
        if interval not in found and interval[0] <= interval[1]:
            found.add(interval)
            waiting += [_common(interval, other) for other in beside]
    return sorted(found)


def _cell_tables(rules: Rules) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``step`` and ``fits``."""
    reach = rules.max_difference
    beside = [(max(1, value - reach), min(SIDES, value + reach)) for value in _VALUES]
    intervals = _intervals(beside)
    if len(intervals) + 2 > _CODES:
        raise MagsimError(
            f"max_difference = {reach} cannot be solved: it leaves {len(intervals)} different "
            f"choices for an empty cell, {_CODES - 2} are possible"
        )
    code = {interval: 2 + k for k, interval in enumerate(intervals)}
    step = np.full((_CODES, SIDES + 1), DEAD, np.int64)
    fits = np.zeros(_CODES, np.int64)
    for value, around in zip(_VALUES, beside, strict=True):
        step[FREE, value] = code.get(around, DEAD)
        for interval in intervals:
            step[code[interval], value] = code.get(_common(interval, around), DEAD)
            if interval[0] <= value <= interval[1]:
                fits[code[interval]] |= 1 << value
    return step, fits


def _bonus_lines(rules: Rules) -> dict[tuple[int, ...], int]:
    """Every line that the rules let come about and that earns anything: its points."""
    worth: dict[str | None, int] = dict(rules.bonuses) | {None: 0}
    return {
        line: worth[line_bonus(line)]
        for line in product(_VALUES, repeat=SIZE)
        if worth[line_bonus(line)] > 0
        and all(abs(after - before) <= rules.max_difference for before, after in pairwise(line))
    }


def _live_table(bonus_lines: list[tuple[int, ...]], fits: NDArray[np.int64]) -> NDArray[np.uint8]:
    live = np.zeros((1 << SIZE, _CONTENTS), np.uint8)
    may_become = np.zeros((2, SIDES + 1, _CODES), np.uint8)
    """``[is empty, value, nibble]``: whether the cell may hold the value in the end."""
    for value in _VALUES:
        may_become[0, value, value] = 1
        may_become[1, value] = fits >> value & 1
        may_become[1, value, FREE] = 1
    for empty in range(1, 1 << SIZE):
        for line in bonus_lines:
            a, b, c, d = (may_become[empty >> k & 1, value] for k, value in enumerate(line))
            live[empty] |= np.multiply.outer(np.outer(d, c), np.outer(b, a)).ravel()
    return np.packbits(live, axis=1, bitorder="little")


def line_tables(rules: Rules) -> Lines:
    """The tables for rules.

    Raises:
        MagsimError: if an empty cell may know more than a nibble holds.
    """
    step, fits = _cell_tables(rules)
    bonus_lines = _bonus_lines(rules)
    bonus = np.zeros(_CONTENTS, np.int64)
    for line, worth in bonus_lines.items():
        bonus[sum(value << 4 * k for k, value in enumerate(line))] = worth
    return Lines(step, fits, _live_table(list(bonus_lines), fits), bonus)
