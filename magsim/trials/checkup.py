"""Checks of a bot before it is trusted: one finding each, in the order in which they are made.

They play the bot as tournaments do and look at it closer than a referee can: the same games again,
in another order, with other dice to come, and what the bot left behind. All of it happens in one
worker process, a call a check, so that a bot that takes it down is caught at that.
"""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from joblib.externals.loky.process_executor import TerminatedWorkerError

from magsim.entrants import compile_kernels, enter
from magsim.errors import MagsimError
from magsim.pool import call_apart, stop_workers
from magsim.registry import split_spec
from magsim.trials.checks import CHECKS, FIRST, Finding, run_check
from magsim.trials.sample import Checkup

__all__ = ["Checkup", "Finding", "checks", "run_check"]


def checks(checkup: Checkup) -> Iterator[tuple[str, Finding]]:
    """Make all checks, each in a worker process; Ctrl-C ends it and is passed on.

    Raises:
        MagsimError: if there is no such bot.
    """
    try:
        compile_kernels(enter(checkup.source, checkup.time_limit), checkup.rules[0])
    except MagsimError as error:
        if not Path(split_spec(checkup.source)[0]).is_file():
            raise
        yield "loads", Finding(False, str(error))
        return
    try:
        for name in CHECKS:
            finding = _apart(checkup, name)
            yield name, finding
            if name in FIRST and not finding.passed:
                return
    finally:
        stop_workers()


def _apart(checkup: Checkup, name: str) -> Finding:
    started = time.monotonic()
    try:
        return call_apart(partial(run_check, checkup, name))
    except TerminatedWorkerError:
        late = time.monotonic() - started >= checkup.time_limit
        hung = f"gave no answer within {checkup.time_limit:g} s and could not be interrupted"
        return Finding(False, f"bot {checkup.source} {hung if late else 'took its process down'}")
