"""The closing table's figures, each recomputed from the rows in plain Python."""

import math
import statistics
from pathlib import Path

import pytest
import small_runs

from magsim import records
from magsim.analysis import games as closing
from magsim.analysis import pairs
from magsim.analysis.intervals import t_quantile
from magsim.asking import Watch
from magsim.bot import Bot, Position
from magsim.decision import Decision
from magsim.errors import MagsimError
from magsim.manifest import Plan, read_manifest, write_manifest
from magsim.report import tables, words
from magsim.rules import DIFFICULTIES, NIGHTMARE
from magsim.simulate import PowerFirst
from magsim.timings import add_timing, milliseconds_per_decision, open_timings


class LastDecision(Bot):
    """Takes the last legal decision."""

    def decide(self, position: Position) -> Decision:
        return position.decisions()[-1]


BOTS: dict[str, Bot] = {"first": PowerFirst(), "last": LastDecision()}


def make_run(run: Path, watch: Watch, games: dict[str, int]) -> Path:
    return small_runs.make_run(run, watch, games, bots=BOTS)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    watch = Watch(600)
    path = make_run(tmp_path_factory.mktemp("run") / "r", watch, {"first": 30, "last": 25})
    with open_timings(path) as file:
        add_timing(file, "first", "peaceful", 0, 10, 0.5)
        add_timing(file, "first", "peaceful", 10, 30, 0.5)
        file.write('{"bot": "first", "diffic')
    with open_timings(path) as file:
        add_timing(file, "last", "survival", 0, 4, 0.001)
    return path


def quantile(values: list[int], share: float) -> float:
    place = share * (len(values) - 1)
    low = sorted(values)[math.floor(place)]
    return low + (place - math.floor(place)) * (sorted(values)[math.ceil(place)] - low)


def test_summary_agrees_with_the_rows(run: Path) -> None:
    summary = closing.summary(run)
    rows = records.scan(run, "games", read_manifest(run)).collect().rows(named=True)
    assert summary.select("difficulty", "bot").rows() == [
        (difficulty, bot) for difficulty in DIFFICULTIES for bot in BOTS
    ]
    for row in summary.rows(named=True):
        games = [g for g in rows if (g["difficulty"], g["bot"]) == (row["difficulty"], row["bot"])]
        scores = [game["score"] for game in games]
        n, sd = len(games), statistics.stdev(scores)
        powers = [game["raises"] + game["lowers"] + game["rerolls"] for game in games]
        expected = {
            "games": n,
            "mean": statistics.mean(scores),
            "half_width": t_quantile(n - 1) * sd / math.sqrt(n),
            "sd": sd,
            "p5": quantile(scores, 0.05),
            "p50": statistics.median(scores),
            "p95": quantile(scores, 0.95),
            "ruins": statistics.mean(game["ruins"] for game in games),
            "with_ruin": statistics.mean(game["ruins"] > 0 for game in games),
            "powers": statistics.mean(powers),
            "turns": statistics.mean(game["turns"] for game in games),
        }
        assert {key: row[key] for key in expected} == pytest.approx(expected)


def test_differences_are_paired_game_by_game(run: Path) -> None:
    rows = records.scan(run, "games", read_manifest(run)).collect().rows(named=True)
    score = {(g["difficulty"], g["bot"], g["game"]): g["score"] for g in rows}
    table = pairs.paired_differences(run).rows(named=True)
    assert [row["difficulty"] for row in table] == list(DIFFICULTIES)
    for row in table:
        assert (row["bot"], row["other"], row["games"]) == ("last", "first", 25)
        found = [
            score[row["difficulty"], "last", g] - score[row["difficulty"], "first", g]
            for g in range(25)
        ]
        assert row["difference"] == pytest.approx(statistics.mean(found))
        width = t_quantile(24) * statistics.stdev(found) / 5
        assert row["half_width"] == pytest.approx(width)


def test_times_add_up_and_a_torn_line_is_passed_over(run: Path) -> None:
    assert milliseconds_per_decision(run) == {
        ("peaceful", "first"): pytest.approx(25.0),
        ("survival", "last"): pytest.approx(0.25),
    }
    times = closing.summary(run).filter(difficulty="nightmare")["milliseconds"]
    assert times.to_list() == [None, None]


def test_one_game_gives_dashes(watch: Watch, tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", watch, {"first": 1, "last": 1})
    summary, differences = closing.summary(run), pairs.paired_differences(run)
    assert summary["half_width"].null_count() == summary["sd"].null_count() == 6
    console = tables.console()
    with console.capture() as captured:
        for table in (*tables.summary_tables(summary), tables.difference_table(differences)):
            console.print(table)
    assert "±" not in captured.get()
    assert not any(word in captured.get() for word in ("nan", "inf", "None", "null"))


@pytest.mark.parametrize(
    ("value", "half_width", "sign", "text"),
    [
        (151.25, 0.44, False, "151.2 ± 0.4"),
        (3.0, None, True, "+3.0"),
        (-3.0, 0.05, True, "-3.00 ± 0.05"),
        (-0.0, 0.0, True, "+0.00 ± 0.00"),
        (None, None, False, "–"),
    ],
)
def test_intervals_in_words(
    value: float | None, half_width: float | None, sign: bool, text: str
) -> None:
    assert words.interval(value, half_width, sign) == text


def test_an_empty_run_is_one_sentence(tmp_path: Path) -> None:
    write_manifest(tmp_path, Plan(1, 1, 1, {"first": "1"}, (NIGHTMARE,)))
    with pytest.raises(MagsimError, match="there are no games in it yet"):
        closing.summary(tmp_path)
