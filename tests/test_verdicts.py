"""What experiments measured and concluded, recomputed from the rows in plain Python."""

import dataclasses
import json
import shutil
import statistics
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import by_hand
import pytest
from by_hand import Records, mean_and_width, plus_minus, wilson
from questions import GRID, TOP, ahead, ask, column, keep_text, play

from magsim.experiments.answers import Answers, answer, is_published
from magsim.experiments.question import MEASURES, Verdict
from magsim.experiments.report import report_experiment
from magsim.experiments.verdicts import Crossing, crossings, verdict
from magsim.rules import DIFFICULTIES, NIGHTMARE, SURVIVAL

POINTS = """
difficulty = ["survival", "nightmare"]
[[points]]
label = "no STRAIGHT"
straight = 0
[[points]]
label = "as published"
[[points]]
label = "harsh"
ruin_penalty = 30
"""


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = GRID + '[verdict]\nkind = "effect"\n'
    return play(tmp_path_factory.mktemp("grid") / "run", text, ("tinker", "careful"), 20)


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = TOP + POINTS + '[verdict]\nkind = "effect"\n'
    return play(tmp_path_factory.mktemp("points") / "run", text, ("careful",), 15)


@pytest.mark.parametrize("which", ["grid", "points"])
def test_measures_agree_with_the_rows(which: str, request: pytest.FixtureRequest) -> None:
    run = request.getfixturevalue(which)
    recorded, answers = Records(run), answer(run)
    expected = []
    for bot in recorded.plan.bots:
        for k, point in enumerate(answers.points):
            for name in MEASURES:
                values = column(recorded, point.rules.name, bot, name).values()
                where = point.difficulty, point.label, k, bot
                mean, width = mean_and_width(values)
                low, high = mean - width, mean + width
                if name == "used":
                    low, high = wilson(sum(values), len(values))
                    width = max(mean - low, high - mean)
                expected.append((*where, len(values), name, mean, width, low, high))
    by_hand.assert_rows(answers.table().iter_rows(), expected)


def test_differences_are_game_by_game(grid: Path) -> None:
    recorded, answers = Records(grid), ask(grid, GRID + '[verdict]\nkind = "effect"\n')
    names = [point.rules.name for point in answers.points]
    for name in MEASURES:
        one, other = (column(recorded, names[k], "tinker", name) for k in (1, 4))
        found = answers.difference("tinker", name, 1, 4)
        mean, width = ahead(one, other)
        if name == "used" and not width:
            width = None  # no game differs: nothing is known of how much they vary
        by_hand.assert_rows([found[1:3]], [(mean, width)])
    strong, weak = (column(recorded, names[2], bot, "score") for bot in ("careful", "tinker"))
    by_hand.assert_rows([answers.between_bots(2, "tinker", "careful")[1:3]], [ahead(strong, weak)])


def test_the_strongest_has_the_highest_mean_over_points(grid: Path) -> None:
    recorded, answers = Records(grid), answer(grid)
    means = {
        bot: statistics.mean(
            statistics.mean(column(recorded, rules, bot, "score").values())
            for rules in recorded.rules
        )
        for bot in recorded.plan.bots
    }
    assert answers.ranked == sorted(means, key=lambda bot: -means[bot]) == ["careful", "tinker"]


def test_published_rules_are_those_but_for_the_name() -> None:
    for difficulty, rules in DIFFICULTIES.items():
        assert is_published(dataclasses.replace(rules, name="other"), difficulty)
        assert is_published(rules, difficulty)
    assert not is_published(dataclasses.replace(SURVIVAL, power_costs=(69,)), "survival")
    assert not is_published(SURVIVAL, "peaceful")
    for change in ("minimum", "ruin_penalty", "straight", "four", "two_pairs", "max_difference"):
        changed = {change: getattr(NIGHTMARE, change) + 1}
        assert not is_published(dataclasses.replace(NIGHTMARE, **changed), "nightmare")


def test_the_baseline_is_the_published_point_or_the_first(grid: Path, points: Path) -> None:
    assert answer(grid).baseline("survival") == 5
    at = answer(points)
    assert [at.baseline(difficulty) for difficulty in ("survival", "nightmare")] == [1, 4]
    question = dataclasses.replace(at.question, points=at.points[2:4])
    assert dataclasses.replace(at, question=question).baseline("survival") == 0


def effect_by_hand(recorded: Records, answers: Answers, name: str, difficulty: str, base: int):
    """The base of a measure of ``careful`` and its changes, as they are said."""
    columns = [column(recorded, p.rules.name, "careful", name) for p in answers.points]
    unit = {"used": " %", "ruins": "", "powers": "", "turns": ""}.get(name, " points")

    def say(value: float, width: float, sign: bool) -> str:
        if name == "used":
            if sign:
                return plus_minus(100 * value, 100 * width or None, sign) + unit
            low, high = wilson(round(value * 20), 20)
            return plus_minus(100 * value, 100 * max(value - low, high - value)) + unit
        if name in ("ruins", "powers", "turns"):
            return plus_minus(value, width, sign, least=2)
        return plus_minus(value, width, sign) + unit

    at = say(*mean_and_width(columns[base].values()), False)
    changes = [
        f"{say(*ahead(columns[k], columns[base]), True)} ({point.label})"
        for k, point in enumerate(answers.points)
        if point.difficulty == difficulty and k != base
    ]
    return (
        f"at {difficulty}, {MEASURES[name]} of careful: {at} ({answers.points[base].label}), "
        f"changed by {', '.join(changes)}"
    )


@pytest.mark.parametrize("name", MEASURES)
def test_effects_are_told_from_the_published_point(name: str, grid: Path) -> None:
    answers = ask(grid, GRID + f'[verdict]\nkind = "effect"\nmeasure = "{name}"\n')
    told = effect_by_hand(Records(grid), answers, name, "survival", 5)
    assert verdict(answers) == f"A{told[1:]}."


def test_effects_are_told_for_each_difficulty(points: Path) -> None:
    answers, recorded = answer(points), Records(points)
    told = [
        effect_by_hand(recorded, answers, "score", difficulty, base)
        for difficulty, base in (("survival", 1), ("nightmare", 4))
    ]
    assert verdict(answers) == f"A{'; '.join(told)[1:]}."


COSTS = (0, 70, 120)


def along_costs(recorded: Records, powers: int, name: str):
    """A measure of ``careful`` at ascending prices: values by game."""
    return [
        column(recorded, f"survival+powers={powers}+power_cost={cost}", "careful", name)
        for cost in COSTS
    ]


def zero_by_hand(means: list[float], widths: list[float]) -> tuple[float, float, float] | None:
    """Where a falling line through three points is zero, by many small steps."""
    steps = [k / 1000 * 120 for k in range(1001)]

    def at(series: list[float], x: float) -> float:
        left = 0 if x <= 70 else 1
        part = (x - COSTS[left]) / (COSTS[left + 1] - COSTS[left])
        return series[left] + part * (series[left + 1] - series[left])

    lower = [mean - width for mean, width in zip(means, widths, strict=True)]
    upper = [mean + width for mean, width in zip(means, widths, strict=True)]
    crossed = [b for a, b in pairwise(steps) if (at(means, a) > 0) != (at(means, b) > 0)]
    held = [x for x in steps if at(lower, x) <= 0 <= at(upper, x)]
    return (crossed[0], min(held), max(held)) if crossed else None


def test_thresholds_lie_where_lines_between_points_reach_them(grid: Path) -> None:
    recorded = Records(grid)
    level = statistics.mean(mean for mean, _ in map(mean_and_width, scores_at(recorded)))
    text = GRID + f'[verdict]\nkind = "threshold"\nmeasure = "score"\nbelow = {level}\n'
    answers = ask(grid, text)
    found = crossings(answers, "careful")
    assert list(found) == ["survival, powers=2", "survival, powers=1"]
    sentence = verdict(answers)
    assert f"the mean score comes to {level:.2f} at this power_cost" in sentence
    for powers in (1, 2):
        series = [mean_and_width(c.values()) for c in along_costs(recorded, powers, "score")]
        expected = zero_by_hand([mean - level for mean, _ in series], [w for _, w in series])
        name = f"survival, powers={powers}"
        if expected is None:
            side = "above" if series[0][0] > level else "below"
            assert found[name] == Crossing(side)
            assert f"{name}: {side} that at every power_cost tried" in sentence
        else:
            assert found[name].side == "at"
            assert found[name][1:] == pytest.approx(expected, abs=0.3)
            at, low, high = found[name][1:]
            assert f"{name}: {at:.0f} ({low:.0f} to {high:.0f})" in sentence
        first, *_, last = along_costs(recorded, powers, "score")
        change, width = mean_and_width([last[game] - first[game] for game in first])
        assert f"changes from power_cost = {COSTS[0]} to {COSTS[-1]}: " in sentence
        assert f"{name}: {change:+.1f} ± {width:.1f} points" in sentence
    assert any(at.side == "at" for at in found.values())


def scores_at(recorded: Records):
    """The scores of ``careful`` at one Power, without and with the highest price."""
    columns = along_costs(recorded, 1, "score")
    return [columns[0].values(), columns[2].values()]


def test_thresholds_of_shares_are_said_in_percent(grid: Path) -> None:
    answers = ask(grid, GRID + '[verdict]\nkind = "threshold"\nmeasure = "used"\nbelow = 0.1\n')
    assert verdict(answers).startswith(
        "For careful, the share of games with a Power used comes to 10 % at this power_cost "
        "(interpolated, with 95 % intervals): survival, powers=2: above that at every power_cost "
        "tried; survival, powers=1: above that at every power_cost tried. Its mean score changes"
    )


def test_crossings_compare_two_measures_game_by_game(grid: Path) -> None:
    text = GRID + '[verdict]\nkind = "crossing"\nmeasure = "ruins"\nother = "turns"\n'
    answers, recorded = ask(grid, text), Records(grid)
    told = []
    for powers, base in ((2, 70), (1, 70)):
        ruins, used = (along_costs(recorded, powers, name) for name in ("ruins", "turns"))
        for k, cost in enumerate(COSTS):
            (point,) = [
                k for k, p in enumerate(answers.points) if list(p.values.values()) == [powers, cost]
            ]
            margin = answers.margin("careful", point)
            expected = mean_and_width([ruins[k][game] - used[k][game] for game in ruins[k]])
            by_hand.assert_rows([margin[1:3]], [expected])
        k = COSTS.index(base) if powers == 1 else 0  # published, or the lowest price
        one, width = mean_and_width(ruins[k].values())
        mean, half = mean_and_width(used[k].values())
        told.append(
            f"at survival, powers={powers}, careful has {plus_minus(one, width, least=2)} (RUINs "
            f"per game) against {plus_minus(mean, half, least=2)} (turns per game) "
            f"with powers={powers}, power_cost={COSTS[k]}; the former stay below the latter at "
            "every power_cost tried"
        )
    assert verdict(answers) == f"A{'; '.join(told)[1:]}."


def test_equal_measures_are_told_where_they_meet(grid: Path) -> None:
    text = GRID + '[verdict]\nkind = "crossing"\nmeasure = "{}"\nother = "{}"\n'
    found = crossings(ask(grid, text.format("two_pairs_points", "base")), "careful")
    assert {at.side for at in found.values()} == {"below"}
    found = crossings(ask(grid, text.format("four_points", "straight_points")), "careful")
    recorded = Records(grid)
    for powers in (1, 2):
        fours, straights = (
            along_costs(recorded, powers, name) for name in ("four_points", "straight_points")
        )
        series = [
            mean_and_width([four[game] - straight[game] for game in four])
            for four, straight in zip(fours, straights, strict=True)
        ]
        expected = zero_by_hand([mean for mean, _ in series], [width for _, width in series])
        at = found[f"survival, powers={powers}"]
        if expected is None:
            assert at == Crossing("above" if series[0][0] > 0 else "below")
        else:
            assert at[1:] == pytest.approx(expected, abs=0.3)


def test_one_bot_has_no_steps(points: Path) -> None:
    question = dataclasses.replace(answer(points).question, verdict=Verdict("steps"))
    answers = dataclasses.replace(answer(points), question=question)
    assert verdict(answers).startswith("Only careful played at every point")


def test_a_report_says_who_is_left_out_or_plays_by_a_file_at_some_points(
    grid: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(grid, tmp_path / "run"))
    text = GRID + '[verdict]\nkind = "effect"\n'
    names = [point.rules.name for point in ask(run, text).points]
    shutil.rmtree(run / "games" / f"difficulty={quote(names[0])}" / "bot=tinker")
    manifest = json.loads((run / "manifest.json").read_text())
    for relied, said in ((names[:2], True), (names, False)):
        manifest["relied"] = {"careful": dict.fromkeys(relied, "network 12")}
        (run / "manifest.json").write_text(json.dumps(manifest))
        keep_text(text, run)
        folder, _ = report_experiment(run, tmp_path / "report")
        intro = (folder / "report.md").read_text().replace("\\_", "_")
        assert "Left out, not having played at every point: tinker." in intro
        wanted = (
            "At 2 of the points (powers=2, power_cost=120; powers=2, power_cost=0) careful plays"
        )
        assert (wanted in intro) == said
        assert ("plays by a file" in intro) == said
