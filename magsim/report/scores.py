"""Sections about scores: how they are spread, and what they are made of."""

import polars as pl

from magsim.analysis import estimates, pairs
from magsim.analysis.tallies import PARTS
from magsim.charts import scores as charts
from magsim.charts.comparison import PART_NAMES, Panel, waterfall
from magsim.report.common import (
    PLAYER,
    each_difficulty,
    lower,
    mean_score,
    rows_of,
    show_interval,
    show_whole,
    table_of,
)
from magsim.report.findings import Findings
from magsim.report.page import Section, Table
from magsim.report.words import DASH, between, capital, interval, listed, number


def distributions(findings: Findings) -> Section:
    """How scores are spread."""

    def say(difficulty: str, best: str) -> str:
        told = f"{best} scores {mean_score(findings, difficulty, best)} on average"
        weak = findings.ranked(difficulty)[-1]
        if weak != best:
            told += f" and {weak} {mean_score(findings, difficulty, weak)}"
        return told

    table = table_of(
        "Scores, points",
        findings.summary,
        PLAYER
        | {
            "games": show_whole("games"),
            "mean": show_interval("mean"),
            "sd": lambda row: number(row["sd"]),
        },
    )
    chart = charts.score_distributions(findings.tallies["scores"], findings.summary)
    return Section(
        "Scores",
        "Points: " + lower(each_difficulty(findings, say)),
        {"scores": chart},
        (table,),
    )


def percentiles(findings: Findings) -> Section:
    """Scores by percentile, with bootstrap intervals."""
    frame = estimates.percentiles(findings.tallies)

    def say(difficulty: str, best: str) -> str:
        at = {row["percentile"]: row for row in rows_of(frame, difficulty, best)}
        low, high = (between(*(at[k][c] for c in ("score", "low", "high"))) for k in (5, 95))
        return (
            f"{best} scores {low} points or less in its worst 5 % of games and {high} or more in "
            "its best 5 %"
        )

    table = table_of(
        "Percentiles of the score, points",
        frame,
        PLAYER
        | {
            "percentile": show_whole("percentile"),
            "score": lambda row: between(row["score"], row["low"], row["high"]),
        },
    )
    return Section(
        "Scores by percentile",
        each_difficulty(findings, say) + " Intervals are by bootstrap.",
        {"percentiles": charts.score_percentiles(frame, findings.summary)},
        (table,),
    )


def _parts(findings: Findings, difficulty: str, weak: str | None, strong: str) -> pl.DataFrame:
    """The parts of the strong bot's score, or by how much they are above those of the weak one."""
    if weak is not None:
        place = [rules.name for rules in findings.plan.rules].index(difficulty)
        bots = list(findings.plan.bots)
        return pairs.waterfall(findings.moments[place], bots.index(weak), bots.index(strong))
    return findings.means.filter(
        (pl.col("difficulty") == difficulty)
        & (pl.col("bot") == strong)
        & pl.col("quantity").is_in(PARTS)
    ).select("games", "half_width", part="quantity", difference="mean")


def _ends(
    findings: Findings, difficulty: str, weak: str | None, strong: str
) -> tuple[float, float]:
    """The mean scores between which the parts lie, over the games that both bots played."""
    place = [rules.name for rules in findings.plan.rules].index(difficulty)
    bots = list(findings.plan.bots)
    scores, high = findings.moments[place]["score"], bots.index(strong)
    if weak is None:
        return 0.0, scores.mean(high).mean or 0.0
    low = bots.index(weak)
    return scores.mean(low, high).mean or 0.0, scores.mean(high, low).mean or 0.0


def points(findings: Findings) -> Section:
    """Where the points come from."""
    panels: list[Panel] = []
    rows: list[list[str]] = []
    told = []
    for difficulty in findings.difficulties:
        ranked = findings.ranked(difficulty)
        strong, weak = ranked[0], ranked[-1] if len(ranked) > 1 else None
        parts = _parts(findings, difficulty, weak, strong)
        if weak is not None and parts["difference"].has_nulls():  # they have no game in common
            weak = None
            parts = _parts(findings, difficulty, weak, strong)
        start, end = _ends(findings, difficulty, weak, strong)
        panels.append(Panel(difficulty, parts, weak, strong, start, end))
        largest = max(parts.iter_rows(named=True), key=lambda row: row["difference"])
        gain = interval(largest["difference"], largest["half_width"], sign=weak is not None)
        earns = f"is ahead of {weak}" if weak else "earns"
        name = PART_NAMES[largest["part"]]
        told.append(f"at {difficulty}, {strong} {earns} most by {name}, {gain} points a game")
        for row in parts.iter_rows(named=True):
            shown = interval(row["difference"], row["half_width"], sign=weak is not None)
            rows.append([difficulty, strong, weak or DASH, PART_NAMES[row["part"]], shown])
    text = listed(told)
    title = "Points a game by part (of two bots: the difference on the same dice)"
    table = Table(title, ["difficulty", "bot", "against", "part", "points"], rows, words=4)
    drawn = {"points": waterfall(panels)}
    caption = f"{capital(text)}."
    return Section("Where the points come from", caption, drawn, (table,))
