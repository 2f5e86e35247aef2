"""The README's commands run, its bot plays, and its tables name the columns that there are."""

import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_runs import make_run
from solved import solved_rules

from magsim import records
from magsim.asking import Watch
from magsim.cli import main
from magsim.regret import judging

pytestmark = pytest.mark.usefixtures("workers_stay")

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

SMALLER = {
    "--bots random,greedy,lookahead,mcts --games 500": "--bots random,greedy --games 2",
    "--bots greedy,mcts --games 100000": "--bots greedy,random --games 4",
    "magsim solve\n": "magsim solve --max-empty 1 --difficulty nightmare\n",
    "--max-empty 3": "--max-empty 1",
    "--game 9 --turn 5 --explain mcts": "--game 3 --turn 2 --explain greedy",
    "--against mcts": "--against greedy --advisor greedy",
    "--difficulty nightmare --seed 1": "--difficulty nightmare --seed 1 --advisor random",
    "check-bot careful.py": "check-bot careful.py --games 1",
    "--until 2": "--until 500 --most 2 --difficulty survival",
    "--bots careful.py,careful.py:extra=2,greedy --games 200": (
        "--bots careful.py,careful.py:extra=2,greedy --games 2"
    ),
    "--out nightmare.npz": "--games 20 --out nightmare.npz",
    "--games 20000": "--games 20",
    "mcts,mcts:weights=harsh.npz --games 1000": "ntuple:weights=harsh.npz --games 2",
    "games = 5_000": "games = 2",
    'bots = ["greedy", "lookahead", "mcts"]': 'bots = ["greedy", "random"]',
}
"""What makes the README's blocks small; nothing else is changed in them."""

SET_UP = re.compile(r"^(python3 -m venv|pip install) .*?(&& \.venv/bin/(?=magsim)|$)", re.MULTILINE)
"""Not repeated here: whoever runs this has installed it, and the checks run the tests' line."""

ELSEWHERE = re.compile(r"\bdask\b|--scheduler tcp://")
"""Blocks of a cluster; ``test_cluster.py`` has one."""


def smaller(text: str) -> str:
    for whole, small in SMALLER.items():
        text = text.replace(whole, small)
    return text


def commands(text: str) -> Iterator[str]:
    """The commands of a block, each with its continuation lines."""
    command = ""
    for line in SET_UP.sub("", text).splitlines():
        command += line
        try:
            words = shlex.split(command, comments=True)
        except ValueError:  # a quotation goes on
            command += " "
            continue
        if line.endswith("\\"):
            command = command[:-1]
            continue
        if words:
            yield command
        command = ""
    assert not command, f"{command!r} has no end"


def prompted(text: str) -> Iterator[str]:
    """The commands of a block that shows what they print, each behind a ``$``."""
    for entry in re.findall(r"^\$ (.*?)(?=^\$ |\Z)", text, re.MULTILINE | re.DOTALL):
        yield next(commands(entry))


def play(command: str) -> str:
    """Run a command line in this process, or two joined by a pipe; what it prints."""
    first, pipe, second = command.partition(" | ")
    typed = None
    if pipe:
        printf, text = shlex.split(first)
        assert printf == "printf", command
        typed, command = text.encode().decode("unicode_escape"), second
    program, *words = shlex.split(command, comments=True)
    assert program == "magsim", command
    result = CliRunner().invoke(main, words, input=typed or "quit\n")
    assert result.exit_code == 0, f"{command}\n{result.output}{result.exception!r}"
    return result.output


@pytest.fixture
def desk(tmp_path: Path, solution_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a small run of rules that are solved."""
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_DATA_HOME", "MAGSIM_SOLUTIONS"):
        monkeypatch.setenv(name, str(tmp_path / name))
    shutil.copytree(solution_folder, tmp_path / "MAGSIM_SOLUTIONS")
    watch = Watch(600)
    rules = replace(solved_rules(), name="survival")
    make_run(tmp_path / "RUN", watch, {"greedy": 4, "optimal": 4}, [rules])
    watch.close()
    return tmp_path


def test_every_block_runs(desk: Path) -> None:
    """In order, in one folder; a file that a command names is a block before it."""
    (desk / "experiments").mkdir()
    said: dict[str, str] = {}
    for kind, block in BLOCK.findall(README):
        text = smaller(block)
        if kind == "toml":
            (desk / "experiments" / "ruin_penalty.toml").write_text(text, encoding="utf-8")
        elif kind == "python" and "(Bot)" in text:
            (desk / "careful.py").write_text(text, encoding="utf-8")
        elif kind == "python":
            run = next((desk / "results").iterdir()).name
            program = compile(text.replace("<run>", run), "README.md", "exec")
            exec(program, {"__name__": "__main__"})
        elif not ELSEWHERE.search(text):
            for command in commands(text) if kind == "sh" else prompted(text):
                said[command] = play(command)
    assert {shlex.split(command.rpartition(" | ")[2])[1] for command in said} >= {
        *("tournament", "report", "solve", "regret", "balance", "experiment", "query", "replay"),
        *("play", "check-bot", "match", "train"),
    }
    assert any("careful.py:extra=2 " in output for output in said.values())
    assert (desk / "RUN" / "balance" / "report.html").exists()
    assert (desk / "harsh.npz").exists()


def test_what_makes_blocks_small_is_in_them() -> None:
    blocks = "".join(block for _, block in BLOCK.findall(README))
    assert [whole for whole in SMALLER if whole not in blocks] == []


def test_every_column_is_described() -> None:
    described = set(re.findall(r"`([a-z_0-9]+)`", README))
    tables = (*records.COLUMNS.values(), records.SCAN_COLUMNS, judging.COLUMNS)
    for columns in tables:
        assert columns.keys() <= described


def test_every_command_and_option_is_described() -> None:
    for name, command in main.commands.items():
        assert f"magsim {name}" in README
        for option in (opt for param in command.params for opt in param.opts):
            assert not option.startswith("--") or option in README, option
