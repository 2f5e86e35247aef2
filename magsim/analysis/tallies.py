"""One pass over the records of a run: whole-number sums from which the estimates are made.

A few thousand games of a bot at a difficulty are read at a time, so that memory stays bounded.
Sums are exact, hence the same whatever the order of reading. Estimates of bots are counted in
1/256 point for that reason.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from magsim import records
from magsim.decision import POWER_KINDS
from magsim.errors import MagsimError
from magsim.manifest import Plan, read_manifest
from magsim.rules import Rules

BATCH = 20_000
"""Games read at a time."""
ESTIMATE_BIN = 20
"""Width, in points, of the bins by a bot's own estimate."""
ESTIMATE_UNIT = 256

KIND_COLUMNS = ("raises", "lowers", "rerolls")
"""The columns of ``games`` that count Powers, in the order of ``POWER_KINDS``."""
PARTS = (
    "base",
    "straight_points",
    "four_points",
    "two_pairs_points",
    "ruin_points",
    "power_points",
)
"""What a score is the sum of, in points; RUINs and Powers are negative."""
QUANTITIES = (*PARTS, "ruins", "turns")
"""What is summed over games: the parts of their scores in points, RUINs and turns."""

Keys = tuple[str, ...]

TALLIES: dict[str, Keys] = {
    "scores": ("score",),
    "ruins": ("ruins",),
    "lengths": ("turns",),
    "parts": (),
    "by_turn": ("turn",),
    "by_empty": ("empty",),
    "cells": ("cell",),
    "placed": ("dice",),
    "clusters": (),
    "uses": ("kind", "magdagdon"),
    "used": ("used",),
    "kinds": ("kind",),
    "estimates": ("bin",),
    "estimated": (),
}
"""The tallies by name with the keys of their rows, besides difficulty and bot."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """The tallies of a run; ``difficulty`` and ``bot`` are enums in the order of the plan."""

    plan: Plan
    tables: dict[str, pl.DataFrame]

    def __getitem__(self, name: str) -> pl.DataFrame:
        return self.tables[name]


def part_columns(rules: Rules) -> dict[str, pl.Expr]:
    """The ``PARTS`` of a game's score as expressions over ``games``."""
    return {
        "base": pl.col("base").cast(pl.Int64),
        "straight_points": pl.col("straights").cast(pl.Int64) * rules.straight,
        "four_points": pl.col("fours").cast(pl.Int64) * rules.four,
        "two_pairs_points": pl.col("two_pairs").cast(pl.Int64) * rules.two_pairs,
        "ruin_points": -pl.col("ruin_cost").cast(pl.Int64),
        "power_points": -pl.col("power_cost").cast(pl.Int64),
    }


def powers_used() -> pl.Expr:
    """How many Powers a game used, over ``games``."""
    return pl.sum_horizontal(pl.col(*KIND_COLUMNS).cast(pl.Int64))


@dataclass(frozen=True, slots=True)
class _Batch:
    """The games of one bot at a difficulty, a few thousand of them, and their turns."""

    rules: Rules
    games: pl.DataFrame
    turns: pl.DataFrame


def _batches(run: Path, plan: Plan, rules: Rules, bot: str) -> Iterator[_Batch]:
    games = records.parts(run, "games", rules.name, bot)
    turns = records.parts(run, "turns", rules.name, bot)
    planned = [(first, first + count - 1) for first, count in plan.chunks()]
    keys = [key for key in planned if key in games and key in turns]
    size = max(1, BATCH // plan.chunk)
    for start in range(0, len(keys), size):
        some = keys[start : start + size]
        try:
            yield _Batch(
                rules,
                _games([games[key] for key in some], rules),
                _turns([turns[key] for key in some]),
            )
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise MagsimError(
                f"run {run}: the records of bot {bot}, {rules.name}, games {some[0][0]} to "
                f"{some[-1][1]} cannot be read: {reason}"
            ) from error


def _games(parts: list[Path], rules: Rules) -> pl.DataFrame:
    whole = pl.col("score", "ruins", "turns", *KIND_COLUMNS).cast(pl.Int64)
    return (
        records.scan_parts(parts)
        .select("game", whole, used=powers_used(), **part_columns(rules))
        .collect()
    )


def _turns(parts: list[Path]) -> pl.DataFrame:
    dice = ((pl.col("placements").str.len_bytes().cast(pl.Int64) + 1) // 4).fill_null(0)
    left = pl.col("board").str.count_matches(".", literal=True).cast(pl.Int64)
    ruined = pl.col("ruin").is_not_null()
    return (
        records.scan_parts(parts)
        .select(
            "game",
            "powers",
            "magdagdon",
            pl.col("turn", "powers_left").cast(pl.Int64),
            cell=pl.col("ruin"),
            ruined=ruined.cast(pl.Int64),
            powered=pl.col("powers").is_not_null().cast(pl.Int64),
            met=(pl.col("magdagdon") != "no").cast(pl.Int64),
            rescued=(pl.col("magdagdon") == "rescued").cast(pl.Int64),
            dice=dice,
            empty=left + dice + ruined.cast(pl.Int64),
            estimate=(pl.col("estimate").cast(pl.Float64) * ESTIMATE_UNIT).round().cast(pl.Int64),
        )
        .collect()
    )


def _count(frame: pl.DataFrame, *keys: str) -> pl.DataFrame:
    return frame.group_by(keys).agg(n=pl.len().cast(pl.Int64))


def _moments(*columns: str) -> dict[str, pl.Expr]:
    """Number of rows, and sum and sum of squares of columns."""
    sums = {name: pl.col(name).sum() for name in columns}
    squares = {f"{name}_sq": (pl.col(name) ** 2).sum() for name in columns}
    return {"n": pl.len().cast(pl.Int64)} | sums | squares


def _products(*columns: str) -> dict[str, pl.Expr]:
    """Sums of products of columns, as in ``met_x_rescued``, each with itself too."""
    return {
        f"{one}_x_{other}": (pl.col(one) * pl.col(other)).sum()
        for k, one in enumerate(columns)
        for other in columns[k:]
    }


def _uses(batch: _Batch) -> pl.DataFrame:
    """Uses of Powers one by one, with their costs by the order of use (R16)."""
    costs = pl.Series([*batch.rules.power_costs, 0], dtype=pl.Int64)
    uses = (
        batch.turns.filter(pl.col("powered") == 1)
        .select(
            "magdagdon",
            left=pl.col("powers_left"),
            power=pl.col("powers").str.split("; "),
        )
        .with_columns(number=pl.int_ranges(pl.col("power").list.len().cast(pl.Int64)))
        .explode("power", "number", empty_as_null=False)
    )
    place = batch.rules.powers - pl.col("left") + pl.col("number")
    sign = {"+": "raise", "-": "lower", "r": "reroll"}
    return (
        uses.select(
            kind=pl.col("power").str.head(1).replace_strict(sign, return_dtype=pl.String),
            magdagdon=pl.col("magdagdon").cast(pl.String),
            cost=pl.lit(costs).gather(place),
        )
        .group_by("kind", "magdagdon")
        .agg(n=pl.len().cast(pl.Int64), cost=pl.col("cost").sum())
    )


def _kinds(batch: _Batch) -> pl.DataFrame:
    """For each kind of Power: uses over all games, and scores of the games that used it."""
    return pl.concat(
        batch.games.select(
            **_moments(column),
            having=(pl.col(column) > 0).sum().cast(pl.Int64),
            score=pl.col("score").filter(pl.col(column) > 0).sum(),
            score_sq=(pl.col("score") ** 2).filter(pl.col(column) > 0).sum(),
        )
        .rename({column: "uses", f"{column}_sq": "uses_sq"})
        .select(pl.lit(kind).alias("kind"), pl.all())
        for kind, column in zip(POWER_KINDS, KIND_COLUMNS, strict=True)
    )


def _estimates(batch: _Batch) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Bots' estimates against final scores, by bins of the estimate and in all; by game inside."""
    said = (
        batch.turns.filter(pl.col("estimate").is_not_null())
        .select("game", "estimate")
        .join(batch.games.select("game", final=pl.col("score") * ESTIMATE_UNIT), on="game")
        .with_columns(
            error=(pl.col("estimate") - pl.col("final")).cast(pl.Int128),
            bin=pl.col("estimate").floordiv(ESTIMATE_BIN * ESTIMATE_UNIT),
        )
    )

    def clustered(*keys: str) -> pl.DataFrame:
        by_game = said.group_by(*keys, "game").agg(
            turns=pl.len().cast(pl.Int64),
            estimate=pl.col("estimate").sum(),
            final=pl.col("final").sum(),
            error=pl.col("error").sum(),
            squared=(pl.col("error") ** 2).sum(),
        )
        sums = {
            "n": pl.len().cast(pl.Int64),
            **{name: pl.col(name).sum() for name in ("turns", "estimate", "final", "error")},
            "squared": pl.col("squared").sum(),
            **_products("turns", "error"),
        }
        return by_game.group_by(*keys).agg(**sums) if keys else by_game.select(**sums)

    return clustered("bin"), clustered()


def _tally(batch: _Batch) -> dict[str, pl.DataFrame]:
    games, turns = batch.games, batch.turns
    by_game = turns.group_by("game").agg(
        turns=pl.len().cast(pl.Int64),
        **{name: pl.col(name).sum() for name in ("met", "rescued", "dice", "powered")},
    )
    estimates, estimated = _estimates(batch)
    sums = {name: pl.col(name).sum() for name in ("ruined", "powered", "met", "rescued")}
    return {
        "scores": _count(games, "score"),
        "ruins": _count(games, "ruins"),
        "lengths": _count(games, "turns"),
        "parts": games.select(**_moments(*QUANTITIES)),
        "by_turn": turns.group_by("turn").agg(**sums, **_moments("dice")),
        "by_empty": turns.group_by("empty").agg(n=pl.len().cast(pl.Int64), **sums),
        "cells": _count(turns.filter(pl.col("ruined") == 1).cast({"cell": pl.String}), "cell"),
        "placed": _count(turns, "dice"),
        "clusters": by_game.select(
            n=pl.len().cast(pl.Int64),
            **{name: pl.col(name).sum() for name in ("turns", "met", "rescued", "dice")},
            **_products("turns", "met", "rescued", "dice"),
        ),
        "uses": _uses(batch),
        "used": games.group_by("used").agg(**_moments("score"), cost=-pl.col("power_points").sum()),
        "kinds": _kinds(batch),
        "estimates": estimates,
        "estimated": estimated,
    }


def player_columns(plan: Plan, difficulty: str, bot: str) -> list[pl.Expr]:
    """The columns ``difficulty`` and ``bot`` as enums in the order of the plan."""
    difficulties = pl.Enum([rules.name for rules in plan.rules])
    return [
        pl.lit(difficulty, difficulties).alias("difficulty"),
        pl.lit(bot, pl.Enum(list(plan.bots))).alias("bot"),
    ]


def tally(run: Path) -> Tallies:
    """The tallies of a run, over all games whose two parts are there.

    Raises:
        MagsimError: if there is no run, nothing in it, or a part cannot be read.
    """
    plan = read_manifest(run)
    found: dict[str, list[pl.DataFrame]] = {name: [] for name in TALLIES}
    for rules in plan.rules:
        for bot in plan.bots:
            player = player_columns(plan, rules.name, bot)
            for batch in _batches(run, plan, rules, bot):
                for name, table in _tally(batch).items():
                    found[name].append(table.select(*player, pl.all()))
    if not found["scores"]:
        raise MagsimError(f"run {run}: there are no games in it yet")
    tables = {}
    for name, keys in TALLIES.items():
        by = ["difficulty", "bot", *keys]
        tables[name] = pl.concat(found[name]).group_by(by).sum().sort(by)
    return Tallies(plan, tables)
