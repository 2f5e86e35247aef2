"""match: the same games whatever the processes, an even mirror, and one line to be quoted."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import solved
from click.testing import CliRunner, Result

from magsim.analysis.intervals import mean_of_sums
from magsim.analysis.sequential import ERROR, Sprt, Until, looks
from magsim.asking import Watch
from magsim.cli import main
from magsim.manifest import read_manifest
from magsim.registry import load_bot
from magsim.regret.estimates import differences
from magsim.regret.sums import sum_up
from magsim.rules import SURVIVAL
from magsim.simulate import play_games
from magsim.solver.library import needed_perfect

pytestmark = pytest.mark.usefixtures("workers_stay")


def match(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["match", "--difficulty", "survival", *map(str, words)])


def parts(run: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run)): path.read_bytes() for path in run.rglob("*.parquet")}


def test_the_games_of_a_match_do_not_depend_on_processes_or_stops(tmp_path: Path) -> None:
    runs = [tmp_path / name for name in ("one", "two")]
    said = []
    for jobs, run in enumerate(runs, 1):
        result = match("random", "greedy", "--until", "5", "--out", run, "--jobs", jobs)
        assert result.exit_code == 0, result.output
        said.append(result.stdout)
    assert re.fullmatch(
        r"survival: greedy is ahead of random by 1\d\d\.\d ± [45]\.\d points "
        r"\(95 % interval, [\d,]+ paired games\)\n",
        said[0],
    )
    assert said[0] == said[1]
    assert parts(runs[0]) == parts(runs[1])
    games = json.loads((runs[0] / "manifest.json").read_text(encoding="utf-8"))["games"]
    assert f"{games:,} paired games" in said[0]
    shutil.rmtree(runs[1] / "games")
    again = match("random", "greedy", "--until", "5", "--out", runs[1])
    assert (again.stdout, parts(runs[1])) == (said[0], parts(runs[0]))


def test_a_match_goes_on_in_its_folder_until_more_is_known(tmp_path: Path) -> None:
    first = match("random", "greedy", "--until", "8", "--out", tmp_path / "run")
    more = match("random", "greedy", "--until", "5", "--out", tmp_path / "run")
    less = match("random", "greedy", "--until", "8", "--out", tmp_path / "run")
    assert first.exit_code == more.exit_code == less.exit_code == 0
    assert first.stdout == less.stdout != more.stdout
    verified = CliRunner().invoke(main, ["verify", str(tmp_path / "run"), "--sample", "3"])
    assert verified.exit_code == 0, verified.output


def test_a_bot_against_itself_is_exactly_even(tmp_path: Path) -> None:
    """Both sides are played."""
    result = match("random", "random", "--until", "0.5", "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert "by 0.00 ± 0.00 points" in result.stdout
    assert parts(tmp_path / "run") == parts(tmp_path / "run-mirror")
    result = match("random", "random", "--sprt", "0", "2", "--out", tmp_path / "run")
    assert "random has a lead of 0 points over random rather than 2" in result.stdout


@pytest.mark.usefixtures("solution")
def test_where_the_rules_are_solved_the_luck_is_taken_out(tmp_path: Path) -> None:
    """And what is told is what `magsim regret` finds of the same run."""
    run = tmp_path / "run"
    words = ["match", "random", "greedy", *solved.words(), "--until", "1", "--out", str(run)]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    plan, name = read_manifest(run), solved.solved_rules().name
    perfect = needed_perfect(solved.solved_rules())
    (row,) = differences(sum_up(run, plan, {name: perfect}, [*plan.bots])).iter_rows(named=True)
    assert (row["bot"], row["other"], row["games"]) == ("greedy", "random", plan.games)
    lead = f"{row['difference']:.1f} ± {row['half_width']:.1f}"
    sentence = f"greedy is ahead of random by {lead} points (95 % interval, {plan.games:,} paired"
    assert result.stdout == f"{name}: {sentence} games, luck taken out)\n"


def test_one_bot_with_other_chance_is_not_found_better_more_often_than_by_the_error(
    watch: Watch,
) -> None:
    """Matches of ``random`` against itself with other keys: real differences, drawn again."""
    scores = []
    for spec in ("random:one", "random:other"):
        bot = load_bot("random")
        bot.spec = spec  # type: ignore[misc]
        turns = play_games(bot, SURVIVAL, 5, 0, 20_000, watch).turns
        ends = np.flatnonzero(np.diff(turns.game, append=-1))
        scores.append(turns.score[ends].astype(float))
    differences = scores[1] - scores[0]
    assert differences.std() > 0
    differences -= differences.mean()
    chance, count, found, missed = np.random.default_rng(3), 200, 0, 0
    for _ in range(count):
        values = chance.choice(differences, 20_000)
        sums, squares = values.cumsum(), (values * values).cumsum()
        for rule in (Sprt(0, 4), Until(3.0)):
            for games in looks(len(values)):
                mean = mean_of_sums(games, sums[games - 1], squares[games - 1])
                if rule.is_enough(mean) or games == len(values):
                    break
            if isinstance(rule, Sprt):
                found += rule.ratio(mean) > 0
            else:
                assert mean.mean is not None
                assert mean.half_width is not None
                missed += abs(mean.mean) > mean.half_width
    most = ERROR + 3 * (ERROR * (1 - ERROR) / count) ** 0.5
    assert found / count < most
    assert missed / count < most


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sprt", "2", "0"], "the second number is to be the greater one"),
        (["--sprt", "0", "2", "--until", "1"], "a match is stopped by one of them"),
        (["--until", "0"], "0"),
    ],
)
def test_what_is_asked_wrongly_is_told(words: list[str], said: str, tmp_path: Path) -> None:
    result = match("random", "greedy", *words, "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert said in result.output
    assert not (tmp_path / "run").exists()
