"""Asking a bot within a time limit, and leaving word of what is being asked.

A bot is foreign code: it may raise, loop or take the process down. A decision that takes too long
is interrupted by a signal; a kernel that no signal reaches is ended with its process by a watchdog
thread. What was asked last is kept in a small file, so that whoever finds the process dead can say
where. This module knows nothing of rules or records.
"""

import faulthandler
import math
import mmap
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

GRACE = 3.0
"""Seconds between the signal and the end of the process."""

LOADING = 20.0
"""Seconds that a first answer may take in any case if compiled code must be loaded for it."""


class TimeUp(BaseException):
    """Raised inside a bot whose time is up; no ``except Exception`` of the bot's swallows it."""


def _raise_time_up(_signal: int, _frame: FrameType | None) -> None:
    raise TimeUp


class Asked(NamedTuple):
    """The first position of the batch that a bot was asked last.

    ``batch`` is the batch's length, ``at`` the time in Unix milliseconds.
    """

    game: int
    turn: int
    board: int
    hand: int
    powers_left: int
    batch: int
    at: int


class Watch:
    """Limits what runs ``within`` it to ``seconds``, and notes in ``note`` what is asked.

    Signals reach a process's main thread only; elsewhere nothing is limited, nor is it by infinite
    seconds.
    """

    def __init__(self, seconds: float, note: Path | None = None) -> None:
        self.seconds = seconds
        on_main = threading.current_thread() is threading.main_thread()
        self._active = on_main and math.isfinite(seconds)
        self._armed_at = -GRACE
        self._note = _open_note(note) if note else None
        if self._active:
            signal.signal(signal.SIGALRM, _raise_time_up)

    @contextmanager
    def within(self, asked: Asked, loading: bool = False) -> Iterator[None]:
        """Run the body within the limit; with ``loading`` within ``LOADING`` seconds at least.

        Raises:
            TimeUp: in the body, when the time is up.
        """
        if self._note:
            line = b"%d %d %d %d %d %d %d\n" % asked
            self._note[: len(line)] = line
        if not self._active:
            yield
            return
        seconds = max(self.seconds, LOADING) if loading else self.seconds
        self._arm_watchdog(seconds)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _arm_watchdog(self, seconds: float) -> None:
        # Arming starts a thread, too dear for every decision; within a second the last one serves.
        now = time.monotonic()
        if now - self._armed_at > 1:
            faulthandler.dump_traceback_later(seconds + GRACE, exit=True, file=_nowhere())
            self._armed_at = now

    def disarm(self) -> None:
        """Call the watchdog off until something is asked again."""
        faulthandler.cancel_dump_traceback_later()
        self._armed_at = -GRACE

    def close(self) -> None:
        """Call the watchdog off and let go of the note."""
        self.disarm()
        if self._note:
            self._note.close()


def _open_note(path: Path) -> mmap.mmap:
    path.write_bytes(b" " * mmap.PAGESIZE)
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), mmap.PAGESIZE)


_NOWHERE: list[int] = []


def _nowhere() -> int:
    if not _NOWHERE:
        _NOWHERE.append(os.open(os.devnull, os.O_WRONLY))
    return _NOWHERE[0]


def read_note(path: Path) -> Asked | None:
    """What a dead process asked last, None if it had not asked yet."""
    try:
        words = path.read_bytes().partition(b"\n")[0].split()
    except FileNotFoundError:
        return None
    return Asked(*map(int, words)) if len(words) == len(Asked._fields) else None
