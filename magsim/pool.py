"""The pool of worker processes, through joblib: where games are played and parts are checked."""

import atexit
import contextlib
import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import wait
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from joblib import Parallel
from joblib.executor import get_memmapping_executor
from joblib.externals.loky import get_reusable_executor

from magsim import worker

Result = TypeVar("Result")

_PATIENCE = 0.2
"""Seconds; a wait without an end does not hear Ctrl-C once polars is loaded."""

# Without the tools that find a worker's own children, joblib ends the worker alone, and complains.
warnings.filterwarnings("ignore", message="Failed to kill subprocesses")


@cache
def notes() -> Path:
    """The folder in which worker processes note what they ask; it ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix="magsim-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _preparation() -> dict[str, Any]:
    """How a worker process is made ready."""
    os.environ.setdefault("PYTHONFAULTHANDLER", "")  # a crash is reported in a sentence, by us
    return {"initializer": worker.set_up, "initargs": (os.getpid(), notes())}


def parallel(jobs: int, tasks: Iterable[object]) -> Iterator[Any]:
    """Do joblib's delayed ``tasks`` in worker processes, ``jobs`` at a time; results as they come.

    joblib does a single job in this process, where a bot could not be ended; so one job is two
    workers with one task between them.
    """
    pool = Parallel(
        n_jobs=max(2, jobs),
        pre_dispatch=1 if jobs == 1 else 2 * jobs,
        batch_size=1,
        backend="loky",
        return_as="generator_unordered",
        **_preparation(),
    )
    with _interrupts_held_off():
        results: Iterator[Any] = pool(tasks)
    return results


def call_apart(work: Callable[[], Result]) -> Result:
    """Call a function in a single worker process, which stays for the next call.

    Whatever the function raises ends the process and is passed on, and so does Ctrl-C.

    Raises:
        TerminatedWorkerError: if the process ends before it answers.
    """
    # By way of joblib, which keeps count of the executor that this shares with ``parallel``.
    executor = get_memmapping_executor(1, **_preparation())
    try:
        with _interrupts_held_off():
            future = executor.submit(work)
        while not future.done():
            wait([future], timeout=_PATIENCE)
        answer: Result = future.result()
    except BaseException:
        executor.terminate(kill_workers=True)
        raise
    return answer


@contextlib.contextmanager
def _interrupts_held_off() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the body; processes that it starts never hear of it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def stop_workers() -> None:
    """End all worker processes at once."""
    get_reusable_executor().shutdown(wait=True, kill_workers=True)
