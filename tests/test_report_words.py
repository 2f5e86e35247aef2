"""What a report says of runs that are uneven, small or changed, and of the rules."""

import dataclasses
import shlex
import statistics
from pathlib import Path

import by_hand
import pytest
from by_hand import Records, mean_and_width, plus_minus
from matplotlib.figure import Figure
from report_tables import NAMES, assert_table, ranked, without_charts

from magsim.charts import comparison
from magsim.manifest import Plan
from magsim.report import comparison as compared
from magsim.report import run as report
from magsim.report import scores as scored
from magsim.report.findings import find
from magsim.rules import NIGHTMARE, PEACEFUL, SURVIVAL, Rules
from magsim.variants import choose_rules


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which one bot has fewer games than the other, and a third none."""
    games = {"plain": 6, "careful": 12, "tinker": 0}
    run = tmp_path_factory.mktemp("uneven") / "run"
    return by_hand.make_run(run, games, chunk=6, rules=[SURVIVAL])


def test_points_lie_between_means_over_common_games(
    uneven: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[list[comparison.Panel]] = []
    monkeypatch.setattr(scored, "waterfall", lambda panels: drawn.append(panels) or Figure())
    scored.points(find(uneven))
    ((panel,),) = drawn
    recorded = Records(uneven)
    columns = {bot: recorded.column(("survival", bot), "score") for bot in ("plain", "careful")}
    common = columns["plain"].keys() & columns["careful"].keys()
    assert len(common) == 6
    ends = [
        statistics.mean(columns[bot][game] for game in common) for bot in (panel.weak, panel.strong)
    ]
    assert {panel.weak, panel.strong} == {"plain", "careful"}
    assert [panel.weak_mean, panel.strong_mean] == pytest.approx(ends)
    assert panel.parts["difference"].sum() == pytest.approx(panel.strong_mean - panel.weak_mean)


def test_points_of_a_single_bot_begin_at_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[list[comparison.Panel]] = []
    monkeypatch.setattr(scored, "waterfall", lambda panels: drawn.append(panels) or Figure())
    run = by_hand.make_run(tmp_path / "run", {"careful": 5}, rules=[NIGHTMARE])
    scored.points(find(run))
    ((panel,),) = drawn
    mean = statistics.mean(Records(run).column(("nightmare", "careful"), "score").values())
    assert (panel.weak, panel.weak_mean, panel.strong_mean) == (None, 0.0, pytest.approx(mean))


def test_a_single_game_has_no_intervals_to_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_charts(monkeypatch)
    run = by_hand.make_run(tmp_path / "run", {"plain": 1, "careful": 1}, rules=[SURVIVAL])
    section = compared.differences(find(run))
    recorded = Records(run)
    one, other = ranked(recorded, "survival")
    ahead = recorded.games["survival", one][0]["score"]
    ahead -= recorded.games["survival", other][0]["score"]
    assert section.caption == f"At survival, {one} is {ahead:.1f} points ahead of {other}."
    (row,) = section.tables[0].rows
    assert list(row[3:]) == ["1", f"{ahead if row[1] == one else -ahead:+.1f}", "–", "–"]


def test_a_report_says_what_has_not_been_played(uneven: Path, tmp_path: Path) -> None:
    assert report.missing(find(uneven)) == (
        " Unfinished: of 12 games, plain has 6 games at survival, tinker has 0 games at survival."
    )
    run = by_hand.make_run(tmp_path / "run", {"plain": 2, "careful": 2}, rules=[SURVIVAL])
    assert report.missing(find(run)) == ""


@pytest.mark.parametrize(
    ("difficulty", "settings"),
    [
        ("all", []),
        ("nightmare", ["ruin_penalty=20"]),
        ("peaceful,survival", ["power_costs=[30,60]", "straight=7", "max_difference=2"]),
    ],
)
def test_the_command_chooses_the_rules_that_were_played(
    difficulty: str, settings: list[str]
) -> None:
    rules = choose_rules(difficulty, settings=settings)
    words = shlex.split(report.command(Plan(7, 30, 10, {"a b": "", "c": ""}, tuple(rules))))
    assert words[:2] == ["magsim", "tournament"]
    options = list(zip(words[2::2], words[3::2], strict=True))
    given = dict(options)
    assert (given["--bots"], given["--games"], given["--seed"]) == ("a b,c", "30", "7")
    again = [value for option, value in options if option == "--set"]
    assert sorted(again) == sorted(settings)
    found = choose_rules(given["--difficulty"], settings=again)
    assert [dataclasses.replace(at, name="") for at in found] == [
        dataclasses.replace(at, name="") for at in rules
    ]


@pytest.mark.parametrize(
    "rules",
    [
        [PEACEFUL, *choose_rules("survival", settings=["ruin_penalty=20"])],
        [*choose_rules("peaceful", settings=["four=1"]), *choose_rules("survival")],
        [Rules("mine", 2, (5,))],
    ],
)
def test_no_command_plays_what_several_are_needed_for(rules: list[Rules]) -> None:
    assert report.command(Plan(7, 30, 10, {"a": ""}, tuple(rules))) == ""


def test_rules_are_told_with_what_was_changed() -> None:
    changed = choose_rules("survival", settings=["ruin_penalty=20", "power_costs=[30,60]"])
    rules = (PEACEFUL, NIGHTMARE, *changed)
    assert report.rules_in_words(Plan(1, 1, 1, {"a": ""}, rules)) == (
        "peaceful: minimum 2, Powers at 10, 20, 40 points; nightmare: minimum 3, no Powers; "
        "survival+ruin_penalty=20+power_costs=[30,60]: minimum 2, Powers at 30, 60 points, "
        "ruin_penalty 20"
    )


def test_points_of_bots_without_a_game_in_common_are_those_of_the_strongest(tmp_path: Path) -> None:
    run = by_hand.make_run(tmp_path / "run", {"plain": 4, "careful": 8}, rules=[SURVIVAL], chunk=4)
    (part,) = run.glob("games/*/bot=careful/000000000-*")
    part.unlink()
    section = scored.points(find(run))
    recorded = Records(run)
    player = "survival", ranked(recorded, "survival")[0]
    expected = [
        [*player, "–", name, plus_minus(*mean_and_width(recorded.column(player, part).values()))]
        for part, name in NAMES.items()
    ]
    assert_table(section.tables[0], expected)
    means = {part: statistics.mean(recorded.column(player, part).values()) for part in NAMES}
    most = NAMES[max(means, key=lambda part: means[part])]
    assert section.caption.startswith(f"At survival, {player[1]} earns most by {most}, ")
