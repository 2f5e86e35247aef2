"""Solutions on disk, opened as perfect play; or the sentence with the command that makes them."""

import shlex
from dataclasses import fields, replace
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from magsim.board import CELLS
from magsim.errors import MagsimError
from magsim.rules import DIFFICULTIES, PEACEFUL, Rules
from magsim.solver import files
from magsim.solver.building import KEYS, STARTS, VALUES, counts_in, limits_in, sizes_in
from magsim.solver.classes import Classes, layout, starts_length
from magsim.solver.perfect import Book, Perfect
from magsim.solver.solutions import Solution, find_solution, known_solutions
from magsim.solver.stakes import stakes_of
from magsim.solver.warming import check_compiler
from magsim.solver.work import Below, tables_of
from magsim.variants import format_value


def open_perfect(rules: Rules, empty: int = CELLS) -> Perfect | None:
    """Perfect play for rules, on all boards with up to ``empty`` empty cells; None if not solved.

    Raises:
        MagsimError: if the solution cannot be read.
    """
    return _open(rules, empty, files.root())


@cache
def _open(rules: Rules, empty: int, _root: Path) -> Perfect | None:
    solution = find_solution([rules], empty)
    if solution is None:
        return None
    check_compiler()
    return _opened(solution, rules)


def _opened(solution: Solution, rules: Rules) -> Perfect:
    home, folder, top = solution.classes, solution.values, solution.most_empty
    costs = [tuple(level) for level in folder.description["levels"]]
    stakes = stakes_of([replace(rules, power_costs=level) for level in costs])
    counts, sizes = counts_in(home), sizes_in(home)
    above = sum(count for empty, count in counts.items() if empty > top)
    keys = home.mapped(KEYS, (sum(counts.values()),), np.int64)
    starts = home.mapped(STARTS, (starts_length(sizes.values()),), np.int32)
    shape = (sum(counts.values()) - above, len(stakes.base))
    values = folder.mapped(VALUES, shape, np.int32)
    first, last, first_bucket = layout(sizes)
    first, last = np.maximum(first - above, 0), np.maximum(last - above, 0)
    classes = Classes(keys[above:], first, last, first_bucket, starts)
    below = Below((classes,) * 4, (values,) * 4, 0)
    levels = [
        costs.index(rules.power_costs[rules.powers - left :]) for left in range(rules.powers + 1)
    ]
    return Perfect(
        rules,
        Book(below, tables_of(rules), stakes),
        np.array(levels),
        limits_in(folder, counts),
        top,
        folder.path,
        sha256(f"{home.fingerprint} {folder.fingerprint}".encode()).hexdigest()[:16],
    )


def needed_perfect(rules: Rules, empty: int = CELLS) -> Perfect:
    """Perfect play for rules, on all boards with up to ``empty`` empty cells.

    Raises:
        MagsimError: if it is not there, with the command that makes it, or cannot be read.
    """
    perfect = open_perfect(rules, empty)
    if perfect is None:
        raise MagsimError(missing_sentence(rules, empty))
    return perfect


def missing_sentence(rules: Rules, empty: int = CELLS) -> str:
    """What to say where perfect play is wanted, with so many empty cells, and not solved."""
    known = known_solutions([rules])
    found = "not solved here"
    if known:
        found = f"solved here only for boards with up to {known[-1].most_empty} empty cells"
    name = rules.name.partition("+")[0]
    base = DIFFICULTIES.get(name, PEACEFUL)
    words = ["magsim", "solve", "--difficulty", base.name]
    for key in (field.name for field in fields(Rules) if field.name != "name"):
        if getattr(rules, key) != getattr(base, key):
            words += ["--set", f"{key}={format_value(getattr(rules, key))}"]
    words += ["--max-empty", str(empty)] if empty < CELLS else []
    return f"perfect play under {rules.name} is {found}; to solve it: {shlex.join(words)}"
