"""The best decision in a position, read from a solution: placement, RUIN or Power, in kernels.

Worths count in 1/scale points from the start of the turn on, as those of ``magsim.solver`` do.
Where Powers are compared they are taken 1296 times, so that means over throws stay whole.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS, DICE, RUIN, SIDES
from magsim.compiled import lean_kernel
from magsim.engine import (
    ANY_HAND,
    FIRST_HAND,
    FIRST_ROLL,
    HAND_ADD,
    HAND_DICE,
    HAND_REMOVE,
    RuleValues,
    count_bits,
    empty_mask,
    score,
)
from magsim.solver.classes import Classes, class_word, find, ruined
from magsim.solver.limits import Limits, may_pay
from magsim.solver.perfect import UNKNOWN, Book, Perfect
from magsim.solver.placements import list_placements
from magsim.solver.stakes import FORBIDDEN
from magsim.solver.words import scrambled
from magsim.solver.work import LEVEL, REST, VALUE, WORD, Flags, Tables, Values, Work
from magsim_bots.turn import HAND_COUNT, THROWS, best_power, sum_throws

NO_DECISION = -(1 << 62)
"""Where the solution does not reach all that a position leads to."""
EARLY = 9
"""Boards with so many empty cells are few enough in perfect play to be remembered."""
DECISIONS, BOARDS = 1 << 17, 1 << 12
"""How many decisions, and how many boards with all their rolls, are remembered."""


class Room(NamedTuple):
    """Where a board and its rolls are weighed."""

    worth: NDArray[np.int64]
    """``[Powers left, hand]``: what a roll is worth, or the sum over throws of a smaller hand.

    Shape (Powers + 1, 210).
    """
    kept: NDArray[np.int64]
    """``[hand]``: what rerolling all but a hand or some of it is worth; shape (84,)."""
    ruin: NDArray[np.int64]
    """``[Powers left]``: what the best RUIN is worth, paid for; shape (Powers + 1,)."""


class Memo(NamedTuple):
    """What was found before: it saves time and changes nothing."""

    board: NDArray[np.int64]
    """``[slot]``: where a decision was made; the last slot is the latest; (131073,), like ...

    ``asked``, ``decision`` and ``total``.
    """
    asked: NDArray[np.int64]
    """Hand and Powers left, in one number."""
    decision: NDArray[np.int64]
    total: NDArray[np.int64]
    """1296 times what it is worth."""
    weighed: NDArray[np.int64]
    """``[slot]``: a board whose rolls were weighed; shape (4096,), like ``left``."""
    left: NDArray[np.int64]
    """With so many Powers left."""
    worth: NDArray[np.int64]
    """``[slot]``: a row of ``Room.worth``; shape (4096, 210)."""


class Guide(NamedTuple):
    """A solution for one set of rules, with room for the kernels here."""

    book: Book
    levels: NDArray[np.int64]
    """``[Powers left]``: the level of the solution; shape (Powers + 1,)."""
    limits: Limits
    """Where they are known, they spare weighing Powers that cannot pay."""
    work: Work
    room: Room
    memo: Memo


def new_guide(perfect: Perfect) -> Guide:
    """A guide by perfect play that remembers nothing yet; not for two threads at once."""
    rows = len(perfect.levels)
    room = Room(
        np.full((rows, HAND_COUNT), UNKNOWN, np.int64),
        np.empty(FIRST_ROLL, np.int64),
        np.empty(rows, np.int64),
    )
    memo = Memo(
        *np.full((4, DECISIONS + 1), -1, np.int64),
        *np.full((2, BOARDS), -1, np.int64),
        np.empty((BOARDS, HAND_COUNT), np.int64),
    )
    return Guide(perfect.book, perfect.levels, perfect.limits, perfect.new_work(), room, memo)


@lean_kernel
def _weigh_ruins(
    mask: int,
    word: int,
    levels: NDArray[np.int64],
    penalty: int,
    tables: Tables,
    classes: Classes,
    values: Values,
    missing: NDArray[np.int64],
    ruin: NDArray[np.int64],
) -> int:
    """Fill ``Room.ruin`` for these levels; the cell that is best at the last of them."""
    masks, lines, _ = tables
    last = len(levels) - 1
    best, choice = UNKNOWN, 0
    ruin[:] = UNKNOWN
    for cell in range(CELLS):
        if mask >> cell & 1:
            rest = mask & ~(1 << cell)
            found = find(ruined(word, masks.bits[rest], cell, lines), rest, masks, classes)
            if found < 0:
                missing[0] += 1
                continue
            for k in range(last + 1):
                ruin[k] = max(ruin[k], np.int64(values[found, levels[k]]) - penalty)
            if ruin[last] > best:
                best, choice = ruin[last], cell
    return choice


@lean_kernel
def _stay(
    board: int, mask: int, cell: int, ruin: int, choice: NDArray[np.int64], bits: NDArray[np.int64]
) -> tuple[int, int]:
    """The placement chosen, or a RUIN on a cell if there is one to go on, and its total."""
    if cell >= 0:
        return board | RUIN << 4 * cell, ruin * THROWS
    placed = choice[WORD] & bits[mask & ~choice[REST]] * 15
    return board | placed, choice[VALUE] * THROWS


@lean_kernel
def _weigh_placements(
    least: int, level: int, met: Flags, best: Values, stop: Values, worth: NDArray[np.int64]
) -> None:
    """Fill what rolls are worth by placements of ``least`` dice or more, those listed.

    ``met``, ``best`` and ``stop`` are those of ``Work``.
    """
    for size in range(least, DICE + 1):
        first = FIRST_HAND[size]
        for k in range(FIRST_HAND[size + 1] - first):
            top = UNKNOWN
            if met[size, k]:
                top = int(best[k, level] if size == DICE else stop[size, k, level])
            for die in range(size if size > least else 0):
                top = max(top, worth[HAND_REMOVE[first + k, HAND_DICE[first + k, die]]])
            worth[first + k] = top


@lean_kernel
def _forget_placements(met: Flags, best: Values, stop: Values) -> None:
    """Make what was listed ready for the next board."""
    for size in range(1, DICE + 1):
        for k in range(FIRST_HAND[size + 1] - FIRST_HAND[size]):
            if met[size, k]:
                met[size, k] = 0
                if size == DICE:
                    best[k] = FORBIDDEN
                else:
                    stop[size, k] = FORBIDDEN


@lean_kernel
def _use_powers(
    cost: int, fewer: NDArray[np.int64], kept: NDArray[np.int64], worth: NDArray[np.int64]
) -> None:
    """Raise the worth of each roll to that of its best Power, which leads to ``fewer``."""
    size, ways = 0, 1
    for hand in range(FIRST_ROLL):
        if hand == FIRST_HAND[size + 1]:
            size, ways = size + 1, ways * SIDES
        kept[hand] = fewer[hand] * ways
        for k in range(size):
            kept[hand] = max(kept[hand], kept[HAND_REMOVE[hand, HAND_DICE[hand, k]]])
    for roll in range(FIRST_ROLL, HAND_COUNT):
        best = kept[0]
        for k in range(DICE):
            die = HAND_DICE[roll, k]
            rest = HAND_REMOVE[roll, die]
            best = max(best, kept[rest])
            if die < SIDES:
                best = max(best, fewer[HAND_ADD[rest, die + 1]] * THROWS)
            if die > 1:
                best = max(best, fewer[HAND_ADD[rest, die - 1]] * THROWS)
        worth[roll] = max(worth[roll], (best + THROWS // 2) // THROWS - cost)


@lean_kernel
def _weigh_rolls(
    least: int,
    levels: NDArray[np.int64],
    costs: NDArray[np.int64],
    met: Flags,
    best: Values,
    stop: Values,
    room: Room,
) -> None:
    """Fill ``Room.worth`` for these levels, from all placements, which were listed, and RUINs."""
    for k in range(len(levels)):
        worth = room.worth[k]
        _weigh_placements(least, levels[k], met, best, stop, worth)
        for roll in range(FIRST_ROLL, HAND_COUNT):
            if worth[roll] == UNKNOWN:
                worth[roll] = room.ruin[k]
        if k > 0:
            _use_powers(costs[levels[k]], room.worth[k - 1], room.kept, worth)
        sum_throws(worth)
    _forget_placements(met, best, stop)


@lean_kernel
def _slot(board: int, asked: int, slots: int) -> int:
    """Where something is remembered; ``slots`` is a power of two."""
    return (scrambled(board ^ scrambled(asked)) >> 32) & (slots - 1)


@lean_kernel
def _recall(board: int, left: int, memo: Memo, worth: NDArray[np.int64]) -> bool:
    """Fill a row of ``Room.worth``, if it is remembered; whether it is."""
    slot = _slot(board, left, BOARDS)
    if memo.weighed[slot] != board or memo.left[slot] != left:
        return False
    for hand in range(HAND_COUNT):
        worth[hand] = memo.worth[slot, hand]
    return True


@lean_kernel
def _remember(board: int, left: int, early: bool, memo: Memo, worth: NDArray[np.int64]) -> None:
    """Remember a row of ``Room.worth``, if the board is an early one."""
    if not early:
        return
    slot = _slot(board, left, BOARDS)
    memo.weighed[slot], memo.left[slot] = board, left
    for hand in range(HAND_COUNT):
        memo.worth[slot, hand] = worth[hand]


@lean_kernel
def _expected(board: int, left: int, total: int, values: RuleValues, scale: int) -> float:
    """The final score to expect, in points, all Powers paid for."""
    now = score(board, values)
    for k in range(len(values.power_costs) - left):
        now -= values.power_costs[k]
    return float(total / THROWS / scale + now)


@lean_kernel
def decide_all(
    boards: NDArray[np.int64],
    hands: NDArray[np.int64],
    powers_left: NDArray[np.int64],
    values: RuleValues,
    guide: Guide,
    decisions: NDArray[np.int64],
    estimates: NDArray[np.float64],
) -> None:
    """Write the best decisions, packed, and the expected final scores in points.

    Of equals it is the first of the placements, or of the RUINs, or of the Powers. ``NO_DECISION``
    if the solution does not reach all that they lead to.
    """
    (below, tables, stakes), work, room, memo = guide.book, guide.work, guide.room, guide.memo
    choice, bits = work.choice, tables.masks.bits
    for row in range(len(boards)):
        board, hand, left = boards[row], hands[row], powers_left[row]
        levels, mask, asked = guide.levels[: left + 1], empty_mask(board), hand << 4 | left
        empty, worth = count_bits(mask), room.worth[max(left - 1, 0)]
        early = empty >= EARLY
        slot = _slot(board, asked, DECISIONS) if early else DECISIONS
        if not early or memo.board[slot] != board or memo.asked[slot] != asked:
            word, decision, total = class_word(board, bits[mask], tables.lines), board, 0
            weigh, work.missing[0] = True, 0
            for dice in (hand, ANY_HAND):  # a loop, for the listing takes long to compile
                choice[VALUE], choice[LEVEL] = UNKNOWN, levels[left] if dice == hand else -1
                list_placements(mask, word, dice, empty, below, tables, stakes, work)
                cell = -1
                if choice[VALUE] == UNKNOWN:  # in MAGDAGDON, or with any dice
                    layer = below.layers[0], below.vectors[0], work.missing
                    cell = _weigh_ruins(mask, word, levels, stakes.ruin, tables, *layer, room.ruin)
                if dice == ANY_HAND:
                    least, listed = min(stakes.minimum, empty), (work.met, work.best, work.stop)
                    _weigh_rolls(least, levels[:left], stakes.cost, *listed, room)
                    _remember(board, left, early, memo, worth)
                    break
                decision, total = _stay(board, mask, cell, room.ruin[left], choice, bits)
                classes = tables.masks, below.layers[0], below.vectors[0], guide.limits
                weigh = may_pay(total // THROWS, word, mask, levels[left], stakes, *classes)
                if not weigh or (early and _recall(board, left, memo, worth)):
                    break
            if weigh:
                most, power = best_power(hand, stakes.cost[levels[left]], worth)
                decision, total = (power, most) if most > total else (decision, total)
            memo.board[slot], memo.asked[slot], memo.total[slot] = board, asked, total
            memo.decision[slot] = NO_DECISION if work.missing[0] else decision
        decisions[row] = memo.decision[slot]
        estimates[row] = _expected(board, left, memo.total[slot], values, stakes.scale)
