"""Judging what was played in a run: which parts are still to be judged, and judging them.

What is there counts only if it was made from the part of the records that is there now, and from
the solution that is there now; its name says so.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from joblib import delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError
from tqdm import tqdm

from magsim import records
from magsim.board import CELLS
from magsim.entrants import compile_once
from magsim.errors import MagsimError
from magsim.manifest import Plan
from magsim.pool import parallel, stop_workers
from magsim.regret.judging import TABLE, Task, judge_part, origin, warm_up
from magsim.rules import Rules
from magsim.solver.library import missing_sentence, open_perfect
from magsim.solver.perfect import Perfect

Parts = dict[tuple[int, int], Path]
"""By the first and the last game."""


def solved(every: Iterable[Rules]) -> tuple[dict[str, Perfect], list[str]]:
    """Perfect play by name of the rules, where it is known from the first turn on.

    Beside it, a sentence for each of the other rules.

    Raises:
        MagsimError: if a solution is there and cannot be read.
    """
    found: dict[str, Perfect] = {}
    missing: list[str] = []
    for rules in every:
        perfect = open_perfect(rules)
        if perfect is None or perfect.most_empty < CELLS:
            missing.append(missing_sentence(rules))
        else:
            found[rules.name] = perfect
    return found, missing


def judged_parts(run: Path, plan: Plan, perfect: Perfect, bot: str) -> Parts:
    """The parts of the plan whose decisions were judged, by game, as far as they are whole.

    Raises:
        MagsimError: if a file among them is none of ours, or the turns of games are missing.
    """
    played = played_parts(run, plan, perfect.rules, bot)
    found = records.parts(run, TABLE, perfect.rules.name, bot)
    return {
        games: found[games]
        for games, turns in played.items()
        if games in found
        and origin(turns, perfect.fingerprint) in found[games].name
        and records.is_intact(found[games])
    }


def played_parts(run: Path, plan: Plan, rules: Rules, bot: str) -> Parts:
    """The parts of the plan that were played to their end: those of ``turns``.

    Raises:
        MagsimError: if the turns of games are missing.
    """
    turns, games = (records.parts(run, table, rules.name, bot) for table in records.TABLES)
    played = [key for first, count in plan.chunks() if (key := (first, first + count - 1)) in games]
    for first, last in played:
        if (first, last) not in turns:
            raise MagsimError(records.missing_turns(run, rules.name, bot, first, last))
    return {key: turns[key] for key in played}


def _tasks(
    run: Path, plan: Plan, solutions: Mapping[str, Perfect], bots: Iterable[str], most: int | None
) -> Iterator[Task]:
    """What is still to be judged of the first ``most`` games."""
    for perfect in solutions.values():
        for bot in bots:
            done = judged_parts(run, plan, perfect, bot)
            for games, turns in played_parts(run, plan, perfect.rules, bot).items():
                if games not in done and (most is None or games[0] < most):
                    name = perfect.rules.name
                    folder = records.part_folder(run, TABLE, name, bot)
                    yield Task(turns, games, perfect.rules, plan.seed, folder)


def judge_run(
    run: Path,
    plan: Plan,
    solutions: Mapping[str, Perfect],
    bots: Iterable[str],
    jobs: int,
    most: int | None = None,
    keep_workers: bool = False,
) -> None:
    """Judge what has not been judged of the first ``most`` games, with progress on standard error.

    ``solutions`` are by name of the rules. Unless they are kept for what comes next, worker
    processes end with it. Ctrl-C ends the workers and is passed on; what was
    judged is kept.

    Raises:
        MagsimError: if a part is damaged or makes no sense, a game does not come to its score, or
            the folder cannot be written.
    """
    tasks = sorted(_tasks(run, plan, solutions, list(bots), most), key=lambda task: task.games)
    if not tasks:
        return
    total = sum(1 + last - first for first, last in (task.games for task in tasks))
    try:
        compile_once("the judge of decisions", "", partial(warm_up, tasks[0].rules))
        with tqdm(total=total, unit=" games", desc="Judging", dynamic_ncols=True) as bar:
            for games in parallel(jobs, (delayed(judge_part)(task) for task in tasks)):
                bar.update(games)
    except TerminatedWorkerError as error:
        raise MagsimError(
            f"run {run}: a process that judged its games was ended from outside, as happens when "
            "memory runs out; the same command goes on, --jobs 1 takes less"
        ) from error
    finally:
        if not keep_workers:
            stop_workers()
        records.remove_temporaries(run)
