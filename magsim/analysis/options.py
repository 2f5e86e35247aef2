"""How many options a decision has: counted by the engine in a sample of recorded turns.

The sample is the first games of each bot at each difficulty, so it is the same dice for all.
"""

from pathlib import Path

import numpy as np
import polars as pl

from magsim import records
from magsim.analysis.intervals import mean_of_sums
from magsim.analysis.tallies import player_columns
from magsim.board import EMPTY_BOARD, format_board, parse_board
from magsim.bot import Position, make_rule_values
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
    counted: dict[tuple[str, str, int], int] = {}
    tables = []
    for rules in plan.rules:
        for bot in plan.bots:
            turns = _sample(run, plan, rules, bot)
            if turns is None:
                continue
            options = [
                _count(counted, rules, before, roll, left)
                for before, roll, left in turns.select("before", "roll", "powers_left").iter_rows()
            ]
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


def _count(
    counted: dict[tuple[str, str, int], int], rules: Rules, before: str, roll: str, left: int
) -> int:
    """The options of a position; placements are looked up where they were counted before."""
    dice = tuple(int(die) for die in roll)
    key = (before, roll, rules.minimum << 8 | rules.max_difference)
    position = Position(parse_board(before), dice, left, rules)
    if key not in counted:
        room = np.empty(MAX_OUTCOMES, np.int64)
        values = make_rule_values(rules)
        counted[key] = int(outcomes(position.board, HAND_INDEX[dice], values, MAX_OUTCOMES, room))
    placements = counted[key]
    ruins = 0 if placements else before.count(".")
    return placements + len(position.powers()) + ruins
