"""A process of its own for each thread of a cluster's worker: where bots play.

There a bot meets what it meets on one machine: a main thread that a signal reaches, an end of its
own when it hangs or crashes, and a worker that goes on.
"""

import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from magsim.errors import MagsimError

_PROGRAM = "from magsim.cluster.child import serve; serve()"


class Child:
    """A process that does what it is told, one thing after another; it ends with this one.

    ``folder`` is for its notes.
    """

    def __init__(self) -> None:
        self._pipe, theirs = Pipe()
        self._folder = tempfile.TemporaryDirectory(prefix="magsim-")
        self.folder = Path(self._folder.name)
        number = theirs.fileno()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(number), str(os.getpid())],
            pass_fds=[number],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"PYTHONFAULTHANDLER": ""},
        )
        theirs.close()

    def call(
        self, work: Callable[..., Any], *words: Any, told: Callable[[Any], object] = print
    ) -> Any:
        """What ``work`` returns there, of a function to tell something by and these words.

        What it tells meanwhile goes to ``told``.

        Raises:
            EOFError: if the process ends before it answers.
            MagsimError: if the work raises it.
            RuntimeError: if the work raises anything else; it holds the traceback.
        """
        try:
            self._pipe.send((work, words))
            while True:
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
        self._folder.cleanup()


def serve() -> None:
    """Do in a child what its worker sends, until that is gone."""
    from magsim.worker import set_up

    set_up(int(sys.argv[2]))
    pipe = Connection(int(sys.argv[1]))

    def tell(value: object) -> None:
        pipe.send(("told", value))

    while True:
        try:
            work, words = pipe.recv()
        except EOFError:
            return
        try:
            answer = "done", work(tell, *words)
        except MagsimError as error:
            answer = "raised", error
        except Exception:
            answer = "raised", RuntimeError(traceback.format_exc())
        pipe.send(answer)
