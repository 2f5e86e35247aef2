"""Whole-number sums over weighed turns, from which the estimates are made.

They add up exactly, in any order, and take the same memory however many games there are. Games are
what is independent: sums of products are over games, each with all of its turns that count.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from magsim.balance.turns import worth_column

Keys = tuple[str, ...]

KEYS = ("powers", "empty", "turn")
"""By what measures are told: Powers left, empty cells, turn; null where it is by all of them."""
POWERS_BY: tuple[Keys, ...] = ((), ("powers",), ("empty",), ("powers", "empty"))
MEASURES: dict[str, tuple[Keys, ...]] = {
    "worth": (("powers", "empty"), ("powers", "turn")),
    "pays": POWERS_BY,
    "rescued": POWERS_BY,
    "gain": POWERS_BY,
}
"""What is told of turns, and by which keys.

``worth``: what having ``powers`` Powers is worth more than one fewer, in UNIT parts of a point.
``pays``: of turns with Powers left, whether the best one is worth its price.
``rescued``: the same, of those whose roll is in MAGDAGDON.
``gain``: by how much, of those worth it, in UNIT parts.
"""
MOMENTS = ("n", "y", "x", "yy", "xy", "xx")
"""Games with such turns; sums over them of what is told (y) and of turns (x); of products."""
_WIDE = pl.Int128


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over turns of a run; both tables begin with ``difficulty`` and ``bot``.

    ``moments``: by measure and ``KEYS``: ``MOMENTS``.
    ``prices``: by powers, empty and price (as in ``turns.weigh_turns``): turns.
    """

    moments: pl.DataFrame
    prices: pl.DataFrame


def sum_up(turns: pl.DataFrame, powers: int, player: Iterable[pl.Expr]) -> Sums:
    """The sums of weighed turns of whole games, under rules with so many Powers."""
    left = turns.filter(pl.col("powers") > 0).with_columns(pays=pl.col("gain") > 0)
    met = left.filter("magdagdon")
    measured = {
        "worth": _worths(turns, powers),
        "pays": left.with_columns(y=pl.col("pays")),
        "rescued": met.with_columns(y=pl.col("pays")),
        "gain": met.filter("pays").with_columns(y=pl.col("gain")),
    }
    moments = [
        _moments(measured[name], keys).with_columns(measure=pl.lit(name))
        for name, every in MEASURES.items()
        for keys in every
    ]
    prices = left.group_by("powers", "empty", "price").agg(turns=pl.len().cast(pl.Int64))
    keys = list(player)
    return Sums(
        pl.concat(moments).select(*keys, "measure", *KEYS, *MOMENTS),
        prices.select(*keys, "powers", "empty", "price", "turns"),
    )


def _worths(turns: pl.DataFrame, powers: int) -> pl.DataFrame:
    """A row for each turn and number of Powers, which need not be those that were left."""
    every = [
        turns.select("game", "turn", "empty", powers=pl.lit(k, pl.Int64), y=pl.col(worth_column(k)))
        for k in range(1, powers + 1)
    ]
    return pl.concat(every)


def _moments(turns: pl.DataFrame, keys: Keys) -> pl.DataFrame:
    games = turns.group_by(*keys, "game").agg(
        y=pl.col("y").cast(_WIDE).sum(), x=pl.len().cast(_WIDE)
    )
    x, y = pl.col("x"), pl.col("y")
    sums = {
        "n": pl.len().cast(_WIDE),
        "y": y.sum(),
        "x": x.sum(),
        "yy": (y * y).sum(),
        "xy": (x * y).sum(),
        "xx": (x * x).sum(),
    }
    found = games.group_by(*keys).agg(**sums) if keys else games.select(**sums)
    others = {key: pl.lit(None, pl.Int64) for key in KEYS if key not in keys}
    return found.filter(pl.col("n") > 0).with_columns(**others).select(*KEYS, *MOMENTS)


def add(every: Iterable[Sums]) -> Sums:
    """The sums of parts together."""
    parts = list(every)
    return Sums(
        _added([part.moments for part in parts], ("measure", *KEYS)),
        _added([part.prices for part in parts], ("powers", "empty", "price")),
    )


def _added(frames: list[pl.DataFrame], keys: Keys) -> pl.DataFrame:
    by = ["difficulty", "bot", *keys]
    return pl.concat(frames).group_by(by).sum().sort(by)
