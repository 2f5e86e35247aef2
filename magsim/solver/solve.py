"""Perfect play from given boards: which classes they meet, solved layer by layer from the bottom.

It knows nothing of files: arrays come from a ``Store``, which may hold them in memory or elsewhere.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from magsim import rules as law
from magsim.board import EMPTY_BOARD, format_board
from magsim.errors import MagsimError
from magsim.rules import Rules
from magsim.solver.classes import (
    Index,
    Layer,
    class_word,
    discover,
    empty_mask,
    find,
    indexed,
    mask_tables,
)
from magsim.solver.hands import PAIRS, hand_tables
from magsim.solver.lines import line_tables
from magsim.solver.stakes import Stakes, levels_of, stakes_of
from magsim.solver.values import Below, Tables, Values, solve_layer


class Store(Protocol):
    """Where the large arrays of a solution live."""

    def empty(self, name: str, shape: tuple[int, ...]) -> Values:
        """A new array under a name, to be filled; read-only, it would make kernels compile anew."""

    def discard(self, name: str) -> None:
        """The array of that name is needed no more."""


class InMemory:
    """Arrays in memory, which are gone when nobody holds them."""

    def empty(self, name: str, shape: tuple[int, ...]) -> Values:  # noqa: ARG002
        """A new array, to be filled."""
        return np.empty(shape, np.int32)

    def discard(self, name: str) -> None:
        """Nothing to do."""


class SolvedLayer(NamedTuple):
    """The values of a layer, and the way to them."""

    lookup: Index
    values: Values
    """``[class, level]``: in 1/scale points; shape (classes, levels)."""


def tables_of(rules: Rules) -> Tables:
    """All tables that kernels need for rules.

    Raises:
        MagsimError: if an empty cell may know more than a nibble holds.
    """
    return Tables(mask_tables(), line_tables(rules), hand_tables())


def solve_layers(
    layers: Mapping[int, Layer], tables: Tables, stakes: Stakes, store: Store, threads: Executor
) -> Iterator[tuple[int, SolvedLayer]]:
    """The count of empty cells and the values of each layer, from the full board upwards.

    ``layers`` holds every layer from 0 up to the last wanted, as ``discover`` finds them. The
    vectors of a layer, ``one-3`` and ``two-3`` of 3 empty cells, are discarded when no layer above
    needs them.
    """
    levels = len(stakes.base)
    full = len(layers[0].words)
    index = indexed(layers[0], threads)
    one, two = store.empty("one-0", (full, 7, levels)), store.empty("two-0", (full, PAIRS * levels))
    one[:], two[:] = 0, 0
    yield 0, SolvedLayer(index, one[:, 0].copy())
    below = Below(index, one, index, two)
    for empty in range(1, len(layers)):
        layer = layers[empty]
        one = store.empty(f"one-{empty}", (len(layer.words), 7, levels))
        above_two = store.empty(f"two-{empty}", (len(layer.words), PAIRS * levels))
        solve_layer(empty, layer, below, tables, stakes, one, above_two, threads)
        index = indexed(layer, threads)
        yield empty, SolvedLayer(index, one[:, 0].copy())
        below = Below(index, one, below.next, two)
        two = above_two
        store.discard(f"one-{empty - 1}")
        if empty >= 2:
            store.discard(f"two-{empty - 2}")


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
        found = -1 if layer is None else find(word, mask, self.tables.masks, layer.lookup)
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
) -> Solved:
    """Solve, in memory, all that play from any of the boards can meet.

    Args:
        rules: one or more, which may differ in names and costs of Powers.
        boards: where to start; from the empty board this takes long, and much memory.
        most_empty: solve no layer with more empty cells than that; all of them unless told.
        jobs: threads; all cores unless told.

    Raises:
        MagsimError: if the rules differ in more, or cannot be solved.
    """
    stakes, tables = stakes_of(rules), tables_of(rules[0])
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as threads:
        found = discover(boards, tables.masks, tables.lines, threads)
        wanted = {e: layer for e, layer in found if most_empty is None or e <= most_empty}
        layers = dict(solve_layers(wanted, tables, stakes, InMemory(), threads))
    return Solved(tuple(rules), tables, stakes, layers)
