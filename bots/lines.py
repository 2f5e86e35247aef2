"""What a row or column is worth to a bot: tables over the 16-bit codes of lines, made from rules.

Every number counts once in its row and once in its column, and bonuses belong to lines, so a score
is a sum over eight lines once each line of a RUIN bears half of its penalty. The tables are built
from ``RuleValues`` and know no published rule.
"""

import numpy as np
from numpy.typing import NDArray

from magsim.board import RUIN, SIDES, SIZE
from magsim.compiled import kernel
from magsim.engine import LOW_BIT, RuleValues, empty_mask, line_bonus, line_sum, transpose

POINT = 256
"""The unit of every estimate in compiled code: a point is 256, so that all sums are of integers."""

LINE_CODES = 1 << 4 * SIZE


CODES = np.array([*range(1, RUIN + 1), 0, *range(RUIN + 1, RUIN + 1 + SIDES)])
"""The codes of a cell in a line, those that are not empty first."""
OFFERED = 640
"""The chance, in 1024ths, that a value is on offer when a cell of a line is filled."""
RUINED = 900
"""The chance, in 1024ths, that a cell becomes a RUIN when no value that it takes is on offer.

Both were tuned by the scores of ``lookahead`` under the published rules; they are flat optima, and
choosing them apart by empty cells or by difficulty gained nothing.
"""


@kernel
def worth_now(line: int, values: RuleValues) -> int:
    """Twice what a line adds to the score as it stands, in points (R21-R24)."""
    bonus = line_bonus(line)
    total = line_sum(line)
    if bonus == 1:
        total += values.straight
    elif bonus == 2:
        total += values.four
    elif bonus == 3:
        total += values.two_pairs
    ruins = 0
    for k in range(SIZE):
        ruins += line >> 4 * k & 15 == RUIN
    return 2 * total - ruins * values.ruin_penalty


@kernel
def current_worth(values: RuleValues) -> NDArray[np.int32]:
    """``worth_now`` of every line, so that their sum is twice the score; shape (65536,)."""
    worth = np.zeros(LINE_CODES, np.int32)
    for index in range(8**SIZE):
        line = 0
        for k in range(SIZE):
            line |= (index >> 3 * k & 7) << 4 * k
        worth[line] = worth_now(line, values)
    return worth


@kernel
def crossings(values: RuleValues) -> NDArray[np.int64]:
    """``[8 * one + other]``: the code of an empty cell between two of a crossing line; (64,)."""
    codes = np.zeros(64, np.int64)
    for one in range(8):
        for other in range(8):
            a = 0 if one == RUIN else one
            b = 0 if other == RUIN else other
            if a == 0 and b == 0:
                code = 0
            elif a == 0 or b == 0:
                code = 7 + a + b
            elif values.near[a] & values.near[b] == 0:
                code = RUIN
            else:
                code = 7 + (a + b) // 2
            codes[8 * one + other] = code
    return codes


@kernel
def view(board: int, crossing: NDArray[np.int64]) -> int:
    """The rows of a board, with codes 8-13 for empty cells that a column confines."""
    seen = board
    empty = empty_mask(board)
    above, below = board << 16, board >> 16
    while empty:
        low = empty & -empty
        empty ^= low
        at = 4 * np.int64(LOW_BIT[low])
        seen |= crossing[(above >> at & 7) << 3 | below >> at & 7] << at
    return seen


@kernel
def is_open(value: int) -> bool:
    """Whether a code stands for an empty cell."""
    return value == 0 or value > RUIN


@kernel
def _expected_cell(line: int, k: int, values: RuleValues, worth: NDArray[np.int32]) -> int:
    """The expected worth of a line when its empty cell k is filled next."""
    code = line >> 4 * k & 15
    line ^= code << 4 * k
    allowed = values.near[code - 7] if code > RUIN else values.near[0]
    if k + 1 < SIZE:
        value = line >> 4 * (k + 1) & 15
        if value < 8:
            allowed &= values.near[value]
    if k > 0:
        value = line >> 4 * (k - 1) & 15
        if value < 8:
            allowed &= values.near[value]
    sorted_worth = np.empty(SIDES, np.int64)
    count = 0
    for die in range(1, SIDES + 1):
        if allowed >> die & 1:
            at = count
            value = np.int64(worth[line | die << 4 * k])
            while at > 0 and sorted_worth[at - 1] < value:
                sorted_worth[at] = sorted_worth[at - 1]
                at -= 1
            sorted_worth[at] = value
            count += 1
    ruin = np.int64(worth[line | RUIN << 4 * k])
    if count == 0:
        return ruin
    total = 0
    left = 1024 * 1024
    for i in range(count):
        share = left * OFFERED >> 10
        total += share * sorted_worth[i]
        left -= share
    total += left * ((1024 - RUINED) * sorted_worth[count - 1] + RUINED * ruin >> 10)
    return total >> 20


@kernel
def expected_worth(values: RuleValues) -> NDArray[np.int32]:
    """The expected final worth of every line, in 1/256 point; shape (65536,).

    A model of the line alone, exact when it is full: its empty cells are filled one by one, the
    most promising first. Each value that may stand there is on offer with chance ``OFFERED``, and
    the best one on offer is taken; if none is, the cell becomes a RUIN with chance ``RUINED``, and
    else takes the worst value. A line's code has the 0-7 of the board, and 8-13 for an empty cell
    next to a number 1-6 of the line that crosses it there (``view``).
    """
    worth = np.zeros(LINE_CODES, np.int32)
    for number in range(len(CODES) ** SIZE):
        line = 0
        for k in range(SIZE):
            line |= CODES[number // len(CODES) ** k % len(CODES)] << 4 * k
        best = -(1 << 60)
        for k in range(SIZE):
            if is_open(line >> 4 * k & 15):
                best = max(best, _expected_cell(line, k, values, worth))
        if best == -(1 << 60):
            best = worth_now(line, values) * POINT // 2
        worth[line] = best
    return worth


@kernel
def board_worth(board: int, line: NDArray[np.int32]) -> int:
    """The sum of a table over the eight lines of a board."""
    total = 0
    for lines in (board, transpose(board)):
        for k in range(SIZE):
            total += line[lines >> 16 * k & 0xFFFF]
    return total
