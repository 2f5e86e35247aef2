"""What thought costs and what it buys: the scores of bots by the time that a decision takes."""

import polars as pl

from magsim.errors import MagsimError
from magsim.experiments.answers import Answers
from magsim.timings import FILE, milliseconds_per_decision

NEAR = 0.05
"""Bots that score within this share of the best score are compared with it more closely."""


def milliseconds(answers: Answers) -> dict[tuple[int, str], float]:
    """Wall milliseconds a decision, by point and bot.

    Raises:
        MagsimError: if the time of a bot at some point is not known.
    """
    known = milliseconds_per_decision(answers.run)
    found = {}
    for k, point in enumerate(answers.points):
        for bot in answers.moments:
            if (point.rules.name, bot) not in known:
                raise MagsimError(
                    f"run {answers.run}: its {FILE} does not tell how long {bot} took at "
                    f"{point.rules.name}, which this verdict needs"
                )
            found[k, bot] = known[point.rules.name, bot]
    return found


def frontier(answers: Answers, times: dict[tuple[int, str], float], point: int) -> list[str]:
    """The bots that score more than all faster ones at a point, the fastest first."""
    found: list[str] = []
    for bot in sorted(answers.moments, key=lambda bot: times[point, bot]):
        if not found or _score(answers, point, bot) > _score(answers, point, found[-1]):
            found.append(bot)
    return found


def cost_table(answers: Answers) -> pl.DataFrame:
    """A row a point and bot, as ``Answers.table`` has it of scores, with its milliseconds ``ms``.

    ``behind`` and ``behind_half_width`` tell how far it is from the best bot there, game by game.
    """
    times = milliseconds(answers)
    rows = []
    for k in range(len(answers.points)):
        best = max(answers.moments, key=lambda bot: _score(answers, k, bot))
        for bot in answers.moments:
            told = (0.0, 0.0) if bot == best else answers.between_bots(k, best, bot)[1:3]
            rows.append((k, bot, times[k, bot], *told))
    schema = {"point": pl.Int64, "bot": pl.String} | dict.fromkeys(
        ("ms", "behind", "behind_half_width"), pl.Float64
    )
    costs = pl.DataFrame(rows, schema=schema, orient="row")
    return (
        answers.table(("score",))
        .join(costs, on=["point", "bot"], maintain_order="left")
        .with_columns(pl.col("bot").cast(pl.Enum(list(answers.moments))))
    )


def near_the_best(costs: pl.DataFrame) -> pl.DataFrame:
    """The rows of ``cost_table`` within ``NEAR`` of the best score at their point."""
    top = pl.col("mean").max().over("point")
    return costs.filter(top - pl.col("mean") <= NEAR * top.abs())


def _score(answers: Answers, point: int, bot: str) -> float:
    return answers.mean(bot, "score", point).mean or 0.0
