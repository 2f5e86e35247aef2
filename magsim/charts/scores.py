"""Charts of scores: how they are spread."""

from statistics import NormalDist

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from magsim.charts import sheet
from magsim.charts.marks import curve, dot, players, shares_up
from magsim.charts.style import (
    Floats,
    Look,
    as_points,
    chart,
    looks,
    names,
    plus_minus,
    sample,
    values,
)

WIDTHS = (20, 50, 100, 200, 500)
"""Points that a bin may be wide."""
STRIP = 0.17
"""Inches for the mean of each bot."""


@chart
def score_distributions(scores: pl.DataFrame, summary: pl.DataFrame) -> Figure:
    """How scores are spread, with the mean of each bot.

    Args:
        scores: difficulty, bot, score, n (games), as the tally ``scores``.
        summary: difficulty, bot, games, mean, half_width, as ``analysis.games.summary``.
    """
    by_bot = looks(scores)
    width = bin_width(scores)
    figure, found = sheet.panels(
        "How scores are spread",
        names(scores, "difficulty"),
        x_label="score, points",
        y_label=f"share of games, %\n(in steps of {width} points)",
        height=2.4,
        strip=STRIP * len(by_bot) + 0.08,
        sample=sample(summary["games"].to_list()),
        legend=sheet.line_entries(by_bot),
        note="Dots above: mean scores with 95 % intervals, which may be narrower than the dot.",
    )
    for difficulty, bot, rows in players(scores):
        _outline(found[difficulty].axes, rows, width, by_bot[bot], len(by_bot) < 5)
    for panel in found.values():
        shares_up(panel.axes)
        panel.axes.xaxis.set_major_formatter(as_points())
        panel.axes.xaxis.set_major_locator(MaxNLocator(6))
    low, high = (f(scores["score"].to_list(), default=0) for f in (min, max))
    room = max(3 * width, 0.05 * (high - low))
    for difficulty, panel in found.items():
        panel.axes.set_xlim(low - room, high + room)
        rows = summary.filter(pl.col("difficulty").cast(pl.String) == difficulty)
        mean_strip(panel.strip, rows, by_bot)
    return figure


def bin_width(scores: pl.DataFrame) -> int:
    """One width for all bins: the median of Freedman and Diaconis' rule, from ``WIDTHS``."""
    wanted = []
    for _, _, rows in players(scores):
        counts = np.cumsum(values(rows, "n"))
        low, high = (
            values(rows, "score")[np.searchsorted(counts, share * counts[-1])]
            for share in (0.25, 0.75)
        )
        wanted.append(2 * (high - low) / counts[-1] ** (1 / 3))
    middle = float(np.median(wanted))
    return min(WIDTHS, key=lambda width: abs(np.log(width) - np.log(max(middle, 1))))


def _outline(axes: Axes, rows: pl.DataFrame, width: int, look: Look, filled: bool) -> None:
    scores, games = values(rows, "score"), values(rows, "n")
    bins = np.floor_divide(scores, width).astype(int)
    first = int(bins.min())
    shares = np.bincount(bins - first, weights=games) / games.sum()
    edges = (np.arange(len(shares) + 1) + first) * float(width)
    axes.stairs(shares, edges, color=look.colour, linestyle=look.line, linewidth=1.3)
    if filled:
        axes.stairs(shares, edges, color=look.colour, fill=True, alpha=0.1)


def mean_strip(
    axes: Axes | None, rows: pl.DataFrame, by_bot: dict[str, Look], digits: int = 1
) -> None:
    """The mean of each bot with its interval, one above the other, and in figures."""
    if axes is None:
        return
    axes.set_ylim(len(by_bot) - 0.3, -0.7)
    axes.xaxis.set_visible(False)
    axes.yaxis.set_visible(False)
    left, right = axes.get_xlim()
    found = {str(row["bot"]): row for row in rows.iter_rows(named=True)}
    for place, (bot, look) in enumerate(by_bot.items()):
        if bot not in found or found[bot]["mean"] is None:
            continue
        mean, half_width = found[bot]["mean"], found[bot]["half_width"]
        dot(axes, mean, place, half_width, look)
        side = 1 if mean < (left + right) / 2 else -1
        axes.annotate(
            plus_minus(mean, half_width, digits=digits),
            (mean + side * (half_width or 0), place),
            (5 * side, 0),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            va="center_baseline",
            fontsize=7,
            bbox={"facecolor": sheet.PALE, "edgecolor": "none", "pad": 0.6},
        )
    axes.set_xlim(left, right)


@chart
def score_percentiles(percentiles: pl.DataFrame, summary: pl.DataFrame | None = None) -> Figure:
    """The score that is not passed in so many percent of games, with bootstrap bands.

    Percentiles stand where they would lie on a line, were scores normal.

    Args:
        percentiles: difficulty, bot, percentile, score, low, high.
        summary: games of each bot, to tell how many.
    """
    by_bot = looks(percentiles)
    single = any(_of_one_game(rows) for _, _, rows in players(percentiles))
    figure, found = sheet.panels(
        "Scores by percentile",
        names(percentiles, "difficulty"),
        x_label="percentile of games (the worst at the left)",
        y_label="score, points",
        height=2.9,
        sample="" if summary is None else sample(summary["games"].to_list()),
        legend=sheet.line_entries(by_bot),
        note="Bands: 95 % intervals by bootstrap. Normally spread scores would lie on a line."
        + (" A level line with one hollow dot: one game." if single else ""),
    )
    for difficulty, bot, rows in players(percentiles):
        placed = rows.with_columns(at=pl.Series(_normal(values(rows, "percentile"))))
        if _of_one_game(rows):
            _level(found[difficulty].axes, placed, by_bot[bot])
        else:
            curve(found[difficulty].axes, placed, "at", "score", by_bot[bot])
    ticks = sorted(set(percentiles["percentile"].to_list()))
    for panel in found.values():
        panel.axes.xaxis.set_major_locator(FixedLocator(_normal(np.array(ticks)).tolist()))
        panel.axes.xaxis.set_major_formatter(FuncFormatter(lambda _, k: str(ticks[k or 0])))
        panel.axes.yaxis.set_major_formatter(as_points())
    return figure


def _of_one_game(rows: pl.DataFrame) -> bool:
    """Whether a bot's percentiles are those of a single game: all one score, without intervals."""
    return rows["low"].null_count() == len(rows) and rows["score"].n_unique() == 1


def _level(axes: Axes, placed: pl.DataFrame, look: Look) -> None:
    """The score of one game: a line, and a dot in the middle."""
    at, scores = values(placed, "at"), values(placed, "score")
    axes.plot(at, scores, color=look.colour, linestyle=look.line, linewidth=0.9)
    dot(axes, float(at.min() + at.max()) / 2, float(scores[0]), None, look, hollow=True)


def _normal(percentiles: Floats) -> Floats:
    return np.array([NormalDist().inv_cdf(float(percent) / 100) for percent in percentiles])
