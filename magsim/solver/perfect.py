"""Perfect play from a solution: what positions and decisions are worth, in kernels and out.

Kernels count in 1/scale points and from the start of the turn on: what is still to come, not what
stands on the board. ``Perfect`` speaks of expected final scores in points.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS, DICE, RUIN, SIDES, format_board
from magsim.bot import Position, rule_values
from magsim.compiled import lean_kernel
from magsim.decision import Decision, Place, Ruin, pack_decision
from magsim.engine import (
    FIRST_ROLL,
    HAND_ADD,
    HAND_INDEX,
    HAND_SIZE,
    RuleValues,
    count_bits,
    empty_mask,
    power_dice,
    score,
)
from magsim.errors import MagsimError
from magsim.rules import Rules
from magsim.solver.classes import class_word, find
from magsim.solver.hands import WAYS
from magsim.solver.limits import Limits
from magsim.solver.placements import list_placements
from magsim.solver.stakes import FORBIDDEN, Stakes
from magsim.solver.turns import weigh_powers, weigh_rolls
from magsim.solver.work import LEVEL, REST, VALUE, WORD, Below, Tables, Work, new_work

UNKNOWN = int(FORBIDDEN)
"""What kernels say of a board that the solution does not reach."""


class Book(NamedTuple):
    """A solution as kernels take it."""

    below: Below
    tables: Tables
    stakes: Stakes


class Judged(NamedTuple):
    """What decisions were worth, in 1/scale points from their turn on; int64, shapes (n,).

    ``UNKNOWN`` where the solution does not reach the board.
    """

    before: NDArray[np.int64]
    """Before the roll, with the Powers left then."""
    best: NDArray[np.int64]
    """With these dice, of the best decision."""
    staying: NDArray[np.int64]
    """With these dice, of the best decision that is no Power."""
    power: NDArray[np.int64]
    """With these dice, of the best Power, paid for; ``UNKNOWN`` if none is left."""
    made: NDArray[np.int64]
    """Of the decision that was made."""
    magdagdon: NDArray[np.int64]
    """1 if no placement of these dice is legal (R17), so that ``staying`` is a RUIN, else 0."""


def judged_rows(count: int) -> Judged:
    """Room for so many decisions."""
    return Judged(*(np.empty(count, np.int64) for _ in Judged._fields))


@lean_kernel
def future(board: int, level: int, book: Book) -> int:
    """What perfect play expects from the start of a turn, before the roll; or ``UNKNOWN``."""
    mask = empty_mask(board)
    word = class_word(board, book.tables.masks.bits[mask], book.tables.lines)
    found = find(word, mask, book.tables.masks, book.below.layers[0])
    return UNKNOWN if found < 0 else int(book.below.vectors[0][found, level])


@lean_kernel
def best_placement(board: int, hand: int, level: int, book: Book, work: Work) -> tuple[int, int]:
    """What the best placement of a roll is worth, and its outcome; ``UNKNOWN`` if none is legal.

    ``hand`` is as in ``engine.HANDS``.
    """
    mask = empty_mask(board)
    bits = book.tables.masks.bits
    word = class_word(board, bits[mask], book.tables.lines)
    choice = work.choice
    choice[LEVEL], choice[VALUE] = level, UNKNOWN
    empty = count_bits(mask)
    list_placements(mask, word, hand, empty, book.below, book.tables, book.stakes, work)
    choice[LEVEL] = -1
    if choice[VALUE] == UNKNOWN:
        return UNKNOWN, board
    return choice[VALUE], board | choice[WORD] & bits[mask & ~choice[REST]] * 15


@lean_kernel
def best_ruin(board: int, level: int, book: Book) -> tuple[int, int]:
    """What the best RUIN is worth, paid for, and the board with it; of equals the first cell."""
    best, outcome = UNKNOWN, board
    for cell in range(CELLS):
        if not board >> 4 * cell & 15:
            after = board | RUIN << 4 * cell
            value = future(after, level, book)
            if value != UNKNOWN and value - book.stakes.ruin > best:
                best, outcome = value - book.stakes.ruin, after
    return best, outcome


@lean_kernel
def weigh_board(board: int, book: Book, work: Work) -> bool:
    """Fill ``work.roll[:, :, 0]``: what each roll is worth, Powers used; whether it is known."""
    mask = empty_mask(board)
    masks = book.tables.masks
    word = class_word(board, masks.bits[mask], book.tables.lines)
    found = find(word, mask, masks, book.below.layers[0])
    if found < 0:
        return False
    canonical, empty = masks.canonical[mask], count_bits(mask)
    classes = book.below.layers[0]
    below, tables, stakes = book
    weigh_rolls(canonical, empty, found, 1, classes, below, tables, stakes, work)
    return True


@lean_kernel
def _after_throws(kept: int, level: int, work: Work) -> int:
    """1296 times what a board is worth after the dice that a hand lacks are thrown.

    The board is the one that was weighed.
    """
    size = HAND_SIZE[kept]
    throws = SIDES ** (DICE - size)
    total = 0
    for throw in range(throws):
        hand, rest = kept, throw
        for _ in range(DICE - size):
            hand, rest = HAND_ADD[hand, 1 + rest % SIDES], rest // SIDES
        total += work.roll[level, hand - FIRST_ROLL, 0]
    return int(total * (WAYS // throws))


@lean_kernel
def _best_power(hand: int, level: int, book: Book, work: Work) -> int:
    """What the best Power on a roll is worth, paid for; the board is the one that was weighed."""
    base = book.stakes.base[level]
    weigh_powers(work.roll[base], book.tables.hands, work)
    return int(work.power[hand - FIRST_ROLL, 0] - book.stakes.cost[level])


@lean_kernel
def judge(
    boards: NDArray[np.int64],
    hands: NDArray[np.int64],
    levels: NDArray[np.int64],
    decisions: NDArray[np.int64],
    values: RuleValues,
    book: Book,
    work: Work,
    judged: Judged,
) -> None:
    """Judge decisions, packed, on boards with dice (as in ``engine.HANDS``); shapes (n,).

    ``levels`` are those of the Powers left before each decision; ``values`` are those of the rules.
    Decisions on one board are judged faster one after the other.
    """
    weighed = -1
    for row in range(len(boards)):
        board, hand, level = boards[row], hands[row], levels[row]
        judged.before[row] = future(board, level, book)
        staying, _ = best_placement(board, hand, level, book, work)
        judged.magdagdon[row] = staying == UNKNOWN
        if staying == UNKNOWN:
            staying, _ = best_ruin(board, level, book)
        judged.staying[row] = judged.best[row] = staying
        judged.power[row] = UNKNOWN
        base = book.stakes.base[level]
        if base >= 0 and (board == weighed or weigh_board(board, book, work)):
            weighed = board
            judged.power[row] = _best_power(hand, level, book, work)
            judged.best[row] = max(staying, judged.power[row])
        if decisions[row] >= 0:
            gained = score(decisions[row], values) - score(board, values)
            to_come = future(decisions[row], level, book)
            judged.made[row] = gained * book.stakes.scale + to_come
            if to_come == UNKNOWN:
                judged.made[row] = UNKNOWN
        else:
            total = _after_throws(power_dice(hand, decisions[row]), base, work)
            judged.made[row] = (total + WAYS // 2) // WAYS - book.stakes.cost[level]


@lean_kernel
def _futures(boards: NDArray[np.int64], level: int, book: Book, found: NDArray[np.int64]) -> None:
    for row in range(len(boards)):
        found[row] = future(boards[row], level, book)


@dataclass(frozen=True, eq=False)
class Perfect:
    """Perfect play for one set of rules, as far as it was solved."""

    rules: Rules
    book: Book
    levels: NDArray[np.int64]
    """``[Powers left]``: the level of the solution; shape (Powers + 1,)."""
    limits: Limits
    """Of classes that have any, which are the first of all; shape (such classes, levels)."""
    most_empty: int
    """It reaches boards with so many empty cells."""
    path: Path
    fingerprint: str
    """Sixteen hex digits that stand for the whole solution."""

    @property
    def scale(self) -> int:
        """How many units of kernels make a point."""
        return self.book.stakes.scale

    def new_work(self) -> Work:
        """Room for the kernels here."""
        return new_work(len(self.book.stakes.base), 0)

    def futures(self, boards: Iterable[int], powers_left: int) -> NDArray[np.float64]:
        """What perfect play still gains from boards on, in points, before a roll.

        Raises:
            MagsimError: if the solution does not reach one of them.
        """
        wanted = np.array([*boards], np.int64)
        found = np.empty(len(wanted), np.int64)
        _futures(wanted, self.levels[powers_left], self.book, found)
        if (found == UNKNOWN).any():
            board = format_board(int(wanted[found == UNKNOWN][0]))
            raise MagsimError(f"board {board}: the solution in {self.path} does not reach it")
        return found / self.scale

    def value(self, board: int, powers_left: int) -> float:
        """The final score to expect from the start of a turn, before the roll; all Powers counted.

        Raises:
            MagsimError: if the solution does not reach the board.
        """
        return float(self.futures([board], powers_left)[0]) + self._now(board, powers_left)

    def _now(self, board: int, powers_left: int) -> int:
        """The score so far, the Powers used paid for."""
        spent = sum(self.rules.power_costs[: self.rules.powers - powers_left])
        return int(score(board, rule_values(self.rules))) - spent

    def weighed(self, position: Position) -> list[Decision]:
        """Every legal decision, each with the final score to expect of it; the best first.

        Raises:
            MagsimError: if the solution does not reach the board.
        """
        left = position.powers_left
        options: list[Place | Ruin] = [*position.placements(), *position.ruins()]
        boards = [position.after(option) for option in options]
        worths = self.futures(boards, left) + [self._now(board, left) for board in boards]
        found: list[Decision] = [
            replace(option, estimate=float(worth))
            for option, worth in zip(options, worths, strict=True)
        ]
        if left > 0:
            found += self._powers(position)
        return sorted(found, key=lambda option: -(option.estimate or 0.0))

    def _powers(self, position: Position) -> list[Decision]:
        """Every legal Power with the final score to expect of it."""
        work, level = self.new_work(), int(self.levels[position.powers_left])
        board, left = position.board, position.powers_left
        if not weigh_board(board, self.book, work):
            text = format_board(board)
            raise MagsimError(f"board {text}: the solution in {self.path} does not reach it")
        hand, base = HAND_INDEX[position.dice], int(self.book.stakes.base[level])
        powers: list[Decision] = []
        for power in position.powers():
            kept = int(power_dice(hand, pack_decision(power, board, position.dice)))
            total = int(_after_throws(kept, base, work))
            worth = total / WAYS / self.scale + self._now(board, left - 1)
            powers.append(replace(power, estimate=worth))
        return powers
