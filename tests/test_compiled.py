"""The cache of compiled kernels: keyed by all sources, filled once."""

import os
import subprocess
import sys
from pathlib import Path

from magsim.compiled import source_key

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
