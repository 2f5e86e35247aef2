"""The pool of worker processes, through joblib: where games are played and parts are checked."""

import os
import warnings

from joblib import Parallel
from joblib.externals.loky import get_reusable_executor

from magsim import worker

# Without the tools that find a worker's own children, joblib ends the worker alone, and complains.
warnings.filterwarnings("ignore", message="Failed to kill subprocesses")


def parallel(jobs: int) -> Parallel:
    """Return joblib's process pool for ``jobs`` tasks at a time, results as they come.

    joblib plays a single job in this process, where a bot could not be ended; so one job is two
    workers with one task between them.
    """
    os.environ.setdefault("PYTHONFAULTHANDLER", "")  # a crash is reported in a sentence, by us
    return Parallel(
        n_jobs=max(2, jobs),
        pre_dispatch=1 if jobs == 1 else 2 * jobs,
        batch_size=1,
        backend="loky",
        return_as="generator_unordered",
        initializer=worker.set_up,
        initargs=(os.getpid(),),
    )


def stop_workers() -> None:
    """End all worker processes at once."""
    get_reusable_executor().shutdown(wait=True, kill_workers=True)
