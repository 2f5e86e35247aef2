"""Marks that several charts share: curves with bands, dots with intervals, stacked shares."""

from collections.abc import Iterator, Sequence

import matplotlib.colors
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from matplotlib.typing import ColorType
from numpy.typing import NDArray

from magsim.charts.style import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    VERMILLION,
    Floats,
    Look,
    as_percent,
    names,
    percent,
    text_width,
    values,
)

Bools = NDArray[np.bool_]

FEW_TURNS, FEW_SHARE = 10, 0.05
"""A point is drawn hollow where it rests on fewer turns, or on fewer for each game."""
BAR = 0.19
"""Inches: the height of a bar in a row."""
FEW_NOTE = "Hollow: fewer than 10 turns, or than one turn in 20 games."

CATEGORIES = (
    Look(BLUE, "-", "o", ""),
    Look(ORANGE, "-", "s", "////"),
    Look("#D5D5D5", "-", "^", ""),
)
"""Looks of things that are no bots: light and dark take turns."""
STEPS = tuple(
    Look(colour, "-", "o", "") for colour in ("#E4EDF6", "#B4CFE6", "#74A9CF", "#2B7BB5", "#023858")
)
"""Looks of 0, 1, 2, …: the more, the darker."""
UP, DOWN = Look(GREEN, "-", "o", ""), Look(VERMILLION, "-", "s", "////")


def players(frame: pl.DataFrame) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """The rows of each difficulty and bot, in the order of the plan."""
    parts = frame.partition_by("difficulty", "bot", as_dict=True, maintain_order=True)
    found = {(str(difficulty), str(bot)): part for (difficulty, bot), part in parts.items()}
    for difficulty in names(frame, "difficulty"):
        for bot in names(frame, "bot"):
            if (difficulty, bot) in found:
                yield difficulty, bot, found[difficulty, bot]


def few(turns: Floats) -> Bools:
    """Which points of a bot rest on few turns."""
    weak: Bools = turns < max(FEW_TURNS, FEW_SHARE * float(turns.max()))
    return weak


def most(frame: pl.DataFrame, column: str) -> int:
    """The largest whole number in a column; 0 where there is none."""
    return max(frame[column].to_list(), default=0)


def curve(
    axes: Axes,
    frame: pl.DataFrame,
    x: str,
    y: str,
    look: Look,
    *,
    ends: tuple[Floats, Floats] | None = None,
    weak: Bools | None = None,
) -> None:
    """A line with markers and the band of its intervals; ``weak`` points hollow, outside of it.

    ``ends`` are those of the intervals, the columns ``low`` and ``high`` unless told.
    """
    at, heights = values(frame, x), values(frame, y)
    low, high = ends or (values(frame, "low"), values(frame, "high"))
    solid = np.ones(len(at), bool) if weak is None else ~weak
    style = {"color": look.colour, "linestyle": look.line}
    axes.plot(at, heights, linewidth=0.7, alpha=0.6, **style)
    axes.plot(at, np.where(solid, heights, np.nan), marker=look.marker, clip_on=False, **style)
    band = (np.where(solid, low, np.nan), np.where(solid, high, np.nan))
    axes.fill_between(at, *band, color=look.colour, alpha=look.band, linewidth=0)
    alone = solid & ~np.append(solid[1:], False) & ~np.append(False, solid[:-1])
    if alone.any():
        axes.vlines(at[alone], low[alone], high[alone], color=look.colour, lw=1.2)
    if not solid.all():
        axes.vlines(at[~solid], low[~solid], high[~solid], color=look.colour, lw=0.6, alpha=0.35)
        axes.plot(
            at[~solid],
            heights[~solid],
            linestyle="",
            marker=look.marker,
            markersize=3.5,
            markerfacecolor="white",
            markeredgecolor=look.colour,
            markeredgewidth=0.7,
            clip_on=False,
        )


def ends_of(frame: pl.DataFrame) -> tuple[Floats, Floats]:
    """The ends of the intervals of means: low and high if told, else half a width to each side."""
    if {"low", "high"} <= set(frame.columns):
        return values(frame, "low"), values(frame, "high")
    mean, half_width = values(frame, "mean"), values(frame, "half_width")
    return mean - half_width, mean + half_width


def without_gaps(rows: pl.DataFrame, key: str) -> pl.DataFrame:
    """Shares by whole numbers, with those that never came between others as 0."""
    found = rows[key].to_list()
    return (
        pl.DataFrame({key: range(min(found), max(found) + 1)}, schema={key: pl.Int64})
        .join(rows, on=key, how="left", maintain_order="left")
        .with_columns(pl.col("share").fill_null(0.0))
    )


def dot(
    axes: Axes,
    x: float | None,
    y: float,
    half_width: float | None,
    look: Look,
    wide: float | None = None,
    *,
    hollow: bool = False,
) -> None:
    """A dot with its interval across, and with a thin wider one where it is given."""
    if x is None:
        return
    for width, thick in ((wide, 0.8), (half_width, 2.2)):
        if width is not None:
            across(axes, (x - width, x + width), y, look, thick)
    axes.plot(
        [x],
        [y],
        linestyle="",
        marker=look.marker,
        markersize=4.5 if hollow else 5,
        markerfacecolor="white" if hollow else look.colour,
        markeredgecolor=look.colour if hollow else "white",
        markeredgewidth=0.8 if hollow else 0.5,
        clip_on=False,
    )


def across(axes: Axes, ends: tuple[float, float], y: float, look: Look, thick: float = 2.2) -> None:
    """An interval as a level line."""
    axes.plot(ends, [y, y], color=look.colour, linewidth=thick, solid_capstyle="butt")


def stack(
    axes: Axes,
    y: float,
    height: float,
    parts: Sequence[float],
    looks: Sequence[Look],
    inches: float | None = None,
) -> None:
    """Parts side by side from 0; shares are printed where ``inches`` (for 1) leave room."""
    left = 0.0
    for part, look in zip(parts, looks, strict=True):
        if part > 0:
            axes.add_patch(
                Rectangle(
                    (left, y - height / 2),
                    part,
                    height,
                    facecolor=look.colour,
                    hatch=look.hatch,
                    edgecolor="white",
                    linewidth=0.5,
                )
            )
            text = percent(part)
            if inches is not None and part * inches > text_width(text, 7) + 0.08:
                axes.text(
                    left + part / 2,
                    y,
                    text,
                    ha="center",
                    va="center_baseline",
                    fontsize=7,
                    color=ink_on(look.colour),
                )
        left += part


def ink_on(colour: ColorType) -> str:
    """The colour of a text that can be read on a colour."""
    red, green, blue = matplotlib.colors.to_rgb(colour)
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "white"


def whole_x(axes: Axes) -> None:
    """Ticks at whole numbers only."""
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def shares_up(axes: Axes, top: float | None = None) -> None:
    """The upright axis in percent, from 0."""
    axes.set_ylim(bottom=0, top=top)
    axes.yaxis.set_major_formatter(as_percent())
