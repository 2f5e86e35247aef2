"""From records to estimates: what a run says about bots and difficulties, with intervals.

Reads records lazily and collects only aggregates.
"""

from itertools import combinations
from pathlib import Path

import polars as pl

from magsim import records
from magsim.analysis.intervals import half_width
from magsim.manifest import read_manifest
from magsim.timings import milliseconds_per_decision


def summary(run: Path) -> pl.DataFrame:
    """A row for each difficulty and bot with recorded games, in the order of the plan.

    Columns: difficulty, bot, games, mean, half_width (of its 95 % interval; null for one game), sd
    (null for one game), p5, p50, p95, ruins (per game), with_ruin (share of games), powers (used
    per game), turns (per game), milliseconds (per decision, null if no time is known).

    Raises:
        MagsimError: if there is no run, or nothing in it.
    """
    plan = read_manifest(run)
    score = pl.col("score")
    table = (
        records.scan(run, "games", plan)
        .group_by("difficulty", "bot")
        .agg(
            games=pl.len(),
            mean=score.mean(),
            sd=score.std(),
            p5=score.quantile(0.05, "linear"),
            p50=score.quantile(0.5, "linear"),
            p95=score.quantile(0.95, "linear"),
            ruins=pl.col("ruins").mean(),
            with_ruin=(pl.col("ruins") > 0).mean(),
            powers=pl.sum_horizontal(pl.col("raises", "lowers", "rerolls").cast(pl.Int64)).mean(),
            turns=pl.col("turns").mean(),
        )
        .collect(engine="streaming")
    )
    widths = [half_width(sd, n) for sd, n in table.select("sd", "games").iter_rows()]
    times = milliseconds_per_decision(run)
    keys = table.select("difficulty", "bot").rows()
    order = [(rules.name, bot) for rules in plan.rules for bot in plan.bots]
    return (
        table.insert_column(4, pl.Series("half_width", widths, pl.Float64))
        .with_columns(milliseconds=pl.Series([times.get(key) for key in keys], dtype=pl.Float64))
        .with_columns(place=pl.Series([order.index(key) for key in keys]))
        .sort("place")
        .drop("place")
    )


def paired_differences(run: Path) -> pl.DataFrame:
    """A row for each difficulty and pair of bots: how far one is ahead of another on the same dice.

    Columns: difficulty, bot, other (the earlier of the two in the plan), games (that both played),
    difference (mean score of ``bot``
    minus ``other``, game by game), half_width (of its 95 % interval, null for one game).

    Raises:
        MagsimError: if there is no run, or nothing in it.
    """
    plan = read_manifest(run)
    scores = records.scan(run, "games", plan).select("difficulty", "bot", "game", "score")
    found = []
    for rules in plan.rules:
        for other, bot in combinations(plan.bots, 2):
            here = scores.filter(pl.col("difficulty") == rules.name)
            row = (
                here.filter(pl.col("bot") == bot)
                .join(here.filter(pl.col("bot") == other), on="game", suffix="_other")
                .select(difference=pl.col("score") - pl.col("score_other"))
                .select(
                    games=pl.len(), mean=pl.col("difference").mean(), sd=pl.col("difference").std()
                )
                .collect(engine="streaming")
                .row(0)
            )
            games, mean, sd = row
            if games:
                found.append((rules.name, bot, other, games, mean, half_width(sd, games)))
    schema = {
        "difficulty": pl.String,
        "bot": pl.String,
        "other": pl.String,
        "games": pl.Int64,
        "difference": pl.Float64,
        "half_width": pl.Float64,
    }
    return pl.DataFrame(found, schema=schema, orient="row")
