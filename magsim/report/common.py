"""What the sections of a report share: who is spoken of, and how tables are filled."""

from collections.abc import Callable, Iterable
from typing import Any

import polars as pl

from magsim.report.findings import Findings
from magsim.report.page import Table
from magsim.report.words import capital, interval, listed, percent_between, small_interval

Row = dict[str, Any]
Show = Callable[[Row], str]

COMMON, FEW = 0.05, 10
"""A turn, or a number of empty cells, is spoken of where so large a share of games comes to it, and
so many games."""


def each_difficulty(findings: Findings, say: Callable[[str, str], str]) -> str:
    """Something said of the strongest bot at each difficulty, as one sentence."""
    told = [
        f"at {difficulty}, {say(difficulty, findings.best(difficulty))}"
        for difficulty in findings.difficulties
    ]
    text = listed(told)
    return f"{capital(text)}."


def rows_of(frame: pl.DataFrame, difficulty: str, bot: str) -> list[Row]:
    """The rows of a bot at a difficulty."""
    return list(
        frame.filter((pl.col("difficulty") == difficulty) & (pl.col("bot") == bot)).iter_rows(
            named=True
        )
    )


def row_of(frame: pl.DataFrame, difficulty: str, bot: str) -> Row:
    """The one row of a bot at a difficulty."""
    return rows_of(frame, difficulty, bot)[0]


def table_of(title: str, frame: pl.DataFrame, columns: dict[str, Show], words: int = 2) -> Table:
    """A table whose columns show each row of a frame in their own way."""
    rows = [[show(row) for show in columns.values()] for row in frame.iter_rows(named=True)]
    return Table(title, list(columns), rows, words)


def show_text(name: str) -> Show:
    """Shows a column as it is."""
    return lambda row: str(row[name])


def show_whole(name: str) -> Show:
    """Shows a column of whole numbers."""
    return lambda row: f"{row[name]:,}"


def show_interval(name: str, width: str = "half_width", sign: bool = False) -> Show:
    """Shows a column with the half width of its interval."""
    return lambda row: interval(row[name], row[width], sign)


def show_share(row: Row) -> str:
    """Shows a share with the ends of its interval."""
    return percent_between(row["share"], row["low"], row["high"])


PLAYER: dict[str, Show] = {
    "difficulty": show_text("difficulty"),
    "bot": show_text("bot"),
}


def lower(sentence: str) -> str:
    """A sentence that follows a colon."""
    return sentence[0].lower() + sentence[1:]


def mean_score(findings: Findings, difficulty: str, bot: str) -> str:
    """The mean score of a bot with its interval."""
    row = row_of(findings.summary, difficulty, bot)
    return interval(row["mean"], row["half_width"])


def quantity(findings: Findings, name: str) -> pl.DataFrame:
    """The means of one quantity of games."""
    return findings.means.filter(pl.col("quantity") == name)


def show_small_mean(row: Row) -> str:
    """Shows a mean that is small."""
    return small_interval(row["mean"], row["half_width"])


def common_rows(findings: Findings, rows: Iterable[Row], difficulty: str, bot: str) -> list[Row]:
    """Rows that rest on a good share of the games, or all where none does."""
    every = list(rows)
    least = max(FEW, COMMON * row_of(findings.summary, difficulty, bot)["games"])
    return [row for row in every if row["turns"] >= least] or every


def rate_table(title: str, frame: pl.DataFrame, key: str, counted: str) -> Table:
    """A table of turns of which some are counted."""
    columns = {key: show_whole(key), "turns": show_whole("turns"), counted: show_whole("count")}
    return table_of(title, frame, PLAYER | columns | {"share": show_share})
