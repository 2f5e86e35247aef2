"""The command line apart from its commands' work: help, listing, lightness."""

import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from magsim import records
from magsim.cli import main

HEAVY = {"numba", "numpy", "polars", "joblib", "rich", "tqdm", "platformdirs"}


def test_help_imports_nothing_heavy() -> None:
    script = "import sys, magsim.cli; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert not HEAVY & set(done.stdout.split())


def test_help_names_every_command() -> None:
    output = CliRunner().invoke(main, ["--help"]).output
    commands = ("tournament", "verify", "query", "replay", "schema", "bots")
    assert all(name in output for name in commands)


def test_bots_lists_options_with_defaults_and_limits() -> None:
    result = CliRunner().invoke(main, ["bots"])
    assert result.exit_code == 0
    for name in ("random", "greedy", "lookahead", "mcts", "ntuple"):
        assert f"\n{name}  " in f"\n{result.output}"
    assert "    iterations=" in result.output
    assert "at least 1" in result.output or "a whole number from 1 to" in result.output


def test_a_report_that_cannot_be_written_is_refused_before_a_tournament(tmp_path: Path) -> None:
    occupied = tmp_path / "report"
    occupied.mkdir()
    (occupied / "notes.txt").touch()
    words = ["tournament", "--bots", "random", "--games", "1", "--report", "--out", str(tmp_path)]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert f"{occupied} holds something that is no report" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_schema_lists_every_column_with_type_and_meaning() -> None:
    result = CliRunner().invoke(main, ["schema"])
    assert result.exit_code == 0
    turns, games = result.output.split("games: ")
    for output, table in ((turns, "turns"), (games, "games")):
        lines = [line.split(maxsplit=2) for line in output.splitlines() if line.startswith("  ")]
        columns = records.SCAN_COLUMNS | records.COLUMNS[table]
        assert [(name, meaning) for name, _, meaning in lines] == [
            (name, column.meaning) for name, column in columns.items()
        ]
        types = dict(line[:2] for line in lines)
        assert (types["game"], types["board"], types["score"]) == ("UInt32", "String", "Int32")
