"""The closing table of a tournament: a row for each difficulty and bot, from ``games`` alone."""

from pathlib import Path

import polars as pl

from magsim import records
from magsim.analysis.intervals import mean_of_sums
from magsim.manifest import read_manifest
from magsim.timings import milliseconds_per_decision

SUMMARY = ["difficulty", "bot", "games", "mean", "half_width", "sd", "p5", "p50", "p95"]
SUMMARY += ["ruins", "with_ruin", "powers", "turns", "milliseconds"]


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
            total=score.cast(pl.Int64).sum(),
            squares=(score.cast(pl.Int64) ** 2).sum(),
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
    sums = table.select("games", "total", "squares").iter_rows()
    means = pl.DataFrame(
        [mean_of_sums(*row)[1:] for row in sums],
        schema=dict.fromkeys(("mean", "half_width", "sd"), pl.Float64),
        orient="row",
    )
    times = milliseconds_per_decision(run)
    keys = table.select("difficulty", "bot").rows()
    order = [(rules.name, bot) for rules in plan.rules for bot in plan.bots]
    return (
        pl.concat([table, means], how="horizontal")
        .with_columns(
            milliseconds=pl.Series([times.get(key) for key in keys], dtype=pl.Float64),
            place=pl.Series([order.index(key) for key in keys]),
        )
        .sort("place")
        .select(SUMMARY)
    )
