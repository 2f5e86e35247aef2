"""The engine is Python first: its tests hold with the compiler switched off."""

import os
import re
import subprocess
import sys
from pathlib import Path

ENGINE = ("engine", "hands", "random_words")
"""The test modules that need no compiler."""


def test_perfect_play_says_that_it_needs_the_compiler(tmp_path: Path):
    run = subprocess.run(
        [sys.executable, "-m", "magsim", "solve", "--max-empty", "1"],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "MAGSIM_SOLUTIONS": str(tmp_path / "none")},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 2
    assert run.stderr.endswith("needs compiled kernels: unset NUMBA_DISABLE_JIT\n"), run.stderr


def test_the_engine_is_right_uncompiled():
    """With few examples, and without what counts exhaustively.

    Words that wrap around make numpy warn about single words, though not about arrays; compiled
    code wraps in silence. That warning, and no other, is to be expected here.
    """
    arguments = [
        *(str(Path(__file__).with_name(f"test_{name}.py")) for name in ENGINE),
        *("-m", "not exhaustive", "--hypothesis-profile=few", "-q", "-p", "no:cacheprovider"),
        *("-W", "ignore:overflow encountered in scalar:RuntimeWarning"),
    ]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed is not None
    assert int(passed[1]) > 400
