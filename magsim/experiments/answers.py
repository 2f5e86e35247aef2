"""What an experiment measured: every measure at every point, and differences on the same dice."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from magsim import records
from magsim.analysis.intervals import Interval, Mean, share_interval
from magsim.analysis.pairs import Moments, Player, gather
from magsim.analysis.tallies import part_columns, powers_used
from magsim.errors import MagsimError
from magsim.experiments.question import MEASURES, SHARES, Point, Question, kept, read_question
from magsim.manifest import Plan, read_manifest
from magsim.rules import DIFFICULTIES, Rules


def measure_columns(rules: Rules) -> dict[str, pl.Expr]:
    """The ``MEASURES`` of a game as expressions over ``games``, wide enough to be subtracted."""
    parts = part_columns(rules)
    return {
        "score": pl.col("score").cast(pl.Int64),
        "base": parts["base"],
        "straight_points": parts["straight_points"],
        "four_points": parts["four_points"],
        "two_pairs_points": parts["two_pairs_points"],
        "ruins": pl.col("ruins").cast(pl.Int64),
        "powers": powers_used(),
        "used": (powers_used() > 0).cast(pl.Int64),
        "turns": pl.col("turns").cast(pl.Int64),
    }


@dataclass(frozen=True, slots=True)
class Answers:
    """The measures of an experiment.

    ``moments[bot][measure]`` has a player for each point, in the order of ``question.points``.
    """

    run: Path
    plan: Plan
    question: Question
    moments: dict[str, dict[str, Moments]]

    @property
    def points(self) -> tuple[Point, ...]:
        """The points of the experiment."""
        return self.question.points

    def mean(self, bot: str, measure: str, point: int) -> Mean:
        """A measure of a bot at a point; of a share, the half width is Wilson's longer arm."""
        mean = self.moments[bot][measure].mean(point)
        if measure not in SHARES or mean.mean is None:
            return mean
        low, high = self.ends(bot, measure, point)
        arms = [abs(mean.mean - end) for end in (low, high) if end is not None]
        return mean._replace(half_width=max(arms))

    def ends(self, bot: str, measure: str, point: int) -> Interval:
        """The ends of the 95 % interval of a measure at a point."""
        mean = self.moments[bot][measure].mean(point)
        if measure in SHARES and mean.mean is not None:
            return share_interval(round(mean.mean * mean.n), mean.n)
        if mean.mean is None or mean.half_width is None:
            return None, None
        return mean.mean - mean.half_width, mean.mean + mean.half_width

    def difference(self, bot: str, measure: str, point: int, other: int) -> Mean:
        """By how much a measure is larger at one point than at another, on the same dice.

        Without interval for a share that differs in no game: it shows no variance.
        """
        found = self.moments[bot][measure].difference(point, other)
        same = measure in SHARES and not found.deviation
        return found._replace(half_width=None) if same else found

    def contrast(self, bot: str, weights: Sequence[int]) -> Mean:
        """A weighted sum of a bot's scores at all points, over the games played at all of them."""
        at = self.moments[bot]["score"]
        if (at.games != at.games[:, :1, :1]).any():
            at = gather(self.run, self.plan, at.players, common=True, groups=1)["score"]
        return at.contrast(weights)

    def between_bots(self, point: int, weak: str, strong: str) -> Mean:
        """By how much one bot scores more than another at a point, on the same dice."""
        rules = self.points[point].rules
        players = [Player(rules, strong), Player(rules, weak)]
        return gather(self.run, self.plan, players, groups=1)["score"].difference(0, 1)

    def margin(self, bot: str, point: int) -> Mean:
        """The verdict's measure minus its other measure, game by game."""
        rules = self.points[point].rules
        measures = measure_columns(rules)
        wanted = self.question.verdict
        margin = {"margin": measures[wanted.measure] - measures[wanted.other]}
        players = [Player(rules, bot)]
        return gather(self.run, self.plan, players, [margin], groups=1)["margin"].mean(0)

    @property
    def ranked(self) -> list[str]:
        """The bots by their mean score over all points, the strongest first."""

        def mean(bot: str) -> float:
            found = [self.mean(bot, "score", k).mean for k in range(len(self.points))]
            return sum(value for value in found if value is not None) / len(found)

        return sorted(self.moments, key=mean, reverse=True)

    @property
    def strongest(self) -> str:
        """The bot with the highest mean score over all points."""
        return self.ranked[0]

    def baseline(self, difficulty: str) -> int:
        """The point with the published rules of a difficulty, else its first."""
        here = [k for k, point in enumerate(self.points) if point.difficulty == difficulty]
        return next((k for k in here if is_published(self.points[k].rules, difficulty)), here[0])

    def table(self, measures: Iterable[str] = MEASURES) -> pl.DataFrame:
        """A row a bot, point and measure.

        Columns: difficulty, label, point, bot, games, measure, mean, half_width, low, high.
        """
        rows = []
        for bot in self.moments:
            for k, point in enumerate(self.points):
                for measure in measures:
                    mean = self.mean(bot, measure, k)
                    where = (point.difficulty, point.label, k, bot)
                    ends = self.ends(bot, measure, k)
                    rows.append((*where, mean.n, measure, mean.mean, mean.half_width, *ends))
        schema = {
            "difficulty": pl.String,
            "label": pl.String,
            "point": pl.Int64,
            "bot": pl.String,
            "games": pl.Int64,
            "measure": pl.String,
            **dict.fromkeys(("mean", "half_width", "low", "high"), pl.Float64),
        }
        return pl.DataFrame(rows, schema=schema, orient="row")


def is_published(rules: Rules, difficulty: str) -> bool:
    """Whether rules are those of a published difficulty but for the name."""
    published = DIFFICULTIES[difficulty]
    fields = Rules.__dataclass_fields__
    return all(
        getattr(rules, name) == getattr(published, name) for name in fields if name != "name"
    )


def answer(run: Path) -> Answers:
    """What the experiment in a run's folder measured.

    Raises:
        MagsimError: if there is no run, or its experiment file does not fit it, or nothing has
            been played at some point yet.
    """
    plan = read_manifest(run)
    records.check_parts(run, plan)
    file = kept(run)
    if file is None:
        raise MagsimError(f"run {run} is of no experiment")
    question = read_question(file)
    if [point.rules for point in question.points] != list(plan.rules):
        raise MagsimError(f"{file} asks for other points than were played in {run}")
    moments: dict[str, dict[str, Moments]] = {}
    for bot in plan.bots:
        players = [Player(point.rules, bot) for point in question.points]
        # Points may be paid differently for the same line: each has expressions of its own.
        found = gather(
            run,
            plan,
            players,
            [measure_columns(point.rules) for point in question.points],
            groups=1,
        )
        if all(int(found["score"].games[0, k, k]) for k in range(len(players))):
            moments[bot] = found
    if not moments:
        raise MagsimError(f"run {run}: no bot has played at every point yet")
    return Answers(run, plan, question, moments)
