"""First turns up to symmetry: which cells they cover, with what, or which becomes a RUIN."""

from collections import Counter
from pathlib import Path

import polars as pl

from magsim import records
from magsim.analysis.intervals import mean_of_sums, share_interval
from magsim.analysis.shapes import COVERED, canonical, shape
from magsim.manifest import Plan


def openings(run: Path, plan: Plan, bot: str) -> pl.DataFrame:
    """The shapes of a bot's boards after the first turn, the most frequent first.

    Columns: difficulty, shape, example (the most frequent board of that shape up to symmetry),
    games, share, low, high, dice (placed), dice_mean, dice_half_width (over all games of that
    difficulty).
    """
    rows: list[tuple[object, ...]] = []
    for rules in plan.rules:
        parts = records.planned_parts(run, "turns", plan, rules, bot)
        if not parts:
            continue
        boards = (
            records.scan_parts(parts)
            .filter(pl.col("turn") == 1)
            .group_by("board")
            .agg(n=pl.len().cast(pl.Int64))
            .sort("board")
            .collect()
            .rows()
        )
        shapes: Counter[str] = Counter()
        examples: dict[str, Counter[str]] = {}
        for board, n in boards:
            shapes[shape(board)] += n
            examples.setdefault(shape(board), Counter())[canonical(board)] += n
        games = sum(shapes.values())
        dice = {found: found.count(COVERED) for found in shapes}
        total = sum(n * dice[found] for found, n in shapes.items())
        squares = sum(n * dice[found] ** 2 for found, n in shapes.items())
        mean = mean_of_sums(games, total, squares)
        for found, n in sorted(shapes.items(), key=lambda item: (-item[1], item[0])):
            example = min(examples[found].items(), key=lambda item: (-item[1], item[0]))[0]
            share = (n, n / games, *share_interval(n, games))
            in_all = (mean.mean, mean.half_width)
            rows.append((rules.name, found, example, *share, dice[found], *in_all))
    schema = {
        "difficulty": pl.String,
        "shape": pl.String,
        "example": pl.String,
        "games": pl.Int64,
        **dict.fromkeys(("share", "low", "high"), pl.Float64),
        "dice": pl.Int64,
        **dict.fromkeys(("dice_mean", "dice_half_width"), pl.Float64),
    }
    return pl.DataFrame(rows, schema=schema, orient="row")
