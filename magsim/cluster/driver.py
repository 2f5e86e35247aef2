"""A cluster of dask as the crew of a run: connecting, seeing to the workers, losing them.

Chunks go out through joblib, a few more than there are threads; what comes back is written by the
run's own process, so that nobody needs a shared disk.
"""

import contextlib
import logging
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from uuid import uuid4

from joblib import Parallel, delayed
from joblib._dask import DaskDistributedBackend

from magsim.cluster import remote
from magsim.crew import ROOM, Crew, UnderWay
from magsim.entrants import Entrant, needed_kernels
from magsim.errors import Lost, MagsimError
from magsim.rules import Rules
from magsim.worker import Chunk, Done

_WAIT = 10
"""Seconds to find the scheduler, and a worker."""
_LOOK = 2.0
"""Seconds between two looks at how many workers there are."""


class _Backend(DaskDistributedBackend):  # type: ignore[misc]  # joblib has no types
    """joblib's, but for a cluster of one thread: what has one job, joblib would do here."""

    def effective_n_jobs(self, n_jobs: int) -> int:
        """How many tasks joblib believes to be done at a time."""
        threads: int = super().effective_n_jobs(n_jobs)
        return max(2, threads)


class Cluster(Crew):
    """The workers of the dask scheduler at an address, such as ``tcp://host:8786``.

    Raises:
        MagsimError: if dask is not installed, or no scheduler answers, or it has no worker.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise MagsimError(
                f"--backend dask: dask is not installed ({error}); pip install 'magsim[dask]'"
            ) from error
        self._address = address
        _silence()
        try:
            self._client = Client(address, timeout=_WAIT, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise MagsimError(f"--scheduler {address}: no scheduler answers ({reason})") from error
        self._threads = 0
        self._stopped = threading.Event()
        try:
            self._client.wait_for_workers(1, timeout=_WAIT)
        except TimeoutError as error:
            self.stop()
            raise MagsimError(
                f"--scheduler {address}: it has no workers; start some by `dask worker {address}`"
            ) from error
        threading.Thread(target=self._look_after, daemon=True).start()

    def prepare(self, entrants: list[Entrant], rules: Rules) -> None:
        """See that every worker has the same magsim and these bots, and say who must compile."""
        bots = [(entry.bot.spec, entry.source, entry.fingerprint) for entry in entrants]
        self._examine(remote.Needs(remote.versions(), bots, list(needed_kernels(entrants, rules))))

    def play(self, chunks: Iterator[Chunk], wanted: Callable[[Chunk], bool]) -> Iterator[Done]:
        """Play chunks on the workers; a new round begins where their number has changed."""
        versions = remote.versions()
        for first in chunks:
            self._wait_for_workers()
            threads = self._threads
            under_way = UnderWay(
                first,
                chunks,
                wanted,
                lambda count: count < ROOM * threads and threads == self._threads,  # noqa: B023 - of this round
            )
            tasks = (delayed(remote.play_chunk)(chunk, versions) for chunk in under_way)
            for done in self._results(tasks, 2 * threads):
                yield under_way.back(done)

    def learn(
        self,
        entrant: Entrant,
        every: list[Rules],
        seed: int,
        games: int,
        told: Callable[[str, int], object],
    ) -> Iterator[tuple[str, bytes]]:
        """What a bot learns of rules, each on a worker: their names and what was learned.

        ``told`` is called with the name of rules and how many games are done.

        Raises:
            MagsimError: if the bot fails at it, or the cluster is lost.
        """
        bots = [(entrant.bot.spec, entrant.source, entrant.fingerprint)]
        self._examine(remote.Needs(remote.versions(), bots, []))
        topic = f"magsim-{uuid4().hex}"
        self._client.subscribe_topic(topic, lambda event: told(*event[1]))
        self._wait_for_workers()
        source = entrant.source
        tasks = (delayed(remote.learn)(topic, source, rules, seed, games) for rules in every)
        yield from self._results(tasks, len(every))
        self._client.unsubscribe_topic(topic)

    def stop(self) -> None:
        """Leave the cluster; what is under way there comes to nothing."""
        self._stopped.set()
        with contextlib.suppress(Exception):  # it may be gone
            self._client.close(timeout=_WAIT)

    def _results(self, tasks: Iterable[object], ahead: int) -> Iterator[Any]:
        """What tasks give, as they get done, so many of them submitted ``ahead``.

        Raises:
            Lost: if the cluster is.
            MagsimError: if a task raises it, or a worker is not fit.
        """
        try:
            pool = Parallel(
                backend=_Backend(client=self._client),
                n_jobs=-1,
                pre_dispatch=ahead,
                batch_size=1,
                return_as="generator_unordered",
            )
            yield from pool(tasks)
        except (MagsimError, GeneratorExit):
            raise
        except Exception as error:
            raise self._why(error) from error

    def _why(self, error: Exception) -> Exception:
        """What is to be said of an exception that is not of a task's own making."""
        from distributed import KilledWorker

        if self._client.status != "running":
            return Lost(f"the scheduler at {self._address} is lost")
        if isinstance(error, KilledWorker):
            times = error.allowed_failures + 1
            last = error.last_worker.address
            return Lost(
                f"{times} workers ended, one after the other, with the same games; the last one "
                f"was {last}, and its log may say why, as when memory ran out"
            )
        try:
            self._examine(remote.Needs(remote.versions(), [], []))
        except MagsimError as unfit:
            return unfit
        return error

    def _examine(self, needs: remote.Needs) -> None:
        """Have every worker see whether it is fit.

        Raises:
            MagsimError: if one is not, by its address.
            Lost: if the scheduler is.
        """
        try:
            found = self._client.run(remote.examine, needs, on_error="return")
        except Exception as error:
            if self._client.status != "running":
                raise Lost(f"the scheduler at {self._address} is lost") from error
            raise
        cold = 0
        for address, answer in sorted(found.items()):
            if isinstance(answer, ModuleNotFoundError):
                problem = f"{answer}; install magsim there, of the version that is here"
                raise MagsimError(f"worker {address} is not fit to play: {problem}")
            if isinstance(answer, Exception):
                raise MagsimError(f"worker {address} is not fit to play: {answer!r}")
            if answer.problem:
                raise MagsimError(f"worker {address} is not fit to play: {answer.problem}")
            cold += answer.cold
        if cold:
            print(f"Compiling on {cold} workers, this once ...", file=sys.stderr)

    def _wait_for_workers(self) -> None:
        """Wait until there is a worker, and see how many threads there are."""
        self._client.wait_for_workers(1)
        self._threads = sum(self._client.ncores().values())

    def _look_after(self) -> None:
        """Keep an eye on the workers, and say so when none is left."""
        from tqdm import tqdm

        while not self._stopped.wait(_LOOK):
            with contextlib.suppress(Exception):  # whoever plays hears of it
                threads = sum(self._client.ncores().values())
                if not threads and self._threads:
                    tqdm.write("No worker is left; waiting for one.", file=sys.stderr)
                self._threads = threads


def _silence() -> None:
    """Let dask keep to itself what this module says in a sentence."""
    for name in list(logging.root.manager.loggerDict):
        if name.startswith(("distributed", "tornado", "asyncio")):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", module="distributed")
