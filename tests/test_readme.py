"""The README's bot plays, and its tables name the columns that there are."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from magsim import records
from magsim.cli import main
from magsim.regret import judging

pytestmark = pytest.mark.usefixtures("workers_stay")

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_the_bot_of_the_readme_plays(tmp_path: Path) -> None:
    (block,) = re.findall(r"```python\n(from magsim\.bot.*?)```", README, re.DOTALL)
    path = tmp_path / "careful.py"
    path.write_text(block)
    words = ["tournament", "--bots", f"{path},{path}:extra=2", "--games", "3"]
    result = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    assert "careful.py:extra=2" in result.output


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
