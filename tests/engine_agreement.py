"""Compare the two readings of the law, ``rules`` and ``engine``, on many random positions.

Run by hand: ``python tests/engine_agreement.py --positions 100000 --seed 1``. The positions are
reached by random play of all fill levels under varied rules, each with a random roll. For each, the
whole set of outcomes, MAGDAGDON, the legal cells of each die and the score are compared. Prints
the first position on which they differ, in text notation, and exits with 1.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from reachable import Drawn, cells_of, differences, random_position

from magsim import engine
from magsim import rules as law
from magsim.board import CELL_NAMES, SIDES

BATCH = 500


class Tally(NamedTuple):
    """What was compared, and what is wrong with the first position that differs."""

    positions: int = 0
    outcomes: int = 0
    magdagdon: int = 0
    wrong: str | None = None


def compare(position: Drawn, found: np.ndarray) -> Tally:
    """Compare all that both readings say of a position; ``found`` is room for outcomes."""
    board, hand, values = position.board, position.hand, position.values
    count = engine.outcomes(board, hand, values, len(found), found)
    lawful = law.outcomes(board, position.dice, position.rules)
    magdagdon = law.in_magdagdon(board, position.dice, position.rules)
    illegal, missing = differences(found[:count].tolist(), lawful)
    wrong = [f"the engine alone finds {text}" for text in illegal]
    wrong += [f"the rules alone find {text}" for text in missing]
    if count != len(set(found[:count].tolist())):
        wrong.append(f"the engine finds {count - len(set(found[:count].tolist()))} outcomes twice")
    if engine.in_magdagdon(board, hand, values) != magdagdon:
        wrong.append(f"in MAGDAGDON by the rules: {magdagdon}, by the engine: {not magdagdon}")
    for die in range(1, SIDES + 1):
        cells = cells_of(int(engine.legal_cells(board, die, values)))
        if cells != law.legal_cells(board, die, position.rules):
            wrong.append(f"a {die} may go by the engine on {[CELL_NAMES[cell] for cell in cells]}")
    if engine.score(board, values) != law.score(board, position.rules).total:
        wrong.append(f"the engine scores {engine.score(board, values)}")
    return Tally(1, count, magdagdon, "\n  ".join([str(position), *wrong]) if wrong else None)


def compare_batch(seed: int, first: int, size: int) -> Tally:
    """Compare a batch of positions, each a function of the seed and its number."""
    found = np.empty(engine.MAX_OUTCOMES, np.int64)
    total = Tally()
    for number in range(first, first + size):
        position = random_position(Random(f"{seed} {number}"))
        one = compare(position, found)
        total = add(total, one)
        if one.wrong:
            return total._replace(wrong=f"position {number}: {one.wrong}\n  {position.rules}")
    return total


def add(one: Tally, other: Tally) -> Tally:
    counts = (a + b for a, b in zip(one[:3], other[:3], strict=True))
    return Tally(*counts, wrong=one.wrong or other.wrong)


def totals(positions: int, seed: int, jobs: int) -> Iterator[Tally]:
    """The tally so far, after each batch."""
    batches = [(first, min(BATCH, positions - first)) for first in range(0, positions, BATCH)]
    run = Parallel(n_jobs=jobs, return_as="generator", pre_dispatch="2 * n_jobs", batch_size=1)
    total = Tally()
    for tally in run(delayed(compare_batch)(seed, *batch) for batch in batches):
        total = add(total, tally)
        yield total
        if total.wrong:
            return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--positions", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; all cores unless told")
    arguments = parser.parse_args()
    started = time.monotonic()
    total = Tally()
    for total in totals(arguments.positions, arguments.seed, arguments.jobs):
        seconds = time.monotonic() - started
        print(f"{total.positions} of {arguments.positions} positions, {seconds:.0f} s", flush=True)
    if total.wrong:
        print(f"rules and engine differ at {total.wrong}")
        return 1
    print(
        f"rules and engine agree on {total.positions} positions, {total.magdagdon} of them in "
        f"MAGDAGDON, with {total.outcomes} outcomes (seed {arguments.seed})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
