"""Perfect decisions read from a solution, for bots: the best placement, RUIN or Power, in kernels.

Worths count in 1/scale points from the start of the turn on, as those of ``magsim.solver`` do.
Where Powers are compared they are taken 1296 times, so that means over throws stay whole.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim import solver
from magsim.board import CELLS, DICE, SIDES, format_board
from magsim.bot import Answers, Position, Positions, option
from magsim.compiled import lean_kernel, source_key
from magsim.decision import Decision
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
from magsim.errors import MagsimError
from magsim.rules import Rules
from magsim.solver.classes import class_word, find, ruined
from magsim.solver.perfect import (
    UNKNOWN,
    Book,
    Perfect,
    best_placement,
    best_ruin,
    future,
    needed_perfect,
)
from magsim.solver.placements import list_placements
from magsim.solver.stakes import FORBIDDEN
from magsim.solver.work import Work
from magsim_bots.ranking import Option, paid, power_options, ranked
from magsim_bots.turn import HAND_COUNT, THROWS, best_power, sum_throws

NO_DECISION = -(1 << 62)
"""Where the solution does not reach all that a position leads to."""


class Guide(NamedTuple):
    """A solution for one set of rules, with room for the kernels here."""

    book: Book
    levels: NDArray[np.int64]
    """``[Powers left]``: the level of the solution; shape (Powers + 1,)."""
    work: Work
    worth: NDArray[np.int64]
    """``[Powers left, hand]``: what rolls are worth, and sums over throws of smaller hands.

    Shape (Powers + 1, 210).
    """
    kept: NDArray[np.int64]
    """``[hand]``: what rerolling all but a hand or some of it is worth; shape (84,)."""
    ruin: NDArray[np.int64]
    """``[Powers left]``: what the best RUIN is worth, paid for; shape (Powers + 1,)."""


@lean_kernel
def _weigh_ruins(board: int, left: int, guide: Guide) -> None:
    """Fill ``Guide.ruin`` up to so many Powers left."""
    book, levels, ruin = guide.book, guide.levels, guide.ruin
    masks, lines, _ = book.tables
    mask = empty_mask(board)
    word = class_word(board, masks.bits[mask], lines)
    ruin[:] = UNKNOWN
    for cell in range(CELLS):
        if mask >> cell & 1:
            rest = mask & ~(1 << cell)
            after = ruined(word, masks.bits[rest], cell, lines)
            found = find(after, rest, masks, book.below.layers[0])
            guide.work.missing[0] += found < 0
            for k in range(left + 1 if found >= 0 else 0):
                value = np.int64(book.below.vectors[0][found, levels[k]])
                ruin[k] = max(ruin[k], value - book.stakes.ruin)


@lean_kernel
def _weigh_placements(least: int, level: int, work: Work, worth: NDArray[np.int64]) -> None:
    """Fill a row of ``Guide.worth`` by placements of ``least`` dice or more, those listed."""
    for size in range(least, DICE + 1):
        first = FIRST_HAND[size]
        for k in range(FIRST_HAND[size + 1] - first):
            best = UNKNOWN
            if work.met[size, k]:
                best = int(work.best[k, level] if size == DICE else work.stop[size, k, level])
            for die in range(size if size > least else 0):
                best = max(best, worth[HAND_REMOVE[first + k, HAND_DICE[first + k, die]]])
            worth[first + k] = best


@lean_kernel
def _forget_placements(work: Work) -> None:
    """Make what was listed ready for the next board."""
    for size in range(1, DICE + 1):
        for k in range(FIRST_HAND[size + 1] - FIRST_HAND[size]):
            if work.met[size, k]:
                work.met[size, k] = 0
                if size == DICE:
                    work.best[k] = FORBIDDEN
                else:
                    work.stop[size, k] = FORBIDDEN


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
def weigh(board: int, left: int, guide: Guide) -> None:
    """Fill ``Guide.worth`` up to so many Powers left: what rolls on a board are worth, Powers used.

    The board must have an empty cell.
    """
    book, work = guide.book, guide.work
    stakes = book.stakes
    mask = empty_mask(board)
    word = class_word(board, book.tables.masks.bits[mask], book.tables.lines)
    empty = count_bits(mask)
    list_placements(mask, word, ANY_HAND, empty, book.below, book.tables, stakes, work)
    _weigh_ruins(board, left, guide)
    for k in range(left + 1):
        level, worth = guide.levels[k], guide.worth[k]
        _weigh_placements(min(stakes.minimum, empty), level, work, worth)
        for roll in range(FIRST_ROLL, HAND_COUNT):
            if worth[roll] == UNKNOWN:
                worth[roll] = guide.ruin[k]
        if k > 0:
            _use_powers(stakes.cost[level], guide.worth[k - 1], guide.kept, worth)
        sum_throws(worth)
    _forget_placements(work)


@lean_kernel
def choose(board: int, hand: int, left: int, guide: Guide) -> tuple[int, int]:
    """The best decision in a position, packed, and 1296 times what it is worth, Powers paid for.

    Of equals it is the first of the placements, or of the RUINs, or of the Powers. ``NO_DECISION``
    if the solution does not reach all that they lead to.
    """
    book, work, level = guide.book, guide.work, guide.levels[left]
    work.missing[0] = 0
    best, decision = best_placement(board, hand, level, book, work)
    if best == UNKNOWN:
        best, decision = best_ruin(board, level, book)
    total = best * THROWS
    if left > 0:
        weigh(board, left - 1, guide)
        worth, power = best_power(hand, book.stakes.cost[level], guide.worth[left - 1])
        if worth > total:
            total, decision = worth, power
    if best == UNKNOWN or work.missing[0]:
        return NO_DECISION, 0
    return decision, total


@lean_kernel
def _decide_batch(
    boards: NDArray[np.int64],
    hands: NDArray[np.int64],
    powers_left: NDArray[np.int64],
    values: RuleValues,
    guide: Guide,
    decisions: NDArray[np.int64],
    estimates: NDArray[np.float64],
) -> None:
    scale, powers = guide.book.stakes.scale, len(values.power_costs)
    for row in range(len(boards)):
        board, left = boards[row], powers_left[row]
        decision, total = choose(board, hands[row], left, guide)
        now = score(board, values)
        for k in range(powers - left):
            now -= values.power_costs[k]
        decisions[row], estimates[row] = decision, total / THROWS / scale + now


@cache
def guide_of(perfect: Perfect) -> Guide:
    """The guide by perfect play; not for two threads at once."""
    rows = len(perfect.levels)
    return Guide(
        perfect.book,
        perfect.levels,
        perfect.new_work(),
        np.full((rows, HAND_COUNT), UNKNOWN, np.int64),
        np.empty(FIRST_ROLL, np.int64),
        np.empty(rows, np.int64),
    )


def reliance(rules: Rules, empty: int) -> str:
    """What a bot relies on that plays perfectly from so many empty cells on.

    Raises:
        MagsimError: if there is no solution that reaches so far.
    """
    program = source_key([Path(solver.__file__).parent])
    return f"solution {needed_perfect(rules, empty).fingerprint} read by {program}"


def decide(positions: Positions) -> Answers:
    """Perfect decisions, each with the expected final score.

    Raises:
        MagsimError: if there is no solution, or it does not reach a position.
    """
    perfect = needed_perfect(positions.rules, 0)
    decisions = np.empty(len(positions), np.int64)
    estimates = np.empty(len(positions), np.float64)
    _decide_batch(
        positions.boards,
        positions.hands,
        positions.powers_left,
        positions.values,
        guide_of(perfect),
        decisions,
        estimates,
    )
    lost = np.flatnonzero(decisions == NO_DECISION)
    if len(lost):
        board = format_board(int(positions.boards[lost[0]]))
        raise MagsimError(f"board {board}: the solution in {perfect.path} does not reach it")
    return Answers(decisions, estimates)


def endgame_option() -> int:
    """The option ``endgame`` of bots that search before it."""
    chosen: int = option(
        0,
        "play perfectly from so many empty cells on, by a solution that reaches so far",
        minimum=0,
        maximum=CELLS,
    )
    return chosen


def empty_cells_left(boards: NDArray[np.int64]) -> NDArray[np.uint8]:
    """How many empty cells boards have."""
    filled = (boards | boards >> 1 | boards >> 2) & 0x1111111111111111
    return np.asarray(CELLS - np.bitwise_count(filled))


def decide_endgame(
    positions: Positions, endgame: int, search: Callable[[Positions], Answers]
) -> Answers:
    """Perfect decisions from so many empty cells on, and before that those of a ``search``.

    Raises:
        MagsimError: if there is no solution, or it does not reach a position.
    """
    if endgame == 0:
        return search(positions)
    late = empty_cells_left(positions.boards) <= endgame
    decisions = np.empty(len(positions), np.int64)
    estimates = np.full(len(positions), np.nan)
    for rows, decide_some in ((late, decide), (~late, search)):
        if rows.any():
            some = Positions(
                positions.boards[rows],
                positions.hands[rows],
                positions.powers_left[rows],
                positions.keys[rows],
                positions.rules,
            )
            answers = decide_some(some)
            decisions[rows] = answers.decisions
            if answers.estimates is not None:
                estimates[rows] = answers.estimates
    return Answers(decisions, estimates)


def rank(position: Position) -> list[Decision]:
    """Every legal decision with the final score to expect of it, the one decided for first.

    Raises:
        MagsimError: if there is no solution, or it does not reach the position.
    """
    first = int(decide(position.alone(0)).decisions[0])
    perfect = needed_perfect(position.rules, 0)
    guide, scale = guide_of(perfect), perfect.scale
    book, left, now = guide.book, position.powers_left, position.score(position.board)
    options: list[Option] = []
    for decision in (*position.placements(), *position.ruins()):
        after = position.after(decision)
        gain = (position.score(after) - now) * scale
        options.append(((int(future(after, guide.levels[left], book)) + gain) * THROWS, after))
    if position.power_cost is not None:
        weigh(position.board, left - 1, guide)
        options += power_options(position.dice, position.power_cost * scale, guide.worth[left - 1])
    options.sort(key=lambda option: option[1] != first)
    now -= paid(position)
    return ranked(options, position, len(options), lambda worth: worth / THROWS / scale + now)
