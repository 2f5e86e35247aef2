"""What tournaments and reports take from perfect play, where it is at hand; elsewhere, nothing.

What perfect play needs is imported only where something is solved.
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from magsim.errors import MagsimError
from magsim.manifest import Plan, read_manifest
from magsim.solver import files

if TYPE_CHECKING:
    from magsim.regret.sums import Sums
    from magsim.solver.perfect import Perfect

FIRST = 10_000
"""Games of each bot at each difficulty that are judged without being asked for.

With the luck taken out they tell as much as several times as many games do; all are judged by
``magsim regret`` only.
"""


def _solutions(plan: Plan) -> "dict[str, Perfect]":
    """Perfect play by name of the rules, as far as they are solved whole.

    Raises:
        MagsimError: if a solution is there and cannot be read.
    """
    root = files.root()
    if not root.is_dir() or not any(root.glob("values-*")):
        return {}
    from magsim.regret.run import solved

    return solved(plan.rules)[0]


def judge_first(run: Path, jobs: int) -> None:
    """Judge the first games of a run, where their rules are solved.

    Nobody asked for it, so where a solution cannot be read, or what is found cannot be kept, this
    is said on standard error, and nothing is judged.

    Raises:
        MagsimError: if a part is damaged or makes no sense, a game does not come to its score, or
            the folder cannot be written.
    """
    plan = read_manifest(run)
    try:
        solutions = _solutions(plan)
    except MagsimError as error:
        print(f"Not judged by perfect play: {error}.", file=sys.stderr)
        return
    if not solutions:
        return
    if not os.access(run, os.W_OK):
        print(f"Not judged by perfect play: run {run} cannot be written.", file=sys.stderr)
        return
    from magsim.regret.run import judge_run

    judge_run(run, plan, solutions, plan.bots, jobs, FIRST)


def judged(run: Path) -> "Sums | None":
    """Sums over all that was judged of a run; None where nothing was, or no solution can be read.

    Raises:
        MagsimError: if a part is damaged.
    """
    plan = read_manifest(run)
    try:
        solutions = _solutions(plan)
    except MagsimError:  # as was said when it was to be judged
        return None
    if not solutions:
        return None
    from magsim.regret.run import judged_parts
    from magsim.regret.sums import sum_up

    bots = list(plan.bots)
    if any(judged_parts(run, plan, one, bot) for one in solutions.values() for bot in bots):
        return sum_up(run, plan, solutions, bots)
    return None
