"""All placements of a turn with the worth of each: one enumeration for one roll or for all at once.

It grows sets of cells as ``engine.outcomes`` does, so that each outcome arises once, and keeps what
``judge`` says of a board up to date instead of judging each anew.
"""

import numpy as np
from numpy.typing import NDArray

from magsim.board import DICE, RUIN, SIDES, SIZE
from magsim.compiled import kernel
from magsim.engine import (
    ANY_HAND,
    HAND_ADD,
    HAND_MASK,
    HAND_REMOVE,
    LOW_BIT,
    NEIGHBOUR_MASK,
    RuleValues,
    around,
    count_bits,
    empty_mask,
    frontier,
    legal_values,
    number_mask,
    required_minimum,
    transpose,
)
from magsim_bots.judge import (
    INNER,
    LANES,
    Judge,
    blocked_lanes,
    fitting,
    lines_worth,
    static_worth,
)
from magsim_bots.lines import view
from magsim_bots.windows import SHIFTS, WINDOWS, WINDOWS_OF, window_codes

NOTHING = -(1 << 40)
"""Less than anything a board can be worth: there is no such placement."""


MOST_CELLS = 8192
"""No enumeration looks at more cells than this in its placements; only far from the published
rules, where nearly everything is allowed, is that not all of them."""
HIGH_BIT = np.array([max(mask.bit_length() - 1, 0) for mask in range(1 << SIDES + 1)])
"""``[m]``: the place of the highest bit of a mask of values; shape (128,)."""


@kernel
def die_worths(
    board: int,
    worth: int,
    rows: int,
    columns: int,
    cell: int,
    lowest: int,
    highest: int,
    part: int,
    judge: Judge,
    totals: NDArray[np.int64],
) -> None:
    """Write into ``totals[die]`` what the lines are worth with each die of a range on a cell.

    ``worth`` is what they are worth now, by the same ``part`` of the tables, ``rows`` and
    ``columns`` are the ``view`` of the board and that of its transpose. Six lines can change: the
    two of the cell, and those that cross them at its empty neighbours.
    """
    crossing = judge.crossing
    across, down = cell & 3, cell >> 2
    edge, inner = judge.line[2 * part], judge.line[2 * part + 1]
    line, other = inner if INNER[down] else edge, inner if INNER[across] else edge
    row = rows >> 16 * down & 0xFFFF
    column = columns >> 16 * across & 0xFFFF
    worth -= line[row] + other[column]
    row &= ~(15 << 4 * across)
    column &= ~(15 << 4 * down)
    for die in range(lowest, highest + 1):
        totals[die] = line[row | die << 4 * across] + other[column | die << 4 * down]
    for side in range(4):
        vertical = side < 2
        at, place = (down, across) if vertical else (across, down)
        step = 1 if side & 1 else -1
        if not 0 <= at + step < SIZE:
            continue
        jump = SIZE * step if vertical else step
        beside = cell + jump
        if board >> 4 * beside & 15:
            continue
        beyond = 0
        if 0 <= at + 2 * step < SIZE:
            beyond = board >> 4 * (beside + jump) & 15
        crossed = (rows if vertical else columns) >> 16 * (at + step) & 0xFFFF
        line = inner if INNER[at + step] else edge
        worth -= line[crossed]
        crossed &= ~(15 << 4 * place)
        for die in range(lowest, highest + 1):
            totals[die] += line[crossed | crossing[beyond << 3 | die] << 4 * place]
    for die in range(lowest, highest + 1):
        totals[die] += worth


@kernel
def note_windows(board: int, part: int, judge: Judge, codes: NDArray[np.int64]) -> int:
    """Write the codes of the windows of a board; what they are worth together."""
    window_codes(board, codes)
    total = 0
    for k in range(WINDOWS):
        total += judge.window[part, codes[k]]
    return total


@kernel
def window_change(cell: int, die: int, part: int, judge: Judge, codes: NDArray[np.int64]) -> int:
    """What a die on an empty cell changes in what the windows are worth that have these codes."""
    total, table = 0, judge.window[part]
    for k in range(WINDOWS_OF.shape[1]):
        window = WINDOWS_OF[cell, k]
        if window < 0:
            break
        code = codes[window]
        total += np.int64(table[code + (die << SHIFTS[cell, k])]) - table[code]
    return total


@kernel
def _keep(
    board: int, worth: int, kept: int, boards: NDArray[np.int64], worths: NDArray[np.int64]
) -> int:
    """Insert a board into the best ones so far, behind its equals; returns how many there are."""
    width = len(boards)
    if kept == width:
        if worth <= worths[kept - 1]:
            return kept
        kept -= 1
    at = kept
    while at > 0 and worths[at - 1] < worth:
        worths[at] = worths[at - 1]
        boards[at] = boards[at - 1]
        at -= 1
    worths[at] = worth
    boards[at] = board
    return kept + 1


@kernel
def grow(
    board: int,
    hand: int,
    left: int,
    reach: int,
    values: RuleValues,
    judge: Judge,
    spare: NDArray[np.int64],
    best: NDArray[np.int64],
    found: NDArray[np.int64],
    worths: NDArray[np.int64],
) -> int:
    """Judge all placements of a hand, of at most ``reach`` dice.

    For ``ANY_HAND``, write into ``best[hand]`` the worth of the best board that placing exactly
    that hand leaves; for a roll, keep the best outcomes in ``found`` and ``worths``, best first.
    Returns how many were kept.
    """
    least = max(required_minimum(board, values), 1)
    boards = np.empty(DICE, np.int64)  # per dice placed: the board with them staged,
    rows = np.empty(DICE, np.int64)  # its view,
    columns = np.empty(DICE, np.int64)  # that of its transpose,
    lines = np.empty(DICE, np.int64)  # what its lines are worth,
    near = np.empty(DICE, np.int64)  # the cells next to a number,
    low_values = np.empty(DICE, np.int64)  # the lanes of blocked cells,
    high_values = np.empty(DICE, np.int64)
    placed = np.empty(DICE, np.int64)  # the hand that is staged,
    hands = np.empty(DICE, np.int64)  # the dice not yet staged,
    waiting = np.empty(DICE, np.int64)  # cells still to be tried for the next die,
    barred = np.empty(DICE, np.int64)  # cells that may no longer be used,
    cells = np.empty(DICE, np.int64)  # the cell being tried,
    dice = np.empty(DICE, np.int64)  # the values still to be tried on it
    totals = np.empty((DICE, SIDES + 1), np.int64)  # and what the lines are worth with each
    stops = np.empty((DICE, SIDES + 1), np.int64)  # what the board is worth as it is then,
    codes = np.empty((DICE, WINDOWS), np.int64)  # the windows of the board,
    inside = np.empty(DICE, np.int64)  # and what they are worth
    empty = empty_mask(board)
    empties = count_bits(empty)
    reach = min(reach, empties)
    numbers = number_mask(board)
    boards[0] = board
    parts, windows = judge.part[left], len(judge.window) > 0
    if windows:
        inside[0] = note_windows(board, parts[empties - 1], judge, codes[0])
    lines[0] = lines_worth(board, parts[empties - 1], judge)
    near[0] = around(numbers)
    low_values[0], high_values[0] = blocked_lanes(board, judge.far)
    placed[0] = 0
    hands[0] = hand
    waiting[0] = frontier(board)
    barred[0] = ~empty
    dice[0] = 0
    rows[0] = view(board, judge.crossing)
    columns[0] = view(transpose(board), judge.crossing)
    count = 0
    tried = 0
    depth = 0
    while depth >= 0 and (tried < MOST_CELLS or (count == 0 and hand != ANY_HAND)):
        if dice[depth] == 0:
            low = waiting[depth] & -waiting[depth]
            if low == 0:
                depth -= 1
                continue
            waiting[depth] ^= low
            barred[depth] |= low
            cell = np.int64(LOW_BIT[low])
            cells[depth] = cell
            staged = boards[depth]
            total = totals[depth]
            allowed = legal_values(staged, cell, values.near) & HAND_MASK[hands[depth]]
            if allowed == 0:
                continue
            tried += 1
            lowest, highest = np.int64(LOW_BIT[allowed & -allowed]), HIGH_BIT[allowed]
            part = parts[empties - depth - 1]
            die_worths(
                staged,
                lines[depth],
                rows[depth],
                columns[depth],
                cell,
                lowest,
                highest,
                part,
                judge,
                total,
            )
            if depth + 1 < reach:
                dice[depth] = allowed
            if depth + 1 < least:
                continue
            beside = NEIGHBOUR_MASK[cell] * LANES
            open_cells = (near[depth] | NEIGHBOUR_MASK[cell]) & empty_mask(staged) & ~np.int64(low)
            extra = spare[empties - depth - 1]
            for die in range(lowest, highest + 1):
                if allowed >> die & 1:
                    values_left = fitting(
                        open_cells,
                        low_values[depth] | beside & judge.far[die, 0],
                        high_values[depth] | beside & judge.far[die, 1],
                    )
                    worth = (
                        total[die] + extra + judge.openness[left, empties - depth - 1, values_left]
                    )
                    if windows:
                        worth += inside[depth] + window_change(cell, die, part, judge, codes[depth])
                    if hand == ANY_HAND:
                        used = HAND_ADD[placed[depth], die]
                        best[used] = max(best[used], worth)
                        stops[depth, die] = worth
                    else:
                        count = _keep(staged | die << 4 * cell, worth, count, found, worths)
            continue
        low = dice[depth] & -dice[depth]
        dice[depth] ^= low
        die = np.int64(LOW_BIT[low])
        if hand == ANY_HAND and depth + 1 >= least:
            used = HAND_ADD[placed[depth], die]
            if stops[depth, die] < best[used] - judge.trim:
                continue
        cell = cells[depth]
        kept = waiting[depth] if numbers or depth > 0 else 0
        depth += 1
        beside = NEIGHBOUR_MASK[cell]
        staged = boards[depth - 1] | die << 4 * cell
        boards[depth] = staged
        lines[depth] = totals[depth - 1, die]
        if parts[empties - depth - 1] != parts[empties - depth]:
            lines[depth] = lines_worth(staged, parts[empties - depth - 1], judge)
        near[depth] = near[depth - 1] | beside
        low_values[depth] = low_values[depth - 1] | beside * LANES & judge.far[die, 0]
        high_values[depth] = high_values[depth - 1] | beside * LANES & judge.far[die, 1]
        if windows:
            inside[depth] = note_windows(staged, parts[empties - depth - 1], judge, codes[depth])
        placed[depth] = HAND_ADD[placed[depth - 1], die]
        hands[depth] = HAND_REMOVE[hands[depth - 1], die]
        barred[depth] = barred[depth - 1]
        waiting[depth] = kept | beside & ~barred[depth]
        dice[depth] = 0
        if waiting[depth]:
            rows[depth] = view(staged, judge.crossing)
            columns[depth] = view(transpose(staged), judge.crossing)
    return count


@kernel
def candidates(
    board: int,
    hand: int,
    left: int,
    reach: int,
    values: RuleValues,
    judge: Judge,
    found: NDArray[np.int64],
    worths: NDArray[np.int64],
) -> int:
    """Write the best boards that this turn can leave, best first, and what they are worth.

    They are outcomes of at most ``reach`` dice (but of the required minimum where that is more), or
    in MAGDAGDON boards with one more RUIN; as many as ``found`` and ``worths`` (in 1/256 point)
    have room for; equals stay in the order of ``outcomes``. Returns how many were written.
    """
    reach = min(DICE, max(reach, required_minimum(board, values)))
    spare = judge.spare[left]
    count = grow(board, hand, left, reach, values, judge, spare, found, found, worths)
    if count == 0:
        empty = empty_mask(board)
        extra = spare[count_bits(empty) - 1]
        while empty:
            low = empty & -empty
            empty ^= low
            outcome = board | RUIN << 4 * np.int64(LOW_BIT[low])
            count = _keep(outcome, static_worth(outcome, left, judge) + extra, count, found, worths)
    return count


@kernel
def promising(worths: NDArray[np.int64], judge: Judge) -> int:
    """How many boards, sorted from the best on, are near enough to it to be looked at further."""
    count = len(worths)
    while worths[count - 1] < worths[0] - judge.slack:
        count -= 1
    return count


@kernel
def best_ruin(board: int, left: int, judge: Judge) -> int:
    """The worth of the board with one more RUIN, where that is best; ``Judge.spare`` apart."""
    best = NOTHING
    empty = empty_mask(board)
    while empty:
        low = empty & -empty
        empty ^= low
        best = max(best, static_worth(board | RUIN << 4 * np.int64(LOW_BIT[low]), left, judge))
    return best
