"""From sums to estimates with intervals: what Powers and rescues are worth, in points.

As in ``analysis.estimates``: tables begin with difficulty and bot; ``half_width`` is half of a 95 %
interval, null where there is too little to say; shares are between 0 and 1. Where a key is null,
the row is over all of its values.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from magsim.analysis.intervals import quantile, ratio_of_sums, share_interval
from magsim.balance.sums import MOMENTS, Sums
from magsim.balance.turns import TENTHS
from magsim.board import CELLS, EMPTY_BOARD
from magsim.regret.sums import UNIT
from magsim.solver.perfect import Perfect

Row = dict[str, Any]
Cells = Iterable[Sequence[object]]

HALF_TIME, LATE = CELLS // 2, 2
"""Empty cells at half-time, and late in a game."""
QUANTILES = {"p10": 0.1, "p50": 0.5, "p90": 0.9}


def _table(
    source: pl.DataFrame, whole: Iterable[str], floats: Iterable[str], rows: Cells
) -> pl.DataFrame:
    schema: dict[str, Any] = {name: source.schema[name] for name in ("difficulty", "bot")}
    schema |= dict.fromkeys(whole, pl.Int64) | dict.fromkeys(floats, pl.Float64)
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def _rows(sums: Sums, measure: str) -> Iterator[Row]:
    return sums.moments.filter(measure=measure).iter_rows(named=True)


def _keys(row: Row, *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("difficulty", "bot", *names))


def _mean(row: Row, unit: int) -> tuple[float | None, float | None]:
    """The mean over turns and its half width, of what was counted in ``unit`` parts."""
    ratio, half_width = ratio_of_sums(*(row[name] for name in MOMENTS))
    mean = None if ratio is None else ratio / unit
    return mean, None if half_width is None else half_width / unit


def _share(row: Row) -> tuple[float | None, float | None, float | None]:
    """A share of turns, with the ends of its interval."""
    if row["xx"] == row["x"]:  # no game has two such turns
        return row["y"] / row["x"], *share_interval(row["y"], row["x"])
    share, half_width = _mean(row, 1)
    if share is None or half_width is None:
        return share, None, None
    return share, max(0.0, share - half_width), min(1.0, share + half_width)


def worth_by(sums: Sums, key: str) -> pl.DataFrame:
    """What having so many Powers is worth more than one fewer, by ``empty`` or ``turn``.

    Columns: powers, the key, turns, worth (points), half_width.
    """

    def rows() -> Iterator[Sequence[object]]:
        for row in _rows(sums, "worth"):
            if row[key] is not None:
                yield *_keys(row, "powers", key), row["x"], *_mean(row, UNIT)

    return _sorted(
        _table(sums.moments, ("powers", key, "turns"), ("worth", "half_width"), rows()),
        "powers",
        key,
    )


def _sorted(frame: pl.DataFrame, *keys: str) -> pl.DataFrame:
    return frame.sort("difficulty", "bot", *keys, nulls_last=True)


def power_cost(perfect: Perfect, powers: int) -> int:
    """What the next Power used costs while so many are left, in points."""
    return perfect.rules.power_costs[perfect.rules.powers - powers]


def start_worth(perfect: Perfect, powers: int) -> float:
    """What so many Powers are worth more than one fewer before the first roll, in points; exact."""
    more, fewer = (perfect.futures([EMPTY_BOARD], left)[0] for left in (powers, powers - 1))
    return float(more - fewer)


def moments(sums: Sums, solutions: Mapping[str, Perfect]) -> pl.DataFrame:
    """What each Power is worth before the first roll, at half-time, and with two cells left.

    Columns: powers, cost (of the next one used, in points), start (exact), middle_empty (the
    number of empty cells nearest to half-time that was met), middle, middle_half_width, late,
    late_half_width (null where no turn began so late).
    """
    by_empty = worth_by(sums, "empty")

    def rows() -> Iterator[Sequence[object]]:
        groups = by_empty.group_by("difficulty", "bot", "powers", maintain_order=True)
        for (difficulty, bot, powers), part in groups:
            perfect = solutions[str(difficulty)]
            found = {row["empty"]: row for row in part.iter_rows(named=True)}
            middle = min(found, key=lambda empty: (abs(empty - HALF_TIME), -empty))
            count = int(str(powers))
            told = [
                found[empty][name] if empty in found else None
                for empty in (middle, LATE)
                for name in ("worth", "half_width")
            ]
            start = start_worth(perfect, count)
            yield difficulty, bot, count, power_cost(perfect, count), middle, start, *told

    floats = ("start", "middle", "middle_half_width", "late", "late_half_width")
    return _table(by_empty, ("powers", "cost", "middle_empty"), floats, rows())


def prices(sums: Sums) -> pl.DataFrame:
    """The price at which using the best Power now and not using it are worth the same.

    Over turns with Powers left, by empty cells, by Powers left, by both and by neither.

    Columns: powers, empty, turns, p10, p50, p90 (quantiles in points), share (of turns in which it
    pays at the price that the rules have), low, high.
    """

    def rows() -> Iterator[Sequence[object]]:
        for row in _rows(sums, "pays"):
            keys = _keys(row, "powers", "empty")
            yield *keys, row["x"], *_quantiles(_chosen(sums.prices, row)), *_share(row)

    floats = (*QUANTILES, "share", "low", "high")
    found = _table(sums.moments, ("powers", "empty", "turns"), floats, rows())
    return _sorted(found, "powers", "empty")


def _chosen(prices: pl.DataFrame, row: Row) -> pl.DataFrame:
    """The turns by price that a row of moments is about."""
    wanted = {
        name: row[name]
        for name in ("difficulty", "bot", "powers", "empty")
        if row[name] is not None
    }
    return prices.filter(**wanted).group_by("price").agg(pl.col("turns").sum()).sort("price")


def _quantiles(found: pl.DataFrame) -> list[float]:
    """Quantiles in points; a price is told as the middle of its tenth."""
    values, counts = found["price"].to_list(), found["turns"].to_list()
    return [(quantile(values, counts, share) + 0.5) / TENTHS for share in QUANTILES.values()]


def price_curve(sums: Sums) -> pl.DataFrame:
    """In what share of turns using a Power now would pay, by its price.

    The price is that of this use alone: later ones cost what the rules say.

    Columns: powers (left), price (whole points, from 0 to where it never pays), turns, share.
    """

    def rows() -> Iterator[Sequence[object]]:
        for row in _rows(sums, "pays"):
            if row["powers"] is None or row["empty"] is not None:
                continue
            found = _chosen(sums.prices, row)
            last = max(0, found["price"].to_list()[-1] // TENTHS + 1)
            for price in range(last + 1):
                pays = found.filter(pl.col("price") >= price * TENTHS)["turns"].sum()
                yield *_keys(row, "powers"), price, row["x"], pays / row["x"]

    return _sorted(
        _table(sums.moments, ("powers", "price", "turns"), ("share",), rows()), "powers", "price"
    )


def rescues(sums: Sums) -> pl.DataFrame:
    """Turns whose roll is in MAGDAGDON with Powers left, and whether these are worth a Power.

    By empty cells, by Powers left, by both and by neither.

    Columns: powers, empty, turns, rescued (turns in which the best Power, paid for, is worth more
    than the best RUIN), share, low, high, gain (by how much, in points, in those; null if none),
    half_width.
    """
    gains = {_keys(row, "powers", "empty"): _mean(row, UNIT) for row in _rows(sums, "gain")}

    def rows() -> Iterator[Sequence[object]]:
        for row in _rows(sums, "rescued"):
            keys = _keys(row, "powers", "empty")
            yield *keys, row["x"], row["y"], *_share(row), *gains.get(keys, (None, None))

    whole = ("powers", "empty", "turns", "rescued")
    floats = ("share", "low", "high", "gain", "half_width")
    return _sorted(_table(sums.moments, whole, floats, rows()), "powers", "empty")
