"""The run that examples in docstrings read."""

import sys
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def example_run(request: pytest.FixtureRequest) -> None:
    """A run of two games in ``results/example``, for the example of ``magsim.load``."""
    if request.node.name != "magsim.notebook.runs.load":
        return
    sys.path.insert(0, str(Path(__file__).parent / "tests"))
    from small_runs import make_run

    from magsim.asking import Watch
    from magsim.registry import load_bot
    from magsim.rules import NIGHTMARE

    folder = request.getfixturevalue("tmp_path")
    request.getfixturevalue("monkeypatch").chdir(folder)
    watch = Watch(600)
    bots = {"random": load_bot("random")}
    make_run(folder / "results" / "example", watch, {"random": 2}, [NIGHTMARE], bots)
    watch.close()
