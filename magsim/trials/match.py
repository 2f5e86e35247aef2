"""Matches: two bots on the same dice, game after game, until enough is known of the difference.

A match is a run that grows: games are played up to the next look, in the order of their indices,
and a look depends on the games before it only. So the same command ends with the same games,
whatever the number of processes, and goes on where it was stopped.
"""

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

from magsim import records
from magsim.analysis.intervals import Mean, mean_of_sums
from magsim.analysis.sequential import STEP, Rule, looks
from magsim.crew import Processes
from magsim.entrants import Entrant
from magsim.errors import BotFault
from magsim.manifest import Plan
from magsim.pool import stop_workers
from magsim.regret.run import judge_run, judged_parts, solved
from magsim.regret.sums import UNIT
from magsim.rules import Rules
from magsim.tournament import make_plan, open_run, play

_LONGEST_NAME = 80


def default_folder(pair: tuple[Entrant, Entrant], rules: Rules, seed: int) -> Path:
    """``results/`` and a name, made unique by a digest of bots, rules and seed."""
    specs = [entrant.bot.spec for entrant in pair]
    safe = re.sub(r"[^A-Za-z0-9_.+=-]+", "-", f"{'-against-'.join(specs)}-{rules.name}")
    config = json.dumps([specs, dataclasses.asdict(rules), seed])
    digest = hashlib.sha256(config.encode()).hexdigest()[:8]
    return Path("results") / f"match-{safe[:_LONGEST_NAME]}-seed{seed}-{digest}"


class Look(NamedTuple):
    """What is known after so many games: how far the second bot is ahead, in points."""

    ahead: Mean
    """Of luck-adjusted scores if ``adjusted``, else of scores."""
    adjusted: bool
    is_last: bool


class Match:
    """Two bots under rules; ``run`` is the folder of their games.

    A bot against itself plays both sides, the second one in a folder beside it.
    """

    def __init__(self, run: Path, pair: tuple[Entrant, Entrant], rules: Rules, seed: int) -> None:
        self._rules = rules
        one, other = pair
        if one.bot.spec == other.bot.spec:
            sides = {run: [one], run.with_name(f"{run.name}-mirror"): [other]}
        else:
            sides = {run: [one, other]}
        self._runs = {
            folder: (make_plan(entrants, [rules], STEP, seed, STEP), entrants)
            for folder, entrants in sides.items()
        }
        self._perfect = solved([rules])[0].get(rules.name)

    def play(self, rule: Rule, most: int, jobs: int, time_limit: float) -> Iterator[Look]:
        """Play, with progress on standard error, and look now and then until it is enough.

        ``most`` is rounded up to a whole number of parts.

        Raises:
            BotFault: if a bot is at fault.
            MagsimError: if a folder holds something else, or something of it is not right.
        """
        most = -(-most // STEP) * STEP
        before, sums = 0, (0, 0)
        try:
            for games in looks(most):
                ahead = self._differences(before, games, jobs, time_limit)
                sums = sums[0] + sum(ahead), sums[1] + sum(value * value for value in ahead)
                before = games
                mean = _in_points(mean_of_sums(games, *sums))
                last = games == most or rule.is_enough(mean)
                yield Look(mean, self._perfect is not None, last)
                if last:
                    return
        finally:
            stop_workers()

    def _differences(self, before: int, games: int, jobs: int, time_limit: float) -> list[int]:
        """How far the second bot is ahead in each game from ``before`` on, in 1/UNIT points."""
        values = []
        for run, (first, entrants) in self._runs.items():
            plan = replace(first, games=games)
            open_run(run, plan, may_grow=True)
            report = play(run, plan, entrants, Processes(jobs, keep=True), time_limit)
            if report.faults:
                raise BotFault("\nmagsim: ".join(report.faults.values()))
            if self._perfect is not None:
                known = {self._rules.name: self._perfect}
                judge_run(run, plan, known, plan.bots, jobs, keep_workers=True)
            values += [self._values(run, plan, bot, before) for bot in plan.bots]
        one, other = values
        return [y - x for x, y in zip(one, other, strict=True)]

    def _values(self, run: Path, plan: Plan, bot: str, before: int) -> list[int]:
        """What a bot's games from ``before`` on came to, in 1/UNIT points: scores, or less luck.

        Raises:
            MagsimError: if a part is damaged or not there.
        """
        name = self._rules.name
        if self._perfect is None:
            found = records.parts(run, "games", name, bot)
            value = pl.col("score").cast(pl.Int64) * UNIT
        else:
            found = judged_parts(run, plan, self._perfect, bot)
            value = -(pl.col("regret") * UNIT).round().cast(pl.Int64)
        planned = [(first, first + count - 1) for first, count in plan.chunks() if first >= before]
        parts = [found[key] for key in planned]
        for part in parts:
            records.check_part(part)
        by_game = records.scan_parts(parts).group_by("game").agg(value.sum().alias("value"))
        return by_game.sort("game").collect()["value"].to_list()


def _in_points(mean: Mean) -> Mean:
    return Mean(mean.n, *(None if value is None else value / UNIT for value in mean[1:]))
