"""Experiments as their user meets them: played, resumed, answered, refused."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from test_report import check

from magsim.cli import main
from magsim.manifest import read_manifest

pytestmark = pytest.mark.usefixtures("workers_stay")

QUESTION = """
question = "How much does the RUIN penalty weigh?"
bots = ["random", "greedy"]
games = 3
difficulty = ["survival", "nightmare"]
[grid]
ruin_penalty = [0, 15, 30]
[verdict]
kind = "effect"
measure = "ruins"
"""


def magsim(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment's file, and its run beside it."""
    folder = tmp_path_factory.mktemp("experiment")
    (folder / "penalty.toml").write_text(QUESTION)
    result = magsim("experiment", folder / "penalty.toml", "--out", folder / "run", "--jobs", 2)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("At survival, RUINs per game of greedy: ")
    return folder


def test_an_experiment_plays_every_point_and_reports(folder: Path) -> None:
    plan = read_manifest(folder / "run")
    assert [rules.name for rules in plan.rules] == [
        f"{difficulty}+ruin_penalty={penalty}"
        for difficulty in ("survival", "nightmare")
        for penalty in (0, 15, 30)
    ]
    text = check(folder / "run" / "report").text
    assert "How much does the RUIN penalty weigh?" in text
    assert "magsim experiment penalty.toml" in text


def test_the_same_command_resumes_and_says_the_same(folder: Path) -> None:
    before = (folder / "run" / "report" / "report.html").read_bytes()
    part = sorted((folder / "run" / "games").rglob("*.parquet"))[0]
    part.unlink()
    result = magsim("experiment", folder / "penalty.toml", "--out", folder / "run", "--jobs", 2)
    assert result.exit_code == 0
    assert part.exists()
    assert (folder / "run" / "report" / "report.html").read_bytes() == before
    assert result.stdout.startswith("At survival, RUINs per game of greedy: ")


def test_report_answers_an_experiment_again(folder: Path, tmp_path: Path) -> None:
    result = magsim("report", folder / "run", "--out", tmp_path / "answer")
    assert result.exit_code == 0
    check(tmp_path / "answer")
    before = (folder / "run" / "report" / "report.html").read_bytes()
    assert (tmp_path / "answer" / "report.html").read_bytes() == before


def test_a_wrong_file_is_one_sentence_and_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "q.toml").write_text(QUESTION.replace("ruin_penalty =", "ruin_penaltie ="))
    result = magsim("experiment", tmp_path / "q.toml", "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert "unknown key 'ruin_penaltie'; did you mean 'ruin_penalty'?" in result.stderr
    assert not (tmp_path / "run").exists()


def test_a_report_that_cannot_be_written_is_refused_before_anything_is_played(
    tmp_path: Path,
) -> None:
    (tmp_path / "q.toml").write_text(QUESTION)
    occupied = tmp_path / "run" / "report"
    occupied.mkdir(parents=True)
    (occupied / "notes.txt").touch()
    words = ("experiment", tmp_path / "q.toml", "--jobs", 1)
    for more in (("--out", tmp_path / "new", "--report", occupied), ("--out", tmp_path / "run")):
        result = magsim(*words, *more)
        assert result.exit_code == 2
        assert f"{occupied} holds something that is no report" in result.stderr
        assert result.stderr.count("\n") == 1
    assert not (tmp_path / "new").exists()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["report"]


def test_no_bots_are_refused_and_not_replaced_by_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "q.toml").write_text(QUESTION)
    result = magsim("experiment", tmp_path / "q.toml", "--bots", "", "--out", tmp_path / "run")
    other = magsim("tournament", "--bots", "", "--out", tmp_path / "run")
    assert result.exit_code == other.exit_code == 2
    assert result.stderr == other.stderr
    assert not (tmp_path / "run").exists()
