"""Where compiled kernels are cached, and the one decorator that compiles them.

numba's own cache notices a change in the file of a kernel, but not in a file whose kernels it
calls. So the cache is a folder keyed by numba's version and by all sources of this package and of
every package that registers bots: any change there starts a fresh folder.
"""

import hashlib
import importlib.util
import os
from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import numba
import platformdirs

BOT_GROUP = "magsim.bots"

kernel = numba.njit(cache=True, nogil=True)


def source_key(folders: Iterable[Path]) -> str:
    """16 hex digits over numba's version and every Python source directly in ``folders``."""
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in folders:
        for file in sorted(folder.glob("*.py")):
            digest.update(f"\0{file.name}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _bot_folders() -> list[Path]:
    """The folders of the modules that register bots, found without importing them."""
    folders = set()
    for entry in entry_points(group=BOT_GROUP):
        package = importlib.util.find_spec(entry.module.partition(".")[0])
        if package is not None and package.origin is not None:
            folders.add(Path(package.origin).parent)
    return sorted(folders)


@cache
def cache_folder() -> Path:
    """The folder of this version's compiled kernels (in ``NUMBA_CACHE_DIR`` where that is set)."""
    root = os.environ.get("NUMBA_CACHE_DIR") or platformdirs.user_cache_path("magsim")
    return Path(root) / f"kernels-{source_key([Path(__file__).parent, *_bot_folders()])}"


numba.config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]
