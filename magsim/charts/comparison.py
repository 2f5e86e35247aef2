"""Charts that compare bots on the same dice."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from magsim.charts import sheet
from magsim.charts.marks import CATEGORIES, DOWN, UP, dot, ink_on, stack
from magsim.charts.sheet import LINE, MARGIN, WIDTH, Rows, Sheet
from magsim.charts.style import (
    BLUE,
    GREY,
    LIGHT,
    Look,
    as_percent,
    as_points,
    chart,
    names,
    number,
    percent,
    plus_minus,
    sample,
    text_width,
    values,
    wrap,
)

DOT = Look(BLUE, "-", "o", "")
MINUS = "\N{MINUS SIGN}"
LEAST_CELL = 0.5
"""Inches that a cell should be wide, for its figures."""
ONE_BOT = "There is one bot only."


@chart
def forest(
    differences: pl.DataFrame,
    title: str = "Bots against each other on the same dice",
    what: str = "score",
) -> Figure:
    """Paired differences with their intervals, a row for each pair, a column for each difficulty.

    Args:
        differences: difficulty, bot, other, games, difference, half_width, simultaneous.
        title: of the chart.
        what: is subtracted.
    """
    if differences.is_empty():
        return sheet.in_words("Bots against each other", ONE_BOT)
    every = names(differences, "difficulty")
    labels = [_pair(row) for row in differences.iter_rows(named=True)]
    lines = {"": list(dict.fromkeys(labels))}
    blocks = [
        Rows(lines, dict.fromkeys(every[k : k + 3], "points"), widest=2.4, figures=0.75)
        for k in range(0, len(every), 3)
    ]
    page = Sheet(
        title,
        sum(block.height for block in blocks),
        sample=f"{sample(differences['games'].to_list())}; {what} of the first minus the second",
        note="± and thick lines: 95 % intervals, one by one; thin lines: wider ones, which all "
        "together hold with 95 % (Bonferroni). They may be narrower than the dot.",
    )
    drawn: dict[str, Axes] = {}
    for k, block in enumerate(blocks):
        top = sum(above.height for above in blocks[:k])
        drawn |= dict(zip(block.columns, block.draw(page, top), strict=True))
    for row, label in zip(differences.iter_rows(named=True), labels, strict=True):
        axes, y = drawn[str(row["difficulty"])], blocks[0].y["", label]
        dot(axes, row["difference"], y, row["half_width"], DOT, row["simultaneous"])
        text = plus_minus(row["difference"], row["half_width"], sign=True)
        sheet.write_figure(axes, y, text)
    for axes in drawn.values():
        sheet.light_line(axes, 0)
        axes.xaxis.set_major_formatter(as_points())
    return page.figure


def _pair(row: dict[str, object]) -> str:
    return f"{row['bot']} {MINUS} {row['other']}"


@chart
def matrix(differences: pl.DataFrame, bots: Sequence[str]) -> Figure:
    """Every bot against every other: the row's mean score minus the column's, on the same dice.

    Args:
        differences: difficulty, bot, other, games, difference, half_width.
        bots: in the order of rows and columns.
    """
    title = "Every bot against every other on the same dice"
    if differences.is_empty():
        return sheet.in_words(title, ONE_BOT)
    every = names(differences, "difficulty")
    labels = [f"{k}  {wrap(bot, 1.9, 8)}" for k, bot in enumerate(bots, 1)]
    wide = max(text_width(line, 8) for label in labels for line in label.split("\n"))
    fitting = [
        (columns, ((WIDTH - 2 * MARGIN + 0.3) / columns - 0.3 - wide - 0.1) / len(bots))
        for columns in (3, 2, 1)
        if columns <= len(every)
    ]
    columns, cell = next((fit for fit in fitting if fit[1] > LEAST_CELL), fitting[-1])
    cell = min(cell, 0.68)
    one, high = wide + 0.1 + cell * len(bots), max(min(cell, 0.5), 0.32)
    titles = [wrap(name, one, 9.5, "bold") for name in every]
    head = 0.3 + LINE * max(title.count("\n") + 1 for title in titles)
    tall = head + high * len(bots) + 0.15
    body = tall * -(-len(every) // columns)
    page = Sheet(
        title,
        body,
        sample=f"{sample(differences['games'].to_list())}; points the row is ahead of the column",
        note="± gives half of a 95 % interval. One scale of colours for all.",
    )
    axes = page.canvas(body)
    most = max(float(np.nanmax(np.abs(values(differences, "difference")))), 1e-9)
    for k, difficulty in enumerate(every):
        left, top = MARGIN + (k % columns) * (one + 0.3), (k // columns) * tall + head
        page.text(left, top - 0.3, titles[k], fontsize=9.5, weight="bold", va="baseline")
        rows = differences.filter(pl.col("difficulty").cast(pl.String) == difficulty)
        _square(axes, (left + wide + 0.1, top), (cell, high), rows, bots, Normalize(-most, most))
    return page.figure


def _square(
    axes: Axes,
    corner: tuple[float, float],
    cell: tuple[float, float],
    rows: pl.DataFrame,
    bots: Sequence[str],
    shades: Normalize,
) -> None:
    found: dict[tuple[str, str], tuple[float, float | None]] = {}
    for bot, other, difference, half_width in rows.select(
        "bot", "other", "difference", "half_width"
    ).iter_rows():
        found[bot, other] = (difference, half_width)
        found[other, bot] = (-difference, half_width)
    (left, top), (width, height) = corner, cell
    shade = matplotlib.colormaps["PuOr"]
    for i, bot in enumerate(bots):
        y = top + (i + 0.5) * height
        axes.text(
            left - 0.08,
            y,
            f"{i + 1}  {wrap(bot, 1.9, 8)}",
            ha="right",
            va="center_baseline",
            fontsize=8,
        )
        axes.text(left + (i + 0.5) * width, top - 0.05, str(i + 1), ha="center", fontsize=8)
        for j, other in enumerate(bots):
            x = left + (j + 0.5) * width
            value = found.get((bot, other))
            colour = LIGHT if value is None else shade(0.5 + 0.4 * (shades(value[0]) - 0.5) * 2)
            axes.add_patch(
                Rectangle(
                    (x - width / 2, y - height / 2),
                    width,
                    height,
                    facecolor=colour,
                    edgecolor="white",
                )
            )
            if value is not None:
                _figure_in(axes, x, y, width, value, ink_on(colour))


def _figure_in(
    axes: Axes, x: float, y: float, width: float, value: tuple[float, float | None], ink: str
) -> None:
    """A difference with its ±, or as much of it as there is room for."""
    difference, half_width = value
    text = plus_minus(difference, half_width, sign=True).replace(" ± ", "\n± ")
    for words in (text, number(difference, 0, sign=True), "+" if difference > 0 else MINUS):
        if max(text_width(line, 6.5) for line in words.split("\n")) < width - 0.04:
            axes.text(x, y, words, ha="center", va="center", fontsize=6.5, color=ink)
            return


class Panel(NamedTuple):
    """From one bot's mean score to another's, part by part, at a difficulty.

    ``parts`` has the columns part, difference, half_width. Without a weak bot, it starts from 0 and
    the parts are those of the strong one's score.
    """

    difficulty: str
    parts: pl.DataFrame
    weak: str | None
    strong: str
    weak_mean: float
    strong_mean: float


PART_NAMES = {
    "base": "numbers",
    "straight_points": "STRAIGHTs",
    "four_points": "FOURs OF A KIND",
    "two_pairs_points": "TWO PAIRS",
    "ruin_points": "RUINs",
    "power_points": "Powers",
}
TOTAL = Look("#8A8A8A", "-", "o", "")


@chart
def waterfall(panels: Sequence[Panel]) -> Figure:
    """Where the points come from: from the weakest bot's mean score to the strongest one's."""
    alone = all(panel.weak is None for panel in panels)
    title = "Where the points come from"
    figure, found = sheet.panels(
        title,
        [_heading(panel) for panel in panels],
        x_label="mean score, points",
        y_label="",
        height=2.3,
        left=1.35,
        figures=0.85,
        sample=sample([n for panel in panels for n in panel.parts["games"].to_list()]),
        note="± gives half of a 95 % interval."
        + ("" if alone else " Differences of the strongest bot to the weakest on the same dice."),
    )
    for panel, one in zip(panels, found.values(), strict=True):
        _fall(one.axes, panel)
    return figure


def _heading(panel: Panel) -> str:
    if panel.weak is None:
        return f"{panel.difficulty}: {panel.strong}"
    return f"{panel.difficulty}: from {panel.weak} to {panel.strong}"


def _fall(axes: Axes, panel: Panel) -> None:
    axes.use_sticky_edges = False
    bars: list[tuple[str, float, float, Look, str]] = []
    if panel.weak is not None:
        bars.append(("weakest bot", 0.0, panel.weak_mean, TOTAL, number(panel.weak_mean)))
    at = panel.weak_mean
    for row in panel.parts.iter_rows(named=True):
        gain = row["difference"] or 0.0
        label = plus_minus(row["difference"], row["half_width"], sign=True)
        bars.append(
            (
                PART_NAMES.get(row["part"], row["part"]),
                at,
                at + gain,
                UP if gain >= 0 else DOWN,
                label,
            )
        )
        at += gain
    last = "strongest bot" if panel.weak is not None else "score"
    bars.append((last, 0.0, panel.strong_mean, TOTAL, number(panel.strong_mean)))
    for k, (_, start, end, look, label) in enumerate(bars):
        axes.barh(
            k,
            end - start,
            0.62,
            start,
            color=look.colour,
            hatch=look.hatch,
            edgecolor="white",
            linewidth=0.4,
        )
        if k + 1 < len(bars):
            axes.plot([end, end], [k, k + 1], color=GREY, linewidth=0.6)
        sheet.write_figure(axes, k, label)
    sheet.light_line(axes, 0)
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_yticks(range(len(bars)), [name for name, *_ in bars])


SOURCES = {
    "bot": "choice of bot",
    "dice": "dice, good or bad for all bots alike",
    "rest": "rest: dice, for one bot and not another",
}


@chart
def variance(shares: pl.DataFrame) -> Figure:
    """How much of the variance of scores is the choice of bot, the dice, and the rest.

    Args:
        shares: difficulty, source, games, bots, share, low, high.
    """
    title = "Luck and skill: where the variance of scores comes from"
    if shares.is_empty():
        return sheet.in_words(title, "It takes two bots and two games to tell.")
    every = names(shares, "difficulty")
    rows = Rows({"": every}, {"": "share of the variance of scores, %"}, step=0.62)
    bots = sorted(set(shares["bots"].to_list()))
    page = Sheet(
        title,
        rows.height,
        sample=f"{sample(shares['games'].to_list())}, {' to '.join(map(str, bots))} bots",
        legend=sheet.patch_entries(dict(zip(SOURCES.values(), CATEGORIES, strict=True))),
        note="In brackets: 95 % intervals, by the jackknife over groups of games.",
    )
    (axes,) = rows.draw(page)
    for difficulty in every:
        part = shares.filter(pl.col("difficulty").cast(pl.String) == difficulty)
        y = rows.y["", difficulty]
        found = {str(row["source"]): row for row in part.iter_rows(named=True)}
        stack(axes, y - 0.08, 0.26, [found[source]["share"] for source in SOURCES], CATEGORIES)
        told = [_told(source, found[source]) for source in SOURCES]
        axes.text(0, y + 0.18, "     ".join(told), fontsize=7.5, va="center_baseline")
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(as_percent())
    return page.figure


def _told(source: str, row: dict[str, float | None]) -> str:
    share, low, high = (row[name] for name in ("share", "low", "high"))
    text = f"{SOURCES[source].partition(':')[0].partition(',')[0]} {percent(share or 0.0)} %"
    if low is None or high is None:
        return text
    return f"{text} ({percent(low)} to {percent(high)})"
