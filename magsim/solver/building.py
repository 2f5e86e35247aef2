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

from magsim.board import DICE, EMPTY_BOARD
from magsim.rules import PEACEFUL, Rules
from magsim.solver import files, memory
from magsim.solver.classes import (
    Classes,
    discover,
    layout,
    sizes_of,
    starts_length,
)
from magsim.solver.files import Folder
from magsim.solver.stakes import levels_of, stakes_of
from magsim.solver.solve import tables_of
from magsim.solver.values import solve_layer
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

_WORK = (1, 3, 6, 10, 19, 29, 41, 55, 68, 74, 75, 75, 70, 60, 60, 60, 60)
"""Roughly how long a class with so many empty cells takes, to tell how long is left."""


class Watcher(Protocol):
    """Who is told how far the work is."""

    def begin(self, title: str, total: int | None, done: int) -> object:
        """Something begins that comes to so much in all, if that is known; so much was done."""

    def more(self, amount: int) -> object:
        """So much more of it is done."""


def class_description(rules: Rules, most_empty: int | None) -> dict[str, Any]:
    """What classes depend on: few of the rules, and where they begin."""
    bonuses = [rules.straight > 0, rules.four > 0, rules.two_pairs > 0]
    return {
        "kind": "classes",
        "max_difference": rules.max_difference,
        "bonuses": bonuses,
        "most_empty": most_empty,
    }


def value_description(rules: Sequence[Rules], classes: Folder, top: int) -> dict[str, Any]:
    """What values depend on: rules, of which only the Powers may differ, and the classes."""
    described = dataclasses.asdict(rules[0])
    for name in ("name", "power_costs"):
        del described[name]
    return {
        "kind": "values",
        "rules": described,
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
        int(layer): sum(size for _, size in notes["masks"])
        for layer, notes in folder.parts.items()
    }


def _first_class(folder: Folder, empty: int) -> int:
    """Where the classes of a layer begin in the files."""
    counts = counts_in(folder)
    before = list(counts)[: list(counts).index(empty)] if empty in counts else list(counts)
    return sum(counts[layer] for layer in before)


def _write_classes(folder: Folder, empty: int, layer: Classes) -> None:
    sizes = sizes_of(layer)
    buckets_before = starts_length(sizes_in(folder).values())
    notes: dict[str, Any] = {"masks": list(sizes.items())}
    folder.write(KEYS, _first_class(folder, empty), layer.keys, notes)
    folder.write(STARTS, buckets_before, layer.starts, notes)
    folder.list_part(str(empty), notes)


def read_classes(folder: Folder, empty: int) -> Classes:
    """The classes of a layer, checked and in memory.

    Raises:
        MagsimError: if they are damaged.
    """
    layers = list(counts_in(folder))
    before = [
        size
        for layer in layers[: layers.index(empty)]
        for _, size in folder.parts[str(layer)]["masks"]
    ]
    sizes = dict(folder.parts[str(empty)]["masks"])
    keys = folder.read(KEYS, str(empty), sum(before), (sum(sizes.values()),), np.int64)
    length = starts_length(sizes.values())
    starts = folder.read(STARTS, str(empty), starts_length(before), (length,), np.int32)
    return Classes(keys, *layout(sizes), starts)


def find_classes(rules: Rules, threads: Executor, watcher: Watcher) -> Folder:
    """The classes that games from the empty board meet; those that are missing are found.

    Raises:
        MagsimError: if the folder cannot be used, or memory or disk do not suffice.
    """
    description = class_description(rules, None)
    folder = files.open_folder(folder_of(description), description)
    found = counts_in(folder)
    if 0 in found:
        return folder
    published = description == class_description(PEACEFUL, None)
    total = sum(PUBLISHED.values()) if published else None
    limit = memory.available()
    watcher.begin("finding classes", total, sum(found.values()))
    tables = tables_of(rules)
    above = (min(found), read_classes(folder, min(found))) if found else None
    for empty, layer in discover([EMPTY_BOARD], tables.masks, tables.lines, threads, above):
        memory.check_discovery(empty, len(layer.keys), limit)
        memory.check_disk(folder.path, layer.keys.nbytes + layer.starts.nbytes)
        _write_classes(folder, empty, layer)
        watcher.more(len(layer.keys))
    return folder


def _offset(classes: Folder, empty: int, top: int) -> int:
    """Where the values of a layer begin in a file of layers from ``top`` down."""
    return sum(count for layer, count in counts_in(classes).items() if empty < layer <= top)


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
    layers = [empty for empty in range(top + 1) if str(empty) not in folder.parts]
    held = memory.dice_to_hold(counts, layers, levels, memory.available())
    memory.check_disk(folder.path, sum(4 * levels * counts[empty] for empty in layers))
    work = {empty: _WORK[empty] * counts[empty] for empty in counts}
    watcher.begin("solving", sum(work.values()), sum(work[e] for e in work if e not in layers))
    known: dict[int, Classes] = {}
    values: dict[int, Values] = {}
    for empty in layers:
        for left in [e for e in known if e < empty - DICE]:
            del known[left], values[left]
        for left in range(max(empty - DICE, 0), empty + 1):
            if left not in known:
                known[left] = read_classes(classes, left)
            if left < empty and left not in values:
                first, shape = _offset(classes, left, top), (counts[left], levels)
                values[left] = folder.read(VALUES, str(left), first, shape, np.int32)
        if empty == 0:
            values[0] = np.zeros((counts[0], levels), np.int32)
        else:
            values[empty] = solve_layer(
                empty,
                held[empty],
                known,
                values,
                tables,
                stakes,
                threads,
                lambda done, each=_WORK[empty]: watcher.more(done * each),
            )
        notes: dict[str, Any] = {}
        folder.write(VALUES, _offset(classes, empty, top), values[empty], notes)
        folder.list_part(str(empty), notes)
    return folder
