"""Where compiled kernels are cached, and the decorators that compile them.

numba's own cache notices a change in the file of a kernel, but not in a file whose kernels it
calls. So the cache is a folder keyed by numba's version and by all sources directly in this
package, in its solver and in every package that registers bots: any change there starts a fresh
folder.
"""

import hashlib
import importlib.util
import os
from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

import numba
import platformdirs

from magsim.errors import MagsimError

BOT_GROUP = "magsim.bots"

kernel = numba.njit(cache=True, nogil=True)
if TYPE_CHECKING:  # numba's stubs do not know the option
    lean_kernel = kernel
else:
    lean_kernel = numba.njit(cache=True, nogil=True, _nrt=False)
"""For kernels that make no arrays: numba does not count who holds those that they are given.

The caller holds them. Where kernels hand on tuples of many arrays, counting takes as long as the
work, and the counts are what threads then quarrel over.
"""


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


def kernel_folders() -> list[Path]:
    """The folders whose sources hold kernels, or what is compiled into them."""
    package = Path(__file__).parent
    bots = {package_folder(entry.module) for entry in entry_points(group=BOT_GROUP)}
    return [package, package / "solver", *sorted(bots)]


@cache
def cache_folder() -> Path:
    """The folder of this version's compiled kernels (in ``NUMBA_CACHE_DIR`` where that is set)."""
    root = os.environ.get("NUMBA_CACHE_DIR") or platformdirs.user_cache_path("magsim")
    return Path(root) / f"kernels-{source_key(kernel_folders())}"


numba.config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]  # numba makes it
