"""Points at once: what a roll can add to the score this turn, exactly and by a cheap bound.

Everything ``greedy`` counts with. All numbers are twice the score, so that a RUIN's half penalty in
each of its lines is whole, and sums over lines of the table ``lines.current_worth``.
"""

import numpy as np
from numpy.typing import NDArray

from magsim.board import DICE, SIZE
from magsim.compiled import kernel
from magsim.engine import (
    FIRST_ROLL,
    HAND_ADD,
    HAND_DICE,
    HAND_MASK,
    HAND_REMOVE,
    LOW_BIT,
    NEIGHBOUR_MASK,
    RuleValues,
    empty_mask,
    frontier,
    legal_values,
    line_bonus,
    number_mask,
    required_minimum,
    transpose,
)
from magsim_bots.growth import HIGH_BIT, NOTHING
from magsim_bots.lines import board_worth, worth_now
from magsim_bots.turn import HAND_COUNT

FOUR_DICE = 4 * HAND_DICE[FIRST_ROLL:].sum(axis=1)
"""``[roll]``: what its numbers add to twice the score when all are placed; (126,)."""


@kernel
def short_code(line: int) -> int:
    """A line with three bits a cell instead of four."""
    return line & 7 | line >> 1 & 0x38 | line >> 2 & 0x1C0 | line >> 3 & 0xE00


@kernel
def bonus_bounds(values: RuleValues) -> NDArray[np.int32]:
    """``[short code, roll]``: the most bonus, doubled, that a roll can earn in a line by itself.

    Rolls count from ``FIRST_ROLL``. Shape (4096, 126).
    """
    bonus = np.zeros((8**SIZE, HAND_COUNT), np.int32)
    for full in range(8**SIZE):
        line = 0
        fits = True
        for k in range(SIZE):
            value = full >> 3 * k & 7
            fits &= k == 0 or values.near[line >> 4 * (k - 1) & 15] >> value & 1
            line |= value << 4 * k
        if not fits or line_bonus(line) == 0:
            continue
        points = worth_now(line, values)
        for mask in range(1, 1 << SIZE):
            hand, before, code = 0, 0, 0
            for k in range(SIZE):
                value = full >> 3 * k & 7
                if mask >> k & 1:
                    hand = HAND_ADD[hand, value]
                else:
                    code |= value << 3 * k
                before += 2 * value
            bonus[code, hand] = max(bonus[code, hand], points - before)
    for code in range(8**SIZE):
        for hand in range(1, HAND_COUNT):
            top = bonus[code, hand]
            for k in range(DICE):
                if HAND_DICE[hand, k]:
                    top = max(top, bonus[code, HAND_REMOVE[hand, HAND_DICE[hand, k]]])
            bonus[code, hand] = top
    return bonus[:, FIRST_ROLL:].copy()


@kernel
def bounds(codes: NDArray[np.int64], bonus: NDArray[np.int32], most: NDArray[np.int64]) -> None:
    """Write the most that each roll can add to twice the score into ``most[FIRST_ROLL:]``; (210,).

    Four dice complete one line at most of those with three or four empty cells: two such lines have
    five empty cells or more between them.
    """
    rolls = HAND_COUNT - FIRST_ROLL
    long_line = np.zeros(rolls, np.int64)
    most[FIRST_ROLL:] = FOUR_DICE
    for code in codes:
        empties = 0
        for k in range(SIZE):
            empties += code >> 3 * k & 7 == 0
        if empties > 2:
            for roll in range(rolls):
                long_line[roll] = max(long_line[roll], bonus[code, roll])
        elif empties > 0:
            for roll in range(rolls):
                most[FIRST_ROLL + roll] += bonus[code, roll]
    for roll in range(rolls):
        most[FIRST_ROLL + roll] += long_line[roll]


@kernel
def best_placement(
    board: int, hand: int, values: RuleValues, line: NDArray[np.int32], enough: int
) -> tuple[int, int]:
    """The best sum over lines that an outcome has, and the first such outcome of ``outcomes``.

    The enumeration of ``engine.outcomes`` with the sum kept up to date; it stops at a sum of
    ``enough``. The sum is ``NOTHING`` in MAGDAGDON.
    """
    required = max(required_minimum(board, values), 1)
    boards = np.empty(DICE, np.int64)  # per dice placed: the board with them staged,
    turned = np.empty(DICE, np.int64)  # the same transposed,
    worth = np.empty(DICE, np.int64)  # its sum over lines,
    hands = np.empty(DICE, np.int64)  # the dice not yet staged,
    waiting = np.empty(DICE, np.int64)  # cells still to be tried for the next die,
    barred = np.empty(DICE, np.int64)  # cells that may no longer be used,
    cells = np.empty(DICE, np.int64)  # the cell being tried
    dice = np.empty(DICE, np.int64)  # and the values still to be tried on it
    no_number = number_mask(board) == 0
    boards[0] = board
    turned[0] = transpose(board)
    worth[0] = board_worth(board, line)
    hands[0] = hand
    waiting[0] = frontier(board)
    barred[0] = ~empty_mask(board)
    dice[0] = 0
    best, outcome = NOTHING, board
    depth = 0
    while depth >= 0:
        if dice[depth] == 0:
            low = waiting[depth] & -waiting[depth]
            if low == 0:
                depth -= 1
                continue
            waiting[depth] ^= low
            barred[depth] |= low
            cells[depth] = LOW_BIT[low]
            allowed = legal_values(boards[depth], cells[depth], values.near)
            dice[depth] = allowed & HAND_MASK[hands[depth]]
            continue
        low = dice[depth] & -dice[depth]
        dice[depth] ^= low
        die = np.int64(LOW_BIT[low])
        cell = cells[depth]
        across, down = cell & 3, cell >> 2
        row = boards[depth] >> 16 * down & 0xFFFF
        column = turned[depth] >> 16 * across & 0xFFFF
        total = worth[depth] - line[row] - line[column]
        total += line[row | die << 4 * across] + line[column | die << 4 * down]
        staged = boards[depth] | die << 4 * cell
        if depth + 1 >= required and total > best:
            best, outcome = total, staged
            if best >= enough:
                return best, outcome
        rest = HAND_REMOVE[hands[depth], die]
        if rest and depth + 1 < DICE:
            kept = 0 if no_number and depth == 0 else waiting[depth]
            free = kept | NEIGHBOUR_MASK[cell] & ~barred[depth]
            depth += 1
            boards[depth] = staged
            turned[depth] = turned[depth - 1] | die << 4 * (SIZE * across + down)
            worth[depth] = total
            hands[depth] = rest
            barred[depth] = barred[depth - 1]
            waiting[depth] = free
            dice[depth] = 0
    return best, outcome


@kernel
def points_by_hand(
    board: int, values: RuleValues, line: NDArray[np.int32], best: NDArray[np.int64]
) -> None:
    """Write into ``best[hand]`` the best sum that placing exactly that hand leaves; (210,).

    The same enumeration, over all values at once; ``NOTHING`` where the hand cannot be placed.
    """
    best[:] = NOTHING
    boards = np.empty(DICE, np.int64)  # per dice placed: the board with them staged,
    turned = np.empty(DICE, np.int64)  # the same transposed,
    worth = np.empty(DICE, np.int64)  # its worth,
    hands = np.empty(DICE, np.int64)  # the hand that is staged,
    waiting = np.empty(DICE, np.int64)  # cells still to be tried for the next die,
    barred = np.empty(DICE, np.int64)  # cells that may no longer be used,
    cells = np.empty(DICE, np.int64)  # the cell being tried
    dice = np.empty(DICE, np.int64)  # and the values still to be tried on it
    no_number = number_mask(board) == 0
    boards[0] = board
    turned[0] = transpose(board)
    worth[0] = board_worth(board, line)
    hands[0] = 0
    waiting[0] = frontier(board)
    barred[0] = ~empty_mask(board)
    dice[0] = 0
    depth = 0
    while depth >= 0:
        if dice[depth] == 0:
            low = waiting[depth] & -waiting[depth]
            if low == 0:
                depth -= 1
                continue
            waiting[depth] ^= low
            barred[depth] |= low
            cells[depth] = LOW_BIT[low]
            dice[depth] = legal_values(boards[depth], cells[depth], values.near)
            if depth + 1 < DICE or dice[depth] == 0:
                continue
        cell = cells[depth]
        across, down = cell & 3, cell >> 2
        row = boards[depth] >> 16 * down & 0xFFFF
        column = turned[depth] >> 16 * across & 0xFFFF
        others = worth[depth] - line[row] - line[column]
        if depth + 1 == DICE:
            lowest, highest = LOW_BIT[dice[depth] & -dice[depth]], HIGH_BIT[dice[depth]]
            for die in range(lowest, highest + 1):
                hand = HAND_ADD[hands[depth], die]
                total = others + line[row | die << 4 * across] + line[column | die << 4 * down]
                best[hand] = max(best[hand], total)
            dice[depth] = 0
            continue
        low = dice[depth] & -dice[depth]
        dice[depth] ^= low
        die = np.int64(LOW_BIT[low])
        hand = HAND_ADD[hands[depth], die]
        total = others + line[row | die << 4 * across] + line[column | die << 4 * down]
        best[hand] = max(best[hand], total)
        kept = 0 if no_number and depth == 0 else waiting[depth]
        free = kept | NEIGHBOUR_MASK[cell] & ~barred[depth]
        depth += 1
        boards[depth] = boards[depth - 1] | die << 4 * cell
        turned[depth] = turned[depth - 1] | die << 4 * (SIZE * across + down)
        worth[depth] = total
        hands[depth] = hand
        barred[depth] = barred[depth - 1]
        waiting[depth] = free
        dice[depth] = 0
