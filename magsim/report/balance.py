"""The page of ``magsim balance``: what Powers, openings and rescues are worth to perfect play."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from magsim.balance import estimates
from magsim.balance.estimates import LATE, power_cost
from magsim.balance.openings import Openings, openings
from magsim.balance.sums import Sums
from magsim.charts import balance as charts
from magsim.report.common import (
    PLAYER,
    Row,
    Show,
    rows_of,
    show_interval,
    show_share,
    show_text,
    show_whole,
    table_of,
)
from magsim.report.page import Page, Section, Table, check_folder, write
from magsim.report.words import DASH, capital, interval, number, percent
from magsim.solver.perfect import Perfect

FOLDER = "balance"
"""Where a run keeps the page."""
CLOSING_SHAPES = 5
"""So many openings of each difficulty are told on the screen."""
PRICE_STEP = 10
"""Points between the prices of a curve in its table."""


@dataclass(frozen=True, slots=True)
class Powers:
    """What Powers are worth in the games of a run: tables of ``balance.estimates``."""

    games: int
    """Of each bot at each difficulty, at most."""
    costs: dict[str, list[int]]
    """By difficulty: what the next Power used costs with 1, 2, ... Powers left."""
    moments: pl.DataFrame
    by_empty: pl.DataFrame
    by_turn: pl.DataFrame
    prices: pl.DataFrame
    curve: pl.DataFrame
    rescues: pl.DataFrame

    @property
    def bots(self) -> list[str]:
        """The bots whose games were looked at, in the order of the plan."""
        return [str(bot) for bot in self.moments["bot"].unique(maintain_order=True).sort()]

    def each(self, say: Callable[[list[Row]], str], frame: pl.DataFrame) -> list[str]:
        """Something said of the first bot at each difficulty; "" of none that has no rows."""
        told = []
        for name in self.costs:
            bots = self.moments.filter(difficulty=name)["bot"].unique(maintain_order=True).sort()
            if len(bots):
                what = say(rows_of(frame, name, bots[0]))
                told += [f"At {name}, where {bots[0]} played, {what}."] if what else []
        return told


@dataclass(frozen=True, slots=True)
class Balance:
    """All that is told: of Powers, where there are any, and of openings by difficulty."""

    powers: Powers | None
    openings: dict[str, Openings]


def balance(sums: Sums | None, solutions: Mapping[str, Perfect]) -> Balance:
    """All estimates of sums, and the openings of all that is solved.

    Raises:
        MagsimError: if a solution does not reach a board.
    """
    found = {name: openings(perfect) for name, perfect in solutions.items()}
    return Balance(None if sums is None else _powers(sums, solutions), found)


def _powers(sums: Sums, solutions: Mapping[str, Perfect]) -> Powers:
    by_turn = estimates.worth_by(sums, "turn")
    return Powers(
        max(by_turn.filter(turn=1)["turns"].to_list()),
        {
            name: [power_cost(perfect, left + 1) for left in range(perfect.rules.powers)]
            for name, perfect in solutions.items()
            if perfect.rules.powers
        },
        estimates.moments(sums, solutions),
        estimates.worth_by(sums, "empty"),
        by_turn,
        estimates.prices(sums),
        estimates.price_curve(sums),
        estimates.rescues(sums),
    )


def _show_key(name: str) -> Show:
    """Shows a key, ``all`` where the row is over all of its values."""
    return lambda row: "all" if row[name] is None else str(row[name])


def _show_number(name: str, digits: int = 1) -> Show:
    return lambda row: number(row[name], digits)


def _show_percent(name: str, digits: int = 1) -> Show:
    return lambda row: percent(row[name], digits)


LEFT: dict[str, Show] = {"Powers left": _show_key("powers")}
WORTH: dict[str, Show] = {"turns": show_whole("turns"), "worth, points": show_interval("worth")}
PRICES: dict[str, Show] = {
    "turns": show_whole("turns"),
    "10 %": _show_number("p10"),
    "median": _show_number("p50"),
    "90 %": _show_number("p90"),
    "pays": show_share,
}
RESCUES: dict[str, Show] = {
    "turns": show_whole("turns"),
    "worth a Power": show_share,
    "gain, points": show_interval("gain"),
}


def worth_sentences(powers: Powers) -> list[str]:
    """What each Power is worth, and when."""

    def say(row: Row) -> str:
        late = ""
        if row["late"] is not None:
            told = interval(row["late"], row["late_half_width"])
            late = f" and {told} with {LATE} empty cells"
        middle = interval(row["middle"], row["middle_half_width"])
        return (
            f"{row['powers']} rather than {row['powers'] - 1} (price {row['cost']}) is worth "
            f"{number(row['start'], 2)} points before the first roll, {middle} with "
            f"{row['middle_empty']} empty cells{late}"
        )

    def say_all(rows: list[Row]) -> str:
        beyond = "its price" if len(rows) == 1 else "their prices"
        told = "; ".join(say(row) for row in reversed(rows))
        return f"beyond {beyond}, to have Powers left: {told}"

    return powers.each(say_all, powers.moments)


def price_sentences(powers: Powers) -> list[str]:
    """How often a use pays, and at what price it would."""
    every = powers.prices.filter(pl.col("empty").is_null() & pl.col("powers").is_null())

    def say(rows: list[Row]) -> str:
        if not rows:
            return ""
        (row,) = rows
        return (
            f"using the best Power pays at its price in {percent(row['share'])} of the turns with "
            f"Powers left; the price at which it is all the same has the median "
            f"{number(row['p50'])} points, and is {number(row['p90'])} points or more in one turn "
            "of ten"
        )

    return powers.each(say, every)


def rescue_sentences(powers: Powers) -> list[str]:
    """How many turns in MAGDAGDON are worth a Power."""
    every = powers.rescues.filter(pl.col("empty").is_null() & pl.col("powers").is_null())

    def say(rows: list[Row]) -> str:
        if not rows:
            return "no turn was in MAGDAGDON with Powers left"
        (row,) = rows
        told = "none is worth a Power"
        if row["rescued"]:
            gain = interval(row["gain"], row["half_width"])
            told = f"{percent(row['share'])} are worth a Power, which then gains {gain} points"
        return f"of the turns in MAGDAGDON with Powers left, {told} against the best RUIN"

    return powers.each(say, every)


def opening_sentences(found: Mapping[str, Openings]) -> list[str]:
    """Which shapes are best, and how much the choice is worth."""

    def say(name: str, one: Openings) -> str:
        if one.shapes.is_empty():
            return f"At {name}, no first placement is legal."
        best = one.shapes.row(0, named=True)
        two = one.rolls.filter(pl.col("gap").is_not_null())
        chances = float(two["chance"].sum())
        mean = float((two["gap"] * two["chance"]).sum()) / chances if chances else None
        none = float(one.rolls.filter(pl.col("best").is_null())["chance"].sum())
        stuck = f"; {percent(none)} of rolls allow none" if none else ""
        return (
            f"At {name}, of {len(one.placements):,} first placements up to symmetry, the cells "
            f"{best['shape']} are best for {percent(best['best'])} of rolls (as in "
            f"{best['example']}) and lose {number(best['loss'], 2)} points on average over those "
            f"that allow them; the second best placement loses {number(mean, 2)}{stuck}."
        )

    return [say(name, one) for name, one in found.items()]


def _worth_section(powers: Powers) -> Section:
    drawn = {
        "worth_by_empty": charts.worth(powers.by_empty, "empty"),
        "worth_by_turn": charts.worth(powers.by_turn, "turn"),
    }
    note = (
        " This is what perfect play expects before the roll, minus what it expects with one Power "
        "fewer, whatever Powers the game still had."
    )
    tables = (
        moments_table(powers),
        table_of(
            "By empty cells",
            powers.by_empty,
            PLAYER | LEFT | {"empty cells": show_whole("empty")} | WORTH,
        ),
        table_of("By turn", powers.by_turn, PLAYER | LEFT | {"turn": show_whole("turn")} | WORTH),
    )
    text = " ".join(worth_sentences(powers)) + note
    return Section("What a Power is worth", text, drawn, tables)


def moments_table(powers: Powers) -> Table:
    """What each Power is worth at the start, at half-time and late."""
    columns: dict[str, Show] = {
        "price": show_whole("cost"),
        "before the first roll": _show_number("start", 2),
        "at half-time": show_interval("middle", "middle_half_width"),
        "with empty cells": show_whole("middle_empty"),
        f"with {LATE} left": show_interval("late", "late_half_width"),
    }
    title = "What one Power more is worth, in points beyond its price"
    return table_of(title, powers.moments, PLAYER | LEFT | columns)


def prices_table(powers: Powers) -> Table:
    """The price of indifference by Powers left."""
    frame = powers.prices.filter(pl.col("empty").is_null())
    title = "The price, in points, at which using a Power now and not using it are worth the same"
    return table_of(title, frame, PLAYER | LEFT | PRICES)


def _price_section(powers: Powers) -> Section:
    by_empty = powers.prices.filter(pl.col("powers").is_null() & pl.col("empty").is_not_null())
    drawn = {
        "prices": charts.prices(by_empty, powers.costs),
        "price_curve": charts.price_curve(powers.curve, powers.costs),
    }
    steps = powers.curve.filter(pl.col("price") % PRICE_STEP == 0)
    tables = (
        prices_table(powers),
        table_of(
            "This price by empty cells",
            by_empty,
            PLAYER | {"empty cells": show_whole("empty")} | PRICES,
        ),
        table_of(
            "Turns in which a use pays, by its price",
            steps,
            PLAYER
            | LEFT
            | {"price, points": show_whole("price"), "turns": show_whole("turns")}
            | {"pays": _show_percent("share")},
        ),
    )
    note = (
        " The price is that of the use in this turn, in points; later uses cost what the rules "
        "say. Where it is negative, keeping the Power is better even if using it is free."
    )
    text = " ".join(price_sentences(powers)) + note
    return Section("The price of indifference", text, drawn, tables)


def rescues_table(powers: Powers) -> Table:
    """MAGDAGDON turns worth a Power, by Powers left."""
    frame = powers.rescues.filter(pl.col("empty").is_null())
    title = "Turns in MAGDAGDON with Powers left: best Power against best RUIN"
    return table_of(title, frame, PLAYER | LEFT | RESCUES)


def _rescue_section(powers: Powers) -> Section:
    by_both = powers.rescues.filter(pl.col("powers").is_not_null() & pl.col("empty").is_not_null())
    by_empty = powers.rescues.filter(pl.col("powers").is_null() & pl.col("empty").is_not_null())
    drawn = {"rescues": charts.rescues(by_both)} if len(by_both) else {}
    empty: dict[str, Show] = {"empty cells": show_whole("empty")}
    tables = (
        rescues_table(powers),
        table_of("By empty cells", by_empty, PLAYER | empty | RESCUES),
        table_of("By Powers left and empty cells", by_both, PLAYER | LEFT | empty | RESCUES),
    )
    note = " The gain is the mean over the turns that are worth it, the Power paid for."
    text = " ".join(rescue_sentences(powers)) + note
    return Section("MAGDAGDON turns worth rescuing", text, drawn, tables)


def shapes_table(name: str, one: Openings, most: int | None = None) -> Table:
    """The sets of cells of first placements, the one that is best most often first."""
    columns: dict[str, Show] = {
        "cells": show_text("shape"),
        "for example": show_text("example"),
        "rolls that allow it": _show_percent("allowed"),
        "best": _show_percent("best"),
        "loses, points": _show_number("loss", 2),
    }
    frame = one.shapes if most is None else one.shapes.head(most)
    return table_of(f"{capital(name)}: first placements by their cells", frame, columns)


def _show_board(name: str) -> Show:
    return lambda row: row[name] or DASH


def _placement_tables(one: Openings) -> Iterator[Table]:
    power: dict[str, Show] = {"a Power first": _show_number("power", 2)}
    columns: dict[str, Show] = {
        "roll": show_text("roll"),
        "best": _show_board("best"),
        "second best": _show_board("second"),
        "chance": _show_percent("chance", 2),
        "worth": _show_number("value", 2),
        "second worth": _show_number("second_value", 2),
        "gap": _show_number("gap", 2),
    }
    columns |= power if one.rolls["power"].count() else {}
    title = "The best opening of each roll; what it is worth, in points"
    yield table_of(title, one.rolls, columns, words=3)
    best = one.placements.filter(pl.col("best") > 0).sort("best", descending=True)
    columns = {
        "placement": show_text("board"),
        "worth, points": _show_number("value", 2),
        "rolls that allow it": _show_percent("allowed", 2),
        "best": _show_percent("best", 2),
    }
    yield table_of("Placements that are best for some roll", best, columns, words=1)


def _opening_sections(found: Mapping[str, Openings]) -> Iterator[Section]:
    note = (
        " Worth is the expected final score of perfect play after the placement, all Powers left. "
        "A loss is against the best placement of the roll, weighted by chances."
    )
    for k, (name, one) in enumerate(found.items()):
        text = opening_sentences({name: one})[0] + note
        drawn = {f"openings_{k}": charts.openings(one.shapes, name)} if len(one.shapes) else {}
        tables = (shapes_table(name, one), *_placement_tables(one))
        yield Section(f"Openings at {name}", text, drawn, tables)


def closing_tables(found: Balance) -> list[Table]:
    """What is told on the screen."""
    tables = [shapes_table(name, one, CLOSING_SHAPES) for name, one in found.openings.items()]
    if found.powers is None:
        return tables
    powers = found.powers
    return [moments_table(powers), prices_table(powers), rescues_table(powers), *tables]


def _findings(found: Balance) -> str:
    powers = found.powers
    about = (worth_sentences, price_sentences, rescue_sentences)
    told = [text for say in about for text in say(powers)] if powers else []
    return " ".join([*told, *opening_sentences(found.openings)])


def write_page(run: Path, found: Balance, missing: Sequence[str], folder: Path | None) -> Path:
    """Write the page; the folder it is in. ``missing`` are sentences on what is not solved.

    Raises:
        MagsimError: if the folder cannot be written.
    """
    target = folder or run / FOLDER
    check_folder(target)
    sections = list(_opening_sections(found.openings))
    met = ""
    if found.powers:
        powers = found.powers
        sections = [_worth_section(powers), _price_section(powers), _rescue_section(powers)]
        sections += _opening_sections(found.openings)
        bots = ", ".join(powers.bots)
        met = (
            f" Powers are weighed in the positions that up to {powers.games:,} games of {bots} met "
            "at each difficulty. All intervals are 95 % intervals over games; ± gives half of one."
        )
    left_out = "".join(f" Left out: {sentence}." for sentence in missing)
    intro = (
        "What Powers, openings and rescues are worth to a perfect player, from the solution of "
        f"{', '.join(found.openings)}; values are exact.{met}{left_out}"
    )
    page = Page("magsim: balance by perfect play", intro, "", tuple(sections), _findings(found))
    write(page, target)
    return target
