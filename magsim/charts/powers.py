"""Charts of Powers: which, when, how many, and at what price."""

import polars as pl
from matplotlib.figure import Figure

from magsim.charts import sheet
from magsim.charts.marks import BAR, CATEGORIES, STEPS, dot, most, players, stack
from magsim.charts.ruins import rates
from magsim.charts.sheet import Rows, Sheet
from magsim.charts.style import (
    GREY,
    INK,
    Look,
    as_percent,
    as_points,
    chart,
    looks,
    names,
    planned,
    sample,
)

NOTHING = "no Powers used"
KINDS = ("raise", "lower", "reroll")
ENDS = {"improving": "improving", "rescuing": "rescuing", "in_vain": "in vain"}


def _groups(frame: pl.DataFrame, used: set[str], every: list[str]) -> dict[str, list[str]]:
    """The bots of each difficulty; none where no Power was used."""
    found: dict[str, list[str]] = {name: [] for name in every}
    for difficulty, bot, _ in players(frame):
        if difficulty in used:
            found[difficulty].append(bot)
    return found


@chart
def powers_by_kind(frame: pl.DataFrame) -> Figure:
    """Uses of Powers by kind, split by what became of the turn.

    Args:
        frame: difficulty, bot, kind, games, uses, per_game, half_width, improving, rescuing,
            in_vain.
    """
    every = names(frame, "difficulty")
    used = {name for name, _, rows in players(frame) if rows["uses"].sum()}
    if not used:
        return sheet.in_words("Uses of Powers by kind", NOTHING)
    rows = Rows(
        _groups(frame, used, every),
        dict.fromkeys(KINDS, "uses in 100 games"),
        remarks={name: NOTHING for name in every if name not in used},
    )
    kinds = dict(zip(ENDS.values(), CATEGORIES, strict=True))
    page = Sheet(
        "Uses of Powers by kind",
        rows.height,
        sample=sample(frame["games"].to_list()),
        legend=sheet.patch_entries(kinds),
        note="Improving: in a turn that never was in MAGDAGDON; rescuing: in one that got out of "
        "it; in vain: in one that ended with a RUIN. Thin lines: 95 % intervals of all uses.",
    )
    drawn = dict(zip(KINDS, rows.draw(page), strict=True))
    for row in frame.iter_rows(named=True):
        key = str(row["difficulty"]), str(row["bot"])
        if key not in rows.y:
            continue
        axes, y = drawn[str(row["kind"])], rows.y[key]
        parts = [100 * row[end] / row["games"] for end in ENDS]
        stack(axes, y, BAR, parts, CATEGORIES)
        if row["half_width"] is not None and row["uses"]:
            ends = [100 * (row["per_game"] + side * row["half_width"]) for side in (-1, 1)]
            axes.plot(ends, [y, y], color=INK, linewidth=0.9)
    for axes in drawn.values():
        axes.autoscale_view(scaley=False)
        axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(as_points())
    return page.figure


@chart
def powers_by_turn(frame: pl.DataFrame) -> Figure:
    """How often a turn uses a Power: difficulty, bot, turn, turns, count, share, low, high."""
    title = "When Powers are used, by turn"
    return rates(frame, "turn", title, "turn", "turns with a Power used, %", NOTHING)


@chart
def powers_used(frame: pl.DataFrame) -> Figure:
    """Games by the number of Powers they use: difficulty, bot, used, games, share, low, high."""
    every = names(frame, "difficulty")
    used = {name for name, _, rows in players(frame) if rows["used"].max()}
    if not used:
        return sheet.in_words("How many Powers a game uses", NOTHING)
    rows = Rows(
        _groups(frame, used, every),
        {"": "share of games, %"},
        remarks={name: NOTHING for name in every if name not in used},
    )
    last = most(frame, "used")
    steps = [STEPS[min(k, len(STEPS) - 1)] for k in range(last + 1)]
    legend = {"none": steps[0], **{str(k): steps[k] for k in range(1, last + 1)}}
    games = [int(part["games"].sum()) for _, _, part in players(frame)]
    page = Sheet(
        "How many Powers a game uses",
        rows.height,
        sample=sample(games),
        legend=sheet.patch_entries(legend),
        note="Figures: share of games, %. Thin lines: 95 % intervals of the share that uses none.",
    )
    (axes,) = rows.draw(page)
    for difficulty, bot, part in players(frame):
        if (difficulty, bot) not in rows.y:
            continue
        y = rows.y[difficulty, bot]
        found = {row["used"]: row for row in part.iter_rows(named=True)}
        shares = [found[k]["share"] if k in found else 0.0 for k in range(last + 1)]
        stack(axes, y, BAR, shares, steps, rows.width)
        if 0 in found and found[0]["low"] is not None:
            axes.plot(
                [found[0]["low"], found[0]["high"]], [y + 0.075] * 2, color=INK, linewidth=0.9
            )
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(as_percent())
    return page.figure


WORTH = {
    "score difference, games with it minus games without any Power": Look(INK, "-", "o", ""),
    "cost of one use, as a loss": Look(GREY, "-", "|", ""),
}


@chart
def power_worth(frame: pl.DataFrame) -> Figure:
    """What a use of each kind cost, beside the difference of scores seen with it.

    Args:
        frame: difficulty, bot, kind, games, without, cost, difference, half_width; a row only for
            kinds that were used.
    """
    title = "What Powers cost, and what was scored with them"
    if frame.is_empty():
        return sheet.in_words(title, NOTHING)
    every = planned(frame, "difficulty")
    by_bot = looks(frame)
    used = names(frame, "difficulty")
    rows = Rows(
        _groups(frame, set(used), every),
        dict.fromkeys(KINDS, "points"),
        remarks={name: NOTHING for name in every if name not in used},
    )
    page = Sheet(
        title,
        rows.height,
        sample=f"{sample(frame['games'].to_list()).removesuffix(' each')} with that Power",
        legend=sheet.dot_entries(WORTH),
        note="Thick lines: 95 % intervals. Games that need a Power are other games than those that "
        "need none: the difference is what was seen together, not what the Power did. No dot: no "
        "game without any Power. Hollow: too few games for an interval. A line at "
        "the edge of the picture goes on beyond it.",
    )
    drawn = dict(zip(KINDS, rows.draw(page), strict=True))
    for row in frame.iter_rows(named=True):
        axes, y = drawn[str(row["kind"])], rows.y[str(row["difficulty"]), str(row["bot"])]
        look, half_width = by_bot[str(row["bot"])], row["half_width"]
        dot(axes, row["difference"], y, half_width, look, hollow=half_width is None)
        if row["cost"] is not None:
            axes.plot([-row["cost"]], [y], linestyle="", marker="|", color=GREY, markersize=9)
    for axes in drawn.values():
        sheet.light_line(axes, 0)
        axes.xaxis.set_major_formatter(as_points())
        axes.set_xlim(*_edges(frame))
    return page.figure


def _edges(frame: pl.DataFrame) -> tuple[float, float]:
    """What shows all dots and costs, and of intervals as much again at each end."""
    dots = [0.0, *frame["difference"].drop_nulls(), *(-frame["cost"].drop_nulls())]
    room = max(max(dots) - min(dots), 1.0)
    ends = [frame["difference"] + side * frame["half_width"] for side in (-1, 1)]
    low = max(min([*dots, *ends[0].drop_nulls()]), min(dots) - room)
    high = min(max([*dots, *ends[1].drop_nulls()]), max(dots) + room)
    return low - 0.05 * room, high + 0.05 * room
