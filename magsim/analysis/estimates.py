"""From tallies to estimates: one table for each question, a row for each thing counted.

Every table begins with the columns ``difficulty`` and ``bot``, enums in the order of the plan.
Columns named ``low`` and ``high`` are the ends of a 95 % interval, ``half_width`` is half of one;
they are null where there is too little to say. Shares are between 0 and 1, scores and costs in
points.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from magsim.analysis.intervals import (
    Mean,
    difference_of_means,
    mean_of_sums,
    quantile,
    quantile_intervals,
    ratio_of_sums,
    share_interval,
)
from magsim.analysis.tallies import ESTIMATE_BIN, ESTIMATE_UNIT, QUANTITIES, Tallies
from magsim.board import CELL_NAMES
from magsim.decision import POWER_KINDS

PERCENTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99)

Row = dict[str, Any]


def _table(
    tallies: Tallies, name: str, columns: dict[str, Any], rows: Iterable[Sequence[object]]
) -> pl.DataFrame:
    schema = tallies[name].schema
    keys = {key: schema[key] for key in ("difficulty", "bot")}
    return pl.DataFrame(list(rows), schema={**keys, **columns}, orient="row")


def _floats(*names: str) -> dict[str, type[pl.DataType]]:
    return dict.fromkeys(names, pl.Float64)


def _rows(tallies: Tallies, name: str) -> Iterable[Row]:
    return tallies[name].iter_rows(named=True)


def _by_player(tallies: Tallies, name: str) -> Iterable[tuple[str, str, list[Row]]]:
    for (difficulty, bot), rows in tallies[name].group_by("difficulty", "bot", maintain_order=True):
        yield str(difficulty), str(bot), list(rows.iter_rows(named=True))


def percentiles(tallies: Tallies) -> pl.DataFrame:
    """Columns: percentile, score, low, high (bootstrap)."""

    def rows() -> Iterable[tuple[object, ...]]:
        shares = [percent / 100 for percent in PERCENTILES]
        for difficulty, bot, counts in _by_player(tallies, "scores"):
            scores, games = [row["score"] for row in counts], [row["n"] for row in counts]
            ends = quantile_intervals(scores, games, shares)
            for percent, share, end in zip(PERCENTILES, shares, ends, strict=True):
                yield difficulty, bot, percent, quantile(scores, games, share), *end

    return _table(
        tallies, "scores", {"percentile": pl.Int64, **_floats("score", "low", "high")}, rows()
    )


def means(tallies: Tallies) -> pl.DataFrame:
    """Columns: games, quantity (of ``tallies.QUANTITIES``), mean, half_width."""
    return _table(
        tallies,
        "parts",
        {"games": pl.Int64, "quantity": pl.String, **_floats("mean", "half_width")},
        (
            (row["difficulty"], row["bot"], row["n"], name, mean.mean, mean.half_width)
            for row in _rows(tallies, "parts")
            for name in QUANTITIES
            for mean in [mean_of_sums(row["n"], row[name], row[f"{name}_sq"])]
        ),
    )


def _shares_of_games(tallies: Tallies, name: str, key: str) -> pl.DataFrame:
    def rows() -> Iterable[tuple[object, ...]]:
        for difficulty, bot, counts in _by_player(tallies, name):
            games = sum(row["n"] for row in counts)
            for row in counts:
                ends = share_interval(row["n"], games)
                yield difficulty, bot, row[key], row["n"], row["n"] / games, *ends

    columns = {key: pl.Int64, "games": pl.Int64, **_floats("share", "low", "high")}
    return _table(tallies, name, columns, rows())


def ruins_per_game(tallies: Tallies) -> pl.DataFrame:
    """Columns: ruins (in a game), games (that had so many), share of games, low, high."""
    return _shares_of_games(tallies, "ruins", "ruins")


def turns_per_game(tallies: Tallies) -> pl.DataFrame:
    """Columns: turns (in a game), games (that had so many), share of games, low, high."""
    return _shares_of_games(tallies, "lengths", "turns")


def _rates(tallies: Tallies, name: str, key: str, counted: str) -> pl.DataFrame:
    return _table(
        tallies,
        name,
        {key: pl.Int64, "turns": pl.Int64, "count": pl.Int64, **_floats("share", "low", "high")},
        (
            (
                *(row["difficulty"], row["bot"], row[key], row["n"], row[counted]),
                row[counted] / row["n"],
                *share_interval(row[counted], row["n"]),
            )
            for row in _rows(tallies, name)
        ),
    )


def ruins_by_turn(tallies: Tallies) -> pl.DataFrame:
    """Columns: turn, turns (played), count (that ended with a RUIN), share, low, high."""
    return _rates(tallies, "by_turn", "turn", "ruined")


def ruins_by_empty(tallies: Tallies) -> pl.DataFrame:
    """As ``ruins_by_turn``, by ``empty`` cells at the start of the turn."""
    return _rates(tallies, "by_empty", "empty", "ruined")


def powers_by_turn(tallies: Tallies) -> pl.DataFrame:
    """Columns: turn, turns (played), count (with a Power used), share, low, high."""
    return _rates(tallies, "by_turn", "turn", "powered")


def ruin_map(tallies: Tallies) -> pl.DataFrame:
    """Columns: cell, games, count (of games in which it became a RUIN), share, low, high."""
    found = {
        (row["difficulty"], row["bot"], row["cell"]): row["n"] for row in _rows(tallies, "cells")
    }
    return _table(
        tallies,
        "parts",
        {
            "cell": pl.String,
            "games": pl.Int64,
            "count": pl.Int64,
            **_floats("share", "low", "high"),
        },
        (
            (
                *(row["difficulty"], row["bot"], cell, row["n"], count),
                count / row["n"],
                *share_interval(count, row["n"]),
            )
            for row in _rows(tallies, "parts")
            for cell in CELL_NAMES
            for count in [found.get((row["difficulty"], row["bot"], cell), 0)]
        ),
    )


def _ratio(row: Row, top: str, bottom: str) -> tuple[float | None, float | None]:
    """A ratio of totals over games, from ``clusters``, with the half width of its interval."""
    crossed = f"{top}_x_{bottom}" if f"{top}_x_{bottom}" in row else f"{bottom}_x_{top}"
    return ratio_of_sums(
        row["n"],
        row[top],
        row[bottom],
        row[f"{top}_x_{top}"],
        row[crossed],
        row[f"{bottom}_x_{bottom}"],
    )


def _share_of_turns(row: Row, top: str, bottom: str) -> tuple[float | None, float | None]:
    """As ``_ratio``; no interval where all turns or none are counted, which shows no variance."""
    share, half_width = _ratio(row, top, bottom)
    return share, half_width if 0 < row[top] < row[bottom] else None


def magdagdon(tallies: Tallies) -> pl.DataFrame:
    """How often MAGDAGDON comes and how often a Power rescues.

    Columns: games, turns, met (turns in MAGDAGDON), share, half_width (of turns in MAGDAGDON),
    rescued (turns), rescued_share, rescued_half_width (of turns in MAGDAGDON; null if none). A
    half width is null where all or none are counted.
    """
    counts = dict.fromkeys(("games", "turns", "met"), pl.Int64)
    return _table(
        tallies,
        "clusters",
        {
            **counts,
            **_floats("share", "half_width"),
            "rescued": pl.Int64,
            **_floats("rescued_share", "rescued_half_width"),
        },
        (
            (
                *(row["difficulty"], row["bot"], row["n"], row["turns"], row["met"]),
                *_share_of_turns(row, "met", "turns"),
                row["rescued"],
                *_share_of_turns(row, "rescued", "met"),
            )
            for row in _rows(tallies, "clusters")
        ),
    )


def dice_placed(tallies: Tallies) -> pl.DataFrame:
    """Columns: dice (placed in a turn), turns (that placed so many), share of turns."""

    def rows() -> Iterable[tuple[object, ...]]:
        for difficulty, bot, counts in _by_player(tallies, "placed"):
            turns = sum(row["n"] for row in counts)
            for row in counts:
                yield difficulty, bot, row["dice"], row["n"], row["n"] / turns

    return _table(
        tallies, "placed", {"dice": pl.Int64, "turns": pl.Int64, **_floats("share")}, rows()
    )


def dice_per_turn(tallies: Tallies) -> pl.DataFrame:
    """Columns: games, turns, dice (placed per turn), half_width."""
    return _table(
        tallies,
        "clusters",
        {"games": pl.Int64, "turns": pl.Int64, **_floats("dice", "half_width")},
        (
            (row["difficulty"], row["bot"], row["n"], row["turns"], *_ratio(row, "dice", "turns"))
            for row in _rows(tallies, "clusters")
        ),
    )


def powers_by_kind(tallies: Tallies) -> pl.DataFrame:
    """What Powers are used for, by kind.

    Columns: kind, games, uses, per_game, half_width, improving (uses in turns that never were in
    MAGDAGDON), rescuing (in turns that Powers got out of MAGDAGDON), in_vain (in turns that ended
    with a RUIN), cost (points a use; null if none).
    """
    used: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in _rows(tallies, "uses"):
        used.setdefault((row["difficulty"], row["bot"], row["kind"]), {})[row["magdagdon"]] = row
    order = {kind: k for k, kind in enumerate(POWER_KINDS)}

    def rows() -> Iterable[tuple[object, ...]]:
        for difficulty, bot, kinds in _by_player(tallies, "kinds"):
            for row in sorted(kinds, key=lambda row: order[row["kind"]]):
                by_end = used.get((difficulty, bot, row["kind"]), {})
                ends = [by_end[end]["n"] if end in by_end else 0 for end in ENDS]
                cost = sum(entry["cost"] for entry in by_end.values())
                mean = mean_of_sums(row["n"], row["uses"], row["uses_sq"])
                each = cost / row["uses"] if row["uses"] else None
                counts = (row["kind"], row["n"], row["uses"], mean.mean, mean.half_width)
                yield (difficulty, bot, *counts, *ends, each)

    columns = {
        "kind": pl.Enum(POWER_KINDS),
        "games": pl.Int64,
        "uses": pl.Int64,
        **_floats("per_game", "half_width"),
        **dict.fromkeys(("improving", "rescuing", "in_vain"), pl.Int64),
        **_floats("cost"),
    }
    return _table(tallies, "kinds", columns, rows())


ENDS = ("no", "rescued", "accepted")


def _scored(row: Row) -> Mean:
    return mean_of_sums(row["n"], row["score"], row["score_sq"])


def powers_used(tallies: Tallies) -> pl.DataFrame:
    """Games by the number of Powers used in them.

    Columns: used, games, share of games, low, high, cost (paid per game), score (mean),
    difference (of the mean score to the games that used none; null where there are none such),
    half_width. Games that use a Power are other games than those that use none: the difference is
    what was seen together, not what the Power did.
    """

    def rows() -> Iterable[tuple[object, ...]]:
        for difficulty, bot, counts in _by_player(tallies, "used"):
            games = sum(row["n"] for row in counts)
            none = next((_scored(row) for row in counts if row["used"] == 0), _NOTHING)
            for row in counts:
                ends = share_interval(row["n"], games)
                mean = _scored(row)
                against = difference_of_means(mean, none) if row["used"] else (None, None)
                share = row["n"] / games
                cost = row["cost"] / row["n"]
                yield (
                    *(difficulty, bot, row["used"], row["n"], share, *ends, cost),
                    *(mean.mean, *against),
                )

    columns = {
        "used": pl.Int64,
        "games": pl.Int64,
        **_floats("share", "low", "high", "cost", "score", "difference", "half_width"),
    }
    return _table(tallies, "used", columns, rows())


_NOTHING = mean_of_sums(0, 0, 0)


def power_worth(tallies: Tallies) -> pl.DataFrame:
    """What each kind of Power cost, beside the difference of scores seen with it.

    Columns: kind, games (that used it), without (games that used no Power at all), cost (points a
    use), difference (of mean scores, games with it minus games without any), half_width. The same
    caution as in ``powers_used``. A row only for kinds that were used.
    """
    costs = {
        (row["difficulty"], row["bot"], row["kind"]): row["cost"]
        for row in powers_by_kind(tallies).iter_rows(named=True)
    }
    none = {
        (row["difficulty"], row["bot"]): _scored(row)
        for row in _rows(tallies, "used")
        if row["used"] == 0
    }
    order = {kind: k for k, kind in enumerate(POWER_KINDS)}

    def rows() -> Iterable[tuple[object, ...]]:
        for difficulty, bot, kinds in _by_player(tallies, "kinds"):
            without = none.get((difficulty, bot), _NOTHING)
            for row in sorted(kinds, key=lambda row: order[row["kind"]]):
                if row["having"]:
                    scored = mean_of_sums(row["having"], row["score"], row["score_sq"])
                    difference = difference_of_means(scored, without)
                    cost = costs[difficulty, bot, row["kind"]]
                    counts = (row["kind"], row["having"], without.n)
                    yield (difficulty, bot, *counts, cost, *difference)

    columns = {
        "kind": pl.Enum(POWER_KINDS),
        **dict.fromkeys(("games", "without"), pl.Int64),
        **_floats("cost", "difference", "half_width"),
    }
    return _table(tallies, "kinds", columns, rows())


def calibration(tallies: Tallies) -> pl.DataFrame:
    """What bots expected against what came, by bins of the estimate.

    Columns: bin (its lower edge, in points; ``ESTIMATE_BIN`` wide), games, turns, estimate (mean),
    final (mean final score of the same turns), bias (estimate minus final), half_width.
    """
    return _table(
        tallies,
        "estimates",
        {
            **dict.fromkeys(("bin", "games", "turns"), pl.Int64),
            **_floats("estimate", "final", "bias", "half_width"),
        },
        (
            (
                *(row["difficulty"], row["bot"], row["bin"] * ESTIMATE_BIN, row["n"]),
                *_estimated(row),
            )
            for row in _rows(tallies, "estimates")
        ),
    )


def calibration_in_all(tallies: Tallies) -> pl.DataFrame:
    """Columns: games, turns, estimate, final, bias, half_width, error (root mean square, points).

    A row only for bots that give estimates.
    """
    return _table(
        tallies,
        "estimated",
        {
            **dict.fromkeys(("games", "turns"), pl.Int64),
            **_floats("estimate", "final", "bias", "half_width", "error"),
        },
        (
            (
                *(row["difficulty"], row["bot"], row["n"], *_estimated(row)),
                (int(row["squared"]) / row["turns"]) ** 0.5 / ESTIMATE_UNIT,
            )
            for row in _rows(tallies, "estimated")
            if row["turns"]
        ),
    )


def _estimated(row: Row) -> tuple[int, float, float, float | None, float | None]:
    turns = row["turns"]
    bias, half_width = _ratio(row, "error", "turns")
    unit = ESTIMATE_UNIT
    return (
        turns,
        row["estimate"] / turns / unit,
        row["final"] / turns / unit,
        None if bias is None else bias / unit,
        None if half_width is None else half_width / unit,
    )
