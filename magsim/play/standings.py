"""Where a score stands among the games that bots have recorded at the same rules.

Runs are only looked at: what cannot be read, or is none of ours, is passed over.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from magsim import records
from magsim.errors import MagsimError
from magsim.manifest import Plan, read_manifest
from magsim.rules import Rules


@dataclass(frozen=True, slots=True)
class Standing:
    """A score among the ``games`` of a bot: how many lie ``below`` it, how many are ``equal``.

    ``run`` is the folder that holds them, ``mean`` their mean score in points.
    """

    bot: str
    games: int
    below: int
    equal: int
    run: Path
    mean: float

    @property
    def percentile(self) -> float:
        """The share of games below, and half of the equal ones, in percent."""
        return 100 * (self.below + self.equal / 2) / self.games


def standings(score: int, rules: Rules, folder: Path) -> list[Standing]:
    """A score among the recorded games of each bot at these rules, by mean score ascending.

    The runs are those directly in ``folder``. Of several that a bot has played in, that with most
    of its games counts.
    """
    best: dict[str, Standing] = {}
    for run, plan in sorted(_runs(folder, rules), key=lambda found: -found[1].games):
        for bot in plan.bots:
            if bot in best and best[bot].games >= plan.games:
                continue
            found = _standing(score, rules, run, plan, bot)
            if found is not None and (bot not in best or found.games > best[bot].games):
                best[bot] = found
    return sorted(best.values(), key=lambda standing: (standing.mean, standing.bot))


def _runs(folder: Path, rules: Rules) -> Iterator[tuple[Path, Plan]]:
    """The runs in a folder that were planned with these rules, by name."""
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return
    for path in paths:
        try:
            plan = read_manifest(path)
        except MagsimError:
            continue
        if rules in plan.rules:
            yield path, plan


def _standing(score: int, rules: Rules, run: Path, plan: Plan, bot: str) -> Standing | None:
    """A score among what a run has of a bot; None if that is nothing, or damaged."""
    try:
        parts = records.planned_parts(run, "games", plan, rules, bot)
        if not parts or not all(map(records.is_intact, parts)):
            return None
        scores = pl.col("score")
        table = records.scan_parts(parts).select(
            games=pl.len(),
            below=(scores < score).sum(),
            equal=(scores == score).sum(),
            total=scores.cast(pl.Int64).sum(),
        )
        games, below, equal, total = table.collect(engine="streaming").row(0)
    except (MagsimError, *records.READ_ERRORS):
        return None
    return Standing(bot, games, below, equal, run, total / games) if games else None
