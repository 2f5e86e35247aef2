"""A process of its own for each thread of a cluster's worker: where bots play.

There a bot meets what it meets on one machine: a main thread that a signal reaches, an end of its
own when it hangs or crashes, and a worker that goes on.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from magsim.errors import MagsimError, first_line

_PROGRAM = "from magsim.cluster.child import serve; serve()"
_PATIENCE = 0.5
"""Seconds between two looks at whether anybody still waits for an answer."""
_IDLE = 60.0
"""Seconds without work after which a child ends, and gives its memory back."""


class Unwanted(Exception):
    """Nobody waits for the answer any more, or it took too long."""


class Child:
    """A process that does what it is told, one thing after another; it ends with this one.

    ``folder`` is for its notes.
    """

    def __init__(self) -> None:
        self._pipe, theirs = Pipe()
        self.folder = Path(tempfile.mkdtemp(prefix="magsim-"))
        number = theirs.fileno()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(number), str(os.getpid()), str(self.folder)],
            pass_fds=[number],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"PYTHONFAULTHANDLER": ""},
        )
        theirs.close()

    def is_there(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def call(
        self,
        work: Callable[..., Any],
        *words: Any,
        wanted: Callable[[], bool],
        told: Callable[[Any], object] = lambda _: None,
    ) -> Any:
        """What ``work`` returns there, of a function to tell something by and these words.

        What it tells meanwhile goes to ``told``; now and then it is asked whether the answer is
        still ``wanted``.

        Raises:
            EOFError: if the process ends before it answers.
            Unwanted: if the answer is not wanted any more; the process is still at it.
            MagsimError: if the work raises anything.
        """
        try:
            self._pipe.send((work, words))
            while True:
                while not self._pipe.poll(_PATIENCE):
                    if not wanted():
                        raise Unwanted
                kind, value = self._pipe.recv()
                if kind == "told":
                    told(value)
                elif kind == "raised":
                    raise value
                else:
                    return value
        except OSError as error:  # it ended while it was written to
            raise EOFError from error

    def end(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def within(seconds: float) -> Callable[[], bool]:
    """An answer is wanted for so long."""
    last = time.monotonic() + seconds
    return lambda: time.monotonic() < last


def serve() -> None:
    """Do in a child what its worker sends, until that is gone or has had nothing for a while."""
    from magsim.worker import set_up

    folder = Path(sys.argv[3])
    set_up(int(sys.argv[2]), folder)
    pipe = Connection(int(sys.argv[1]))

    def tell(value: object) -> None:
        pipe.send(("told", value))

    try:
        with contextlib.suppress(EOFError, OSError):  # the worker is gone
            while pipe.poll(_IDLE):
                pipe.send(_answer(tell, *pipe.recv()))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _answer(
    tell: Callable[[object], None], work: Callable[..., object], words: tuple[object, ...]
) -> tuple[str, object]:
    """What work returned or raised, as ``Child.call`` takes it."""
    try:
        return "done", work(tell, *words)
    except MagsimError as error:
        return "raised", error
    except Exception as error:
        traceback.print_exc()  # into the worker's log
        said = f"{type(error).__name__}: {first_line(error)}; the worker's log says more"
        return "raised", MagsimError(said)
