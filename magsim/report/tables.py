"""Closing tables: estimates as text for a person at a terminal, drawn by rich."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from magsim.report.words import interval, number, percent, percent_interval

if TYPE_CHECKING:  # perfect play is loaded only where it is solved, charts where they are drawn
    from magsim.regret.worst import Worst
    from magsim.report.page import Table as PageTable

MINIMUM_WIDTH = 120
"""Columns; a narrower terminal breaks lines, which is better than figures broken inside."""
# Those of regret.estimates, which would load perfect play.
_SHARES = ("best", "inaccuracies", "mistakes", "blunders")


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


def difference_table(
    differences: pl.DataFrame, title: str = "Paired differences, same dice, 95 % intervals"
) -> Table:
    """One row for each difficulty and pair of bots, from ``analysis.pairs.paired_differences``."""
    table = _table(
        title,
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


def luck_table(adjusted: pl.DataFrame) -> Table:
    """One row for each difficulty and bot, from ``regret.estimates.luck_adjusted``."""
    table = _table(
        "Luck-adjusted points: what perfect play expects, minus what was lost against it",
        ("difficulty", "bot", "games", "score", "luck", "perfect", "lost", "luck-adjusted", "gain"),
        words=2,
    )
    for row in adjusted.iter_rows(named=True):
        table.add_row(
            row["difficulty"],
            Text(row["bot"]),
            f"{row['games']:,}",
            interval(row["score"], row["score_half_width"]),
            interval(row["luck"], row["luck_half_width"], sign=True),
            number(row["start"], 2),
            number(row["regret"], 2),
            interval(row["adjusted"], row["half_width"]),
            times(row["gain"]),
        )
    return table


def luck_difference_table(differences: pl.DataFrame) -> Table:
    """As ``difference_table``, from ``regret.estimates.differences``."""
    title = "Luck-adjusted paired differences, same dice, 95 % intervals"
    return difference_table(differences, title)


def times(gain: float | None) -> str:
    """How many times as many games something else would take; a dash where that is not known."""
    return number(gain, 1) if gain is None else f"× {number(gain, 1)}"


def accuracy_table(accuracy: pl.DataFrame) -> Table:
    """One row for each difficulty and bot, from ``regret.estimates.accuracy``."""
    table = _table(
        "Decisions against perfect play: error rates in points, 95 % intervals of the means",
        ("difficulty", "bot", "decisions", "error rate", "accuracy", *_SHARES),
        words=2,
    )
    for row in accuracy.iter_rows(named=True):
        table.add_row(
            row["difficulty"],
            Text(row["bot"]),
            f"{row['decisions']:,}",
            interval(row["loss"], row["loss_half_width"]),
            percent_interval(row["accuracy"], row["accuracy_half_width"]),
            *(percent(row[name]) for name in _SHARES),
        )
    return table


def kind_table(kinds: pl.DataFrame, names: dict[str, str]) -> Table:
    """One row for each difficulty and bot, from ``regret.estimates.by_kind``.

    ``names`` says how kinds are told, in the order of the columns.
    """
    columns = ("difficulty", "bot", *names.values())
    table = _table("Points lost a game, by kind of decision, 95 % intervals", columns, words=2)
    for (difficulty, bot), rows in kinds.group_by("difficulty", "bot", maintain_order=True):
        found = {row["kind"]: row for row in rows.iter_rows(named=True)}
        told = [interval(found[kind]["loss"], found[kind]["half_width"]) for kind in names]
        table.add_row(str(difficulty), Text(str(bot)), *told)
    return table


def worst_tables(worst: "Sequence[Worst]") -> list[Table]:
    """One table for each difficulty: the decisions that lost most, bot by bot."""
    tables: dict[str, Table] = {}
    columns = ("bot", "game", "turn", "position", "decided", "best", "worth", "best worth", "lost")
    for one in worst:
        if one.difficulty not in tables:
            title = f"{one.difficulty.upper()}: the worst decisions, in points"
            tables[one.difficulty] = _table(title, columns)
        tables[one.difficulty].add_row(
            Text(one.bot),
            f"{one.game:,}",
            str(one.turn),
            str(one.position),
            str(one.made),
            str(one.best),
            number(one.made.estimate),
            number(one.best.estimate),
            number(one.regret),
        )
    return [*tables.values()]


def from_page(shown: "PageTable") -> Table:
    """A table of a page, as text for a terminal."""
    table = _table(shown.title, shown.head, shown.words)
    for row in shown.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
