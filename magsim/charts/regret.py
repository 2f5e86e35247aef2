"""Charts of what decisions cost against perfect play, and of scores with the luck taken out."""

import itertools

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from magsim.charts import sheet
from magsim.charts.marks import (
    BAR,
    CATEGORIES,
    FEW_NOTE,
    STEPS,
    curve,
    dot,
    few,
    most,
    players,
    shares_up,
    stack,
    whole_x,
)
from magsim.charts.sheet import Rows, Sheet
from magsim.charts.style import (
    GREY,
    ORANGE,
    PINK,
    Look,
    as_percent,
    as_points,
    chart,
    looks,
    names,
    number,
    plus_minus,
    sample,
    values,
)
from magsim.regret.judging import KINDS
from magsim.regret.sums import BEST, GRADES, HALF

ADJUSTED, PLAIN = CATEGORIES[0], Look(GREY, "-", "s", "")
PERFECT = Look(ORANGE, "-", "", "")
KIND_LOOKS = (*CATEGORIES, Look(PINK, "-", "^", "xxxx"))
KIND_NAMES = dict(
    zip(KINDS, ("placement", "Power not used", "Power used", "RUIN cell"), strict=True)
)
"""Kinds of decisions as they are told: by what a loss came."""


def grade_names() -> list[str]:
    """The grades of decisions with their limits in points, the best first."""
    limits = [*GRADES.values()]
    ends = [f"{low:g} to {high:g}" for low, high in itertools.pairwise(limits)]
    told = [
        f"{name} ({end})"
        for name, end in zip(GRADES, [*ends, f"{limits[-1]:g} or more"], strict=True)
    ]
    return ["best", f"nearly (less than {limits[0]:g} point lost)", *told]


def _rows(frame: pl.DataFrame, counted: str, figures: float) -> Rows:
    """A row for each bot under its difficulty."""
    groups: dict[str, list[str]] = {}
    for difficulty, bot, _ in players(frame):
        groups.setdefault(difficulty, []).append(bot)
    return Rows(groups, {"": counted}, figures=figures)


@chart
def luck_adjusted(frame: pl.DataFrame) -> Figure:
    """Mean scores, and what is left of them with the luck of the dice taken out.

    Args:
        frame: difficulty, bot, games, score, score_half_width, start, adjusted, half_width.
    """
    rows = _rows(frame, "points a game", 0.95)
    entries = sheet.dot_entries({"luck-adjusted": ADJUSTED, "mean score": PLAIN})
    page = Sheet(
        "Scores with the luck of the dice taken out",
        rows.height,
        sample=sample(frame["games"].to_list()),
        legend=[*entries, *sheet.line_entries({"perfect play": PERFECT})],
        note="Lines: 95 % intervals, which may be narrower than the dot. Figures: luck-adjusted.",
    )
    (axes,) = rows.draw(page)
    for row in frame.iter_rows(named=True):
        y, start = rows.y[str(row["difficulty"]), str(row["bot"])], row["start"]
        axes.plot([start, start], [y - 0.1, y + 0.1], color=PERFECT.colour, linewidth=2)
        dot(axes, row["score"], y + 0.045, row["score_half_width"], PLAIN)
        dot(axes, row["adjusted"], y - 0.045, row["half_width"], ADJUSTED)
        sheet.write_figure(axes, y, plus_minus(row["adjusted"], row["half_width"]))
    axes.xaxis.set_major_formatter(as_points())
    return page.figure


@chart
def by_turn(frame: pl.DataFrame) -> Figure:
    """Points lost in a turn: difficulty, bot, turn, turns, loss, half_width."""
    by_bot = looks(frame)
    figure, found = sheet.panels(
        "Points lost against perfect play, by turn",
        names(frame, "difficulty"),
        x_label="turn",
        y_label="points lost in the turn, mean",
        height=2.7,
        sample=sample([most(rows, "turns") for _, _, rows in players(frame)]),
        legend=sheet.line_entries(by_bot),
        note=f"Bands: 95 % intervals. {FEW_NOTE}",
    )
    for difficulty, bot, rows in players(frame):
        middle, half_width = values(rows, "loss"), values(rows, "half_width")
        ends = np.maximum(middle - half_width, 0.0), middle + half_width  # nothing is won
        weak = few(values(rows, "turns"))
        curve(found[difficulty].axes, rows, "turn", "loss", by_bot[bot], ends=ends, weak=weak)
    for panel in found.values():
        whole_x(panel.axes)
        panel.axes.set_ylim(bottom=0)
        panel.axes.yaxis.set_major_formatter(as_points())
    return figure


@chart
def by_kind(frame: pl.DataFrame) -> Figure:
    """Points lost a game by kind of decision.

    Args:
        frame: difficulty, bot, kind, games, loss, half_width.
    """
    rows = _rows(frame, "points lost a game", 0.6)
    page = Sheet(
        "Points lost against perfect play, by kind of decision",
        rows.height,
        sample=sample([most(part, "games") for _, _, part in players(frame)]),
        legend=sheet.patch_entries(dict(zip(KIND_NAMES.values(), KIND_LOOKS, strict=True))),
        note="Power not used: a Power would have been best. Power used: something else, or another "
        "Power, would have been. Figures: all kinds together.",
    )
    (axes,) = rows.draw(page)
    for difficulty, bot, part in players(frame):
        found = dict(part.select("kind", "loss").rows())
        parts = [found.get(kind) or 0.0 for kind in KINDS]
        y = rows.y[difficulty, bot]
        stack(axes, y, BAR, parts, KIND_LOOKS)
        sheet.write_figure(axes, y, number(sum(parts)))
    axes.autoscale_view(scaley=False)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(as_points())
    return page.figure


@chart
def grades(frame: pl.DataFrame) -> Figure:
    """How good decisions are.

    Args:
        frame: difficulty, bot, decisions, best, inaccuracies, mistakes, blunders, accuracy,
            accuracy_half_width.
    """
    rows = _rows(frame, "share of decisions, %", 0.85)
    page = Sheet(
        "How good decisions are",
        rows.height,
        sample=sample(frame["decisions"].to_list(), "decisions"),
        legend=sheet.patch_entries(dict(zip(grade_names(), STEPS, strict=True))),
        note="By points lost against the best decision. Figures: share of decisions, %; at the "
        f"right, accuracy in %: the mean of {HALF:g} / ({HALF:g} + points lost).",
    )
    (axes,) = rows.draw(page)
    for row in frame.iter_rows(named=True):
        y = rows.y[str(row["difficulty"]), str(row["bot"])]
        bad = [row[name] for name in GRADES]
        parts = [row["best"], max(0.0, 1 - row["best"] - sum(bad)), *bad]
        stack(axes, y, BAR, parts, STEPS, rows.width)
        half_width = row["accuracy_half_width"]
        wide = None if half_width is None else 100 * half_width
        sheet.write_figure(axes, y, plus_minus(100 * row["accuracy"], wide))
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(as_percent())
    return page.figure


@chart
def by_size(frame: pl.DataFrame) -> Figure:
    """Decisions by how much they lose: difficulty, bot, least, decisions, share."""
    by_bot = looks(frame)
    figure, found = sheet.panels(
        "How large losses are",
        names(frame, "difficulty"),
        x_label="points lost (log scale)",
        y_label="decisions that lose so much\nor more, %",
        height=2.7,
        legend=sheet.line_entries(by_bot),
    )
    for difficulty, bot, rows in players(frame.filter(pl.col("least") > BEST)):
        look = by_bot[bot]
        axes = found[difficulty].axes
        style = {"color": look.colour, "linestyle": look.line, "marker": look.marker}
        axes.plot(values(rows, "least"), values(rows, "share"), **style)
    for panel in found.values():
        panel.axes.set_xscale("log")
        panel.axes.xaxis.set_major_formatter(as_points())
        panel.axes.xaxis.set_minor_locator(NullLocator())
        shares_up(panel.axes)
    return figure
