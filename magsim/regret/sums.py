"""One pass over what was judged: whole-number sums from which the estimates are made.

Points are counted in ``UNIT`` parts, of which every value is a whole multiple, so that sums are
exact and the same whatever the order of reading; they are 128 bits wide, as they are squared. A few
thousand games are read at a time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import polars as pl

from magsim import records
from magsim.analysis.tallies import BATCH, player_columns
from magsim.errors import MagsimError, first_line
from magsim.manifest import Plan
from magsim.regret.judging import SCHEMA
from magsim.regret.run import Parts, judged_parts
from magsim.solver.perfect import Perfect

UNIT = 1 << 23
"""Parts of a point; no solution counts in smaller ones."""
BEST = 0.001
"""Points: a decision that loses less is as good as the best; rounding loses far less."""
GRADES = {"inaccuracies": 1.0, "mistakes": 5.0, "blunders": 20.0}
"""From how many points lost on a decision is called so, up to the next of them.

A blunder costs more than a RUIN does (15 points).
"""
HALF = 20.0
"""Points: a decision that loses so many is half as accurate as the best.

The accuracy of a decision is HALF / (HALF + points lost): 1 for the best, 0.95 where 1 point is
lost, 0.5 where 20 are. That of a player is the mean over decisions.
"""
ACCURACY_UNIT = 1_000_000
STEPS = (BEST, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Points lost: decisions are counted that lose at least so many."""
RATED = ("regret", "best", *GRADES, "accuracy")
"""What is told by decision: sums of points lost, counts, accuracies."""


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over the judged games of a run; tables begin with the keys ``difficulty`` and ``bot``.

    ``players``: a row for each bot at a difficulty, over games. n, decisions; score, regret, luck,
    with their squares (``_sq``); ``RATED``, with their products with themselves and with
    decisions. ``starts`` has what perfect play expects of a game, in points.
    ``kinds``: by kind: decisions, lossy (decisions that are not as good as the best), regret,
    regret_sq (of games).
    ``turns``: by turn: n (games that have it), decisions, regret, regret_sq (of games).
    ``sizes``: by ``least`` (one of ``STEPS``): decisions that lose so many points or more.
    ``pairs``: by ``other``: n (games that both played), gap and gap_sq (how much less regret than
    the other), score and score_sq (how much more score).
    ``worst``: the decisions that lost most, as in the table ``decisions``.
    """

    plan: Plan
    starts: dict[str, float]
    players: pl.DataFrame
    kinds: pl.DataFrame
    turns: pl.DataFrame
    sizes: pl.DataFrame
    pairs: pl.DataFrame
    worst: pl.DataFrame


KEYS: dict[str, tuple[str, ...]] = {
    "players": (),
    "kinds": ("kind",),
    "turns": ("turn",),
    "sizes": ("least",),
    "pairs": ("other",),
}
"""The tables of sums, with the keys of their rows beside difficulty and bot."""


def sum_up(
    run: Path,
    plan: Plan,
    solutions: Mapping[str, Perfect],
    bots: Sequence[str],
    *,
    most: int | None = None,
    worst: int = 0,
) -> Sums:
    """Sums over what was judged of the first ``most`` games, and the ``worst`` decisions of each.

    ``solutions`` are by name of the rules; ``bots`` are those to look at, in the order of the plan.
    ``most`` and ``worst`` are for each bot at each difficulty; all that was judged unless told.

    Raises:
        MagsimError: if a part is damaged, or nothing was judged.
    """
    found: dict[str, list[pl.DataFrame]] = {name: [] for name in KEYS}
    starts: dict[str, float] = {}
    listed: list[pl.DataFrame] = []
    for name, perfect in solutions.items():
        lost: dict[str, pl.DataFrame] = {}
        for batch in _batches(run, plan, perfect, bots, most):
            games = {bot: _by_game(part) for bot, part in batch.items()}
            for bot, part in batch.items():
                player = player_columns(plan, name, bot)
                for table, sums in _sums(part, games[bot]).items():
                    found[table].append(sums.select(*player, pl.all()))
                starts.setdefault(name, part["best"][0] - part["luck"][0])
                lost[bot] = _worst([part, *([lost[bot]] if bot in lost else [])], worst)
            found["pairs"] += _pairs(plan, name, games)
        listed += [
            part.select(*player_columns(plan, name, bot), *SCHEMA) for bot, part in lost.items()
        ]
    if not listed:
        raise MagsimError(f"run {run}: there are no games in it yet")
    found["pairs"].append(_no_pairs(plan))
    tables = {name: _added(found[name], name) for name in KEYS}
    return Sums(plan, starts, worst=pl.concat(listed), **tables)


def _batches(
    run: Path, plan: Plan, perfect: Perfect, bots: Sequence[str], most: int | None
) -> Iterator[dict[str, pl.DataFrame]]:
    """The decisions of each bot in a few thousand games, with the scores of the games."""
    judged = {bot: judged_parts(run, plan, perfect, bot) for bot in bots}
    scores = {bot: records.parts(run, "games", perfect.rules.name, bot) for bot in bots}
    keys = sorted({key for parts in judged.values() for key in parts})
    keys = [key for key in keys if most is None or key[0] < most]
    size = max(1, BATCH // (plan.chunk * len(bots)))
    for start in range(0, len(keys), size):
        some = keys[start : start + size]
        batch = {}
        for bot in bots:
            here = [key for key in some if key in judged[bot]]
            if here:
                batch[bot] = _read(judged[bot], scores[bot], here, most)
        yield batch


def _read(
    judged: Parts, scores: Parts, keys: Sequence[tuple[int, int]], most: int | None
) -> pl.DataFrame:
    """Decisions with what is counted of them, and the score of their game."""
    for parts in (judged, scores):
        for key in keys:
            records.check_part(parts[key])
    regret = pl.col("regret")
    ends = [*GRADES.values(), float("inf")]
    graded = {
        name: ((regret >= ends[k]) & (regret < ends[k + 1])).cast(pl.Int64)
        for k, name in enumerate(GRADES)
    }
    try:
        decisions = records.scan_parts(judged[key] for key in keys)
        games = records.scan_parts(scores[key] for key in keys).select("game", "score")
        return (
            decisions.filter(pl.lit(True) if most is None else pl.col("game") < most)
            .join(games, on="game", maintain_order="left")
            .with_columns(
                units=_units("regret"),
                luck_units=_units("luck"),
                **graded,
                good=(regret < BEST).cast(pl.Int64),
                accuracy=(ACCURACY_UNIT * HALF / (HALF + regret)).round().cast(pl.Int64),
            )
            .collect()
        )
    except records.READ_ERRORS as error:
        raise MagsimError(
            f"{judged[keys[0]]} or a part after it cannot be read: {first_line(error)}"
        ) from error


def _units(name: str) -> pl.Expr:
    """A column of points in ``UNIT`` parts."""
    return (pl.col(name) * UNIT).round().cast(pl.Int64)


def _by_game(part: pl.DataFrame) -> pl.DataFrame:
    """The sums of each game: its decisions, what is ``RATED`` of them, luck and score."""
    return part.group_by("game", maintain_order=True).agg(
        pl.col("score").first().cast(pl.Int128),
        decisions=pl.len().cast(pl.Int128),
        regret=pl.col("units").sum().cast(pl.Int128),
        luck=pl.col("luck_units").sum().cast(pl.Int128),
        best=pl.col("good").sum().cast(pl.Int128),
        **{name: pl.col(name).sum().cast(pl.Int128) for name in (*GRADES, "accuracy")},
    )


def _squared(*names: str) -> dict[str, pl.Expr]:
    """Sums of columns, and of their squares."""
    sums = {name: pl.col(name).sum() for name in names}
    return sums | {f"{name}_sq": (pl.col(name) * pl.col(name)).sum() for name in names}


def _sums(part: pl.DataFrame, games: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The sums of a bot over a few thousand games, all tables but ``pairs``."""
    count = pl.len().cast(pl.Int128)
    crossed = {f"{name}_x_decisions": (pl.col(name) * pl.col("decisions")).sum() for name in RATED}

    def clustered(key: str) -> pl.LazyFrame:
        """By a key of decisions and by game."""
        return (
            part.lazy()
            .group_by(key, "game")
            .agg(
                decisions=count,
                lossy=(1 - pl.col("good")).sum().cast(pl.Int128),
                regret=pl.col("units").sum().cast(pl.Int128),
            )
        )

    both = {"decisions": pl.col("decisions").sum(), **_squared("regret")}
    lossy, squared = pl.col("lossy").sum(), _squared("decisions", "score", "luck", *RATED)
    return {
        "players": games.select(n=count, **squared, **crossed),
        "kinds": clustered("kind").group_by("kind").agg(lossy=lossy, **both).collect(),
        "turns": clustered("turn").group_by("turn").agg(n=count, **both).collect(),
        "sizes": pl.DataFrame({"least": STEPS}).with_columns(
            decisions=pl.Series([(part["regret"] >= step).sum() for step in STEPS], dtype=pl.Int128)
        ),
    }


def _pairs(plan: Plan, difficulty: str, games: Mapping[str, pl.DataFrame]) -> list[pl.DataFrame]:
    """Sums of the differences of every two bots over the games of a batch that both played."""
    found = []
    for other, bot in combinations(games, 2):
        both = games[bot].join(games[other], on="game", suffix="_other")
        differences = both.select(
            gap=pl.col("regret_other") - pl.col("regret"),
            score=pl.col("score") - pl.col("score_other"),
        )
        sums = differences.select(n=pl.len().cast(pl.Int128), **_squared("gap", "score"))
        player = player_columns(plan, difficulty, bot)
        against = pl.lit(other, pl.Enum(list(plan.bots))).alias("other")
        found.append(sums.select(*player, against, pl.all()))
    return found


def _no_pairs(plan: Plan) -> pl.DataFrame:
    """The table ``pairs`` of a single bot."""
    difficulties, bots = pl.Enum([rules.name for rules in plan.rules]), pl.Enum(list(plan.bots))
    sums = dict.fromkeys(("n", "gap", "score", "gap_sq", "score_sq"), pl.Int128)
    return pl.DataFrame(schema={"difficulty": difficulties, "bot": bots, "other": bots, **sums})


def _worst(parts: Sequence[pl.DataFrame], count: int) -> pl.DataFrame:
    """The decisions that lost most, of equals the first; none that are as good as the best."""
    every = pl.concat(part.select(*SCHEMA) for part in parts).filter(pl.col("regret") >= BEST)
    descending = [True, False, False, False]
    return every.sort("regret", "game", "turn", "step", descending=descending).head(count)


def _added(frames: Sequence[pl.DataFrame], table: str) -> pl.DataFrame:
    """The sums of all batches, in the order of the plan."""
    by = ["difficulty", "bot", *KEYS[table]]
    return pl.concat(frames).group_by(by).sum().sort(by)
