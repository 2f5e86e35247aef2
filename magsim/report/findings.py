"""All that a report of a run is made from, computed once."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from magsim import records
from magsim.analysis import estimates, games, options, pairs
from magsim.analysis.pairs import Moments
from magsim.analysis.tallies import Tallies, tally
from magsim.manifest import Plan, read_manifest


@dataclass(frozen=True, slots=True)
class Findings:
    """A run's plan, its summary, tallies and moments, from which every figure comes."""

    plan: Plan
    summary: pl.DataFrame
    tallies: Tallies
    moments: list[dict[str, Moments]]
    differences: pl.DataFrame
    variance: pl.DataFrame
    options: pl.DataFrame
    magdagdon: pl.DataFrame
    means: pl.DataFrame

    @property
    def difficulties(self) -> list[str]:
        """The names of difficulties with recorded games, in the order of the plan."""
        return [str(name) for name in self.summary["difficulty"].unique(maintain_order=True)]

    @property
    def bots(self) -> list[str]:
        """The bots with recorded games, in the order of the plan."""
        return [bot for bot in self.plan.bots if bot in set(self.summary["bot"])]

    def ranked(self, difficulty: str) -> list[str]:
        """The bots at a difficulty, the strongest first."""
        rows = self.summary.filter(difficulty=difficulty).sort(
            "mean", descending=True, maintain_order=True
        )
        return [str(bot) for bot in rows["bot"]]

    def best(self, difficulty: str) -> str:
        """The bot with the highest mean score at a difficulty."""
        return self.ranked(difficulty)[0]

    def has_powers(self, difficulty: str) -> bool:
        """Whether there are Powers at a difficulty."""
        return any(rules.powers for rules in self.plan.rules if rules.name == difficulty)


def find(run: Path) -> Findings:
    """What a run shows.

    Raises:
        MagsimError: if there is no run, nothing in it, or a part cannot be read.
    """
    records.check_parts(run, read_manifest(run))
    tallies = tally(run)
    moments = pairs.part_moments(run)
    scores = [at["score"] for at in moments]
    return Findings(
        tallies.plan,
        games.summary(run),
        tallies,
        moments,
        pairs.differences(tallies.plan, scores),
        pairs.variance_shares(run, scores),
        options.options_per_decision(run),
        estimates.magdagdon(tallies),
        estimates.means(tallies),
    )
