"""Perfect play from given boards: which classes they meet, solved layer by layer from the bottom.

It knows nothing of files.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from magsim import rules as law
from magsim.board import EMPTY_BOARD, format_board
from magsim.errors import MagsimError
from magsim.rules import Rules
from magsim.solver.classes import (
    Classes,
    class_word,
    discover,
    empty_mask,
    find,
    mask_tables,
)
from magsim.solver.hands import hand_tables
from magsim.solver.lines import line_tables
from magsim.solver.stakes import Stakes, levels_of, stakes_of
from magsim.solver.values import solve_layer
from magsim.solver.work import MOST_HELD, Tables, Values


class SolvedLayer(NamedTuple):
    """The classes of a layer and their values."""

    classes: Classes
    values: Values
    """``[class, level]``: in 1/scale points; shape (classes, levels)."""


def tables_of(rules: Rules) -> Tables:
    """All tables that kernels need for rules.

    Raises:
        MagsimError: if an empty cell may know more than a nibble holds.
    """
    return Tables(mask_tables(), line_tables(rules), hand_tables())


def solve_layers(
    layers: Mapping[int, Classes], tables: Tables, stakes: Stakes, held: int, threads: Executor
) -> Iterator[tuple[int, SolvedLayer]]:
    """The count of empty cells and the values of each layer, from the full board upwards.

    ``layers`` holds every layer from 0 up to the last wanted, as ``discover`` finds them.
    """
    values: dict[int, Values] = {}
    for empty in range(len(layers)):
        if empty == 0:
            values[0] = np.zeros((len(layers[0].keys), len(stakes.base)), np.int32)
        else:
            values[empty] = solve_layer(empty, held, layers, values, tables, stakes, threads)
        yield empty, SolvedLayer(layers[empty], values[empty])


@dataclass(frozen=True)
class Solved:
    """Perfect play, as far as it was solved, for rules that differ only in their Powers."""

    rules: tuple[Rules, ...]
    tables: Tables
    stakes: Stakes
    layers: Mapping[int, SolvedLayer]
    """By the count of empty cells."""

    def future(self, board: int, powers_left: int, rules: Rules | None = None) -> float:
        """What perfect play expects to gain from the start of a turn, before the roll, in points.

        ``rules`` is one of those solved, the first of them unless told; the costs of the Powers
        left are looked up in it.

        Raises:
            MagsimError: if it was not solved.
        """
        costs = (rules or self.rules[0]).power_costs
        levels = levels_of(self.rules)
        wanted = costs[len(costs) - powers_left :]
        mask = empty_mask(board)
        layer = self.layers.get(mask.bit_count())
        if len(wanted) != powers_left or wanted not in levels:
            raise MagsimError(f"{powers_left} Powers left: not solved for these rules")
        word = class_word(board, self.tables.masks.bits[mask], self.tables.lines)
        found = -1 if layer is None else find(word, mask, self.tables.masks, layer.classes)
        if layer is None or found < 0:
            raise MagsimError(f"board {format_board(board)}: the solution does not reach it")
        return int(layer.values[found, levels.index(wanted)]) / self.stakes.scale

    def value(self, board: int, powers_left: int, rules: Rules | None = None) -> float:
        """The expected final score of perfect play, in points, before the roll of a turn.

        It counts what stands on the board (R25), not the Powers used before; otherwise as
        ``future``.
        """
        now = law.score(board, rules or self.rules[0]).total
        return now + self.future(board, powers_left, rules)


def solve(
    rules: Sequence[Rules],
    boards: Iterable[int] = (EMPTY_BOARD,),
    most_empty: int | None = None,
    jobs: int | None = None,
    held: int = MOST_HELD,
) -> Solved:
    """Solve, in memory, all that play from any of the boards can meet.

    Args:
        rules: one or more, which may differ in names and costs of Powers.
        boards: where to start; from the empty board this takes long, and much memory.
        most_empty: solve no layer with more empty cells than that; all of them unless told.
        jobs: threads; all cores unless told.
        held: dice held back, 0 to 2: a matter of speed and memory.

    Raises:
        MagsimError: if the rules differ in more, or cannot be solved.
    """
    stakes, tables = stakes_of(rules), tables_of(rules[0])
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as threads:
        found = discover(boards, tables.masks, tables.lines, threads)
        wanted = {e: layer for e, layer in found if most_empty is None or e <= most_empty}
        layers = dict(solve_layers(wanted, tables, stakes, held, threads))
    return Solved(tuple(rules), tables, stakes, layers)
