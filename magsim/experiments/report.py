"""The report of an experiment: its verdict, pictures along its axes, and all measures."""

import re
import shlex
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from magsim.analysis import pairs
from magsim.charts import comparison, experiment
from magsim.experiments.answers import Answers, answer, is_published
from magsim.experiments.costs import NEAR, cost_table, near_the_best
from magsim.experiments.openings import openings
from magsim.experiments.question import AXES, MEASURES, POINTS, SHARES, kept
from magsim.experiments.verdicts import along, series_of, shown, verdict
from magsim.report.comparison import differences_table
from magsim.report.page import Page, Section, Table, check_folder, write
from magsim.report.run import FOLDER
from magsim.report.words import capital, counted, interval, number, percent_between

PICTURED = ("score", "ruins", "used", "straight_points", "four_points", "two_pairs_points")
"""The measures that are always drawn along a grid, after the verdict's own."""


def is_experiment(run: Path) -> bool:
    """Whether a run's folder is that of an experiment."""
    return kept(run) is not None


def _drawn(answers: Answers, measure: str) -> tuple[pl.DataFrame, str]:
    """A measure at every point, as it is drawn, and what its axis is called."""
    table = answers.table((measure,))
    if measure in POINTS:
        return table, f"{MEASURES[measure]}, points"
    if measure not in SHARES:
        return table, MEASURES[measure]
    scaled = table.with_columns(pl.col("mean", "half_width", "low", "high") * 100)
    return scaled, f"{MEASURES[measure]}, %"


def _along_axis(answers: Answers, measure: str) -> Figure:
    """A measure along the last axis: lines are bots, or other axes with a panel for each bot."""
    table, label = _drawn(answers, measure)
    settings = {
        k: name.partition(", ")[2] for name, ks in series_of(answers.points).items() for k in ks
    }
    axis = answers.question.axes[-1]
    panels, series, places = [], [], []
    for difficulty, bot, k in table.select("difficulty", "bot", "point").iter_rows():
        panels.append(f"{difficulty}, {bot}" if settings[k] else difficulty)
        series.append(settings[k] or bot)
        places.append(along(answers.points, k))
    frame = table.select(
        *("mean", "half_width", "low", "high", "games"),
        difficulty=pl.Series(panels),
        series=pl.Series(series),
        x=pl.Series(places),
    )
    published = {
        panel: place
        for panel, place, k in zip(panels, places, table["point"], strict=True)
        if is_published(answers.points[k].rules, answers.points[k].difficulty)
    }
    return experiment.along_axis(frame, axis, AXES[axis], label, published)


def _by_label(answers: Answers, measure: str) -> Figure:
    table, label = _drawn(answers, measure)
    if table["difficulty"].n_unique() > 1:
        table = table.with_columns(label=pl.concat_str("difficulty", "label", separator=", "))
    return experiment.by_label(table, label)


def _grid(answers: Answers) -> list[Section]:
    """A picture a measure, the verdict's own first."""
    wanted = answers.question.verdict
    first = (wanted.measure, wanted.other) if wanted.kind == "crossing" else (wanted.measure,)
    whole = all(
        isinstance(value, int)
        for point in answers.points
        for value in list(point.values.values())[-1:]
    )
    draw = _along_axis if whole else _by_label
    return [
        Section(
            capital(MEASURES[measure]),
            _range(answers, measure),
            {measure: draw(answers, measure)},
        )
        for measure in dict.fromkeys((*first, *PICTURED))
    ]


def _range(answers: Answers, measure: str) -> str:
    """Between which values a measure lies, for the strongest bot."""
    bot = answers.strongest
    means = {k: answers.mean(bot, measure, k) for k in range(len(answers.points))}
    least = min(means, key=lambda k: means[k].mean or 0.0)
    most = max(means, key=lambda k: means[k].mean or 0.0)
    low, high = (
        f"{shown(measure, means[k].mean, means[k].half_width)} "
        f"({answers.points[k].difficulty}, {answers.points[k].label})"
        for k in (least, most)
    )
    return f"For {bot} it lies between {low} and {high}."


def _ladder(answers: Answers) -> list[Section]:
    """Scores by difficulty, a line a bot, and the differences between bots."""
    best, names = answers.strongest, [point.rules.name for point in answers.points]
    frame = answers.table(("score",))
    frame = frame.with_columns(difficulty=pl.col("point").replace_strict(dict(enumerate(names))))
    scored = ", ".join(
        f"{interval(*answers.mean(best, 'score', k)[1:3])} at {name}"
        for k, name in enumerate(names)
    )
    found = [Section("Scores", f"{best} scores {scored}.", {"scores": experiment.ladder(frame)})]
    differences = pairs.paired_differences(answers.run).filter(
        pl.col("bot").cast(pl.String).is_in(list(answers.moments)),
        pl.col("other").cast(pl.String).is_in(list(answers.moments)),
    )
    if len(differences):
        caption = (
            f"{len(differences)} paired differences on the same dice; thick intervals hold with "
            "95 % each, thin ones (Bonferroni) with 95 % all together."
        )
        drawn = {"differences": comparison.forest(differences)}
        table = differences_table(differences)
        found.append(Section("Bots against each other", caption, drawn, (table,)))
    return found


def _costs(answers: Answers) -> list[Section]:
    """Scores by the time of a decision, all bots and closer those that are near the best."""
    table = cost_table(answers)
    near = near_the_best(table)
    rows = [
        [
            *(row["label"], row["bot"], f"{row['games']:,}", number(row["ms"], 3)),
            interval(row["mean"], row["half_width"]),
            interval(row["behind"], row["behind_half_width"], sign=True),
        ]
        for row in table.sort("point", "ms", maintain_order=True).iter_rows(named=True)
    ]
    head = ["difficulty", "bot", "games", "ms/decision", "score", "against the best"]
    return [
        Section(
            "Scores by time",
            "Time is wall time in the bot over all of its decisions, with a game on every core of "
            "one machine; it is never the same twice.",
            {"costs": experiment.by_time(table, "mean score, points")},
            (Table("Time and score", head, rows, words=2),),
        ),
        Section(
            "Closer",
            f"Bots within {number(100 * NEAR, 0)} % of the best score, on the same dice as the "
            "best bot.",
            {
                "costs_closer": experiment.by_time(
                    near.drop("mean", "half_width", "low", "high").rename(
                        {"behind": "mean", "behind_half_width": "half_width"}
                    ),
                    "points against the best",
                )
            },
        ),
    ]


def _openings(answers: Answers) -> list[Section]:
    """The most frequent first turns at each difficulty."""
    bot = answers.strongest
    frame = openings(answers.run, answers.plan, bot)
    found: list[Section] = []
    for (difficulty,), rows in frame.group_by("difficulty", maintain_order=True):
        shapes = rows.head(12)
        told = float(shapes["share"].sum())
        by_dice = rows.group_by("dice").agg(pl.col("games").sum()).sort("dice")
        games = rows["games"].sum()
        dice = ", ".join(
            f"{count} in {number(100 * n / games)} %" for count, n in by_dice.iter_rows()
        )
        table = Table(
            f"First turns at {difficulty}",
            ["shape", "most often as", "games", "share"],
            [
                [
                    *(row["shape"], row["example"], f"{row['games']:,}"),
                    percent_between(row["share"], row["low"], row["high"]),
                ]
                for row in shapes.iter_rows(named=True)
            ],
        )
        caption = (
            f"Up to symmetry, {bot} leaves {len(rows)} shapes after its first turn; the "
            f"{len(shapes)} shown cover {number(100 * told)} % of {games:,} games. Dice "
            f"placed: {dice} (none where the first turn ends with a RUIN)."
        )
        safe = re.sub(r"[^A-Za-z0-9_.=-]+", "-", str(difficulty))
        drawn = {f"openings_{len(found)}_{safe}": experiment.openings(rows)}
        found.append(Section(f"First turns at {difficulty}", caption, drawn, (table,)))
    return found


def _measures(answers: Answers) -> Section:
    """All measures at all points as a table."""
    head = ["difficulty", "point", "bot", "games", *MEASURES]
    rows = []
    for bot in answers.moments:
        for k, point in enumerate(answers.points):
            means = {measure: answers.mean(bot, measure, k) for measure in MEASURES}
            rows.append(
                [point.difficulty, point.label, bot, f"{means['score'].n:,}"]
                + [shown(name, mean.mean, mean.half_width) for name, mean in means.items()]
            )
    caption = (
        f"{len(rows)} rows of {len(MEASURES)} measures; each interval holds with 95 % by itself."
    )
    return Section("All measures", caption, {}, (Table("Measures per game", head, rows, words=3),))


def _reserves(answers: Answers) -> str:
    """Sentences on bots that are left out, and on those that do not play alike at all points."""
    found = ""
    left_out = ", ".join(bot for bot in answers.plan.bots if bot not in answers.moments)
    if left_out:
        found += f" Left out, not having played at every point: {left_out}."
    for bot in answers.moments:
        relied = answers.plan.relied.get(bot, {})
        at = [point.label for point in answers.points if relied.get(point.rules.name)]
        if 0 < len(at) < len(answers.points):
            found += (
                f" At {len(at)} of the points ({'; '.join(at)}) {bot} plays by a file that it has "
                "for these rules only: its play there does not compare with that elsewhere."
            )
    return found


def command(answers: Answers) -> str:
    """The command that repeats the experiment."""
    plan, name = answers.plan, answers.question.name
    words = ["magsim", "experiment", f"{name}.toml"]
    if ",".join(plan.bots) != answers.question.bots:
        words += ["--bots", ",".join(plan.bots)]
    if plan.games != answers.question.games:
        words += ["--games", str(plan.games)]
    if plan.seed != answers.question.seed:
        words += ["--seed", str(plan.seed)]
    return shlex.join(words)


def report_experiment(run: Path, folder: Path | None = None) -> tuple[Path, str]:
    """Write the report of an experiment; the folder it is in, and the verdict.

    Raises:
        MagsimError: if there is no experiment, not enough of it, or the folder cannot be written.
    """
    target = folder or run / FOLDER
    check_folder(target)
    answers = answer(run)
    concluded = verdict(answers)
    kind = answers.question.verdict.kind
    if kind == "opening":
        found = _openings(answers)
    elif kind == "cost":
        found = _costs(answers)
    elif kind in ("steps", "spacing"):
        found = _ladder(answers)
    else:
        found = _grid(answers)
    games = counted(answers.table(("score",))["games"].to_list())
    intro = (
        f"{games} of each bot ({', '.join(answers.moments)}) at each of "
        f"{len(answers.points)} points, all on the same dice (seed {answers.plan.seed})."
        f"{_reserves(answers)} All intervals are 95 % intervals; ± gives half of one."
    )
    page = Page(
        answers.question.text,
        intro,
        command(answers),
        (*found, _measures(answers)),
        concluded,
    )
    write(page, target)
    return target, concluded
