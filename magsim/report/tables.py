"""Closing tables: estimates as text for a person at a terminal, drawn by rich."""

from collections.abc import Iterable

import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from magsim.report.words import interval, number

MINIMUM_WIDTH = 110
"""Columns; a narrower terminal breaks lines, which is better than figures broken inside."""


def console() -> Console:
    """A console on standard output, wide enough for the tables where it is no terminal."""
    return Console(highlight=False, width=max(Console().width, MINIMUM_WIDTH))


def _table(title: str, columns: Iterable[str], words: int = 1) -> Table:
    """A table whose first ``words`` columns hold words and the others figures."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for k, column in enumerate(columns):
        table.add_column(column, justify="right" if k >= words else "left", overflow="fold")
    return table


def summary_tables(summary: pl.DataFrame) -> list[Table]:
    """One table for each difficulty: a row a bot, from ``analysis.games.summary``."""
    tables = []
    for (difficulty,), rows in summary.group_by("difficulty", maintain_order=True):
        table = _table(
            str(difficulty).upper(),
            (
                "bot",
                "games",
                "mean score",
                "sd",
                "5/50/95 %",
                "RUINs",
                "with RUIN",
                "Powers",
                "turns",
                "ms/decision",
            ),
        )
        for row in rows.iter_rows(named=True):
            table.add_row(
                Text(row["bot"]),
                f"{row['games']:,}",
                interval(row["mean"], row["half_width"]),
                number(row["sd"]),
                "/".join(number(row[p], 0) for p in ("p5", "p50", "p95")),
                number(row["ruins"], 2),
                f"{number(100 * row['with_ruin'])} %",
                number(row["powers"], 2),
                number(row["turns"], 2),
                number(row["milliseconds"], 3),
            )
        tables.append(table)
    return tables


def difference_table(differences: pl.DataFrame) -> Table:
    """One row for each difficulty and pair of bots, from ``analysis.pairs.paired_differences``."""
    table = _table(
        "Paired differences, same dice, 95 % intervals",
        ("difficulty", "bot", "against", "games", "ahead by"),
        words=3,
    )
    for row in differences.iter_rows(named=True):
        table.add_row(
            row["difficulty"],
            Text(row["bot"]),
            Text(row["other"]),
            f"{row['games']:,}",
            interval(row["difference"], row["half_width"], sign=True),
        )
    return table
