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

from magsim.errors import MagsimError

BOT_GROUP = "magsim.bots"

kernel = numba.njit(cache=True, nogil=True)


def source_key(folders: Iterable[Path]) -> str:
    """16 hex digits over numba's version and every Python source directly in ``folders``."""
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in folders:
        for file in sorted(folder.glob("*.py")):
            digest.update(f"\0{file.name}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def package_folder(module: str) -> Path:
    """The folder of the top-level package or module that a module is in, not importing it.

    Raises:
        MagsimError: if it is not there.
    """
    name = module.partition(".")[0]
    try:
        package = importlib.util.find_spec(name)
    except ValueError:  # a module made by hand, of no file
        package = None
    if package is None or package.origin is None:
        raise MagsimError(f"package {name!r} registers bots and is not there; install it again")
    return Path(package.origin).parent


@cache
def cache_folder() -> Path:
    """The folder of this version's compiled kernels (in ``NUMBA_CACHE_DIR`` where that is set)."""
    root = os.environ.get("NUMBA_CACHE_DIR") or platformdirs.user_cache_path("magsim")
    bots = {package_folder(entry.module) for entry in entry_points(group=BOT_GROUP)}
    return Path(root) / f"kernels-{source_key([Path(__file__).parent, *sorted(bots)])}"


numba.config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]
