"""Perfect play by recursion on the readable law: every roll, every placement, every Power.

It knows nothing of classes, of hands kept back or of the solver's tables, and is slow: boards with
up to three empty cells. Numbers are floats, or fractions where a test wants no rounding at all.
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import factorial, prod
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from magsim import rules as law
from magsim.board import DICE, RUIN, SIDES, cell_value, empty_cells, with_cell
from magsim.rules import Rules

Dice = tuple[int, ...]
Worths = NDArray[Any]
"""What each roll is worth, in the order of ``ROLLS``: floats, or fractions as objects."""

VALUES = range(1, SIDES + 1)
ROLLS = list(combinations_with_replacement(VALUES, DICE))
KEPT = [hand for count in range(DICE) for hand in combinations_with_replacement(VALUES, count)]


def ways(roll: Dice, kept: Dice) -> int:
    """In how many ways a reroll of all dice but those kept ends in a roll (R14)."""
    rolled = Counter(roll) - Counter(kept)
    if not Counter(kept) <= Counter(roll):
        return 0
    return factorial(rolled.total()) // prod(map(factorial, rolled.values()))


def padded(rows: list[set[int]]) -> NDArray[np.int64]:
    """Rows of one length, by repeating."""
    width = max(map(len, rows))
    return np.array([(list(row) * width)[:width] for row in rows])


def moved(roll: Dice) -> set[Dice]:
    """The dice after one of them is raised or lowered (R13)."""
    changed = ((k, die + step) for k, die in enumerate(roll) for step in (-1, 1))
    return {tuple(sorted((*roll[:k], die, *roll[k + 1 :]))) for k, die in changed if die in VALUES}


WAYS = np.array([[ways(roll, kept) for roll in ROLLS] for kept in KEPT])
MOVED = padded([{ROLLS.index(after) for after in moved(roll)} for roll in ROLLS])
KEEPING = padded(
    [{KEPT.index(h) for count in range(DICE) for h in combinations(roll, count)} for roll in ROLLS]
)


@cache
def holding(dice: Dice) -> NDArray[np.int64]:
    """The rolls that hold these dice."""
    return np.array([k for k, roll in enumerate(ROLLS) if Counter(dice) <= Counter(roll)])


def random_endgame(rules: Rules, random: Random, empty: int) -> int:
    """A board with exactly so many empty cells, by random legal dice and a RUIN now and then."""
    board = 0
    while len(open_cells := empty_cells(board)) > empty:
        steps = [(die, c) for die in VALUES for c in law.legal_cells(board, die, rules)]
        if steps and random.random() < 0.93:
            die, cell = random.choice(steps)
            board = with_cell(board, cell, die)
        else:
            board = with_cell(board, random.choice(open_cells), RUIN)
    return board


class PerfectPlay:
    """What perfect play gains from a board on, in points, before the roll."""

    def __init__(self, rules: Rules, number: Callable[[int], Any] = float) -> None:
        self.rules = rules
        self.number = number
        self.future = cache(self._future)
        self.worths = cache(self._worths)
        self.placements = cache(self._placements)
        self.score = cache(lambda board: law.score(board, rules).total)

    def _placements(self, board: int) -> dict[int, Dice]:
        """Every board that some dice make of this one, as many as required, and these dice."""
        required = law.required_minimum(board, self.rules)
        layer, found = {board}, {}
        for count in range(1, min(DICE, len(empty_cells(board))) + 1):
            layer = {
                with_cell(staged, cell, die)
                for staged in layer
                for die in VALUES
                for cell in law.legal_cells(staged, die, self.rules)
            }
            if count >= required:
                for after in layer:
                    changed = (cell_value(after ^ board, cell) for cell in empty_cells(board))
                    found[after] = tuple(sorted(die for die in changed if die))
        return found

    def outcomes(self, board: int, roll: Dice) -> set[int]:
        k = ROLLS.index(roll)
        return {after for after, dice in self.placements(board).items() if k in holding(dice)}

    def _after(self, board: int, after: int, powers: int) -> Any:
        return self.score(after) - self.score(board) + self.future(after, powers)

    def _worths(self, board: int, powers: int) -> Worths:
        """What each roll is worth with so many Powers left."""
        ruins = (with_cell(board, cell, RUIN) for cell in empty_cells(board))
        ruin = max(self._after(board, after, powers) for after in ruins)
        best: dict[Dice, Any] = {}
        for after, dice in self.placements(board).items():
            value = self._after(board, after, powers)
            best[dice] = max(value, best.get(dice, value))
        lawful = np.zeros(len(ROLLS), bool)
        worth = np.array([self.number(-(10**9))] * len(ROLLS))
        for dice, value in best.items():
            lawful[holding(dice)] = True
            worth[holding(dice)] = np.maximum(worth[holding(dice)], value)
        worth[~lawful] = ruin
        if powers:
            cost = self.rules.power_costs[self.rules.powers - powers]
            before = self.worths(board, powers - 1)
            rerolled = (WAYS @ before) / WAYS.sum(axis=1)
            worth = np.maximum(worth, before[MOVED].max(axis=1) - cost)
            worth = np.maximum(worth, rerolled[KEEPING].max(axis=1) - cost)
        return worth

    def _future(self, board: int, powers: int) -> Any:
        if law.is_over(board):
            return self.number(0)
        nothing_kept = WAYS[KEPT.index(())]
        return nothing_kept @ self.worths(board, powers) / self.number(int(nothing_kept.sum()))


def exactly(rules: Rules) -> PerfectPlay:
    """Without any rounding."""
    return PerfectPlay(rules, Fraction)
