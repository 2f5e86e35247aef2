"""Compiling the kernels of the solver before they are needed, and saying so."""

import contextlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numba
import numpy as np

from magsim.compiled import cache_folder
from magsim.errors import MagsimError
from magsim.rules import PEACEFUL
from magsim.solver.fillings import all_classes
from magsim.solver.memory import GIB, Budget
from magsim.solver.stakes import stakes_of
from magsim.solver.values import solve_layer
from magsim.solver.work import MOST_HELD, tables_of

_EMPTY = 3
"""With so few empty cells every kernel has its turn."""


def _use_all() -> None:
    """Solve rules with few classes, for boards with few empty cells."""
    rules = replace(PEACEFUL, max_difference=0, straight=0, four=0, two_pairs=0)
    tables, stakes = tables_of(rules), stakes_of([rules])
    masks, lines, _ = tables
    with ThreadPoolExecutor(1) as threads:
        layers = {
            empty: all_classes(empty, masks, lines, threads, Budget(empty, GIB))
            for empty in range(_EMPTY + 1)
        }
        values = {0: np.zeros((1, len(stakes.base)), np.int32)}
        for empty in range(1, _EMPTY + 1):
            below = layers, values, tables, stakes, threads
            values[empty] = solve_layer(empty, MOST_HELD, *below)


def check_compiler() -> None:
    """See to it that kernels are compiled: words of classes take all 64 bits, and wrap around.

    Raises:
        MagsimError: if the compiler is switched off.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        raise MagsimError("perfect play needs compiled kernels: unset NUMBA_DISABLE_JIT")


def compile_kernels() -> None:
    """Compile what is not in the cache yet, and say on standard error how long it took.

    Raises:
        MagsimError: if the compiler is switched off.
    """
    check_compiler()
    marker = cache_folder() / "solver.compiled"
    if marker.exists():
        return
    print("Compiling the solver, this once ...", file=sys.stderr)
    started = time.perf_counter()
    _use_all()
    print(f"Compiled the solver in {time.perf_counter() - started:.1f} s.", file=sys.stderr)
    with contextlib.suppress(OSError):  # then the next time says so again
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
