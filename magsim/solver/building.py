"""Making solutions on disk: the classes from the top, then their values from the bottom.

What a layer adds is written and listed before the next layer begins, so that whoever stops in the
middle loses that layer at most, and goes on with the same call.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from magsim.board import CELLS, DICE
from magsim.rules import PEACEFUL, Rules
from magsim.solver import files, memory
from magsim.solver.classes import (
    Classes,
    canonical_masks,
    layout,
    mask_tables,
    sizes_of,
    starts_length,
)
from magsim.solver.files import Folder
from magsim.solver.fillings import all_classes
from magsim.solver.lines import line_tables
from magsim.solver.solve import tables_of
from magsim.solver.stakes import levels_of, stakes_of
from magsim.solver.values import solve_layer
from magsim.solver.warming import compile_kernels
from magsim.solver.work import Values

KEYS, STARTS, VALUES = "keys.bin", "starts.bin", "values.bin"

PUBLISHED = {
    16: 1,
    15: 21,
    14: 273,
    13: 2_368,
    12: 15_675,
    11: 85_488,
    10: 419_334,
    9: 1_867_065,
    8: 7_329_050,
    7: 23_633_778,
    6: 56_529_519,
    5: 85_560_356,
    4: 62_858_019,
    3: 14_742_162,
    2: 543_408,
    1: 1_607,
    0: 1,
}
"""How many classes the published rules have by empty cells, to plan before they are found."""

_FINDING = (1, 5, 55, 160, 140, 50, 20, 6, 2, 1, 1, 1, 1, 1, 1, 1, 1)
"""Roughly how long a mask with so many empty cells takes, to tell how long is left."""
_WORK = (1, 3, 6, 10, 19, 29, 41, 55, 68, 74, 75, 75, 70, 60, 60, 60, 60)
"""Roughly how long a class with so many empty cells takes, to tell how long is left."""


class Watcher(Protocol):
    """Who is told how far the work is."""

    def begin(self, title: str, total: int, done: int) -> object:
        """Something begins that comes to so much in all, of which so much was done before."""

    def more(self, amount: int) -> object:
        """So much more of it is done."""


@dataclass(frozen=True)
class Solution:
    """A solution on disk, complete."""

    classes: Folder
    values: Folder

    @property
    def most_empty(self) -> int:
        """It reaches boards with so many empty cells."""
        return int(self.values.description["most_empty"])

    @property
    def count(self) -> int:
        """How many classes it has."""
        counts = counts_in(self.classes)
        return sum(counts[empty] for empty in range(self.most_empty + 1))

    def start_value(self, rules: Rules) -> float:
        """The expected score of perfect play from the empty board, with all Powers, in points.

        Raises:
            MagsimError: if the value is damaged.
        """
        levels = self.values.description["levels"]
        row = self.values.read(VALUES, str(CELLS), 0, (1, len(levels)), np.int32)[0]
        return int(row[levels.index([*rules.power_costs])]) / stakes_of([rules]).scale


@contextmanager
def crew(jobs: int) -> Iterator[Executor]:
    """So many threads; where the body fails, they are not waited for and begin nothing more."""
    threads = ThreadPoolExecutor(jobs)
    try:
        yield threads
    except BaseException:
        threads.shutdown(wait=False, cancel_futures=True)
        raise
    threads.shutdown()


def class_description(rules: Rules, most_empty: int | None) -> dict[str, Any]:
    """What classes depend on: few of the rules, and where they begin; None for all of them."""
    bonuses = [rules.straight > 0, rules.four > 0, rules.two_pairs > 0]
    return {
        "kind": "classes",
        "max_difference": rules.max_difference,
        "bonuses": bonuses,
        "most_empty": most_empty,
    }


def described_rules(rules: Rules) -> dict[str, Any]:
    """All of the rules but their name and their Powers: what is alike where rules share values."""
    described = dataclasses.asdict(rules)
    del described["name"], described["power_costs"]
    return described


def families(rules: Iterable[Rules]) -> list[list[Rules]]:
    """Rules that can be solved together, each with the others of its kind."""
    found: list[list[Rules]] = []
    for one in rules:
        alike = [these for these in found if described_rules(these[0]) == described_rules(one)]
        if alike:
            alike[0].append(one)
        else:
            found.append([one])
    return found


def value_description(rules: Sequence[Rules], classes: Folder, top: int) -> dict[str, Any]:
    """What values depend on: rules, of which only the Powers may differ, and the classes."""
    return {
        "kind": "values",
        "rules": described_rules(rules[0]),
        "levels": [list(costs) for costs in levels_of(rules)],
        "most_empty": top,
        "classes": classes.path.name,
    }


def folder_of(description: Mapping[str, Any]) -> Path:
    """Where the solution of a description is kept."""
    return files.root() / f"{description['kind']}-{files.digest(dict(description))}"


def sizes_in(folder: Folder) -> dict[int, int]:
    """How many classes each mask has, in the order of the files."""
    return {mask: size for notes in folder.parts.values() for mask, size in notes["masks"]}


def counts_in(folder: Folder) -> dict[int, int]:
    """How many classes there are by empty cells, in the order of the files."""
    return {
        int(layer): sum(size for _, size in notes["masks"]) for layer, notes in folder.parts.items()
    }


def _sizes(folder: Folder, empty: int) -> tuple[list[int], dict[int, int]]:
    """How many classes the masks before a layer have, and those of the layer, if it is there."""
    before = [
        size
        for layer, notes in folder.parts.items()
        if int(layer) > empty
        for _, size in notes["masks"]
    ]
    return before, dict(folder.parts.get(str(empty), {}).get("masks", []))


def _write_classes(folder: Folder, empty: int, layer: Classes) -> None:
    before, _ = _sizes(folder, empty)
    notes: dict[str, Any] = {"masks": list(sizes_of(layer).items())}
    folder.write(KEYS, sum(before), layer.keys, notes)
    folder.write(STARTS, starts_length(before), layer.starts, notes)
    folder.list_part(str(empty), notes)


def read_classes(folder: Folder, empty: int) -> Classes:
    """The classes of a layer, checked and in memory.

    Raises:
        MagsimError: if they are damaged.
    """
    before, sizes = _sizes(folder, empty)
    keys = folder.read(KEYS, str(empty), sum(before), (sum(sizes.values()),), np.int64)
    length = starts_length(sizes.values())
    starts = folder.read(STARTS, str(empty), starts_length(before), (length,), np.int32)
    return Classes(keys, *layout(sizes), starts)


def find_classes(
    rules: Rules, threads: Executor, watcher: Watcher, most_empty: int | None = None
) -> Folder:
    """The classes that games meet, all or those with few empty cells; what is missing is found.

    Raises:
        MagsimError: if the folder cannot be used, or memory or disk do not suffice.
    """
    description = class_description(rules, most_empty)
    folder = files.open_folder(folder_of(description), description)
    layers = range(CELLS if most_empty is None else most_empty, -1, -1)
    missing = [empty for empty in layers if str(empty) not in folder.parts]
    if not missing:
        return folder
    masks, lines, limit = mask_tables(), line_tables(rules), memory.available()
    work = {empty: _FINDING[empty] * len(canonical_masks(empty, masks)) for empty in layers}
    total = sum(work.values())
    watcher.begin("finding classes", total, total - sum(work[empty] for empty in missing))
    for empty in missing:

        def told(amount: int = _FINDING[empty]) -> object:
            return watcher.more(amount)

        room = memory.Room(empty, limit)
        layer = all_classes(empty, masks, lines, threads, room, told)
        memory.check_disk(folder.path, layer.keys.nbytes + layer.starts.nbytes)
        _write_classes(folder, empty, layer)
    return folder


def _first_value(counts: Mapping[int, int], empty: int, top: int) -> int:
    """Where the values of a layer begin in a file of layers from ``top`` down."""
    return sum(count for layer, count in counts.items() if empty < layer <= top)


class _Layers:
    """The classes and values that are in memory, those of five layers at a time."""

    def __init__(self, classes: Folder, values: Folder) -> None:
        self._classes, self._values = classes, values
        self._counts = counts_in(classes)
        self.classes: dict[int, Classes] = {}
        self.values: dict[int, Values] = {}

    def _first(self, empty: int) -> int:
        return _first_value(self._counts, empty, self._values.description["most_empty"])

    def move_to(self, empty: int) -> None:
        """Have the classes of a layer and the four below, and the values of these.

        Raises:
            MagsimError: if they are damaged.
        """
        levels = len(self._values.description["levels"])
        for left in [left for left in self.classes if left < empty - DICE]:
            del self.classes[left], self.values[left]
        for left in range(max(empty - DICE, 0), empty + 1):
            if left not in self.classes:
                self.classes[left] = read_classes(self._classes, left)
            if left < empty and left not in self.values:
                shape = self._counts[left], levels
                place = VALUES, str(left), self._first(left)
                self.values[left] = self._values.read(*place, shape, np.int32)

    def keep(self, empty: int, values: Values) -> None:
        """Have the values of a layer, here and on disk.

        Raises:
            MagsimError: if they cannot be written.
        """
        notes: dict[str, Any] = {}
        self._values.write(VALUES, self._first(empty), values, notes)
        self._values.list_part(str(empty), notes)
        self.values[empty] = values


def solve_values(
    rules: Sequence[Rules], classes: Folder, top: int, threads: Executor, watcher: Watcher
) -> Folder:
    """The values of all classes with up to ``top`` empty cells; those that are missing are solved.

    Raises:
        MagsimError: if the folder cannot be used, or memory or disk do not suffice.
    """
    stakes, tables = stakes_of(rules), tables_of(rules[0])
    description = value_description(rules, classes, top)
    folder = files.open_folder(folder_of(description), description)
    counts = {empty: count for empty, count in counts_in(classes).items() if empty <= top}
    levels = len(stakes.base)
    missing = [empty for empty in range(top + 1) if str(empty) not in folder.parts]
    held = memory.dice_to_hold(counts, missing, levels, memory.available())
    memory.check_disk(folder.path, sum(4 * levels * counts[empty] for empty in missing))
    work = {empty: _WORK[empty] * counts[empty] for empty in counts}
    watcher.begin("solving", sum(work.values()), sum(work[e] for e in work if e not in missing))
    layers = _Layers(classes, folder)
    for empty in missing:

        def told(done: int, each: int = _WORK[empty]) -> object:
            return watcher.more(done * each)

        layers.move_to(empty)
        if empty == 0:
            layers.keep(0, np.zeros((counts[0], levels), np.int32))
            told(counts[0])
        else:
            below = layers.classes, layers.values, tables, stakes, threads, told
            layers.keep(empty, solve_layer(empty, held[empty], *below))
    return folder


def find_solution(rules: Sequence[Rules], top: int) -> Solution | None:
    """A complete solution of rules, up to so many empty cells or more; None if there is none.

    Raises:
        MagsimError: if something is there that is no solution.
    """
    levels = levels_of(rules)
    for path in sorted(files.root().glob("values-*")):
        values = files.read_folder(path)
        if values is None or values.description["rules"] != described_rules(rules[0]):
            continue
        reach = values.description["most_empty"]
        solved = [tuple(costs) for costs in values.description["levels"]]
        if reach < top or len(values.parts) <= reach or not set(levels) <= set(solved):
            continue
        classes = files.read_folder(files.root() / values.description["classes"])
        if classes is not None and {"0", str(reach)} <= classes.parts.keys():
            return Solution(classes, values)
    return None


def check_solution(solution: Solution, watcher: Watcher) -> None:
    """See to it that every part of a solution is as it was written.

    Raises:
        MagsimError: if one is not.
    """
    classes, values = solution.classes, solution.values
    counts, row = counts_in(classes), 4 * len(values.description["levels"])
    parts = []
    for empty in range(solution.most_empty, -1, -1):
        before, sizes = _sizes(classes, empty)
        first, length = starts_length(before), starts_length(sizes.values())
        offset = _first_value(counts, empty, solution.most_empty)
        parts += [
            (classes, KEYS, empty, 8 * sum(before), 8 * counts[empty]),
            (classes, STARTS, empty, 4 * first, 4 * length),
            (values, VALUES, empty, row * offset, row * counts[empty]),
        ]
    watcher.begin("checking", sum(length for *_, length in parts), 0)
    for folder, name, empty, first, length in parts:
        folder.check(name, str(empty), first, length)
        watcher.more(length)


def _plan(rules: Sequence[Rules], classes: Folder | None, top: int) -> None:
    """See to it that memory and disk suffice, as far as the counts are known beforehand.

    Raises:
        MagsimError: if they do not.
    """
    if class_description(rules[0], None) != class_description(PEACEFUL, None):
        return
    counts = {empty: PUBLISHED[empty] for empty in range(top + 1)}
    levels = len(levels_of(rules))
    memory.dice_to_hold(counts, range(1, top + 1), levels, memory.available())
    missing = [empty for empty in counts if classes is None or str(empty) not in classes.parts]
    keys = sum(memory.CLASS * counts[empty] for empty in missing)
    memory.check_disk(files.root(), keys + 4 * levels * sum(counts.values()))


def solve_rules(
    rules: Sequence[Rules], top: int, threads: Executor, watcher: Watcher
) -> tuple[Solution, bool]:
    """The solution of rules up to so many empty cells, and whether it was there; it is checked.

    Raises:
        MagsimError: if a folder cannot be used or is damaged, or memory or disk do not suffice.
    """
    found = find_solution(rules, top)
    if found is not None:
        check_solution(found, watcher)
        return found, True
    complete = files.read_folder(folder_of(class_description(rules[0], None)))
    own = top < CELLS and (complete is None or "0" not in complete.parts)
    family = class_description(rules[0], top if own else None)
    known = files.read_folder(folder_of(family))
    if known is None or "0" not in known.parts:
        _plan(rules, known, top)
    compile_kernels()
    classes = find_classes(rules[0], threads, watcher, top if own else None)
    return Solution(classes, solve_values(rules, classes, top, threads, watcher)), False
