"""The cache of compiled kernels: keyed by all sources, filled once."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import magsim
from magsim.compiled import kernel_folders, source_key

PACKAGE = Path(magsim.__file__).parent
KEYS = """
from magsim.compiled import cache_folder
from magsim.manifest import current_versions
print(cache_folder().name)
print(current_versions()["magsim"])
"""

PLAY = """
import numba
from magsim import engine, simulate
from magsim.asking import Watch
from magsim.rules import SURVIVAL
watch = Watch(100)
simulate.play_games(simulate.PowerFirst(), SURVIVAL, 1, 0, 2, watch)
watch.close()
kernels = [k for m in (engine, simulate) for k in vars(m).values() if hasattr(k, "stats")]
print(sum(sum(k.stats.cache_misses.values()) for k in kernels))
print(sum(sum(k.stats.cache_hits.values()) for k in kernels))
"""


def test_the_key_changes_with_any_source(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one = 1\n")
    (tmp_path / "b.py").write_text("two = 2\n")
    key = source_key([tmp_path])
    assert source_key([tmp_path]) == key
    (tmp_path / "b.py").write_text("two = 3\n")
    changed = source_key([tmp_path])
    assert changed != key
    (tmp_path / "c.py").write_text("")
    assert source_key([tmp_path]) not in (key, changed)


def test_the_second_process_compiles_nothing(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", PLAY]
    for first in (True, False):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        misses, hits = map(int, done.stdout.split())
        assert (misses > 0, hits > 0) == (first, not first)


def test_every_kernel_is_where_the_key_looks() -> None:
    decorated = re.compile(r"^@(lean_)?kernel$", re.MULTILINE)
    folders = {file.parent for file in PACKAGE.rglob("*.py") if decorated.search(file.read_text())}
    assert PACKAGE / "solver" in folders
    assert folders <= set(kernel_folders())


def test_a_change_of_the_solver_compiles_anew_and_leaves_manifests_as_they_were(
    tmp_path: Path,
) -> None:
    shutil.copytree(PACKAGE, tmp_path / "magsim", ignore=shutil.ignore_patterns("__pycache__"))
    found = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", KEYS], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        found.append(done.stdout.splitlines())
        with (tmp_path / "magsim" / "solver" / "lines.py").open("a") as file:
            file.write("# changed\n")
    (cache, manifest), (cache_then, manifest_then) = found
    assert cache_then != cache
    assert manifest_then == manifest
