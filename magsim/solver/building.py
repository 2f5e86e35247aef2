"""Making solutions on disk: the classes from the top, then their values from the bottom.

What a layer adds is written and listed before the next layer begins, so that whoever stops in the
middle loses that layer at most, and goes on with the same call.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from magsim.board import CELLS, DICE
from magsim.rules import Rules
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
from magsim.solver.limits import LIMITED, NO_LIMITS, Limits
from magsim.solver.lines import Lines, line_tables
from magsim.solver.memory import Budget
from magsim.solver.stakes import levels_of, stakes_of
from magsim.solver.values import solve_layer
from magsim.solver.work import Values, tables_of

KEYS, STARTS, VALUES, LIMITS = "keys.bin", "starts.bin", "values.bin", "limits.bin"

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


def limits_in(folder: Folder, counts: Mapping[int, int]) -> Limits:
    """The limits of a solution, mapped; none if it has none. ``counts`` are those of its classes.

    Raises:
        MagsimError: if they cannot be read, or are too many or too few.
    """
    limited = [
        counts[int(layer)] for layer in folder.parts if LIMITS in folder.parts[layer]["sha256"]
    ]
    levels = len(folder.description["levels"])
    return folder.mapped(LIMITS, (sum(limited), levels), np.uint8) if limited else NO_LIMITS


def sizes_around(folder: Folder, empty: int) -> tuple[list[int], dict[int, int]]:
    """How many classes the masks before a layer have, and those of the layer, if it is there."""
    before = [
        size
        for layer, notes in folder.parts.items()
        if int(layer) > empty
        for _, size in notes["masks"]
    ]
    return before, dict(folder.parts.get(str(empty), {}).get("masks", []))


def _write_classes(folder: Folder, empty: int, layer: Classes) -> None:
    before, _ = sizes_around(folder, empty)
    notes: dict[str, Any] = {"masks": list(sizes_of(layer).items())}
    folder.write(KEYS, sum(before), layer.keys, notes)
    folder.write(STARTS, starts_length(before), layer.starts, notes)
    folder.list_part(str(empty), notes)


def read_classes(folder: Folder, empty: int) -> Classes:
    """The classes of a layer, checked and in memory.

    Raises:
        MagsimError: if they are damaged.
    """
    before, sizes = sizes_around(folder, empty)
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
    work = {empty: _FINDING[empty] * len(canonical_masks(empty, mask_tables())) for empty in layers}
    total = sum(work.values())
    watcher.begin("finding classes", total, total - sum(work[empty] for empty in missing))
    limit, lines = memory.available(), line_tables(rules)
    for empty in missing:
        _find_layer(folder, empty, lines, Budget(empty, limit), threads, watcher)
    return folder


def _find_layer(
    folder: Folder, empty: int, lines: Lines, budget: Budget, threads: Executor, watcher: Watcher
) -> None:
    def told() -> object:
        return watcher.more(_FINDING[empty])

    layer = all_classes(empty, mask_tables(), lines, threads, budget, told)
    memory.check_disk(folder.path, layer.keys.nbytes + layer.starts.nbytes)
    _write_classes(folder, empty, layer)


def first_value(counts: Mapping[int, int], empty: int, top: int) -> int:
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
        return first_value(self._counts, empty, self._values.description["most_empty"])

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

    def keep(self, empty: int, values: Values, limits: Limits = NO_LIMITS) -> None:
        """Have the values of a layer, here and on disk, and there its limits if it has any.

        Raises:
            MagsimError: if they cannot be written.
        """
        notes: dict[str, Any] = {}
        self._values.write(VALUES, self._first(empty), values, notes)
        if len(limits):
            self._values.write(LIMITS, self._first(empty), limits, notes)
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
    memory.check_disk(folder.path, memory.stored(counts, missing, levels))
    work = {empty: _WORK[empty] * counts[empty] for empty in counts}
    watcher.begin("solving", sum(work.values()), sum(work[e] for e in work if e not in missing))
    layers, ones = _Layers(classes, folder), dict[int, Values]()
    for empty in missing:

        def told(done: int, each: int = _WORK[empty]) -> object:
            return watcher.more(done * each)

        layers.move_to(empty)
        if empty == 0:
            layers.keep(0, np.zeros((counts[0], levels), np.int32))
            told(counts[0])
        else:
            limited = levels > 1 and empty >= LIMITED
            limits = np.empty((counts[empty], levels), np.uint8) if limited else NO_LIMITS
            below = layers.classes, layers.values, tables, stakes, threads, told, limits, ones
            layers.keep(empty, solve_layer(empty, held[empty], *below), limits)
    return folder
