"""Verdicts: what an experiment shows, in a sentence with its interval.

Every verdict speaks of the strongest bot of the experiment, so that a stronger one only means
running it again; where weak and strong players are compared, it speaks of all.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from magsim.analysis.intervals import Mean
from magsim.experiments.answers import Answers
from magsim.experiments.costs import frontier, milliseconds
from magsim.experiments.openings import openings
from magsim.experiments.question import MEASURES, POINTS, SHARES, Point
from magsim.report.words import (
    between,
    capital,
    interval,
    number,
    percent,
    percent_between,
    percent_interval,
    small_interval,
)


def shown(measure: str, value: float | None, half_width: float | None, sign: bool = False) -> str:
    """A measure, or a difference of it, with its interval and its unit."""
    if measure in SHARES:
        text = percent_interval(value, half_width)
        return f"+{text}" if sign and value is not None and not text.startswith("-") else text
    if measure in POINTS:
        return f"{interval(value, half_width, sign)} points"
    return small_interval(value, half_width, sign)


def verdict(answers: Answers) -> str:
    """The verdict that the experiment's file asks for."""
    return _KINDS[answers.question.verdict.kind](answers)


def _differs(mean: Mean) -> bool:
    """Whether a difference's interval leaves out zero."""
    return (
        mean.mean is not None and mean.half_width is not None and abs(mean.mean) > mean.half_width
    )


def _steps(answers: Answers) -> str:
    """How far each bot is ahead of the next weaker one, at each point."""
    if len(answers.moments) < 2:
        return f"Only {answers.strongest} played at every point: there is no step to speak of."
    told = []
    for k, point in enumerate(answers.points):
        scores = {bot: answers.mean(bot, "score", k).mean or 0.0 for bot in answers.moments}
        ranked = sorted(scores, key=lambda bot: scores[bot])
        steps = []
        for weak, strong in pairwise(ranked):
            step = answers.between_bots(k, weak, strong)
            sure = "" if _differs(step) else " (not told apart)"
            steps.append(f"{strong} {interval(step.mean, step.half_width, sign=True)}{sure}")
        told.append(f"at {point.rules.name}, from {ranked[0]}: " + ", ".join(steps))
    return f"Points a game that each step is worth on the same dice: {'; '.join(told)}."


def _spacing(answers: Answers) -> str:
    """Whether the steps between three difficulties are equal, for every bot."""
    names = [point.difficulty for point in answers.points]
    told = []
    for bot in reversed(answers.ranked):
        first, second = (answers.difference(bot, "score", k, k + 1) for k in (0, 1))
        steps = first.mean or 0.0, second.mean or 0.0
        contrast = answers.contrast(bot, [1, -2, 1])
        gap = interval(abs(contrast.mean or 0.0), contrast.half_width)
        if steps[0] * steps[1] < 0 and _differs(first) and _differs(second):
            judged = "the steps go opposite ways"
        elif not _differs(contrast):
            judged = "evenly spaced as far as can be told"
        else:
            wider = names[0] if abs(steps[0]) > abs(steps[1]) else names[2]
            judged = f"the step to {wider} is {gap} wider"
        told.append(
            f"for {bot}, {names[0]} is {interval(first.mean, first.half_width, sign=True)} points "
            f"from {names[1]} and {names[1]} {interval(second.mean, second.half_width, sign=True)} "
            f"from {names[2]}: {judged}"
        )
    return capital("; ".join(told)) + "."


def _effect(answers: Answers) -> str:
    """How a measure changes along the points, for the strongest bot."""
    bot, measure = answers.strongest, answers.question.verdict.measure
    told = []
    for difficulty in dict.fromkeys(point.difficulty for point in answers.points):
        base = answers.baseline(difficulty)
        others = [
            k
            for k, point in enumerate(answers.points)
            if point.difficulty == difficulty and k != base
        ]
        at = shown(measure, *answers.mean(bot, measure, base)[1:3])
        changes = [
            f"{shown(measure, change, width, sign=True)} ({answers.points[k].label})"
            for k in others
            for change, width in [answers.difference(bot, measure, k, base)[1:3]]
        ]
        told.append(
            f"at {difficulty}, {MEASURES[measure]} of {bot}: {at} ({answers.points[base].label}), "
            f"changed by {', '.join(changes)}"
        )
    return capital("; ".join(told)) + "."


class Crossing(NamedTuple):
    """Where along an axis a value passes zero, with the ends of a 95 % interval.

    ``side`` is ``at`` where it does, ``above`` or ``below`` where it stays there all along.
    """

    side: str
    at: float | None = None
    low: float | None = None
    high: float | None = None


def crossing(
    xs: Sequence[float], means: Sequence[float], widths: Sequence[float | None]
) -> Crossing:
    """Where a series first falls (or rises) through zero, linear between its ascending points.

    The interval reaches from the first to the last place where zero lies within the intervals of
    the series, and no farther than its points; None where a point has no interval.
    """
    crossed = _crossings(xs, means)
    if not crossed:
        return Crossing("above" if means[0] > 0 else "below")
    known = [width for width in widths if width is not None]
    if len(known) < len(means):
        return Crossing("at", crossed[0])
    lower = [mean - width for mean, width in zip(means, known, strict=True)]
    upper = [mean + width for mean, width in zip(means, known, strict=True)]
    held = [x for x, low, high in zip(xs, lower, upper, strict=True) if low <= 0 <= high]
    held += _crossings(xs, lower) + _crossings(xs, upper)
    return Crossing("at", crossed[0], min(held), max(held))


def _crossings(xs: Sequence[float], ys: Sequence[float]) -> list[float]:
    """Where a series is zero, linear between its points."""
    found = [x for x, y in zip(xs, ys, strict=True) if y == 0]
    for (x, y), (next_x, next_y) in pairwise(zip(xs, ys, strict=True)):
        if min(y, next_y) < 0 < max(y, next_y):
            found.append(x + (next_x - x) * y / (y - next_y))
    return sorted(found)


def series_of(points: Sequence[Point]) -> dict[str, list[int]]:
    """The points along the last axis, ascending, for each setting of difficulty and other axes.

    Its values are whole numbers.
    """
    found: dict[str, list[int]] = {}
    for k, point in enumerate(points):
        others = [f"{name}={value}" for name, value in list(point.values.items())[:-1]]
        found.setdefault(", ".join([point.difficulty, *others]), []).append(k)
    return {name: sorted(ks, key=lambda k: along(points, k)) for name, ks in found.items()}


def along(points: Sequence[Point], k: int) -> float:
    """Where a point lies on the last axis."""
    value = list(points[k].values.values())[-1]
    assert isinstance(value, int)
    return float(value)


def crossings(answers: Answers, bot: str) -> dict[str, Crossing]:
    """Where the measure of a ``threshold`` or ``crossing`` verdict crosses, for each series."""
    wanted = answers.question.verdict
    found = {}
    for name, ks in series_of(answers.points).items():
        if wanted.kind == "threshold":
            means = [answers.mean(bot, wanted.measure, k) for k in ks]
            values = [(mean.mean or 0.0) - wanted.below for mean in means]
        else:
            means = [answers.margin(bot, k) for k in ks]
            values = [mean.mean or 0.0 for mean in means]
        widths = [mean.half_width for mean in means]
        found[name] = crossing([along(answers.points, k) for k in ks], values, widths)
    return found


def _threshold(answers: Answers) -> str:
    bot, wanted = answers.strongest, answers.question.verdict
    axis = answers.question.axes[-1]
    level = percent(wanted.below, 0) if wanted.measure in SHARES else number(wanted.below, 2)
    told, scored, ends = [], [], ""
    for name, at in crossings(answers, bot).items():
        if at.side == "at":
            told.append(f"{name}: {between(at.at, at.low, at.high)}")
        else:
            told.append(f"{name}: {at.side} that at every {axis} tried")
    for name, ks in series_of(answers.points).items():
        change = answers.difference(bot, "score", ks[-1], ks[0])
        scored.append(f"{name}: {shown('score', change.mean, change.half_width, sign=True)}")
        ends = " to ".join(number(along(answers.points, k), 0) for k in (ks[0], ks[-1]))
    return (
        f"For {bot}, the {MEASURES[wanted.measure]} comes to {level} at this {axis} "
        f"(interpolated, with 95 % intervals): {'; '.join(told)}. Its mean score changes from "
        f"{axis} = {ends}: {'; '.join(scored)}."
    )


def _crossing(answers: Answers) -> str:
    bot, wanted = answers.strongest, answers.question.verdict
    axis = answers.question.axes[-1]
    told = []
    for name, at in crossings(answers, bot).items():
        ks = series_of(answers.points)[name]
        base = next((k for k in ks if k == answers.baseline(answers.points[k].difficulty)), ks[0])
        one, other = (
            shown(measure, *answers.mean(bot, measure, base)[1:3])
            for measure in (wanted.measure, wanted.other)
        )
        where = (
            f"both are equal at {axis} = {between(at.at, at.low, at.high)} (interpolated)"
            if at.side == "at"
            else f"the former stay {at.side} the latter at every {axis} tried"
        )
        told.append(
            f"at {name}, {bot} has {one} ({MEASURES[wanted.measure]}) against {other} "
            f"({MEASURES[wanted.other]}) with {answers.points[base].label}; {where}"
        )
    return capital("; ".join(told)) + "."


def _opening(answers: Answers) -> str:
    bot = answers.strongest
    told = []
    frame = openings(answers.run, answers.plan, bot)
    for (difficulty,), rows in frame.group_by("difficulty", maintain_order=True):
        top = rows.row(0, named=True)
        dice = rows["dice_mean"][0]
        width = rows["dice_half_width"][0]
        share = percent_between(top["share"], top["low"], top["high"])
        told.append(
            f"at {difficulty}, {bot} places {number(dice, 2)} ± {number(width, 2)} dice in its "
            f"first turn, most often as {top['shape']}, in {share} of its games"
        )
    return capital("; ".join(told)) + "."


def _cost(answers: Answers) -> str:
    """What more time bought at each point, along the bots that no faster one outscores."""
    times = milliseconds(answers)
    told = []
    for k, point in enumerate(answers.points):
        bots = frontier(answers, times, k)
        start = interval(*answers.mean(bots[0], "score", k)[1:3])
        steps = []
        for weak, strong in pairwise(bots):
            step = answers.between_bots(k, weak, strong)
            sure = "" if _differs(step) else ", not told apart"
            gain = interval(step.mean, step.half_width, sign=True)
            steps.append(f"{strong} {gain} ({number(times[k, strong], 3)} ms{sure})")
        ends = ": " + ", ".join(steps) if steps else ", and no slower bot scores more"
        told.append(
            f"at {point.rules.name}, from {bots[0]} ({start} in "
            f"{number(times[k, bots[0]], 3)} ms){ends}"
        )
    return f"Points a game that more time for a decision buys on the same dice: {'; '.join(told)}."


_KINDS: dict[str, Callable[[Answers], str]] = {
    "steps": _steps,
    "spacing": _spacing,
    "effect": _effect,
    "threshold": _threshold,
    "crossing": _crossing,
    "opening": _opening,
    "cost": _cost,
}
