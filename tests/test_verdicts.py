"""What experiments measured and concluded, recomputed from the rows in plain Python."""

import dataclasses
import json
import shutil
import statistics
from collections import Counter
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import by_hand
import pytest
from by_hand import Records, Row, mean_and_width, plus_minus, share_of, wilson
from hypothesis import given, settings
from hypothesis import strategies as st

from magsim.analysis.shapes import canonical, shape, symmetric
from magsim.errors import MagsimError
from magsim.experiments.answers import Answers, answer, is_published
from magsim.experiments.costs import NEAR, cost_table, near_the_best
from magsim.experiments.openings import openings
from magsim.experiments.question import MEASURES, Verdict, keep, read_question
from magsim.experiments.report import report_experiment
from magsim.experiments.verdicts import Crossing, crossing, crossings, verdict
from magsim.rules import DIFFICULTIES, NIGHTMARE, SURVIVAL
from magsim.timings import add_timing, open_timings

TOP = 'question = "How much?"\nbots = ["tinker", "careful"]\ngames = 20\n'
GRID = TOP + 'difficulty = "survival"\n[grid]\npowers = [2, 1]\npower_cost = [120, 0, 70]\n'
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


def keep_text(text: str, run: Path) -> Path:
    """Keep an experiment's file of this text in a run."""
    file = run.parent / "asked.toml"
    file.write_text(text)
    keep(file, run)
    return file


def ask(run: Path, text: str) -> Answers:
    """Answer another question about the same points."""
    keep_text(text, run)
    return answer(run)


def play(run: Path, text: str, bots: tuple[str, ...], games: int) -> Path:
    """A run of an experiment by the bots of ``by_hand``."""
    run.mkdir()
    question = read_question(keep_text(text, run))
    return by_hand.make_run(run, dict.fromkeys(bots, games), chunk=games, rules=question.rules)


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = GRID + '[verdict]\nkind = "effect"\n'
    return play(tmp_path_factory.mktemp("grid") / "run", text, ("tinker", "careful"), 20)


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = TOP + POINTS + '[verdict]\nkind = "effect"\n'
    return play(tmp_path_factory.mktemp("points") / "run", text, ("careful",), 15)


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shared run as an experiment of three difficulties."""
    run = tmp_path_factory.mktemp("ladder") / "run"
    return Path(shutil.copytree(by_hand.shared_run(tmp_path_factory), run))


def measure(game: Row, name: str) -> int:
    if name == "powers":
        return game["used"]
    return int(game["used"] > 0) if name == "used" else game[name]


def column(recorded: Records, rules: str, bot: str, name: str) -> dict[int, int]:
    return {game["game"]: measure(game, name) for game in recorded.games[rules, bot]}


def ahead(one: dict[int, int], other: dict[int, int]) -> tuple[float | None, float | None]:
    """Mean of the differences game by game, and half its interval."""
    return mean_and_width([one[game] - other[game] for game in one if game in other])


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


STEPS = TOP + '[verdict]\nkind = "steps"\n'
SPACING = TOP + '[verdict]\nkind = "spacing"\n'


def test_steps_lead_from_the_weakest_to_the_strongest(ladder: Path) -> None:
    recorded = Records(ladder)
    told = []
    for difficulty in DIFFICULTIES:
        columns = {bot: recorded.column((difficulty, bot), "score") for bot in recorded.plan.bots}
        ranked = sorted(columns, key=lambda bot: statistics.mean(columns[bot].values()))
        steps = []
        for weak, strong in pairwise(ranked):
            mean, width = ahead(columns[strong], columns[weak])
            sure = "" if abs(mean) > width else " (not told apart)"
            steps.append(f"{strong} {plus_minus(mean, width, sign=True)}{sure}")
        told.append(f"at {difficulty}, from {ranked[0]}: {', '.join(steps)}")
    expected = f"Points a game that each step is worth on the same dice: {'; '.join(told)}."
    assert verdict(ask(ladder, STEPS)) == expected
    assert "(not told apart)" in expected


def test_one_bot_has_no_steps(points: Path) -> None:
    question = dataclasses.replace(answer(points).question, verdict=Verdict("steps"))
    answers = dataclasses.replace(answer(points), question=question)
    assert verdict(answers).startswith("Only careful played at every point")


def spacing_by_hand(run: Path, names: list[str]) -> str:
    recorded = Records(run)
    told = []
    bots = list(recorded.plan.bots)
    columns = {bot: [recorded.column((name, bot), "score") for name in names] for bot in bots}
    over_all = {
        bot: statistics.mean(statistics.mean(c.values()) for c in columns[bot]) for bot in bots
    }
    for bot in sorted(bots, key=lambda bot: over_all[bot]):
        one, two, three = columns[bot]
        first, second = ahead(one, two), ahead(two, three)
        games = set(one) & set(two) & set(three)
        gap, width = mean_and_width([one[g] - 2 * two[g] + three[g] for g in games])
        sure = abs(first[0]) > first[1] and abs(second[0]) > second[1]
        if first[0] * second[0] < 0 and sure:
            judged = "the steps go opposite ways"
        elif abs(gap) <= width:
            judged = "evenly spaced as far as can be told"
        else:
            wide = names[0] if abs(first[0]) > abs(second[0]) else names[2]
            judged = f"the step to {wide} is {plus_minus(abs(gap), width)} wider"
        told.append(
            f"for {bot}, {names[0]} is {plus_minus(*first, sign=True)} points from {names[1]} and "
            f"{names[1]} {plus_minus(*second, sign=True)} from {names[2]}: {judged}"
        )
    return f"F{'; '.join(told)[1:]}."


COST = TOP + '[verdict]\nkind = "cost"\n'
TIMES = {"tinker": 2.0, "plain": 4.0, "careful": 1.5}


def with_times(ladder: Path, run: Path, without: str = "") -> Path:
    """A copy of a run with the ``TIMES`` of its bots, twice as long at NIGHTMARE."""
    shutil.copytree(ladder, run)
    (run / "timings.jsonl").unlink(missing_ok=True)
    with open_timings(run) as file:
        for difficulty in DIFFICULTIES:
            for bot, time in TIMES.items():
                if (difficulty, bot) != ("survival", without):
                    slow = 2 if difficulty == "nightmare" else 1
                    add_timing(file, bot, difficulty, 0, 1000, slow * time)
    return run


def test_cost_leads_along_the_bots_that_no_faster_one_outscores(
    ladder: Path, tmp_path: Path
) -> None:
    run = with_times(ladder, tmp_path / "run")
    recorded = Records(run)
    told = []
    for difficulty in DIFFICULTIES:
        scores = {bot: recorded.column((difficulty, bot), "score") for bot in TIMES}
        means = {bot: statistics.mean(scores[bot].values()) for bot in TIMES}
        times = {bot: time * (1 + (difficulty == "nightmare")) for bot, time in TIMES.items()}
        best = sorted(
            (
                bot
                for bot in TIMES
                if all(means[bot] > means[o] for o in TIMES if times[o] < times[bot])
            ),
            key=lambda bot: times[bot],
        )
        start = plus_minus(*mean_and_width(scores[best[0]].values()))
        steps = []
        for weak, strong in pairwise(best):
            mean, width = ahead(scores[strong], scores[weak])
            sure = "" if abs(mean) > width else ", not told apart"
            steps.append(
                f"{strong} {plus_minus(mean, width, sign=True)} ({times[strong]:.3f} ms{sure})"
            )
        ends = ": " + ", ".join(steps) if steps else ", and no slower bot scores more"
        told.append(f"at {difficulty}, from {best[0]} ({start} in {times[best[0]]:.3f} ms){ends}")
    expected = (
        f"Points a game that more time for a decision buys on the same dice: {'; '.join(told)}."
    )
    assert verdict(ask(run, COST)) == expected


def test_costs_stand_beside_scores_and_what_they_are_behind_by(
    ladder: Path, tmp_path: Path
) -> None:
    run = with_times(ladder, tmp_path / "run")
    recorded = Records(run)
    found = cost_table(ask(run, COST))
    expected = []
    for bot in recorded.plan.bots:
        for difficulty in DIFFICULTIES:
            scores = {name: recorded.column((difficulty, name), "score") for name in TIMES}
            means = {name: statistics.mean(scores[name].values()) for name in TIMES}
            best = max(means, key=lambda name: means[name])
            behind = ahead(scores[bot], scores[best]) if bot != best else (0.0, 0.0)
            slow = 2 if difficulty == "nightmare" else 1
            expected.append((difficulty, bot, means[bot], slow * TIMES[bot], *behind))
    columns = ["difficulty", "bot", "mean", "ms", "behind", "behind_half_width"]
    by_hand.assert_rows(found.select(columns).iter_rows(), expected)
    kept = near_the_best(found)
    tops = {row[0]: max(r[2] for r in expected if r[0] == row[0]) for row in expected}
    near = [row[:2] for row in expected if row[2] >= (1 - NEAR) * tops[row[0]]]
    assert 3 <= len(near) < len(expected)
    assert kept.select("difficulty", "bot").rows() == near


def test_a_time_that_is_not_known_is_named(ladder: Path, tmp_path: Path) -> None:
    run = with_times(ladder, tmp_path / "run", without="careful")
    with pytest.raises(MagsimError, match=r"does not tell how long careful took at survival"):
        verdict(ask(run, COST))


def test_spacing_holds_two_steps_against_each_other(ladder: Path) -> None:
    expected = spacing_by_hand(ladder, ["peaceful", "survival", "nightmare"])
    assert verdict(ask(ladder, SPACING)) == expected
    assert "the step to nightmare is" in expected


@pytest.mark.parametrize(
    ("names", "bots", "games", "words"),
    [
        (["nightmare", "survival", "peaceful"], ("careful", "plain"), 30, "the step to nightmare"),
    ],
)
def test_spacing_is_told_from_hard_to_easy_too(
    names: list[str], bots: tuple[str, ...], games: int, words: str, tmp_path: Path
) -> None:
    text = SPACING.replace("games", f"difficulty = {names}\ngames")
    run = play(tmp_path / "run", text, bots, games)
    expected = spacing_by_hand(run, names)
    assert verdict(answer(run)) == expected
    assert words in expected


def test_spacing_takes_the_games_that_all_points_have(ladder: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(ladder, tmp_path / "run"))
    for part in (
        *run.glob("games/*=peaceful/*=careful/000000000-*"),
        *run.glob("games/*=survival/*=careful/000000020-*"),
    ):
        part.unlink()
    answers = ask(run, SPACING)
    assert verdict(answers) == spacing_by_hand(run, ["peaceful", "survival", "nightmare"])
    assert answers.contrast("careful", [1, -2, 1]).n == 10


def test_a_bot_that_is_not_everywhere_is_left_out(ladder: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(ladder, tmp_path / "run"))
    shutil.rmtree(run / "games" / "difficulty=survival" / "bot=careful")
    assert list(ask(run, SPACING).moments) == ["plain", "tinker"]
    for bot in ("plain", "tinker"):
        shutil.rmtree(run / "games" / "difficulty=nightmare" / f"bot={bot}")
    with pytest.raises(MagsimError, match="no bot has played at every point yet"):
        ask(run, SPACING)


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


def test_a_file_of_other_points_does_not_fit(ladder: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(ladder, tmp_path / "run"))
    text = TOP + 'difficulty = "survival"\n[verdict]\nkind = "opening"\n'
    with pytest.raises(MagsimError, match=f"asks for other points than were played in {run}"):
        ask(run, text)


def test_falling_series_cross_where_lines_do() -> None:
    assert crossing([0, 10, 20], [4, 2, -2], [1, 1, 1]) == Crossing("at", 15, 12.5, 17.5)
    assert crossing([0, 10], [1, -3], [0, 0]) == Crossing("at", 2.5, 2.5, 2.5)


def test_rising_series_cross_where_lines_do() -> None:
    assert crossing([0, 10, 20], [-4, -2, 2], [1, 1, 1]) == Crossing("at", 15, 12.5, 17.5)


def test_series_that_never_cross_stay_on_a_side() -> None:
    assert crossing([0, 10, 20], [3, 2, 1], [9, 9, 9]) == Crossing("above")
    assert crossing([0, 10, 20], [-1, -2, -1], [0, 0, 0]) == Crossing("below")
    assert crossing([5], [1], [0]) == Crossing("above")


@pytest.mark.parametrize("sign", [1, -1])
def test_series_that_touch_zero_at_a_point_cross_there(sign: int) -> None:
    def at(*means: float) -> Crossing:
        return crossing([0, 10, 20], [sign * mean for mean in means], [0, 0, 0])

    assert at(0, 1, 2) == Crossing("at", 0, 0, 0)
    assert at(2, 0, -1) == Crossing("at", 10, 10, 10)
    assert at(2, 0, 1) == Crossing("at", 10, 10, 10)
    assert at(2, 1, 0) == Crossing("at", 20, 20, 20)
    assert crossing([7], [0], [1]) == Crossing("at", 7, 7, 7)


def test_intervals_end_where_the_points_end() -> None:
    assert crossing([0, 10], [1, -1], [3, 3]) == Crossing("at", 5, 0, 10)
    assert crossing([0, 10], [-1, 1], [3, 0]) == Crossing("at", 5, 0, pytest.approx(8))


def test_intervals_reach_back_over_a_wide_point() -> None:
    # Zero lies within the intervals at 0 and from 10 on, though the lower ends cross between.
    found = crossing([0, 10, 20], [0.5, 0.2, -0.5], [1, 0.1, 0.1])
    assert (found.low, found.high) == (0, pytest.approx(10 + 10 * 0.3 / 0.7))


def test_points_without_intervals_leave_none() -> None:
    assert crossing([0, 10], [1, -1], [None, 1]) == Crossing("at", 5)
    assert crossing([0, 10], [1, 1], [None, None]) == Crossing("above")


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 9)), min_size=2, max_size=6))
def test_crossings_lie_within_their_intervals_and_the_points(series: list[tuple[int, int]]) -> None:
    means, widths = [mean for mean, _ in series], [width for _, width in series]
    xs = [10 * k for k in range(len(series))]
    found = crossing(xs, means, widths)
    if min(means) > 0 or max(means) < 0:
        assert found == Crossing("above" if means[0] > 0 else "below")
    else:
        assert 0 <= found.low <= found.at <= found.high <= xs[-1]
        mirrored = crossing(xs, [-mean for mean in means], widths)
        assert mirrored == pytest.approx(found)


def turned(board: str) -> set[str]:
    """The images of a board by the eight matrices of the square."""
    rows = board.split("/")
    images = set()
    for a, b, c, d in (
        *((1, 0, 0, 1), (-1, 0, 0, 1), (1, 0, 0, -1), (-1, 0, 0, -1)),
        *((0, 1, 1, 0), (0, -1, 1, 0), (0, 1, -1, 0), (0, -1, -1, 0)),
    ):
        image = [[""] * 4 for _ in range(4)]
        for i in range(4):
            for j in range(4):
                x, y = 2 * i - 3, 2 * j - 3
                image[(a * x + b * y + 3) // 2][(c * x + d * y + 3) // 2] = rows[i][j]
        images.add("/".join("".join(row) for row in image))
    return images


ASYMMETRIC = "12../..R./3.../...4"


def test_a_board_without_symmetry_has_eight_images() -> None:
    assert symmetric(ASYMMETRIC) == turned(ASYMMETRIC)
    assert len(symmetric(ASYMMETRIC)) == 8
    assert len(symmetric("..../.33./.33./....")) == 1
    assert len(symmetric("3.../..../..../....")) == 4


boards = st.lists(st.text(".123R", min_size=4, max_size=4), min_size=4, max_size=4).map("/".join)


@settings(max_examples=40)
@given(boards)
def test_one_board_stands_for_all_its_images(board: str) -> None:
    images = turned(board)
    assert symmetric(board) == images
    assert {canonical(image) for image in images} == {canonical(board)}
    assert canonical(board) in images
    plain = "".join("X" if sign in "123456" else sign for sign in board)
    assert {shape(image) for image in images} == {canonical(plain)}


def first_boards(recorded: Records, difficulty: str, bot: str) -> list[str]:
    return [turn["board"] for turn in recorded.turns[difficulty, bot] if turn["turn"] == 1]


@pytest.mark.parametrize("bot", ["careful", "tinker", "plain"])
def test_openings_are_those_of_the_rows(bot: str, ladder: Path) -> None:
    recorded = Records(ladder)
    frame = openings(ladder, recorded.plan, bot)
    assert frame["difficulty"].unique(maintain_order=True).to_list() == list(DIFFICULTIES)
    for difficulty in DIFFICULTIES:
        boards = first_boards(recorded, difficulty, bot)
        classes: list[tuple[set[str], list[str]]] = []
        for board in boards:
            covered = "".join("X" if sign.isdigit() else sign for sign in board)
            for images, members in classes:
                if covered in images:
                    members.append(board)
                    break
            else:
                classes.append((turned(covered), [board]))
        rows = frame.filter(difficulty=difficulty).rows(named=True)
        assert len(rows) == len(classes)
        assert [row["games"] for row in rows] == sorted((len(m) for _, m in classes), reverse=True)
        dice = [sum(sign.isdigit() for sign in board) for board in boards]
        for row in rows:
            ((images, members),) = [found for found in classes if row["shape"] in found[0]]
            n = len(members)
            by_hand.assert_rows(
                [(row["games"], row["share"], row["low"], row["high"], row["dice"])],
                [(n, n / len(boards), *by_hand.wilson(n, len(boards)), row["shape"].count("X"))],
            )
            assert row["example"] in {image for board in members for image in turned(board)}
            likeness = Counter(max(turned(board)) for board in members)
            alike = sum(board in turned(row["example"]) for board in members)
            assert alike == max(likeness.values())
            found = row["dice_mean"], row["dice_half_width"]
            by_hand.assert_rows([found], [mean_and_width(dice)])


def test_openings_are_told_with_the_most_frequent_shape(ladder: Path) -> None:
    recorded = Records(ladder)
    told = []
    for difficulty in DIFFICULTIES:
        boards = first_boards(recorded, difficulty, "careful")
        dice, width = mean_and_width([sum(map(str.isdigit, board)) for board in boards])
        covered = ("".join("X" if sign.isdigit() else sign for sign in b) for b in boards)
        shapes = Counter(max(turned(board)) for board in covered)
        top, n = min(shapes.items(), key=lambda item: (-item[1], item[0]))
        told.append(
            f"at {difficulty}, careful places {dice:.2f} ± {width:.2f} dice in its first turn, "
            f"most often as {top}, in {share_of(n, len(boards))} of its games"
        )
    text = TOP + '[verdict]\nkind = "opening"\n'
    assert verdict(ask(ladder, text)) == f"A{'; '.join(told)[1:]}."
