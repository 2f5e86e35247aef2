"""From sums to estimates with intervals: one table for each question, in points.

As in ``analysis.estimates``: tables begin with difficulty and bot; ``half_width`` is half of a 95 %
interval, null where there is too little to say; shares are between 0 and 1. Games are what is
independent: intervals of figures per decision take a game's decisions together.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import polars as pl

from magsim.analysis.intervals import LEVEL, Mean, mean_of_sums, ratio_of_sums
from magsim.analysis.pairs import DIFFERENCES
from magsim.regret.judging import KINDS
from magsim.regret.sums import ACCURACY_UNIT, GRADES, UNIT, Sums

Row = dict[str, Any]
Cells = Iterable[Sequence[object]]

SHARES = ("best", *GRADES)
"""Decisions that are as good as the best, and how bad the others are."""


def _table(source: pl.DataFrame, keys: Sequence[str], columns: Row, rows: Cells) -> pl.DataFrame:
    schema = {key: source.schema[key] for key in ("difficulty", "bot", *keys)}
    return pl.DataFrame(list(rows), schema={**schema, **columns}, orient="row")


def _floats(*names: str) -> dict[str, type[pl.DataType]]:
    return dict.fromkeys(names, pl.Float64)


def _whole(*names: str) -> dict[str, type[pl.DataType]]:
    return dict.fromkeys(names, pl.Int64)


def _mean(n: int, row: Row, name: str, unit: int = UNIT, level: float = LEVEL) -> Mean:
    """The mean over games of what was counted in ``unit`` parts."""
    return scaled(mean_of_sums(n, row[name], row[f"{name}_sq"], level), unit)


def scaled(mean: Mean, unit: int) -> Mean:
    """A mean of what was counted in ``unit`` parts."""
    return Mean(mean.n, *(None if value is None else value / unit for value in mean[1:]))


def _gain(plain: Mean, adjusted: Mean) -> float | None:
    """How many times as many games the plain mean takes; None where that is not defined."""
    if not plain.deviation or not adjusted.deviation:
        return None
    return (plain.deviation / adjusted.deviation) ** 2


def luck_adjusted(sums: Sums) -> pl.DataFrame:
    """Mean scores with the luck of the dice taken out: start value minus mean regret.

    Columns: games (judged), score, score_half_width, luck, luck_half_width (0 but for chance),
    start (what perfect play expects of a game), regret (lost a game), adjusted (start - regret),
    half_width (of both), gain (variance of the score by that of score - luck: so many times as many
    games would the mean score take to be known as well; null where it is not defined).
    """

    def rows() -> Iterator[Sequence[object]]:
        for row in sums.players.iter_rows(named=True):
            start, n = sums.starts[row["difficulty"]], row["n"]
            score = _mean(n, row, "score", 1)
            luck, regret = _mean(n, row, "luck"), _mean(n, row, "regret")
            means = *score[1:3], *luck[1:3], start, regret.mean
            adjusted = start - (regret.mean or 0.0), regret.half_width, _gain(score, regret)
            yield (row["difficulty"], row["bot"], n, *means, *adjusted)

    columns = _floats("score", "score_half_width", "luck", "luck_half_width", "start", "regret")
    columns |= _floats("adjusted", "half_width", "gain")
    return _table(sums.players, (), {**_whole("games"), **columns}, rows())


def accuracy(sums: Sums) -> pl.DataFrame:
    """How well decisions are made.

    Columns: games, decisions, loss (points a decision), accuracy (mean of HALF / (HALF + points
    lost)), best, inaccuracies, mistakes, blunders (shares of decisions); each with its
    ``_half_width``.
    """

    def rows() -> Iterator[Sequence[object]]:
        for row in sums.players.iter_rows(named=True):
            found: list[float | None] = []
            for name, unit in {"regret": UNIT, "accuracy": ACCURACY_UNIT}.items():
                found += _per_decision(row, name, unit)
            for name in SHARES:
                found += _per_decision(row, name, 1)
            yield (row["difficulty"], row["bot"], row["n"], row["decisions"], *found)

    names = [end for name in ("loss", "accuracy", *SHARES) for end in (name, f"{name}_half_width")]
    columns = {**_whole("games", "decisions"), **_floats(*names)}
    return _table(sums.players, (), columns, rows())


def _per_decision(row: Row, name: str, unit: int) -> tuple[float | None, float | None]:
    moments = row[f"{name}_sq"], row[f"{name}_x_decisions"], row["decisions_sq"]
    ratio, half_width = ratio_of_sums(row["n"], row[name], row["decisions"], *moments)
    if ratio is None or half_width is None:
        return None if ratio is None else ratio / unit, None
    return ratio / unit, half_width / unit


def by_kind(sums: Sums) -> pl.DataFrame:
    """What is lost by each kind of decision, of ``judging.KINDS``.

    Columns: kind, games, decisions, lossy (decisions that are not as good as the best), loss
    (points a game), half_width, each (points a lossy decision; null if none).
    """
    games = _games(sums)
    found = {
        (row["difficulty"], row["bot"], row["kind"]): row
        for row in sums.kinds.iter_rows(named=True)
    }
    nothing = dict.fromkeys(("decisions", "lossy", "regret", "regret_sq"), 0)

    def rows() -> Iterator[Sequence[object]]:
        for (difficulty, bot), n in games.items():
            for kind in KINDS:
                row = found.get((difficulty, bot, kind), nothing)
                mean = _mean(n, row, "regret")
                each = row["regret"] / row["lossy"] / UNIT if row["lossy"] else None
                counts = n, row["decisions"], row["lossy"]
                yield difficulty, bot, kind, *counts, mean.mean, mean.half_width, each

    columns = {**_whole("games", "decisions", "lossy"), **_floats("loss", "half_width", "each")}
    return _table(sums.kinds, ("kind",), columns, rows())


def _games(sums: Sums) -> dict[tuple[str, str], int]:
    return {(row["difficulty"], row["bot"]): row["n"] for row in sums.players.iter_rows(named=True)}


def by_turn(sums: Sums) -> pl.DataFrame:
    """Columns: turn, turns (judged), loss (points in such a turn), half_width."""

    def rows() -> Iterator[Sequence[object]]:
        for row in sums.turns.iter_rows(named=True):
            mean = _mean(row["n"], row, "regret")
            yield row["difficulty"], row["bot"], row["turn"], *mean[:3]

    columns = {**_whole("turns"), **_floats("loss", "half_width")}
    return _table(sums.turns, ("turn",), columns, rows())


def by_size(sums: Sums) -> pl.DataFrame:
    """Columns: least (points), decisions (that lose so many or more), share of all decisions."""
    every = sums.players.select("difficulty", "bot", total="decisions")
    return sums.sizes.join(every, on=("difficulty", "bot"), maintain_order="left").select(
        "difficulty",
        "bot",
        "least",
        pl.col("decisions").cast(pl.Int64),
        share=pl.col("decisions").cast(pl.Float64) / pl.col("total").cast(pl.Float64),
    )


def differences(sums: Sums) -> pl.DataFrame:
    """How far bots are ahead of each other by luck-adjusted scores, game by game.

    Columns as in ``analysis.pairs.differences``; gain is by what taking the luck out gains over
    pairing alone. Bots that have no game in common are left out.
    """
    pairs = sums.pairs.filter(pl.col("n") > 0).sort("difficulty", "other", "bot")
    level = 1 - (1 - LEVEL) / max(1, len(pairs))

    def rows() -> Iterator[Sequence[object]]:
        for row in pairs.iter_rows(named=True):
            plain, mean = _mean(row["n"], row, "score", 1), _mean(row["n"], row, "gap")
            wide = _mean(row["n"], row, "gap", level=level)
            names = row["difficulty"], row["bot"], row["other"], row["n"]
            yield *names, mean.mean, mean.half_width, wide.half_width, _gain(plain, mean)

    return _table(sums.pairs, ("other",), DIFFERENCES, rows())
