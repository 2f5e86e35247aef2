"""How many options a decision has: counted by the engine in a sample of recorded turns.

The sample is the first games of each bot at each difficulty, so it is the same dice for all.
"""

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from magsim import records
from magsim.analysis.intervals import mean_of_sums
from magsim.analysis.tallies import player_columns
from magsim.board import EMPTY_BOARD, format_board, parse_board
from magsim.bot import Position, rule_values
from magsim.engine import HAND_INDEX, MAX_OUTCOMES, outcomes
from magsim.errors import MagsimError
from magsim.manifest import Plan, read_manifest
from magsim.rules import Rules

SAMPLE = 300
"""Games of each bot at each difficulty, the lowest game indices of its first parts."""

COLUMNS: dict[str, type[pl.DataType]] = {
    "turn": pl.Int64,
    "turns": pl.Int64,
    "options": pl.Float64,
    "half_width": pl.Float64,
    "fewest": pl.Int64,
    "most": pl.Int64,
}


def options_per_decision(run: Path) -> pl.DataFrame:
    """The number of distinct legal decisions at the first decision of a turn, by turn.

    Columns: difficulty, bot, turn, turns (counted), options (mean), half_width, fewest, most.
    Distinct are outcomes of placements, Powers by the values of dice, and cells for a RUIN.

    Raises:
        MagsimError: if there is no run, or nothing in it.
    """
    plan = read_manifest(run)
    tables = []
    for rules in plan.rules:
        for bot in plan.bots:
            turns = _sample(run, plan, rules, bot)
            if turns is None:
                continue
            options = _count(turns, rules)
            player = player_columns(plan, rules.name, bot)
            rows = turns.select(*player, "turn", options=pl.Series(options, dtype=pl.Int64))
            tables.append(
                rows.group_by("difficulty", "bot", "turn").agg(
                    turns=pl.len().cast(pl.Int64),
                    total=pl.col("options").sum(),
                    squares=(pl.col("options") ** 2).sum(),
                    fewest=pl.col("options").min(),
                    most=pl.col("options").max(),
                )
            )
    if not tables:
        raise MagsimError(f"run {run}: there are no turns in it yet")
    table = pl.concat(tables).sort("difficulty", "bot", "turn")
    means = [mean_of_sums(*row) for row in table.select("turns", "total", "squares").iter_rows()]
    return table.with_columns(
        options=pl.Series([mean.mean for mean in means], dtype=pl.Float64),
        half_width=pl.Series([mean.half_width for mean in means], dtype=pl.Float64),
    ).select("difficulty", "bot", *COLUMNS)


def _sample(run: Path, plan: Plan, rules: Rules, bot: str) -> pl.DataFrame | None:
    """The turns of the first games, with the board before each."""
    parts = records.planned_parts(run, "turns", plan, rules, bot)[: -(-SAMPLE // plan.chunk)]
    if not parts:
        return None
    first, board = pl.lit(format_board(EMPTY_BOARD)), pl.col("board").shift()
    return (
        records.scan_parts(parts)
        .select("game", "turn", "board", "roll", "powers_left")
        .filter(pl.col("game").rle_id() < SAMPLE)
        .select(
            pl.col("turn", "powers_left").cast(pl.Int64),
            pl.col("roll").cast(pl.String),
            before=pl.when(pl.col("turn") == 1).then(first).otherwise(board),
        )
        .collect()
    )


def _count(turns: pl.DataFrame, rules: Rules) -> list[int]:
    """The options of each turn; the same position is counted once."""
    counted: dict[tuple[str, str], int] = {}
    found = []
    for before, roll, left in turns.select("before", "roll", "powers_left").iter_rows():
        if (before, roll) not in counted:
            counted[before, roll] = _placements(before, roll, rules)
        placements = counted[before, roll]
        ruins = 0 if placements else before.count(".")
        found.append(placements + (_powers(roll, rules) if left else 0) + ruins)
    return found


def _placements(before: str, roll: str, rules: Rules) -> int:
    """How many distinct outcomes a roll has."""
    room = np.empty(MAX_OUTCOMES, np.int64)
    hand = HAND_INDEX[_dice(roll)]
    values = rule_values(rules)
    return int(outcomes(parse_board(before), hand, values, MAX_OUTCOMES, room))


@cache
def _powers(roll: str, rules: Rules) -> int:
    """How many distinct Powers a roll has while one is left."""
    return len(Position(EMPTY_BOARD, _dice(roll), rules.powers, rules).powers())


def _dice(roll: str) -> tuple[int, ...]:
    return tuple(int(die) for die in roll)
