"""Charts of what Powers, openings and rescues are worth to a perfect player."""

from collections.abc import Mapping, Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from magsim.charts import sheet
from magsim.charts.experiment import CELL, COLUMNS, SHOWN, draw_shape
from magsim.charts.marks import FEW_NOTE, curve, few, most, players, shares_up, whole_x
from magsim.charts.sheet import MARGIN, WIDTH, Panel, Sheet
from magsim.charts.style import (
    BLUE,
    GREY,
    Floats,
    Look,
    as_points,
    chart,
    look,
    names,
    number,
    percent,
    values,
)

Costs = Mapping[str, Sequence[int]]
"""By difficulty: what the next Power used costs with 1, 2, ... Powers left."""

SEEN = 0.002
"""Shares below this one are not worth a stretch of an axis."""
MIDDLE = Look(BLUE, "-", "o", "", 0.18)
_EMPTY = "empty cells at the start of the turn"


def _parts(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """What goes into each panel: a difficulty, of each bot if there are several."""
    several = len(names(frame, "bot")) > 1
    return {
        f"{difficulty} · {bot}" if several else difficulty: part
        for difficulty, bot, part in players(frame)
    }


def _power_looks(frame: pl.DataFrame) -> dict[int, Look]:
    """The look of each number of Powers."""
    return {powers: look(powers - 1) for powers in sorted(set(frame["powers"].drop_nulls()))}


def _legend(by_powers: Mapping[int, Look], told: str) -> list[sheet.Entry]:
    return sheet.line_entries({told.format(powers): one for powers, one in by_powers.items()})


def _along(axes: Axes, key: str) -> None:
    whole_x(axes)
    if key == "empty":
        axes.set_xlim(16.5, 0.5)


def _half_widths(rows: pl.DataFrame, name: str) -> tuple[Floats, Floats]:
    middle, half_width = values(rows, name), values(rows, "half_width")
    return middle - half_width, middle + half_width


def _lines(
    frame: pl.DataFrame, key: str, name: str, title: str, told: str, y_label: str
) -> tuple[Figure, dict[str, Panel]]:
    """A line for each number of Powers along a key; with half widths, or else low and high."""
    by_powers, parts = _power_looks(frame), _parts(frame)
    figure, found = sheet.panels(
        title,
        list(parts),
        x_label=_EMPTY if key == "empty" else key,
        y_label=y_label,
        height=2.6,
        legend=_legend(by_powers, told),
        note=f"Bands: 95 % intervals over games. {FEW_NOTE}",
    )
    for panel, part in parts.items():
        for powers, one in by_powers.items():
            rows = part.filter(powers=powers)
            if len(rows):
                ends = None if "low" in rows.columns else _half_widths(rows, name)
                weak = few(values(rows, "turns"))
                curve(found[panel].axes, rows, key, name, one, ends=ends, weak=weak)
        _along(found[panel].axes, key)
    return figure, found


@chart
def worth(frame: pl.DataFrame, key: str) -> Figure:
    """What one Power more is worth: difficulty, bot, powers, the key, turns, worth, half_width.

    The key is ``empty`` or ``turn``.
    """
    by = "empty cells" if key == "empty" else "turn"
    title = f"What one Power more is worth to a perfect player, by {by}"
    told = "{} left rather than one fewer"
    figure, found = _lines(frame, key, "worth", title, told, "points, its price paid")
    for panel in found.values():
        panel.axes.set_ylim(bottom=0)
        panel.axes.yaxis.set_major_formatter(as_points())
    return figure


@chart
def prices(frame: pl.DataFrame, costs: Costs) -> Figure:
    """The price of indifference by empty cells: difficulty, bot, empty, turns, p10, p50, p90."""
    parts = _parts(frame)
    figure, found = sheet.panels(
        "At what price using the best Power now and not using it are worth the same",
        list(parts),
        x_label=_EMPTY,
        y_label="price, points",
        height=2.8,
        legend=sheet.line_entries(
            {"median": MIDDLE, "price in the rules": Look(GREY, "--", "", "")}
        ),
        note=f"Bands: from the 10 % to the 90 % quantile of turns. {FEW_NOTE}",
    )
    for panel, part in parts.items():
        axes = found[panel].axes
        ends, weak = (values(part, "p10"), values(part, "p90")), few(values(part, "turns"))
        curve(axes, part, "empty", "p50", MIDDLE, ends=ends, weak=weak)
        _along(axes, "empty")
        axes.yaxis.set_major_formatter(as_points())
    low, high = next(iter(found.values())).axes.get_ylim()
    for panel, part in parts.items():
        for cost in costs[str(part["difficulty"][0])]:
            if low <= cost <= high:
                found[panel].axes.axhline(cost, color=GREY, linestyle="--", linewidth=0.9)
    return figure


@chart
def price_curve(frame: pl.DataFrame, costs: Costs) -> Figure:
    """Turns in which a use pays, by its price: difficulty, bot, powers, price, turns, share."""
    by_powers, parts = _power_looks(frame), _parts(frame)
    figure, found = sheet.panels(
        "In how many turns the best Power would pay, by its price",
        list(parts),
        x_label="price of this use, points",
        y_label="turns with Powers left, %",
        height=2.6,
        legend=_legend(by_powers, "{} left"),
        note="Dots: the price in the rules. Later uses cost what the rules say.",
    )
    for panel, part in parts.items():
        axes, paid = found[panel].axes, costs[str(part["difficulty"][0])]
        for powers, one in by_powers.items():
            rows = part.filter(powers=powers)
            style = {"color": one.colour, "linestyle": one.line}
            axes.plot(values(rows, "price"), values(rows, "share"), **style)
            here = rows.filter(price=paid[powers - 1]) if powers <= len(paid) else rows.clear()
            axes.plot(
                values(here, "price"),
                values(here, "share"),
                linestyle="",
                color=one.colour,
                marker=one.marker,
            )
    top = max(0.01, 1.05 * float(values(frame, "share").max()))
    for drawn in found.values():
        drawn.axes.set_xlim(0, _last_price(frame))
        shares_up(drawn.axes, top)
    return figure


def _last_price(frame: pl.DataFrame) -> int:
    """The highest price at which something can be seen."""
    return max(most(frame.filter(pl.col("share") >= SEEN), "price"), 1)


@chart
def rescues(frame: pl.DataFrame) -> Figure:
    """MAGDAGDON turns worth a Power: difficulty, bot, powers, empty, turns, share, low, high."""
    figure, found = _lines(
        frame,
        "empty",
        "share",
        "In how many turns in MAGDAGDON a Power is worth more than a RUIN",
        "{} left",
        "turns in MAGDAGDON\nwith Powers left, %",
    )
    for panel in found.values():
        shares_up(panel.axes, 1.02)
    return figure


@chart
def openings(frame: pl.DataFrame, difficulty: str) -> Figure:
    """The first placements that are best most often, as small boards: shape, best, loss."""
    top = frame.head(SHOWN)
    tall = 4 * CELL + 0.62
    height = tall * -(-len(top) // COLUMNS)
    page = Sheet(
        f"First placements that are best most often, up to symmetry, at {difficulty}",
        height,
        note="Figures: share of rolls in which none is better, %; mean loss in points against the "
        "best one, over the rolls that allow it.",
    )
    axes = page.canvas(height)
    step = (WIDTH - 2 * MARGIN) / COLUMNS
    for k, row in enumerate(top.iter_rows(named=True)):
        x, y = MARGIN + (k % COLUMNS) * step + 0.1, (k // COLUMNS) * tall + 0.05
        draw_shape(axes, x, y, row["shape"])
        text = f"{percent(row['best'])} %\nloses {number(row['loss'])}"
        axes.text(x + 2 * CELL, y + 4 * CELL + 0.06, text, ha="center", va="top", fontsize=8)
    return page.figure
