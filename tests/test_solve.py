"""magsim solve: solutions made, resumed, checked and refused, of rules with few classes."""

import fcntl
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import solved
from click.testing import CliRunner, Result
from stepwise import solve as solve_in_memory

from magsim.board import EMPTY_BOARD
from magsim.cli import main
from magsim.rules import NIGHTMARE, PEACEFUL, SURVIVAL, Rules
from magsim.solver import files, memory
from magsim.solver.building import PUBLISHED
from magsim.solver.library import open_perfect
from magsim.solver.memory import GIB
from magsim.solver.solutions import families
from magsim.variants import choose_rules

NARROW = ("max_difference=0", "straight=0", "four=0", "two_pairs=0")
WORDS = [word for text in NARROW for word in ("--set", text)]
"""Of rules with 3,431 classes of boards with up to three empty cells."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where solutions are kept."""
    monkeypatch.setenv("MAGSIM_SOLUTIONS", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="module")
def solved_few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the narrow rules are solved, for boards with up to three empty cells."""
    folder = tmp_path_factory.mktemp("few")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAGSIM_SOLUTIONS", str(folder))
        assert solve_few().exit_code == 0
    return folder


@pytest.fixture
def few(solved_few: Path, home: Path) -> Path:
    """The same at home, to be damaged."""
    shutil.copytree(solved_few, home)
    return home


def solve(*words: object) -> Result:
    return CliRunner().invoke(main, ["solve", *map(str, words)])


def solve_few(*words: object) -> Result:
    """The narrow rules of one difficulty, with up to three empty cells."""
    return solve("--difficulty", "survival", *WORDS, "--max-empty", 3, *words)


def refusal(result: Result) -> str:
    """The one sentence of a command that is refused."""
    assert result.exit_code == 2, result.output
    lines = [line for line in result.stderr.splitlines() if line.startswith("magsim: ")]
    assert len(lines) == 1
    return lines[0]


def content(home: Path) -> dict[str, bytes]:
    """All that is kept, by name."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and path.name != "lock"
    }


def manifest_of(home: Path, kind: str) -> Path:
    (path,) = home.glob(f"{kind}-*/manifest.json")
    return path


def change(path: Path, edit: Callable[[dict[str, object]], object]) -> None:
    """Edit a manifest."""
    table = json.loads(path.read_text())
    edit(table)
    path.write_text(json.dumps(table))


def forget(path: Path, layers: int) -> None:
    """Leave a folder as a kill leaves it: the last layers are written and not listed."""

    def edit(table: dict[str, object]) -> None:
        kept = list(table["layers"].items())[:-layers]  # type: ignore[attr-defined]
        table["layers"] = dict(kept)

    change(path, edit)


def flip(path: Path, at: int) -> None:
    """Change one byte."""
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def test_boards_with_few_empty_cells_are_solved(home: Path) -> None:
    result = solve_few()
    assert result.exit_code == 0, result.stderr
    folder = manifest_of(home, "values").parent
    (rules,) = choose_rules("survival", None, NARROW)
    assert result.stdout == (
        f"{rules.name}: boards with up to 3 empty cells are solved; 3,431 classes in {folder}\n"
    )
    for stage in ("finding classes", "solving"):
        assert re.search(rf"{stage} +100% .* 00:00 left", result.stderr)
    assert open_perfect(rules) is None
    perfect = open_perfect(rules, 2)
    assert perfect is not None
    assert perfect.most_empty == 3
    board = int("0x7775666677770707", 16)
    in_memory = solve_in_memory([rules], [board])
    assert perfect.value(board, 1) == in_memory.value(board, 1)


def test_what_is_there_is_checked_and_said(home: Path) -> None:
    words = ["--difficulty", "peaceful,survival", *WORDS, "--max-empty", 3]
    assert solve(*words).exit_code == 0
    before = content(home)
    for again in (words, [*words[:1], "survival", *words[2:]], [*words[:-1], 2]):
        result = solve(*again)
        assert result.exit_code == 0
        assert "the solution was there; all its parts are as they were written" in result.stderr
        assert "up to 3 empty cells" in result.stdout
        assert content(home) == before


def test_a_whole_solution_says_what_perfect_play_expects(
    solution: Rules, solution_folder: Path
) -> None:
    result = solve(*solved.words())
    assert result.exit_code == 0, result.stderr
    perfect = open_perfect(solution)
    assert perfect is not None
    score = f"{perfect.value(EMPTY_BOARD, solution.powers):.4f}"
    assert result.stdout == (
        f"{solution.name}: perfect play expects a score of {score} with all its Powers; "
        f"695,800 classes in {perfect.path}\n"
    )
    assert perfect.path.parent == solution_folder


def test_complete_classes_serve_a_solution_of_few_empty_cells(
    solution_folder: Path, home: Path
) -> None:
    (classes,) = solution_folder.glob("classes-*")
    shutil.copytree(classes, home / classes.name)
    assert solve_few().exit_code == 0
    assert [path.name for path in home.glob("classes-*")] == [classes.name]
    assert json.loads(manifest_of(home, "values").read_text())["classes"] == classes.name


def test_difficulties_that_differ_in_powers_are_solved_together() -> None:
    assert families([PEACEFUL, NIGHTMARE, SURVIVAL]) == [[PEACEFUL, SURVIVAL], [NIGHTMARE]]
    minimum = choose_rules("all", None, ["minimum=1"])
    assert families(minimum) == [minimum]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("kind", "layers"), [("values", 1), ("values", 3), ("classes", 2)])
def test_what_is_missing_is_made_to_the_same_bytes(
    few: Path, kind: str, layers: int, jobs: int
) -> None:
    whole = content(few)
    manifest = manifest_of(few, kind)
    forget(manifest, layers)
    for path in manifest.parent.glob("*.bin"):
        flip(path, 0 if kind == "values" else path.stat().st_size - 1)
    if kind == "classes":
        shutil.rmtree(manifest_of(few, "values").parent)
    assert solve_few("--jobs", jobs).exit_code == 0
    assert content(few) == whole


@pytest.mark.parametrize("jobs", [1, 3])
def test_threads_change_no_byte(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    monkeypatch.setenv("MAGSIM_SOLUTIONS", str(tmp_path / "other"))
    assert solve_few("--jobs", jobs).exit_code == 0
    assert content(tmp_path / "other") == content(few)


def test_classes_that_are_gone_are_found_again(few: Path) -> None:
    whole = content(few)
    shutil.rmtree(manifest_of(few, "classes").parent)
    assert solve_few().exit_code == 0
    assert content(few) == whole


@pytest.mark.parametrize(
    ("kind", "name"), [("classes", "keys.bin"), ("classes", "starts.bin"), ("values", "values.bin")]
)
def test_a_damaged_part_is_told(few: Path, kind: str, name: str) -> None:
    path = manifest_of(few, kind).parent / name
    flip(path, 0)
    wanted = f"magsim: {path} is damaged: its bytes for 3 empty cells are not those that were "
    assert refusal(solve_few()).startswith(wanted)
    forget(manifest_of(few, "values"), 1)  # and what is needed to go on is checked as well
    if kind == "classes":
        assert refusal(solve_few()).startswith(wanted)
    else:
        flip(path, path.stat().st_size - 1)
        assert "for 0 empty cells" in refusal(solve_few())
    path.write_bytes(b"")
    assert f"{path} is damaged" in refusal(solve_few())
    path.unlink()
    said = refusal(solve_few())
    assert f"{path} cannot be read: No such file or directory; remove {path.parent}, and" in said


@pytest.mark.parametrize(("kind", "name"), [("classes", "starts.bin"), ("values", "values.bin")])
def test_a_file_that_is_too_long_is_told(few: Path, kind: str, name: str) -> None:
    path = manifest_of(few, kind).parent / name
    with path.open("ab") as file:
        file.write(b"x")
    size = path.stat().st_size
    assert f"{path} is damaged: it holds {size:,} bytes, not {size - 1:,};" in refusal(solve_few())
    path.unlink()
    assert f"{path} cannot be read: No such file" in refusal(solve_few())


@pytest.mark.parametrize(
    ("edit", "wanted"),
    [
        (lambda table: table.update(format=2), "its format is 2, this version reads 1; remove"),
        (lambda table: table.update(kind="soup"), "is no manifest of a solution; remove"),
        (lambda table: table.update(kind=["values"]), "is no manifest"),
        (lambda table: table.update(most_empty=99), "is no manifest"),
        (lambda table: table.pop("most_empty"), "is no manifest"),
        (lambda table: table.pop("layers"), "is no manifest"),
        (lambda table: table.update(layers=[]), "is no manifest"),
        (lambda table: table["layers"].pop("2"), "is no manifest"),
        (lambda table: table["layers"]["2"].pop("sha256"), "is no manifest"),
        (lambda table: table["layers"].update({"2": "all"}), "is no manifest"),
    ],
)
@pytest.mark.parametrize("kind", ["classes", "values"])
def test_a_strange_manifest_is_told(
    few: Path, kind: str, edit: Callable[[dict[str, object]], object], wanted: str
) -> None:
    path = manifest_of(few, kind)
    change(path, edit)
    assert wanted in refusal(solve_few())
    assert str(path) in refusal(solve_few())


@pytest.mark.parametrize("sizes", [5, [], [[1]], [["a", 1]], [[1, 0]], [[70000, 1]], [1]])
def test_strange_counts_of_classes_are_told(few: Path, sizes: object) -> None:
    path = manifest_of(few, "classes")
    change(path, lambda table: table["layers"]["2"].update(masks=sizes))  # type: ignore[index]
    assert f"{path} is no manifest of a solution" in refusal(solve_few())


@pytest.mark.parametrize("text", ["", "[]", "7", '{"layers": {}}', "[" * 100_000, "\x00"])
def test_a_file_that_is_no_manifest_is_told(few: Path, text: str) -> None:
    path = manifest_of(few, "values")
    path.write_text(text)
    assert f"{path} is no manifest of a solution; remove {path.parent}" in refusal(solve_few())


def test_a_solution_of_other_rules_under_the_same_name_is_told(few: Path) -> None:
    path = manifest_of(few, "values")
    change(path, lambda table: table["rules"].update(ruin_penalty=16))  # type: ignore[attr-defined]
    assert f"{path.parent} is a solution of other rules; remove it" in refusal(solve_few())


def test_folders_that_cannot_be_used_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MAGSIM_SOLUTIONS", str(tmp_path / "file" / "home"))
    assert "cannot be written: Not a directory" in refusal(solve_few())


def test_two_at_once_are_refused(home: Path) -> None:
    home.mkdir()
    with (home / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert refusal(solve_few()) == f"magsim: another 'magsim solve' is at work in {home}"
    assert solve_few().exit_code == 0


def test_too_little_memory_is_told_before_anything_is_found(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 2 * GIB)
    assert re.search(
        r"boards with 5 empty cells \(85,560,356 classes\) take 2.[0-9] GiB of memory to solve, "
        "2.0 GiB can be used here; --max-empty 4 takes less$",
        refusal(solve("--difficulty", "nightmare")),
    )
    assert content(home) == {}


def test_too_little_memory_is_told_once_the_classes_are_known(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    wanted = r"\(1 classes\) take 0.5 GiB of memory to solve, 0.0 GiB can be used here$"
    assert re.search(wanted, refusal(solve_few()))
    monkeypatch.setattr(memory, "available", lambda: 1000)
    shutil.rmtree(home)
    assert "with 3 empty cells take more memory to find" in refusal(solve_few())


def test_too_small_a_disk_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full, free = shutil.disk_usage("/"), [GIB // 2, 10]
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: full._replace(free=free.pop(0)))
    monkeypatch.setattr(memory, "available", lambda: 64 * GIB)
    sentence = refusal(solve("--difficulty", "nightmare"))
    wanted = sum(PUBLISHED.values()) * (memory.CLASS + 4) / GIB
    assert f"takes {wanted:.1f} GiB more in {home}, where 512.0 MiB are free" in sentence
    assert "MAGSIM_SOLUTIONS names another folder" in refusal(solve_few())


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["--max-empty", "0"], "1<=x<=16"),
        (["--max-empty", "17"], "1<=x<=16"),
        (["--max-empty", "x"], "not a valid integer"),
        (["--jobs", "0"], "1<=x<=1024"),
        (["--difficulty", "peacful"], "did you mean 'peaceful'?"),
        (["--difficulty", "survival,survival"], "names a difficulty twice"),
        (["--difficulty", "all,all"], "all stands by itself"),
        (["--set", f"ruin_penalty={'9' * 5000}"], "5,000 signs are too long for a value"),
        (["--set", "ruins=3"], "unknown key 'ruins'"),
        (["--rules", "nowhere.toml"], "nowhere.toml cannot be read"),
        (["--layers", "3"], "No such option"),
    ],
)
def test_nonsense_is_refused(home: Path, words: list[str], wanted: str) -> None:
    result = solve(*words)
    assert result.exit_code == 2
    assert wanted in result.stderr
    assert not home.exists()


def stop(words: list[str], home: Path, layers: int, kind: signal.Signals) -> str:
    """Solve, and stop once so many layers, or one more, are there; what standard error says."""

    def there() -> int:
        folders = [files.read_folder(path) for path in home.glob("*-*")]
        return sum(len(folder.parts) for folder in folders if folder is not None)

    wanted = max(layers, there() + 1)
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    while there() < wanted:
        assert process.poll() is None, "it ended before it was stopped"
        time.sleep(0.01)
    os.kill(process.pid, kind)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == (-kind if kind == signal.SIGKILL else 130)
    return errors


def test_what_is_stopped_is_gone_on_with_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped while classes are found, then again, then killed while they are solved."""
    few = ["--difficulty", "survival", *WORDS, "--max-empty", "6"]
    words = [sys.executable, "-m", "magsim", "solve", *few, "--jobs", "2"]
    monkeypatch.setenv("MAGSIM_SOLUTIONS", str(tmp_path / "stopped"))
    for kind, layers in ((signal.SIGINT, 1), (signal.SIGTERM, 3), (signal.SIGKILL, 10)):
        errors = stop(words, tmp_path / "stopped", layers, kind)
        if kind != signal.SIGKILL:
            said = re.search(r"\nStopped; all finished layers are kept. To go on: (.*)\n$", errors)
            assert said, errors
            assert sorted(shlex.split(said[1])) == sorted(words)
            words = shlex.split(said[1])
    assert solve(*few).exit_code == 0
    monkeypatch.setenv("MAGSIM_SOLUTIONS", str(tmp_path / "whole"))
    assert solve(*few).exit_code == 0
    assert content(tmp_path / "stopped") == content(tmp_path / "whole")
