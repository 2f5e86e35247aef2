"""A bot from a package that pip builds and installs is found by its entry point, and plays."""

import os
import subprocess
import sys
from pathlib import Path

PYPROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "magsim-sage"
version = "0.1"

[project.entry-points."magsim.bots"]
sage = "magsim_sage:Sage"

[tool.setuptools]
py-modules = ["magsim_sage"]
"""
BOT = """
from magsim.bot import Bot, Position, option
from magsim.decision import Decision


class Sage(Bot):
    last: bool = option(False, "the last legal decision rather than the first")

    def decide(self, position: Position) -> Decision:
        found = position.ruins() or position.placements()
        return found[-1 if self.last else 0]
"""


def test_a_bot_of_an_installed_package_plays(tmp_path: Path) -> None:
    package, site = tmp_path / "package", tmp_path / "site"
    package.mkdir()
    (package / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (package / "magsim_sage.py").write_text(BOT, encoding="utf-8")
    install = ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    words = [sys.executable, "-m", *install, "--target", str(site), str(package)]
    subprocess.run(words, check=True, capture_output=True)

    def magsim(*words: str) -> str:
        # Uncompiled: another package that registers bots has kernels compiled anew.
        env = os.environ | {"PYTHONPATH": str(site), "NUMBA_DISABLE_JIT": "1"}
        line = [sys.executable, "-m", "magsim", *words]
        done = subprocess.run(line, env=env, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "sage" in magsim("bots")
    bots = "sage,sage:last=true"
    magsim("tournament", "--bots", bots, "--games", "2", "--difficulty", "survival", "--out", "run")
    played = magsim("query", "run", "select count(*) n from games", "--format", "csv")
    assert played.split() == ["n", "4"]
    assert "magsim-sage 0.1" in (tmp_path / "run" / "manifest.json").read_text(encoding="utf-8")
