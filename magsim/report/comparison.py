"""Sections that compare bots: paired differences, and how much is luck and how much skill."""

import polars as pl

from magsim.charts import comparison as charts
from magsim.report.common import (
    PLAYER,
    Row,
    show_interval,
    show_text,
    show_whole,
    table_of,
)
from magsim.report.findings import Findings
from magsim.report.page import Section, Table
from magsim.report.words import DASH, capital, interval, listed, number, percent_between


def _half_width(row: Row) -> str:
    wide = row["simultaneous"]
    return DASH if wide is None else f"± {number(wide)}"


def differences_table(
    frame: pl.DataFrame,
    title: str = "Paired differences on the same dice, points",
    gain: str = "gain of pairing",
) -> Table:
    """Paired differences, from ``analysis.pairs.differences``."""
    columns = {
        "against": show_text("other"),
        "games": show_whole("games"),
        "ahead by": show_interval("difference", sign=True),
        "for all together": _half_width,
        gain: lambda row: number(row["gain"], 2),
    }
    return table_of(title, frame, PLAYER | columns, words=3)


def differences(findings: Findings) -> Section:
    """How far bots are ahead of each other on the same dice, and what pairing gains."""
    frame = findings.differences
    told = []
    for difficulty in findings.difficulties:
        ranked = findings.ranked(difficulty)
        rows = [
            row
            for row in frame.iter_rows(named=True)
            if row["difficulty"] == difficulty and {row["bot"], row["other"]} == set(ranked[:2])
        ]
        for row in rows[:1]:
            ahead = row["difference"] if row["bot"] == ranked[0] else -row["difference"]
            gain = ""
            if row["gain"] is not None:
                alone = number(row["gain"], 2)
                gain = f"; dice of their own would take {alone} times as many games to tell"
            told.append(
                f"at {difficulty}, {ranked[0]} is {interval(ahead, row['half_width'])} points "
                f"ahead of {ranked[1]}{gain}"
            )
    text = listed(told)
    pairs = len(frame)
    many = (
        f" With {pairs} comparisons at once, about {number(pairs / 20)} of the 95 % intervals miss "
        "by chance alone; the thin, wider ones (Bonferroni) hold for all together with 95 %."
        if pairs > 1
        else ""
    )
    drawn = {
        "differences": charts.forest(frame),
        "matrix": charts.matrix(frame, findings.bots),
    }
    caption = f"{capital(text)}.{many}" if text else many.strip()
    return Section("Bots against each other", caption, drawn, (differences_table(frame),))


def variance(findings: Findings) -> Section:
    """How much of the variance of scores the dice explain, and how much the choice of bot."""
    frame = findings.variance
    told = []
    for (difficulty,), rows in frame.group_by("difficulty", maintain_order=True):
        shares = {
            row["source"]: percent_between(row["share"], row["low"], row["high"])
            for row in rows.iter_rows(named=True)
        }
        told.append(
            f"at {difficulty}, the choice of bot explains {shares['bot']} of the variance of "
            f"scores, dice that are good or bad for every bot {shares['dice']}, and what the dice "
            f"give to one bot and not to another {shares['rest']}"
        )
    text = listed(told)
    table = table_of(
        "Variance of scores, by source",
        frame,
        {"difficulty": show_text("difficulty"), "source": show_text("source")}
        | {
            "variance": lambda row: number(row["variance"], 0),
            "share": lambda row: percent_between(row["share"], row["low"], row["high"]),
        },
    )
    caption = f"{capital(text)}. Among the bots of this run only."
    return Section("Luck and skill", caption, {"variance": charts.variance(frame)}, (table,))
