"""Tournaments: plan chunks, fan them out with joblib, show progress, resume.

A chunk whose parts exist is done; nothing else is remembered between runs. Bots always play in
worker processes, so that one that hangs or crashes takes nobody else down.
"""

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from joblib import delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError
from tqdm import tqdm

from magsim import records, worker
from magsim.asking import read_note
from magsim.bot import Bot
from magsim.compiled import cache_folder
from magsim.errors import MagsimError
from magsim.manifest import (
    FILE,
    Plan,
    default_chunk,
    differences,
    grow_manifest,
    is_leftover,
    read_manifest,
    write_manifest,
)
from magsim.pool import parallel, stop_workers
from magsim.referee import describe_death
from magsim.registry import fingerprint, load_bot, reliance, worker_spec
from magsim.rules import PEACEFUL, Rules
from magsim.timings import add_timing, open_timings
from magsim.worker import Chunk, Done


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot in a tournament: its canonical spec, the spec that loads it, its fingerprint."""

    bot: Bot
    source: str
    fingerprint: str


@dataclass(slots=True)
class Report:
    """How a tournament ended: games played now and before, and the sentence of each stopped bot."""

    played: int = 0
    before: int = 0
    faults: dict[str, str] = field(default_factory=dict)


def enter(specs: str, time_limit: float) -> list[Entrant]:
    """The bots of specs joined by commas.

    Raises:
        MagsimError: if a spec is wrong, two name the same bot, or a bot file does not import.
    """
    entrants: dict[str, Entrant] = {}
    for text in (text.strip() for text in specs.split(",")):
        if text.partition(":")[0].endswith(".py"):
            _try_file(worker_spec(text), time_limit)
        bot = load_bot(text)
        if bot.spec in entrants:
            raise MagsimError(f"bot {bot.spec!r} is named twice in {specs!r}")
        entrants[bot.spec] = Entrant(bot, worker_spec(text), fingerprint(text))
    return list(entrants.values())


def enter_one(option: str, spec: str, time_limit: float, rules: Rules) -> Entrant:
    """The one bot of a spec, compiled, for these rules; ``option`` is where the spec was given.

    Raises:
        MagsimError: if the spec names no bot, or several, or what the bot relies on is not there.
    """
    entrants = enter(spec, time_limit)
    if len(entrants) > 1:
        raise MagsimError(f"{option} {spec}: name one bot, not {len(entrants)}")
    compile_kernels(entrants, rules)
    return entrants[0]


def _try_file(source: str, time_limit: float) -> None:
    """Import a stranger's file in a worker first, where it can do no harm."""
    try:
        (problem,) = parallel(1, [delayed(worker.try_bot)(source, time_limit)])
    except TerminatedWorkerError:
        problem = f"bot {source} takes its process down when it is imported"
    if problem:
        raise MagsimError(problem)


def make_plan(
    entrants: list[Entrant], rules: Iterable[Rules], games: int, seed: int, chunk: int | None
) -> Plan:
    """The plan of a tournament.

    Raises:
        MagsimError: if what a bot relies on under any of the rules is not there.
    """
    rules = tuple(rules)
    bots = {entrant.bot.spec: entrant.fingerprint for entrant in entrants}
    relied = {
        entrant.bot.spec: found
        for entrant in entrants
        if (found := {at.name: text for at in rules if (text := reliance(entrant.bot, at))})
    }
    return Plan(seed, games, chunk or default_chunk(games), bots, rules, relied=relied)


def open_run(run: Path, plan: Plan, may_grow: bool = False) -> None:
    """Make the run's folder, or check that the run in it is of the same plan.

    If it ``may_grow``, a run of the same plan with fewer games becomes this one, and one with more
    games stays as it is.

    Raises:
        MagsimError: if another configuration is there, naming what differs, or something that is
            not of the run, or the folder cannot be written.
    """
    try:
        if run.exists() and not (run / FILE).exists() and (not run.is_dir() or _has_content(run)):
            raise MagsimError(f"{run} exists and is no run: choose another folder with --out")
        write_manifest(run, plan)
        there = read_manifest(run)
        if may_grow:
            plan = replace(plan, games=max(plan.games, there.games))
            if not differences(replace(there, games=plan.games), plan) and plan != there:
                grow_manifest(run, plan)
                there = plan
        found = differences(there, plan)
        if found:
            raise MagsimError(
                f"{run} holds a run of another configuration ({'; '.join(found)}): "
                "choose another folder with --out"
            )
        records.remove_leftovers(run)
        if not os.access(run, os.W_OK):
            raise MagsimError(f"folder {run} cannot be written: permission denied")
        for path in records.strangers(run, plan):
            raise MagsimError(f"{path} is no part of this run; move it away")
    except OSError as error:
        raise MagsimError(f"folder {run} cannot be used: {error.strerror or error}") from error


def _has_content(folder: Path) -> bool:
    """Whether a folder holds more than what a kill left of a manifest."""
    return any(not is_leftover(path) for path in folder.iterdir())


def missing_chunks(run: Path, plan: Plan, entrants: list[Entrant], limit: float) -> Iterator[Chunk]:
    """The chunks that have yet to be played, the bots and difficulties taking turns.

    Taking turns keeps the estimate of the time left honest when some bots are slow.

    Raises:
        MagsimError: if a part that exists is damaged.
    """
    done = {
        (bot, rules.name): _intact_parts(run, "games", rules.name, bot)
        & _intact_parts(run, "turns", rules.name, bot)
        for bot in plan.bots
        for rules in plan.rules
    }
    return (
        Chunk(
            bot.bot.spec,
            bot.source,
            bot.fingerprint,
            plan.relied.get(bot.bot.spec, {}).get(rules.name, ""),
            rules,
            plan.seed,
            first,
            games,
            run,
            limit,
        )
        for first, games in plan.chunks()
        for rules in plan.rules
        for bot in entrants
        if (first, first + games - 1) not in done[bot.bot.spec, rules.name]
    )


def _intact_parts(run: Path, table: str, difficulty: str, bot: str) -> set[tuple[int, int]]:
    """The first and last game indices of a bot's parts at a difficulty.

    Raises:
        MagsimError: if the bytes of one are not those that were written.
    """
    found = records.parts(run, table, difficulty, bot)
    for path in found.values():
        if not records.is_intact(path):
            raise MagsimError(
                f"{path} is damaged: its bytes are not those that were written; move it away, and "
                "the same tournament command plays its games again"
            )
    return set(found)


class _Crew:
    """Worker processes that play chunks until none is left."""

    def __init__(self, jobs: int, report: Report, on_done: Callable[[Done], None]) -> None:
        self._jobs = jobs
        self._report = report
        self._on_done = on_done

    def play(self, chunks: Iterator[Chunk]) -> None:
        """Play chunks; when a worker dies, play those under way one by one to find out why."""
        while under_way := self._play_all(chunks, self._jobs):
            for chunk in under_way:
                self._play_alone(chunk)

    def _play_alone(self, chunk: Chunk) -> None:
        if not self._play_all(iter([chunk]), 1):
            return
        asked = read_note(chunk.note)
        death = describe_death(chunk.bot, chunk.rules, asked, chunk.time_limit)
        self._report.faults.setdefault(chunk.bot, death)

    def _play_all(self, chunks: Iterator[Chunk], jobs: int) -> list[Chunk]:
        """Play chunks to the last, or until a worker dies; then, those that were under way."""
        under_way: dict[Chunk, None] = {}

        def tasks() -> Iterator[object]:
            for chunk in chunks:
                if chunk.bot not in self._report.faults:
                    under_way[chunk] = None
                    yield delayed(worker.play_chunk)(chunk)

        try:
            for done in parallel(jobs, tasks()):
                del under_way[done.chunk]
                if done.fault:
                    self._report.faults.setdefault(done.chunk.bot, done.fault)
                self._on_done(done)
        except TerminatedWorkerError:
            return list(under_way)
        return []


def compile_kernels(entrants: list[Entrant], rules: Rules) -> None:
    """Compile in a worker what is not in the cache yet, and say how long it took.

    ``rules`` are some that the bots are going to play by, and that what they rely on is for.

    Raises:
        MagsimError: if what a bot relies on under them is not there.
    """
    warm_ups = {("the simulator", ""): partial(worker.warm_up, None, PEACEFUL)}
    for entrant in entrants:
        relied, name = reliance(entrant.bot, rules), entrant.bot.spec.partition(":")[0]
        if entrant.bot.compiled:
            version = f"{entrant.fingerprint} {relied}".rstrip()
            law = rules if relied else PEACEFUL
            warm_ups[f"bot {name}", version] = partial(worker.warm_up, entrant.source, law)
    for (name, version), warm_up in warm_ups.items():
        compile_once(name, version, warm_up)


def compile_once(name: str, version: str, warm_up: Callable[[], float]) -> None:
    """Call in a worker what compiles something, unless it has been called; say how long it took.

    ``warm_up`` returns the seconds that it took; ``name`` is how to call what it compiles.
    """
    digest = hashlib.sha256(f"{name} {version}".encode()).hexdigest()[:16]
    marker = cache_folder() / f"{digest}.compiled"
    if marker.exists():
        return
    print(f"Compiling {name}, this once ...", file=sys.stderr)
    try:
        (seconds,) = parallel(1, [delayed(warm_up)()])
    except TerminatedWorkerError:
        return  # the work itself will say where its process was taken down
    print(f"Compiled {name} in {seconds:.1f} s.", file=sys.stderr)
    with contextlib.suppress(OSError):  # then the next run says so again
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()


def play(
    run: Path,
    plan: Plan,
    entrants: list[Entrant],
    jobs: int,
    time_limit: float,
    keep_workers: bool = False,
) -> Report:
    """Play what is missing of a run, with progress on standard error.

    Unless they are kept for what comes next, worker processes end with it. A bot at fault is
    stopped, the others play on. ``KeyboardInterrupt`` ends the workers and is passed on.

    Raises:
        MagsimError: if a part is damaged or cannot be written.
    """
    total = plan.games * len(plan.bots) * len(plan.rules)
    missing = sum(chunk.games for chunk in missing_chunks(run, plan, entrants, time_limit))
    report = Report(before=total - missing)
    if not missing:
        return report
    try:
        compile_kernels(entrants, plan.rules[0])
        with (
            open_timings(run) as timings,
            tqdm(
                total=total,
                initial=report.before,
                unit=" games",
                smoothing=0.05,
                dynamic_ncols=True,
            ) as bar,
        ):

            def on_done(done: Done) -> None:
                if done.fault is None:
                    add_timing(
                        timings,
                        done.chunk.bot,
                        done.chunk.rules.name,
                        done.chunk.first,
                        done.decisions,
                        done.seconds,
                    )
                    report.played += done.chunk.games
                    bar.update(done.chunk.games)

            _Crew(jobs, report, on_done).play(missing_chunks(run, plan, entrants, time_limit))
    except OSError as error:
        raise MagsimError(f"run {run} cannot be written: {error.strerror or error}") from error
    finally:
        if not keep_workers:
            stop_workers()
        records.remove_leftovers(run)
    return report
