"""Verdicts on bots (steps, spacing, cost, openings), recomputed from the rows in plain Python."""

import shutil
import statistics
from collections import Counter
from itertools import pairwise
from pathlib import Path

import by_hand
import pytest
from by_hand import Records, mean_and_width, plus_minus, share_of
from questions import TOP, ahead, ask, play, turned

from magsim.errors import MagsimError
from magsim.experiments.answers import answer
from magsim.experiments.costs import NEAR, cost_table, near_the_best
from magsim.experiments.openings import openings
from magsim.experiments.verdicts import verdict
from magsim.rules import DIFFICULTIES
from magsim.timings import add_timing, open_timings


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shared run as an experiment of three difficulties."""
    run = tmp_path_factory.mktemp("ladder") / "run"
    return Path(shutil.copytree(by_hand.shared_run(tmp_path_factory), run))


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


def test_a_file_of_other_points_does_not_fit(ladder: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(ladder, tmp_path / "run"))
    text = TOP + 'difficulty = "survival"\n[verdict]\nkind = "opening"\n'
    with pytest.raises(MagsimError, match=f"asks for other points than were played in {run}"):
        ask(run, text)


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
