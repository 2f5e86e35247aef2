"""What all tests share: modules beside this file, Hypothesis without a clock or chance, a watch."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from magsim import pool
from magsim.asking import Watch

sys.path.insert(0, str(Path(__file__).parent))  # for `import reachable` and the like

from compiling import compile_before
from solved import solution, solution_folder  # noqa: F401 - fixtures for all tests

# The first example of a test may wait for a compiler, so nothing here is timed; and a run is to
# say the same today and tomorrow. Fresh chance is the business of engine_agreement.py.
settings.register_profile(
    "magsim",
    deadline=None,
    derandomize=True,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("few", settings.get_profile("magsim"), max_examples=8)
settings.load_profile("magsim")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "exhaustive: needs compiled kernels to end soon")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Several test processes would compile the same at the same time."""
    of_several = hasattr(session.config, "workerinput")
    if session.config.getoption("numprocesses", None) and not of_several:
        compile_before()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of perfect play come first, so that one worker compiles the solver, and once."""

    def late(item: pytest.Item) -> bool:
        fixtures = getattr(item, "fixturenames", ())
        return "solution_folder" not in fixtures and not item.path.name.startswith("test_solve")

    items.sort(key=late)


@pytest.fixture(scope="session", autouse=True)
def no_solutions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whatever is solved on this machine, tests know only what they solve themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAGSIM_SOLUTIONS", str(tmp_path_factory.mktemp("solutions") / "none"))
        yield


_solutions: list[str | None] = [None]
"""Where the worker processes look for solutions that are there."""


@pytest.fixture(scope="module")
def workers_stay() -> Iterator[None]:
    """Worker processes stay for the next command, unless that knows other solutions.

    Starting them anew for every small run would take most of the time of these tests.
    """
    end, prepare = pool.get_reusable_executor, pool._preparation

    class Stays:
        def shutdown(self, **_: bool) -> None:
            pass

    def preparation() -> dict[str, Any]:
        if os.environ.get("MAGSIM_SOLUTIONS") != _solutions[0]:
            end().shutdown(wait=True, kill_workers=True)
            _solutions[0] = os.environ.get("MAGSIM_SOLUTIONS")
        return prepare()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "get_reusable_executor", Stays)
        patch.setattr(pool, "_preparation", preparation)
        yield


@pytest.fixture
def watch() -> Iterator[Watch]:
    """A watch whose time no test outlasts."""
    watch = Watch(600)
    yield watch
    watch.close()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of magsim, the test's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "magsim"
