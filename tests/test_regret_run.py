"""``magsim regret`` from end to end: what is kept, what is refused, who uses what was judged."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import by_hand
import polars as pl
import pytest
import solved
from click.testing import CliRunner, Result

from magsim import records
from magsim.cli import main
from magsim.errors import MagsimError
from magsim.manifest import read_manifest
from magsim.regret import judging
from magsim.regret.judging import Task, judge_part
from magsim.regret.run import judged_parts
from magsim.rules import NIGHTMARE
from magsim.solver.library import needed_perfect

pytestmark = pytest.mark.usefixtures("workers_stay", "solution")

LUCK = "Luck-adjusted points: what perfect play expects"


def magsim(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of rules that are solved and of others, with nothing judged."""
    folder = tmp_path_factory.mktemp("runs") / "pristine"
    games = {"plain": 20, "tinker": 20}
    return by_hand.make_run(folder, games, rules=(solved.solved_rules(), NIGHTMARE))


@pytest.fixture(scope="module")
def whole(pristine: Path, solution_folder: Path) -> Iterator[tuple[Path, Result]]:
    """A copy that was judged with two jobs, and what was said; not to be changed."""
    run = Path(shutil.copytree(pristine, pristine.parent / "whole"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAGSIM_SOLUTIONS", str(solution_folder))
        yield run, magsim("regret", run, "--jobs", 2)


@pytest.fixture
def run(whole: tuple[Path, Result], tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole[0], tmp_path / "run"))


def parts(run: Path, table: str = judging.TABLE, bot: str = "tinker") -> list[Path]:
    return [*records.parts(run, table, solved.solved_rules().name, bot).values()]


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_what_was_judged_is_told_and_kept(whole: tuple[Path, Result]) -> None:
    run, result = whole
    assert result.exit_code == 0, result.output
    for title in (LUCK, "Decisions against perfect play", "by kind of decision"):
        assert title in result.stdout
    assert "Luck-adjusted paired differences" in result.stdout
    assert result.stdout.count("the worst decisions") == 1
    assert "Left out: perfect play under nightmare is not solved here" in result.stderr
    assert f"Report {run / 'regret' / 'report.html'}" in result.stderr
    assert len(parts(run)) == 2
    drawn = {path.stem for path in (run / "regret" / "charts").glob("*.png")}
    assert drawn == {"luck", "grades", "sizes", "kinds", "turns", "luck_differences"}
    text = (run / "regret" / "report.md").read_text(encoding="utf-8")
    assert "Left out: perfect play under nightmare is not solved here" in text
    assert all(f"## {title}" in text for title in ("How good decisions are", "The worst decisions"))


def test_one_job_gives_the_same_bytes(
    whole: tuple[Path, Result], pristine: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(pristine, tmp_path / "run"))
    assert magsim("regret", run, "--jobs", 1).stdout == whole[1].stdout
    assert files(run) == files(whole[0])


def test_what_was_judged_is_not_judged_again(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(run)

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("magsim.regret.run.parallel", refuse)
    result = magsim("regret", run)
    assert result.exit_code == 0, result.output
    assert "Judging" not in result.stderr
    assert files(run) == before
    fingerprint = needed_perfect(solved.solved_rules()).fingerprint
    for part in parts(run):
        part.rename(part.with_name(part.name.replace(fingerprint, "0" * 8)))
    with pytest.raises(AssertionError):
        CliRunner().invoke(main, ["regret", str(run)], catch_exceptions=False)


def test_only_what_is_asked_for_is_judged(pristine: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(pristine, tmp_path / "run"))
    words = (
        "--bot",
        "plain",
        "--difficulty",
        solved.solved_rules().name,
        "--games",
        5,
        "--worst",
        0,
    )
    result = magsim("regret", run, *words, "--out", tmp_path / "page")
    assert result.exit_code == 0, result.output
    assert "Left out" not in result.stderr
    assert "worst" not in result.stdout
    assert (len(parts(run, bot="plain")), parts(run)) == (1, [])
    text = (tmp_path / "page" / "report.md").read_text(encoding="utf-8")
    assert "Every decision in 5 games of plain" in text
    assert not (run / "regret").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--bot", "tinkre"), "bot 'tinkre' is not in the run; did you mean 'tinker'?"),
        (("--difficulty", "night"), "difficulty 'night' is not in the run"),
        (("--difficulty", "nightmare"), "magsim solve --difficulty nightmare"),
    ],
)
def test_what_cannot_be_judged_is_one_sentence(
    run: Path, words: tuple[str, ...], message: str
) -> None:
    result = magsim("regret", run, *words)
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr
    assert result.stderr.count("\n") == 1


def test_without_a_solution_the_command_that_makes_it_is_told(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAGSIM_SOLUTIONS", str(tmp_path / "none"))
    result = magsim("regret", run)
    assert result.exit_code == 2
    assert result.stderr.startswith("magsim: perfect play under survival+")
    assert "magsim solve --difficulty survival --set minimum=1" in result.stderr


def damage(part: Path) -> None:
    part.write_bytes(part.read_bytes()[:-1])


def test_damaged_parts_are_refused(run: Path) -> None:
    damage(parts(run, "turns")[0])
    result = magsim("regret", run)
    assert (result.exit_code, "is damaged: its bytes" in result.stderr) == (2, True)
    parts(run, "turns")[0].unlink()
    result = magsim("regret", run, "--games", "1")
    assert (result.exit_code, "are missing; the same tournament" in result.stderr) == (2, True)


def test_what_was_judged_and_is_damaged_is_judged_again(run: Path) -> None:
    part = parts(run)[0]
    whole = part.read_bytes()
    damage(part)
    result = magsim("regret", run)
    assert (result.exit_code, "Judging" in result.stderr) == (0, True)
    assert part.read_bytes() == whole


def rewrite(part: Path, change: pl.Expr) -> None:
    """Change a part's rows and give it the name that its new bytes deserve."""
    frame = records.read_part(part, part.parts[-4]).with_columns(change)
    first, last = (int(word) for word in part.name.partition(".")[0].split("-"))
    records.write_part(part.parent, (first, last), records.encode(frame))


def judge_again(run: Path, seed: int = 1) -> None:
    """Judge the first part anew, in this process."""
    turns = parts(run, "turns")[0]
    judge_part(Task(turns, (0, 9), solved.solved_rules(), seed, parts(run)[0].parent))


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        (pl.col("turn") == 3, "game 0, turn 4: a final score of "),
        (
            pl.col("turn") == pl.col("turn").max().over("game"),
            r"game 0: start value 23.1143389 \+ luck .* is .*, not the score ",
        ),
    ],
)
def test_a_game_that_does_not_come_to_its_score_is_an_error(
    run: Path, turns: pl.Expr, message: str
) -> None:
    before = files(run / judging.TABLE)
    rewrite(parts(run, "turns")[0], pl.col("score") + turns.cast(pl.Int32))
    with pytest.raises(MagsimError, match=message):
        judge_again(run)
    assert files(run / judging.TABLE) == before


def test_a_run_of_another_seed_is_an_error(run: Path) -> None:
    with pytest.raises(MagsimError, match=r"by the seed it is 1566\); magsim verify says more"):
        judge_again(run, seed=2)


def test_a_board_that_the_solution_does_not_know_is_an_error(run: Path) -> None:
    rewrite(parts(run, "turns")[0], pl.lit("12../..../..../....").alias("board"))
    with pytest.raises(MagsimError, match=r"turn 1: the solution in .* does not reach"):
        judge_again(run)


def test_a_stop_says_how_to_go_on(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("magsim.regret.sums.sum_up", stop)
    result = magsim("regret", run, "--worst", 3)
    assert result.exit_code == 130
    assert "Stopped; what was judged is kept. To go on: " in result.stderr
    assert f"regret {run} --worst 3" in result.stderr


def test_a_tournament_and_its_report_tell_the_luck_where_it_is_known(tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ("tournament", "--bots", "random,greedy", "--games", 20, *solved.words(), "--out", run)
    first = magsim(*words, "--jobs", 2, "--report")
    assert first.exit_code == 0, first.output
    assert LUCK in first.stdout
    assert "Luck-adjusted paired differences" in first.stdout
    report = (run / "report" / "report.md").read_text(encoding="utf-8")
    assert "## Luck and skill against perfect play" in report
    assert "## Bots against each other, luck-adjusted" in report
    assert {"luck", "luck_differences"} <= {p.stem for p in (run / "report/charts").iterdir()}
    again = magsim(*words)
    assert (again.exit_code, again.stdout) == (0, first.stdout)
    assert not [*records.strangers(run, read_manifest(run))]


def test_a_solution_that_is_damaged_stops_no_tournament_and_no_report(
    solution_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copytree(solution_folder, tmp_path / "copy")
    (values,) = copy.glob("values-*/values.bin")
    values.write_bytes(values.read_bytes()[:-4])
    monkeypatch.setenv("MAGSIM_SOLUTIONS", str(copy))
    run = tmp_path / "run"
    words = ("tournament", "--bots", "random", "--games", 5, *solved.words(), "--out", run)
    done = magsim(*words, "--report")
    assert done.exit_code == 0, done.output
    assert f"Not judged by perfect play: {values} is damaged" in done.stderr
    assert LUCK not in done.stdout
    assert (run / "report" / "report.md").exists()
    assert not (run / judging.TABLE).exists()


def test_where_nothing_is_solved_nothing_is_told_or_loaded(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAGSIM_SOLUTIONS", str(tmp_path / "none"))
    script = (
        "import sys; from pathlib import Path; from magsim.cli.judging import print_luck; "
        f"print_luck(Path({str(run)!r}), 1); print('magsim.solver.perfect' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_parts_that_were_played_again_are_judged_again(run: Path) -> None:
    plan, perfect = read_manifest(run), needed_perfect(solved.solved_rules())
    assert len(judged_parts(run, plan, perfect, "tinker")) == 2
    rewrite(parts(run, "turns")[0], pl.lit(None, pl.Float32).alias("estimate"))
    assert [*judged_parts(run, plan, perfect, "tinker")] == [(10, 19)]
