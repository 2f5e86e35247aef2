"""Charts of RUINs and MAGDAGDON: how many, when, and where."""

import matplotlib
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from magsim.charts import sheet
from magsim.charts.marks import (
    FEW_NOTE,
    curve,
    dot,
    few,
    ink_on,
    most,
    players,
    shares_up,
    whole_x,
    without_gaps,
)
from magsim.charts.scores import STRIP, mean_strip
from magsim.charts.sheet import LINE, MARGIN, WIDTH, Rows, Sheet
from magsim.charts.style import (
    GREY,
    Look,
    as_percent,
    chart,
    looks,
    names,
    percent,
    plus_minus,
    sample,
    values,
    wrap,
)


@chart
def ruins_per_game(frame: pl.DataFrame, means: pl.DataFrame) -> Figure:
    """Games by the number of RUINs in them, with the mean of each bot.

    Args:
        frame: difficulty, bot, ruins, games, share, low, high.
        means: ``estimates.means``, or its rows of the quantity ``ruins``.
    """
    by_bot = looks(frame)
    means = means.filter(pl.col("quantity") == "ruins")
    figure, found = sheet.panels(
        "RUINs per game",
        names(frame, "difficulty"),
        x_label="RUINs in a game",
        y_label="share of games, %",
        strip=STRIP * len(by_bot) + 0.08,
        sample=sample(means["games"].to_list()),
        legend=sheet.line_entries(by_bot),
        note="Bands, and the means above: 95 % intervals.",
    )
    for difficulty, bot, rows in players(frame):
        every = without_gaps(rows, "ruins")
        curve(found[difficulty].axes, every, "ruins", "share", by_bot[bot])
    for difficulty, panel in found.items():
        whole_x(panel.axes)
        shares_up(panel.axes)
        rows = means.filter(pl.col("difficulty").cast(pl.String) == difficulty)
        mean_strip(panel.strip, rows, by_bot, digits=2)
    return figure


@chart
def ruins_by_turn(frame: pl.DataFrame) -> Figure:
    """How often a turn ends with a RUIN: difficulty, bot, turn, turns, count, share, low, high."""
    return rates(frame, "turn", "When RUINs come, by turn", "turn", "turns that end with a RUIN, %")


@chart
def ruins_by_empty(frame: pl.DataFrame) -> Figure:
    """As ``ruins_by_turn``, by ``empty`` cells at the start of the turn, the full board last."""
    label = "empty cells at the start of the turn"
    title = "When RUINs come, by empty cells"
    return rates(frame, "empty", title, label, "turns that end with a RUIN, %")


def rates(
    frame: pl.DataFrame, key: str, title: str, x_label: str, y_label: str, nothing: str = ""
) -> Figure:
    """Shares of turns along a key; where all counts are 0, ``nothing`` is said if it is given."""
    if nothing and not frame["count"].sum():
        return sheet.in_words(title, nothing)
    by_bot = looks(frame)
    games = [most(rows, "turns") for _, _, rows in players(frame)]
    figure, found = sheet.panels(
        title,
        names(frame, "difficulty"),
        x_label=x_label,
        y_label=y_label,
        height=2.6,
        sample=sample(games),
        legend=sheet.line_entries(by_bot),
        note=f"Bands: 95 % intervals. {FEW_NOTE}",
    )
    counted = {name for name, _, rows in players(frame) if not nothing or int(rows["count"].sum())}
    for difficulty, bot, rows in players(frame):
        if difficulty in counted:
            weak = few(values(rows, "turns"))
            curve(found[difficulty].axes, rows, key, "share", by_bot[bot], weak=weak)
    for difficulty, panel in found.items():
        if difficulty not in counted:
            sheet.say(panel.axes, nothing)
        whole_x(panel.axes)
        shares_up(panel.axes, _top(frame))
        if key == "empty":
            panel.axes.set_xlim(16.5, 0.5)
    return figure


def _top(frame: pl.DataFrame) -> float:
    """A height that leaves room for all points, and for all intervals that rest on many turns."""
    tops = [0.01]
    for _, _, rows in players(frame):
        weak = few(values(rows, "turns"))
        tops += [*values(rows, "share"), *values(rows, "high")[~weak]]
    return 1.05 * max(tops)


SIDE, MAP_GAP = 1.75, 0.3
"""Inches: of a board at most, and between boards."""


@chart
def ruin_map(frame: pl.DataFrame) -> Figure:
    """In what share of games each cell became a RUIN: difficulty, bot, cell, games, share."""
    bots, found = names(frame, "bot"), names(frame, "difficulty")
    columns = min(len(bots), 6)
    step = min(SIDE + MAP_GAP, (WIDTH - 2 * MARGIN + 0.15) / columns)
    cell = (step - MAP_GAP) / 4
    label = {bot: wrap(bot, step - 0.15, 8) for bot in bots}
    tall = 0.145 * (max(text.count("\n") for text in label.values()) + 1) + 0.2 + 4 * cell + 0.14
    # Difficulties stand side by side where there are few bots.
    beside = max(1, min(len(found), int((WIDTH - 2 * MARGIN + 0.2) / (columns * step))))
    titles = [wrap(name, columns * step - 0.2, 9.5, "bold") for name in found]
    head = 0.14 + LINE * (max(title.count("\n") for title in titles) + 1)
    block = head + -(-len(bots) // columns) * tall
    body = block * -(-len(found) // beside)
    page = Sheet(
        "Where RUINs fall",
        body,
        sample=sample(frame["games"].to_list()),
        note="Figures: share of games in which the cell became a RUIN, %. One scale for all.",
    )
    axes = page.canvas(body)
    shades = Normalize(0, max(float(np.nanmax(values(frame, "share"))), 0.01))
    corner = {
        name: (MARGIN + k % beside * columns * step, k // beside * block)
        for k, name in enumerate(found)
    }
    for name, title in zip(found, titles, strict=True):
        x, y = corner[name]
        page.text(x, y + 0.05, title, fontsize=9.5, weight="bold")
    for difficulty, bot, rows in players(frame):
        row, column = divmod(bots.index(bot), columns)
        x = corner[difficulty][0] + column * step + 0.13
        y = corner[difficulty][1] + head + (row + 1) * tall - 4 * cell - 0.14
        page.text(x, y - 0.23, label[bot], fontsize=8, va="baseline")
        board(axes, x, y, cell, dict(rows.select("cell", "share").rows()), shades)
    return page.figure


def board(
    axes: Axes, x: float, y: float, cell: float, shares: dict[str, float], shades: Normalize
) -> None:
    """A board whose cells are shaded by shares, with letters above and numbers at its left."""
    shade = matplotlib.colormaps["YlOrBr"]
    for column, letter in enumerate("abcd"):
        axes.text(
            x + (column + 0.5) * cell, y - 0.06, letter, fontsize=6.5, ha="center", color=GREY
        )
    for row in range(4):
        axes.text(
            x - 0.06,
            y + (row + 0.5) * cell,
            str(row + 1),
            fontsize=6.5,
            ha="right",
            va="center_baseline",
            color=GREY,
        )
        for column, letter in enumerate("abcd"):
            share = shares.get(f"{letter}{row + 1}", 0.0)
            colour = shade(shades(share) * 0.9)
            corner = (x + column * cell, y + row * cell)
            axes.add_patch(
                Rectangle(corner, cell, cell, facecolor=colour, edgecolor="white", linewidth=0.6)
            )
            text = percent(share) if share else "0"
            axes.text(
                corner[0] + cell / 2,
                corner[1] + cell / 2,
                text,
                fontsize=7,
                ha="center",
                va="center_baseline",
                color=ink_on(colour),
            )


@chart
def magdagdon(frame: pl.DataFrame) -> Figure:
    """How often turns are in MAGDAGDON, and what share of these a Power rescues.

    Args:
        frame: difficulty, bot, games, share, half_width, rescued, rescued_share,
            rescued_half_width.
    """
    by_bot = looks(frame)
    groups = {
        name: [bot for at, bot, _ in players(frame) if at == name]
        for name in names(frame, "difficulty")
    }
    columns = {
        "in MAGDAGDON": "share of turns, %",
        "rescued by a Power": "share of turns in MAGDAGDON, %",
    }
    rows = Rows(groups, columns, figures=0.75)
    page = Sheet(
        "MAGDAGDON, and rescue from it",
        rows.height,
        sample=sample(frame["games"].to_list()),
        note="± and lines: 95 % intervals, which may be narrower than the dot.",
    )
    met, rescued = rows.draw(page, share_x=False)
    for row in frame.iter_rows(named=True):
        y, look = rows.y[str(row["difficulty"]), str(row["bot"])], by_bot[str(row["bot"])]
        _share(met, y, row["share"], row["half_width"], look)
        if row["rescued"]:
            _share(rescued, y, row["rescued_share"], row["rescued_half_width"], look)
        else:
            sheet.say(rescued, "none" if row["met"] else "never in MAGDAGDON", y)
    for axes in (met, rescued):
        axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(as_percent())
    return page.figure


def _share(axes: Axes, y: float, share: float, half_width: float | None, look: Look) -> None:
    dot(axes, share, y, half_width, look)
    width = None if half_width is None else 100 * half_width
    sheet.write_figure(axes, y, plus_minus(100 * share, width))
