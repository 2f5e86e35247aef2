"""Weighing the turns of a run: its parts in threads, since kernels leave the interpreter alone."""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, wait
from functools import partial
from pathlib import Path

from tqdm import tqdm

from magsim.analysis.tallies import player_columns
from magsim.balance.sums import Sums, add, sum_up
from magsim.balance.turns import Task, weigh_part
from magsim.entrants import compile_once
from magsim.errors import MagsimError
from magsim.manifest import Plan
from magsim.pool import stop_workers
from magsim.regret.judging import warm_up
from magsim.regret.run import played_parts
from magsim.solver.perfect import Perfect
from magsim.solver.solutions import crew

_PATIENCE = 0.2
"""Seconds; a wait without an end does not hear Ctrl-C once polars is loaded."""


def _tasks(
    run: Path, plan: Plan, solutions: Mapping[str, Perfect], bots: Iterable[str], most: int | None
) -> Iterator[tuple[Task, int]]:
    """The parts with the first ``most`` games, and how many games are wanted of each."""
    for perfect in solutions.values():
        for bot in bots:
            for (first, last), part in played_parts(run, plan, perfect.rules, bot).items():
                if most is None or first < most:
                    wanted = 1 + (last if most is None else min(last, most - 1)) - first
                    yield Task(part, bot, perfect, plan.seed, most), wanted


def weigh_run(
    run: Path,
    plan: Plan,
    solutions: Mapping[str, Perfect],
    bots: Iterable[str],
    jobs: int,
    most: int | None = None,
) -> Sums | None:
    """Sums over the turns in the first ``most`` games of bots, with progress on standard error.

    Args:
        run: the run's folder.
        plan: of the run.
        solutions: perfect play by name of the rules; those without Powers are passed over.
        bots: to look at.
        jobs: threads.
        most: games of each bot at each difficulty; all of them unless told.

    Returns:
        None if no rules have Powers.

    Raises:
        MagsimError: if there are no games yet, or a part is damaged or makes no sense.
    """
    powered = {name: perfect for name, perfect in solutions.items() if perfect.rules.powers}
    if not powered:
        return None
    tasks = dict(_tasks(run, plan, powered, list(bots), most))
    if not tasks:
        raise MagsimError(f"run {run}: there are no games in it yet")
    rules = next(iter(powered.values())).rules
    try:
        compile_once("the judge of decisions", "", partial(warm_up, rules))
    finally:
        stop_workers()
    return _in_threads(plan, tasks, jobs)


def _in_threads(plan: Plan, tasks: Mapping[Task, int], jobs: int) -> Sums:
    total: Sums | None = None
    unit = {"unit": " games", "desc": "Weighing", "dynamic_ncols": True}
    with crew(jobs) as threads, tqdm(total=sum(tasks.values()), **unit) as bar:
        waiting = {threads.submit(_sums, plan, task): games for task, games in tasks.items()}
        while waiting:
            done, _ = wait(waiting, _PATIENCE, FIRST_COMPLETED)
            for future in done:
                total = add([future.result(), *([total] if total else [])])
                bar.update(waiting.pop(future))
    if total is None:
        raise ValueError("no tasks")
    return total


def _sums(plan: Plan, task: Task) -> Sums:
    rules = task.perfect.rules
    player = player_columns(plan, rules.name, task.bot)
    return sum_up(weigh_part(task), rules.powers, player)
