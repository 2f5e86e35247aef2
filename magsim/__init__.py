"""magsim: simulate MAGDAGDON, Cubiri's solitaire dice game, and measure bots that play it."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    import polars

__version__ = "0.1.0"


class Run(NamedTuple):
    """The two tables of a run, lazily; ``magsim schema`` lists their columns."""

    turns: "polars.LazyFrame"
    games: "polars.LazyFrame"


def load(run: "str | Path") -> Run:
    """The tables of a run's folder as polars LazyFrames, for notebooks and scripts.

    Both have the columns ``difficulty`` and ``bot`` before those of the records::

        import magsim
        import polars as pl

        turns, games = magsim.load("results/<run>")
        games.group_by("difficulty", "bot").agg(pl.col("score").mean()).collect()

    Raises:
        MagsimError: if the folder holds no run, or nothing has been played of it yet.
    """
    from pathlib import Path

    from magsim import records
    from magsim.manifest import read_manifest

    folder = Path(run)
    plan = read_manifest(folder)
    return Run(*(records.scan(folder, table, plan) for table in Run._fields))
