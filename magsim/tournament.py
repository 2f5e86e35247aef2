"""Tournaments: plan chunks, have a crew play them, write what comes back, show progress, resume.

A chunk whose parts exist is done; nothing else is remembered between runs. Bots always play in
worker processes, so that one that hangs or crashes takes nobody else down.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

from tqdm import tqdm

from magsim import records
from magsim.crew import Crew
from magsim.entrants import Entrant
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
from magsim.registry import reliance
from magsim.rules import Rules
from magsim.timings import add_timing, open_timings
from magsim.worker import Chunk, Done


@dataclass(slots=True)
class Report:
    """How a tournament ended: games played now and before, and the sentence of each stopped bot."""

    played: int = 0
    before: int = 0
    faults: dict[str, str] = field(default_factory=dict)


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
        records.remove_temporaries(run)
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


def play(run: Path, plan: Plan, entrants: list[Entrant], crew: Crew, time_limit: float) -> Report:
    """Have a crew play what is missing of a run, with progress on standard error.

    The crew is stopped at the end. A bot at fault is stopped, the others play on.
    ``KeyboardInterrupt`` ends the workers and is passed on.

    Raises:
        MagsimError: if a part is damaged or cannot be written, or the crew can go on no more.
    """
    total = plan.games * len(plan.bots) * len(plan.rules)
    try:
        missing = sum(chunk.games for chunk in missing_chunks(run, plan, entrants, time_limit))
        report = Report(before=total - missing)
        if missing:
            crew.prepare(entrants, plan.rules[0])
            chunks = missing_chunks(run, plan, entrants, time_limit)
            _play_missing(run, chunks, crew, report, total)
    except OSError as error:
        raise MagsimError(f"run {run} cannot be written: {error.strerror or error}") from error
    finally:
        crew.stop()
        records.remove_temporaries(run)
    return report


def _play_missing(
    run: Path, chunks: Iterator[Chunk], crew: Crew, report: Report, total: int
) -> None:
    """Have chunks played and keep what comes back; ``total`` is the games of the run."""
    progress = tqdm(
        total=total, initial=report.before, unit=" games", smoothing=0.05, dynamic_ncols=True
    )
    with open_timings(run) as timings, progress as bar:
        for done in crew.play(chunks, lambda chunk: chunk.bot not in report.faults):
            if done.fault:
                report.faults.setdefault(done.chunk.bot, done.fault)
                continue
            _keep(run, done, timings)
            report.played += done.chunk.games
            bar.update(done.chunk.games)


def _keep(run: Path, done: Done, timings: TextIO) -> None:
    """Write the parts of a chunk, and note what it took."""
    chunk = done.chunk
    games = chunk.first, chunk.first + chunk.games - 1
    records.write_chunk(run, chunk.bot, chunk.rules.name, games, done.parts)
    add_timing(timings, chunk.bot, chunk.rules.name, chunk.first, done.decisions, done.seconds)
