"""Charts of play: turns, dice, options, and what bots expected."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from magsim.charts import sheet
from magsim.charts.marks import (
    BAR,
    FEW_NOTE,
    FEW_TURNS,
    STEPS,
    curve,
    few,
    most,
    players,
    shares_up,
    stack,
    whole_x,
    without_gaps,
)
from magsim.charts.sheet import Rows, Sheet
from magsim.charts.style import (
    GREY,
    Look,
    as_percent,
    as_points,
    chart,
    looks,
    names,
    sample,
    values,
)


@chart
def turns_per_game(frame: pl.DataFrame) -> Figure:
    """Games by their number of turns: difficulty, bot, turns, games, share, low, high."""
    by_bot = looks(frame)
    figure, found = sheet.panels(
        "Turns per game",
        names(frame, "difficulty"),
        x_label="turns in a game",
        y_label="share of games, %",
        sample=sample([int(rows["games"].sum()) for _, _, rows in players(frame)]),
        legend=sheet.line_entries(by_bot),
        note="Bands: 95 % intervals.",
    )
    for difficulty, bot, rows in players(frame):
        every = without_gaps(rows, "turns")
        curve(found[difficulty].axes, every, "turns", "share", by_bot[bot])
    for panel in found.values():
        whole_x(panel.axes)
        shares_up(panel.axes)
    return figure


@chart
def dice_placed(frame: pl.DataFrame) -> Figure:
    """Turns by the number of dice placed in them: difficulty, bot, dice, turns, share."""
    every = names(frame, "difficulty")
    groups = {name: [bot for at, bot, _ in players(frame) if at == name] for name in every}
    rows = Rows(groups, {"": "share of turns, %"})
    legend = {str(k): STEPS[k] for k in range(5)}
    legend = {("0 (a RUIN)" if k == "0" else k): one for k, one in legend.items()}
    page = Sheet(
        "Dice placed in a turn",
        rows.height,
        sample=sample([int(part["turns"].sum()) for _, _, part in players(frame)], "turns"),
        legend=sheet.patch_entries(legend),
        note="Figures: share of turns, %.",
    )
    (axes,) = rows.draw(page)
    for difficulty, bot, part in players(frame):
        found = dict(part.select("dice", "share").rows())
        shares = [found.get(k, 0.0) for k in range(5)]
        stack(axes, rows.y[difficulty, bot], BAR, shares, STEPS, rows.width)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(as_percent())
    return page.figure


@chart
def options_per_decision(frame: pl.DataFrame) -> Figure:
    """How much there is to choose from in a turn.

    Args:
        frame: difficulty, bot, turn, turns, options (mean), half_width, fewest.
    """
    by_bot = looks(frame)
    figure, found = sheet.panels(
        "Options at the first decision of a turn",
        names(frame, "difficulty"),
        x_label="turn",
        y_label="different legal decisions, mean (log scale)",
        height=2.7,
        sample=sample([most(rows, "turns") for _, _, rows in players(frame)]),
        legend=sheet.line_entries(by_bot),
        note=f"Bands: 95 % intervals. {FEW_NOTE}",
    )
    for difficulty, bot, rows in players(frame):
        middle, half_width = values(rows, "options"), values(rows, "half_width")
        # A mean is never below the least value, though its interval may reach there.
        ends = (np.maximum(middle - half_width, values(rows, "fewest")), middle + half_width)
        weak = few(values(rows, "turns"))
        curve(found[difficulty].axes, rows, "turn", "options", by_bot[bot], ends=ends, weak=weak)
    for panel in found.values():
        whole_x(panel.axes)
        panel.axes.set_yscale("log")
        panel.axes.yaxis.set_major_formatter(as_points())
        panel.axes.yaxis.set_minor_formatter(lambda *_: "")
    return figure


@chart
def calibration(frame: pl.DataFrame) -> Figure:
    """What bots expected against what came.

    Args:
        frame: difficulty, bot, bin, games, turns, estimate, final, half_width; nothing of bots
            that give no estimates.
    """
    title = "Estimates against final scores"
    if frame.is_empty():
        return sheet.in_words(title, "No bot gives estimates.")
    by_bot = looks(frame)
    figure, found = sheet.panels(
        title,
        names(frame, "difficulty"),
        x_label="estimate, points",
        y_label="final score, points",
        height=2.7,
        strip=1.0,
        sample=sample([int(rows["turns"].sum()) for _, _, rows in players(frame)], "turns"),
        legend=sheet.line_entries(by_bot),
        note="Means over turns by their estimate; above, estimate minus came: over 0, too much was "
        "expected. Bands: 95 % intervals. Straight lines: just what was expected. Hollow: fewer "
        "than 1 % of the bot's turns, or of fewer than 10 games.",
    )
    for difficulty, bot, rows in players(frame):
        _calibrate(found[difficulty], rows, by_bot[bot])
    both = np.concatenate([values(frame, "estimate"), values(frame, "final")])
    edges = [float(both.min()) - 10, float(both.max()) + 10]
    first = True
    for panel in found.values():
        panel.axes.plot(edges, edges, color=GREY, linewidth=0.8, zorder=0.9)
        panel.axes.set(xlim=edges, ylim=edges)
        panel.axes.xaxis.set_major_formatter(as_points())
        panel.axes.yaxis.set_major_formatter(as_points())
        if panel.strip:
            panel.strip.axhline(0, color=GREY, linewidth=0.8, zorder=0.9)
            panel.strip.grid(True, axis="y")
            panel.strip.yaxis.set_major_formatter(as_points())
            if first:
                panel.strip.set_ylabel("estimate \N{MINUS SIGN}\ncame, points")
                panel.strip.tick_params(labelleft=True)
        first = False
    return figure


def _calibrate(panel: sheet.Panel, rows: pl.DataFrame, look: Look) -> None:
    """Final scores by the estimate, and above them by how much the estimate is more."""
    turns, final = values(rows, "turns"), values(rows, "final")
    half_width = values(rows, "half_width")
    weak = (turns < 0.01 * turns.sum()) | (values(rows, "games") < FEW_TURNS)
    ends = (final - half_width, final + half_width)
    curve(panel.axes, rows, "estimate", "final", look, ends=ends, weak=weak)
    if panel.strip:
        more = values(rows, "estimate") - final
        solid = rows.with_columns(
            more=pl.Series(more),
            low=pl.Series(more - half_width),
            high=pl.Series(more + half_width),
        ).filter(~pl.Series(weak))
        curve(panel.strip, solid, "estimate", "more", look)
