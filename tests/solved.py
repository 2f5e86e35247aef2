"""A whole solution, of rules so narrow that it is made in seconds, once for all tests of a session.

Numbers that touch must be equal and lines earn nothing, which leaves 695,800 classes; RUINs are
many, and Powers are worth their cost now and then.
"""

import fcntl
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from magsim.rules import Rules
from magsim.variants import choose_rules

SETTINGS = (
    "minimum=1",
    "power_costs=[15, 25]",
    "straight=0",
    "four=0",
    "two_pairs=0",
    "max_difference=0",
)
"""What ``--set`` makes of survival; ``words`` are these as a command line has them."""


@cache
def solved_rules() -> Rules:
    """The rules that are solved."""
    (rules,) = choose_rules("survival", None, SETTINGS)
    return rules


def words() -> list[str]:
    """The rules that are solved as words of a command line."""
    return ["--difficulty", "survival", *(w for text in SETTINGS for w in ("--set", text))]


class _Unwatched:
    """Nobody watches."""

    def begin(self, title: str, total: int | None, done: int) -> None:
        """Say nothing."""

    def more(self, amount: int) -> None:
        """Say nothing."""


def build() -> None:
    """Make the solution where ``MAGSIM_SOLUTIONS`` says."""
    from magsim.solver.building import find_classes, solve_values

    with ThreadPoolExecutor(2) as threads:
        classes = find_classes(solved_rules(), threads, _Unwatched())
        solve_values([solved_rules()], classes, 16, threads, _Unwatched())


@pytest.fixture(scope="session")
def solution_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the solution is, made by the first test process that asks. Not to be changed."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base  # xdist: one for each worker
    folder = shared / "solution"
    with (shared / "solution.lock").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = shared / "solution.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            patch.setenv("MAGSIM_SOLUTIONS", str(unfinished))
            build()
            unfinished.rename(folder)
    return folder


@pytest.fixture
def solution(solution_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Rules:
    """The rules that are solved; for the test and its workers, their solution is at hand."""
    monkeypatch.setenv("MAGSIM_SOLUTIONS", str(solution_folder))
    return solved_rules()
