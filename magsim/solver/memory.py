"""How much memory and disk a solution takes, and how much there is."""

import os
import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from magsim.board import DICE
from magsim.errors import MagsimError
from magsim.solver.hands import COUNTS
from magsim.solver.limits import LIMITED
from magsim.solver.work import MOST_HELD

CLASS = 8 + 1 + 1
"""Bytes a class for its key and its share of the buckets, rounded up."""
_VALUE = 4
_BASE = 500 * 2**20
"""Bytes that the program takes with all its tables, and to spare."""
_SHARE = 0.85
"""The share of the available memory that is used."""
GIB = 2**30


def _left_to_groups() -> Iterator[int]:
    """What each group that this process is in may still take, without what files take up."""
    with suppress(OSError, ValueError):  # then there are no groups
        (line,) = (
            line
            for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
            if line.startswith("0::")
        )
        inner = Path("/sys/fs/cgroup") / line[3:].lstrip("/")
        for group in (inner, *inner.parents):
            with suppress(OSError, ValueError):  # then there is no limit
                most = int((group / "memory.max").read_text(encoding="ascii"))
                taken = int((group / "memory.current").read_text(encoding="ascii"))
                lines = (group / "memory.stat").read_text(encoding="ascii").splitlines()
                files = sum(int(line[14:]) for line in lines if line[:14] == "inactive_file ")
                yield most - taken + files


def available() -> int:
    """The bytes of memory that this process may take now, as far as the system tells."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with suppress(OSError, ValueError):  # then it is no Linux, and what there is in all counts
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found += [1024 * int(line.split()[1]) for line in lines if line[:13] == "MemAvailable:"]
    return int(_SHARE * min([*found, *_left_to_groups()]))


def _value_bytes(empty: int) -> int:
    """What a class takes at a level: its value, and its limit if it has one."""
    return _VALUE + (empty >= LIMITED)


def stored(counts: Mapping[int, int], layers: Iterable[int], levels: int) -> int:
    """The bytes of the values and limits of layers."""
    return sum(counts[empty] * levels * _value_bytes(empty) for empty in layers)


def needed(empty: int, held: int, counts: Mapping[int, int], levels: int) -> int:
    """The bytes that solving a layer takes.

    Args:
        empty: cells that are empty in its classes.
        held: dice held back.
        counts: how many classes there are, by empty cells.
        levels: of Powers left.
    """

    def classes(left: int) -> int:
        return counts.get(max(left, 0), 0)

    plain = sum(classes(empty - k) * (CLASS + _VALUE * levels) for k in range(1, DICE + 1))
    plain += classes(empty) * (CLASS + levels * _value_bytes(empty))
    last = empty - DICE + held
    vectors = [classes(last - k) * COUNTS[held - k] * levels * _VALUE for k in range(held)]
    ones = classes(last) * COUNTS[1] * levels * _VALUE if held > 1 else 0
    return _BASE + plain + sum(vectors) + ones


class Budget:
    """Memory that threads share for the classes with so many empty cells."""

    def __init__(self, empty: int, limit: int) -> None:
        self._empty = empty
        self._limit = limit
        self._taken = 0
        self._lock = threading.Lock()

    def take(self, wanted: int) -> None:
        """So many bytes more are needed from now on.

        Raises:
            MagsimError: if that is more than there are.
        """
        with self._lock:
            self._taken += wanted
            if self._taken > self._limit:
                raise MagsimError(
                    f"the classes with {self._empty} empty cells take more memory to find than "
                    f"the {self._limit / GIB:.1f} GiB that can be used here; "
                    "a small --max-empty takes less"
                )

    @contextmanager
    def taken(self, wanted: int) -> Iterator[None]:
        """So many bytes more are needed while the body runs.

        Raises:
            MagsimError: if that is more than there are.
        """
        self.take(wanted)
        try:
            yield
        finally:
            with self._lock:
                self._taken -= wanted


def dice_to_hold(
    counts: Mapping[int, int], layers: Sequence[int], levels: int, limit: int
) -> dict[int, int]:
    """For each layer how many dice are to be held back: as many as the memory allows.

    Raises:
        MagsimError: if a layer does not fit even with none.
    """
    plan = {}
    for empty in layers:
        fitting = [
            held
            for held in range(MOST_HELD, -1, -1)
            if needed(empty, held, counts, levels) <= limit
        ]
        if not fitting:
            least = needed(empty, 0, counts, levels) / GIB
            less = f"; --max-empty {empty - 1} takes less" if empty > 1 else ""
            raise MagsimError(
                f"boards with {empty} empty cells ({counts[empty]:,} classes) take {least:.1f} GiB "
                f"of memory to solve, {limit / GIB:.1f} GiB can be used here{less}"
            )
        plan[empty] = fitting[0]
    return plan


def _size(count: int) -> str:
    """Bytes in words."""
    return f"{count / GIB:.1f} GiB" if count >= GIB else f"{count / 2**20:.1f} MiB"


def check_disk(folder: Path, wanted: int) -> None:
    """See to it that so many bytes more can be written.

    Raises:
        MagsimError: if there is too little space.
    """
    free = shutil.disk_usage(folder).free
    if free < wanted:
        raise MagsimError(
            f"the solution takes {_size(wanted)} more in {folder}, where {_size(free)} are free; "
            "MAGSIM_SOLUTIONS names another folder"
        )
