"""Classes found step by step from given boards, and solved in memory: the solver is held to it.

Every turn is a row of single steps, a die on a cell or a RUIN, and each leads one layer down; so
the classes are found from the top, each mask from those with one cell more.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from magsim import rules as law
from magsim.board import CELLS, EMPTY_BOARD, format_board
from magsim.compiled import kernel, lean_kernel
from magsim.engine import empty_mask
from magsim.errors import MagsimError
from magsim.rules import Rules
from magsim.solver.classes import (
    NO_KEY,
    Classes,
    Masks,
    bucket,
    canonical_masks,
    class_word,
    find,
    fitting,
    joined,
    ruined,
    turned,
)
from magsim.solver.lines import Lines
from magsim.solver.stakes import Stakes, levels_of, stakes_of
from magsim.solver.values import solve_layer
from magsim.solver.words import (
    INVERSE,
    SYMMETRIES,
    Words,
    image,
    least_image,
    normalised,
    placed,
    scrambled,
    unscrambled,
)
from magsim.solver.work import MOST_HELD, Tables, Values, tables_of

_INVERSE = np.array(INVERSE)


@lean_kernel
def _enter(key: int, table: Words) -> bool:
    """Put a key into a hash table; whether it is new."""
    slot = bucket(key, len(table))
    while table[slot] != NO_KEY:
        if table[slot] == key:
            return False
        slot += 1
        if slot == len(table):
            slot = 0
    table[slot] = key
    return True


@kernel
def _insert(table: Words, count: int, word: int) -> tuple[Words, int]:
    """Put a word into a hash table, which grows; the table then, and how many it holds."""
    if _enter(scrambled(word), table):
        count += 1
        if 10 * count > 6 * len(table):
            larger = np.full(2 * len(table), NO_KEY, np.int64)
            for key in table:
                if key != NO_KEY:
                    _enter(key, larger)
            table = larger
    return table, count


@kernel
def _discover_mask(mask: int, starts: Words, above: Classes, masks: Masks, lines: Lines) -> Words:
    """The keys of a canonical mask: of the words to start from, and of all that a step leads to.

    In no order. ``above`` is the layer with one empty cell more.
    """
    table, count = np.full(64, NO_KEY, np.int64), 0
    bits, stabiliser = masks.bits[mask], masks.stabiliser[mask]
    for word in starts:
        table, count = _insert(table, count, word)
    for cell in range(CELLS):
        if mask >> cell & 1:
            continue
        before = mask | 1 << cell
        canonical = masks.canonical[before]
        back = _INVERSE[masks.symmetry[before]]
        for k in range(above.first[canonical], above.last[canonical]):
            parent = unscrambled(above.keys[k])
            for symmetry in range(SYMMETRIES):
                if not masks.stabiliser[canonical] >> symmetry & 1:
                    continue
                word = image(back, image(symmetry, parent))
                after = least_image(ruined(word, bits, cell, lines), stabiliser)
                table, count = _insert(table, count, after)
                dice = fitting(word, cell, lines)
                for die in range(1, 7):
                    if dice >> die & 1:
                        after = placed(word, bits, cell, die, lines.step)
                        after = least_image(normalised(after, bits, lines.live), stabiliser)
                        table, count = _insert(table, count, after)
    found = np.empty(count, np.int64)
    count = 0
    for key in table:
        if key != NO_KEY:
            found[count] = key
            count += 1
    return found


def _start_words(boards: Iterable[int], masks: Masks, lines: Lines) -> dict[int, Words]:
    """The words of the classes of boards, by canonical mask."""
    words: dict[int, set[int]] = {}
    for board in boards:
        mask = empty_mask(board)
        word = turned(class_word(board, masks.bits[mask], lines), mask, masks)
        words.setdefault(int(masks.canonical[mask]), set()).add(word)
    return {mask: np.array(sorted(found), np.int64) for mask, found in words.items()}


def discover(
    boards: Iterable[int],
    masks: Masks,
    lines: Lines,
    threads: Executor,
    above: tuple[int, Classes] | None = None,
) -> Iterator[tuple[int, Classes]]:
    """The classes that play from any of the boards meets, with the count of empty cells.

    Layer by layer, from that of the board with the most empty cells down to the full board; or from
    below a layer that is known, ``above``.
    """
    starts = _start_words(boards, masks, lines)
    most, layer = above or (1 + max(mask.bit_count() for mask in starts), joined({}, threads))
    for empty in range(most - 1, -1, -1):
        before = layer

        def keys_of(mask: int, above: Classes = before) -> Words:
            start = starts.get(mask, np.empty(0, np.int64))
            found: Words = _discover_mask(mask, start, above, masks, lines)
            found.sort()
            return found

        chosen = canonical_masks(empty, masks)
        layer = joined(dict(zip(chosen, threads.map(keys_of, chosen), strict=True)), threads)
        yield empty, layer


class SolvedLayer(NamedTuple):
    """The classes of a layer and their values."""

    classes: Classes
    values: Values
    """``[class, level]``: in 1/scale points; shape (classes, levels)."""


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
