"""Which solutions there are, complete and whole, and what is to be done where one is wanted."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from magsim.board import CELLS
from magsim.errors import MagsimError
from magsim.rules import PEACEFUL, Rules
from magsim.solver import files, memory
from magsim.solver.building import (
    KEYS,
    LIMITS,
    PUBLISHED,
    STARTS,
    VALUES,
    Watcher,
    class_description,
    counts_in,
    described_rules,
    find_classes,
    first_value,
    folder_of,
    sizes_around,
    solve_values,
)
from magsim.solver.classes import starts_length
from magsim.solver.files import Folder
from magsim.solver.stakes import levels_of, stakes_of
from magsim.solver.warming import compile_kernels


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


def known_solutions(rules: Sequence[Rules]) -> list[Solution]:
    """The complete solutions of rules, those that reach less far first, of these the smaller.

    So whoever takes the first that suffices goes on with the same one when more is solved. Folders
    that cannot be read, or whose classes are gone, are passed over.
    """
    found = []
    for path in sorted(files.root().glob("values-*")):
        with suppress(MagsimError):
            solution = _complete(path, rules)
            found += [solution] if solution else []

    def order(solution: Solution) -> tuple[int, int]:
        return solution.most_empty, len(solution.values.description["levels"])

    return sorted(found, key=order)


def _complete(path: Path, rules: Sequence[Rules]) -> Solution | None:
    """The solution in a folder of values, if it is a complete one of rules."""
    values = files.read_folder(path)
    if values is None or values.description["rules"] != described_rules(rules[0]):
        return None
    reach = values.description["most_empty"]
    solved = {tuple(costs) for costs in values.description["levels"]}
    if len(values.parts) <= reach or not set(levels_of(rules)) <= solved:
        return None
    classes = files.read_folder(files.root() / values.description["classes"])
    if classes is None or not {"0", str(reach)} <= classes.parts.keys():
        return None
    return Solution(classes, values)


def find_solution(rules: Sequence[Rules], top: int) -> Solution | None:
    """The first of ``known_solutions`` that reaches so many empty cells; None if none does."""
    return next((one for one in known_solutions(rules) if one.most_empty >= top), None)


def check_solution(solution: Solution, watcher: Watcher) -> None:
    """See to it that every part of a solution is as it was written.

    Raises:
        MagsimError: if one is not.
    """
    classes, values = solution.classes, solution.values
    counts, row = counts_in(classes), 4 * len(values.description["levels"])
    parts = []
    for empty in range(solution.most_empty, -1, -1):
        before, sizes = sizes_around(classes, empty)
        first, length = starts_length(before), starts_length(sizes.values())
        offset = first_value(counts, empty, solution.most_empty)
        parts += [
            (classes, KEYS, empty, 8 * sum(before), 8 * counts[empty]),
            (classes, STARTS, empty, 4 * first, 4 * length),
            (values, VALUES, empty, row * offset, row * counts[empty]),
        ]
        if LIMITS in values.parts[str(empty)]["sha256"]:
            parts.append((values, LIMITS, empty, row // 4 * offset, row // 4 * counts[empty]))
    watcher.begin("checking", sum(length for *_, length in parts), 0)
    for folder, name, empty, first, length in parts:
        folder.check(name, str(empty), first, length)
        watcher.more(length)
    for folder in (classes, values):
        for name in {name for one, name, *_ in parts if one is folder}:
            ends = [at + length for one, n, _, at, length in parts if one is folder and n == name]
            folder.check_size(name, max(ends))


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
    memory.check_disk(files.root(), keys + memory.stored(counts, counts, levels))


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
