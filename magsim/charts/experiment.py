"""Charts of experiments: a measure along an axis, by label, difficulty or time, and openings."""

from collections.abc import Mapping
from types import MappingProxyType

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullFormatter

from magsim.charts import sheet
from magsim.charts.marks import across, curve, dot, ends_of, players
from magsim.charts.sheet import MARGIN, WIDTH, Rows, Sheet
from magsim.charts.style import (
    BLUE,
    GREY,
    VERMILLION,
    as_points,
    chart,
    looks,
    names,
    percent,
    sample,
    shown,
    values,
    wrap,
)


def _games(frame: pl.DataFrame) -> str:
    return sample(frame["games"].to_list()) if "games" in frame.columns else ""


@chart
def along_axis(
    frame: pl.DataFrame,
    axis: str,
    x_label: str,
    y_label: str,
    published: Mapping[str, float] = MappingProxyType({}),
) -> Figure:
    """A measure along an axis of an experiment, a line for each series.

    Args:
        frame: difficulty, series, x, mean, and low and high or half_width; games if known.
        axis: what was varied, for the title.
        x_label: the axis in words.
        y_label: the measure in words, with its unit.
        published: the value of the published rules, by the difficulties that it belongs to.
    """
    frame = frame.rename({"series": "bot"})
    by_series, every = looks(frame), names(frame, "difficulty")
    marked = [name for name in every if name in published]
    figure, found = sheet.panels(
        f"{y_label[:1].upper()}{y_label[1:]}, by {axis.replace('_', ' ')}",
        every,
        x_label=shown(x_label),
        y_label=shown(y_label),
        height=2.8,
        sample=_games(frame),
        legend=sheet.line_entries(by_series),
        note="Bands: 95 % intervals, which may be narrower than the line."
        + (" Upright line: the published rules." if marked else ""),
    )
    for difficulty, series, rows in players(frame):
        rows = rows.sort("x")
        ends = ends_of(rows)
        curve(found[difficulty].axes, rows, "x", "mean", by_series[series], ends=ends)
    for name in marked:
        found[name].axes.axvline(published[name], color=GREY, linewidth=3, alpha=0.3, zorder=0.9)
    for panel in found.values():
        panel.axes.xaxis.set_major_formatter(as_points())
        panel.axes.yaxis.set_major_formatter(as_points())
    return figure


@chart
def by_label(frame: pl.DataFrame, y_label: str) -> Figure:
    """A measure at labelled points, a dot for each bot.

    Args:
        frame: label, bot, mean, and low and high or half_width; games if known.
        y_label: the measure in words, with its unit.
    """
    by_bot = looks(frame)
    labels = names(frame, "label")
    rows = Rows({"": labels}, {"": y_label}, step=max(0.25, 0.11 * len(by_bot) + 0.1))
    page = Sheet(
        f"{y_label[:1].upper()}{y_label[1:]}",
        rows.height,
        sample=_games(frame),
        legend=sheet.dot_entries(by_bot),
        note="Lines: 95 % intervals, which may be narrower than the dot.",
    )
    (axes,) = rows.draw(page)
    places = {bot: (k - (len(by_bot) - 1) / 2) * 0.11 for k, bot in enumerate(by_bot)}
    for row, *ends in zip(frame.iter_rows(named=True), *ends_of(frame), strict=True):
        look, y = by_bot[str(row["bot"])], rows.y["", str(row["label"])] + places[str(row["bot"])]
        across(axes, (ends[0], ends[1]), y, look)
        dot(axes, row["mean"], y, None, look)
    axes.xaxis.set_major_formatter(as_points())
    return page.figure


@chart
def ladder(frame: pl.DataFrame) -> Figure:
    """Mean scores by difficulty, a line for each bot: difficulty, bot, mean, half_width."""
    by_bot = looks(frame)
    every = names(frame, "difficulty")
    labels = [wrap(name, 0.9 * 9 / len(every), 8) for name in every]
    if max(label.count("\n") for label in labels) > 2:
        return by_label(frame.with_columns(label="difficulty"), "mean score, points")
    figure, found = sheet.panels(
        "Mean scores by difficulty",
        [""],
        x_label="",
        y_label="mean score, points",
        height=3.6,
        sample=_games(frame),
        legend=sheet.line_entries(by_bot),
        note="Bands: 95 % intervals, which may be narrower than the line.",
    )
    axes = found[""].axes
    for bot, look in by_bot.items():
        rows = frame.filter(pl.col("bot").cast(pl.String) == bot)
        rows = rows.with_columns(
            at=pl.Series([every.index(str(name)) for name in rows["difficulty"]])
        )
        rows = rows.sort("at")
        curve(axes, rows, "at", "mean", look, ends=ends_of(rows))
    axes.set_xlim(-0.4, len(every) - 0.6)
    axes.set_xticks(range(len(every)), labels)
    axes.yaxis.set_major_formatter(as_points())
    return figure


@chart
def by_time(frame: pl.DataFrame, y_label: str) -> Figure:
    """Scores by the time of a decision, a dot for each bot; bots of one name are joined by a line.

    Args:
        frame: difficulty, bot, ms, mean, and low and high or half_width; games if known.
        y_label: the score in words, with its unit.
    """
    by_bot = looks(frame)
    family = pl.col("bot").cast(pl.String).str.extract("^(cmd:.*|[^:]*)")
    figure, found = sheet.panels(
        f"{y_label[:1].upper()}{y_label[1:]}, by time",
        names(frame, "difficulty"),
        x_label="milliseconds a decision",
        y_label=y_label,
        height=3.2,
        sample=_games(frame),
        legend=sheet.dot_entries(by_bot),
        note="Upright: 95 % intervals, which may be smaller than the dot. Joined: one bot with "
        "other options.",
    )
    for difficulty, panel in found.items():
        axes = panel.axes
        rows = frame.filter(pl.col("difficulty").cast(pl.String) == difficulty).sort("ms")
        for _, same in rows.group_by(family, maintain_order=True):
            axes.plot(values(same, "ms"), values(same, "mean"), color=GREY, lw=0.8, zorder=1)
        for row, low, high in zip(rows.iter_rows(named=True), *ends_of(rows), strict=True):
            look = by_bot[str(row["bot"])]
            axes.vlines(row["ms"], low, high, color=look.colour, lw=2.2)
            dot(axes, row["ms"], row["mean"], None, look)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(as_points())
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(as_points())
    return figure


SHOWN, COLUMNS, CELL = 12, 6, 0.28


@chart
def openings(frame: pl.DataFrame) -> Figure:
    """The most frequent first turns as small boards: shape, share, low, high, games with it.

    Covered cells are ``X``, RUINs ``R``, in the notation of boards.
    """
    top = frame.head(SHOWN)
    lines = -(-len(top) // COLUMNS)
    tall = 4 * CELL + 0.62
    title = "Most frequent first turns, up to symmetry"
    if "difficulty" in top.columns and len(names(top, "difficulty")) == 1:
        title += f", at {names(top, 'difficulty')[0]}"
    page = Sheet(
        title,
        tall * lines,
        sample=sample([int(frame["games"].sum())]) if "games" in frame.columns else "",
        note="Figures: share of games, %, with 95 % intervals.",
    )
    axes = page.canvas(tall * lines)
    step = (WIDTH - 2 * MARGIN) / COLUMNS
    for k, row in enumerate(top.iter_rows(named=True)):
        x = MARGIN + (k % COLUMNS) * step + 0.1
        y = (k // COLUMNS) * tall + 0.05
        draw_shape(axes, x, y, row["shape"])
        text = f"{percent(row['share'])} %"
        if row["low"] is not None and row["high"] is not None:
            text += f"\n({percent(row['low'])} to {percent(row['high'])})"
        axes.text(x + 2 * CELL, y + 4 * CELL + 0.06, text, ha="center", va="top", fontsize=8)
    return page.figure


def draw_shape(axes: Axes, x: float, y: float, shape: str) -> None:
    """A small board: covered cells are ``X``, RUINs ``R``."""
    for row, line in enumerate(shape.split("/")):
        for column, sign in enumerate(line):
            corner = (x + column * CELL, y + row * CELL)
            colour = {"X": BLUE, "R": VERMILLION}.get(sign, "#F1F1F1")
            hatch = "xxxx" if sign == "R" else ""
            axes.add_patch(
                Rectangle(corner, CELL, CELL, facecolor=colour, hatch=hatch, edgecolor="white")
            )
