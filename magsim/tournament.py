"""Tournaments: plan chunks, fan them out with joblib, show progress, resume.

A chunk whose parts exist is done; nothing else is remembered between runs. Bots always play in
worker processes, so that one that hangs or crashes takes nobody else down.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from joblib import delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError
from tqdm import tqdm

from magsim import records, worker
from magsim.asking import read_note
from magsim.bot import Bot
from magsim.compiled import cache_folder
from magsim.errors import MagsimError
from magsim.manifest import FILE, Plan, default_chunk, differences, read_manifest, write_manifest
from magsim.pool import parallel, stop_workers
from magsim.referee import describe
from magsim.registry import fingerprint, load_bot, worker_spec
from magsim.rules import Rules
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


def enter(specs: str) -> list[Entrant]:
    """The bots of specs joined by commas.

    Raises:
        MagsimError: if a spec is wrong or two name the same bot.
    """
    entrants: dict[str, Entrant] = {}
    for text in specs.split(","):
        bot = load_bot(text.strip())
        if bot.spec in entrants:
            raise MagsimError(f"bot {bot.spec!r} is named twice in {specs!r}")
        entrants[bot.spec] = Entrant(bot, worker_spec(text.strip()), fingerprint(text.strip()))
    return list(entrants.values())


def make_plan(
    entrants: list[Entrant], rules: Iterable[Rules], games: int, seed: int, chunk: int | None
) -> Plan:
    """The plan of a tournament."""
    bots = {entrant.bot.spec: entrant.fingerprint for entrant in entrants}
    return Plan(seed, games, chunk or default_chunk(games), bots, tuple(rules))


def open_run(run: Path, plan: Plan) -> None:
    """Make the run's folder, or check that the run in it is of the same plan and intact.

    Raises:
        MagsimError: if another configuration is there, naming what differs, or a part is damaged,
            or the folder cannot be written.
    """
    if (run / FILE).exists():
        found = differences(read_manifest(run), plan)
        if found:
            raise MagsimError(
                f"{run} holds a run of another configuration ({'; '.join(found)}): "
                "choose another folder with --out"
            )
    elif run.exists() and (not run.is_dir() or any(run.iterdir())):
        raise MagsimError(f"{run} exists and is no run: choose another folder with --out")
    else:
        write_manifest(run, plan)
    records.remove_leftovers(run)
    if not os.access(run, os.W_OK):
        raise MagsimError(f"folder {run} cannot be written: permission denied")


def missing_chunks(run: Path, plan: Plan, entrants: list[Entrant], limit: float) -> list[Chunk]:
    """The chunks that have yet to be played, the bots and difficulties taking turns.

    Taking turns keeps the estimate of the time left honest when some bots are slow.

    Raises:
        MagsimError: if a part that exists is damaged.
    """
    done = {
        (bot, rules.name): set(intact_parts(run, "games", rules.name, bot))
        & set(intact_parts(run, "turns", rules.name, bot))
        for bot in plan.bots
        for rules in plan.rules
    }
    return [
        Chunk(entrant.bot.spec, entrant.source, rules, plan.seed, first, games, run, limit)
        for first, games in plan.chunks()
        for rules in plan.rules
        for entrant in entrants
        if (first, first + games - 1) not in done[entrant.bot.spec, rules.name]
    ]


def intact_parts(run: Path, table: str, difficulty: str, bot: str) -> dict[tuple[int, int], Path]:
    """The parts of a bot at a difficulty.

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
    return found


class _Crew:
    """Worker processes that play chunks until none is left."""

    def __init__(self, jobs: int, report: Report, on_done: Callable[[Done], None]) -> None:
        self._jobs = jobs
        self._report = report
        self._on_done = on_done

    def play(self, chunks: list[Chunk]) -> None:
        """Play chunks; when a worker dies, play those under way one by one to find out why."""
        waiting = list(chunks)
        while waiting:
            started = self._play_all(waiting, self._jobs)
            waiting = [chunk for chunk in waiting if chunk not in started]
            for chunk in started.values():
                if chunk is not None:
                    self._play_alone(chunk)

    def _play_alone(self, chunk: Chunk) -> None:
        if self._play_all([chunk], 1).get(chunk) is None:
            return
        asked = read_note(chunk.note)
        what = "took its process down"
        if asked and time.time() - asked.at / 1000 >= chunk.time_limit:
            what = f"gave no answer within {chunk.time_limit:g} s and could not be interrupted"
        place = (
            describe(chunk.bot, chunk.rules, asked, what) if asked else f"bot {chunk.bot} {what}"
        )
        self._report.faults.setdefault(chunk.bot, place)

    def _play_all(self, chunks: list[Chunk], jobs: int) -> dict[Chunk, Chunk | None]:
        """Play chunks; those handed out, with None once done or a chunk left when a worker died."""
        handed_out: dict[Chunk, Chunk | None] = {}

        def tasks() -> Iterator[object]:
            for chunk in chunks:
                if chunk.bot not in self._report.faults:
                    handed_out[chunk] = chunk
                    yield delayed(worker.play_chunk)(chunk)

        try:
            for done in parallel(jobs)(tasks()):
                handed_out[done.chunk] = None
                if done.fault:
                    self._report.faults.setdefault(done.chunk.bot, done.fault)
                self._on_done(done)
        except TerminatedWorkerError:
            return handed_out
        return dict.fromkeys(chunks)


def compile_kernels(entrants: list[Entrant], say: Callable[[str], None]) -> None:
    """Compile in a worker what is not in the cache yet, and say how long it took."""
    sources: dict[str, str | None] = {"the simulator": None}
    for entrant in entrants:
        if entrant.bot.compiled:
            sources[f"bot {entrant.bot.spec.partition(':')[0]}"] = entrant.source
    for name, source in sources.items():
        marker = cache_folder() / f"{name}.compiled"
        if marker.exists():
            continue
        say(f"Compiling {name}, this once ...")
        try:
            (seconds,) = parallel(1)([delayed(worker.warm_up)(source)])
        except TerminatedWorkerError:
            continue  # the run itself will say where the bot took its process down
        say(f"Compiled {name} in {seconds:.1f} s.")
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()


def play(
    run: Path, plan: Plan, entrants: list[Entrant], jobs: int, time_limit: float, show: bool = True
) -> Report:
    """Play what is missing of a run, with progress on standard error.

    A bot at fault is stopped, the others play on. ``KeyboardInterrupt`` ends the workers and is
    passed on.

    Raises:
        MagsimError: if a part is damaged or cannot be written.
    """
    chunks = missing_chunks(run, plan, entrants, time_limit)
    total = plan.games * len(plan.bots) * len(plan.rules)
    missing = sum(chunk.games for chunk in chunks)
    report = Report(before=total - missing)
    if not chunks:
        return report
    try:
        compile_kernels(entrants, lambda text: print(text, file=sys.stderr) if show else None)
        with (
            open_timings(run) as timings,
            tqdm(
                total=total,
                initial=report.before,
                unit=" games",
                smoothing=0.05,
                disable=not show,
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

            _Crew(jobs, report, on_done).play(chunks)
    except OSError as error:
        raise MagsimError(f"run {run} cannot be written: {error.strerror or error}") from error
    finally:
        stop_workers()
        records.remove_leftovers(run)
    return report
