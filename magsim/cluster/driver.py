"""A cluster of dask as the crew of a run: connecting, seeing to the workers, losing them.

Chunks go out through joblib, a few more than there are threads; what comes back is written by the
run's own process, so that nobody needs a shared disk.
"""

import asyncio
import contextlib
import logging
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any
from uuid import uuid4

from joblib import Parallel, delayed
from joblib._dask import DaskDistributedBackend

from magsim.cluster import remote
from magsim.crew import ROOM, Crew, UnderWay
from magsim.entrants import Entrant, needed_kernels
from magsim.errors import Lost, MagsimError, first_line
from magsim.rules import Rules
from magsim.worker import Chunk, Done, Kernels

_WAIT = 10
"""Seconds to find the scheduler, and a worker."""
_LOOK = 2.0
"""Seconds between two looks at how many workers there are."""


class _Backend(DaskDistributedBackend):  # type: ignore[misc]  # joblib has no types
    """joblib's, mended where it would play here, and where it would wait for ever."""

    def effective_n_jobs(self, n_jobs: int) -> int:
        """How many tasks joblib believes to be done at a time; what has one job, it does here."""
        threads: int = super().effective_n_jobs(n_jobs)
        return max(2, threads)

    def submit(self, func: object, callback: Callable[[object], None]) -> Future[Any]:
        """Hand out a task, and hear of it also when it could not be run at all."""

        def heard(future: Future[Any]) -> None:
            error = future.exception()
            if error:
                callback(error)

        handed: Future[Any] = super().submit(func, callback)
        handed.add_done_callback(heard)
        return handed


class Cluster(Crew):
    """The workers of the dask scheduler at an address, such as ``tcp://host:8786``.

    A bot may take ``time_limit`` seconds to be imported there.

    Raises:
        MagsimError: if dask is not installed, or no scheduler answers, or it has no worker.
    """

    def __init__(self, address: str, time_limit: float) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise MagsimError(
                f"--backend dask: dask is not installed ({error}); pip install 'magsim[dask]'"
            ) from error
        self._address = address
        self._time_limit = time_limit
        self._order = remote.Order(f"magsim-{uuid4().hex}", remote.versions())
        self._threads = 0
        self._stopped = threading.Event()
        _silence()
        try:
            asyncio.run(asyncio.wait_for(_knock(address), _WAIT))
            self._client = Client(address, timeout=_WAIT, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            reason = first_line(error) or f"nothing was heard within {_WAIT} s"
            raise MagsimError(
                f"--scheduler {address!r}: no scheduler answers there ({reason}); its address is "
                "to be like tcp://host:8786"
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=_WAIT)
        except TimeoutError as error:
            self.stop()
            raise MagsimError(
                f"--scheduler {address!r}: it has no workers; start some by `dask worker {address}`"
            ) from error
        threading.Thread(target=self._look_after, daemon=True).start()

    def prepare(self, entrants: list[Entrant], rules: Rules) -> None:
        """See that every worker has the same magsim and these bots, and say who must compile."""
        self._examine(entrants, list(needed_kernels(entrants, rules)))

    def play(self, chunks: Iterator[Chunk], wanted: Callable[[Chunk], bool]) -> Iterator[Done]:
        """Play chunks on the workers; a new round begins when there are more of them."""
        for first in chunks:
            yield from self._round(first, chunks, wanted)

    def _round(
        self, first: Chunk, rest: Iterator[Chunk], wanted: Callable[[Chunk], bool]
    ) -> Iterator[Done]:
        threads = self._wait_for_workers()

        def go_on(count: int) -> bool:
            return count < ROOM * threads and self._threads <= threads

        under_way = UnderWay(first, rest, wanted, go_on)
        tasks = (delayed(remote.play_chunk)(chunk, self._order) for chunk in under_way)
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
        self._examine([entrant], [])
        self._client.subscribe_topic(self._order.key, lambda event: told(*event[1]))
        self._wait_for_workers()
        bot = entrant.source, entrant.fingerprint
        tasks = (delayed(remote.learn)(self._order, *bot, rules, seed, games) for rules in every)
        yield from self._results(tasks, len(every))

    def stop(self) -> None:
        """Leave the cluster; workers drop what they are at."""
        self._stopped.set()
        with contextlib.suppress(Exception):  # it may be gone
            self._client.close(timeout=_WAIT)

    def _results(self, tasks: Iterable[object], ahead: int) -> Iterator[Any]:
        """What tasks give, as they get done, so many of them submitted ``ahead``.

        Raises:
            Lost: if the cluster is.
            MagsimError: if a task raises it, or a worker is not fit.
        """
        with self._trouble_told():
            pool = Parallel(
                backend=_Backend(client=self._client),
                n_jobs=-1,
                pre_dispatch=ahead,
                batch_size=1,
                return_as="generator_unordered",
            )
            yield from pool(tasks)

    @contextlib.contextmanager
    def _trouble_told(self) -> Iterator[None]:
        """Tell in a sentence what goes wrong with the cluster.

        Raises:
            Lost: if the cluster is.
            MagsimError: if a task raises it, a worker is not fit, or anything else goes wrong.
        """
        from distributed import KilledWorker

        try:
            yield
        except MagsimError:
            raise
        except KilledWorker as error:
            self._examine([], [])  # a worker that cannot read what it is given ends, too
            times, last = error.allowed_failures + 1, error.last_worker.address
            raise Lost(
                f"{times} workers ended, one after the other, with the same games; the last one "
                f"was {last}, and its log may say why, as when memory ran out"
            ) from error
        except Exception as error:
            if self._client.status != "running":
                raise Lost(f"the scheduler at {self._address} is lost") from error
            self._examine([], [])  # a worker that joined late may be the reason
            what = f"{type(error).__name__}: {first_line(error)}"
            raise Lost(f"the cluster at {self._address} is in trouble ({what})") from error

    def _examine(self, entrants: list[Entrant], kernels: list[Kernels]) -> None:
        """Have every worker see whether it is fit; those that are gone meanwhile do not count.

        Raises:
            MagsimError: if one is not, by its address.
            Lost: if the scheduler is.
        """
        bots = [(entry.bot.spec, entry.source, entry.fingerprint) for entry in entrants]
        needs = remote.Needs(self._order.versions, bots, kernels, self._time_limit)
        try:
            found = self._client.run(remote.examine, needs, on_error="return")
        except Exception as error:
            raise Lost(f"the cluster at {self._address} is lost ({first_line(error)})") from error
        cold = 0
        for address, answer in sorted(found.items()):
            if isinstance(answer, OSError):
                continue
            problem = answer.problem if isinstance(answer, remote.Found) else repr(answer)
            if isinstance(answer, ModuleNotFoundError):
                problem = f"{answer}; install magsim there, of the version that is here"
            if problem:
                raise MagsimError(f"worker {address} is not fit to play: {problem}")
            cold += answer.cold
        if cold:
            these = "1 worker" if cold == 1 else f"{cold} workers"
            print(f"Compiling on {these}, this once; then games begin ...", file=sys.stderr)

    def _wait_for_workers(self) -> int:
        """Wait until there is a worker; how many threads there are."""
        with self._trouble_told():
            self._client.wait_for_workers(1)
            self._threads = sum(self._client.ncores().values())
        return self._threads

    def _look_after(self) -> None:
        """Keep an eye on the workers, and say so when none is left."""
        from tqdm import tqdm

        while not self._stopped.wait(_LOOK):
            with contextlib.suppress(Exception):  # whoever plays hears of it
                threads = sum(self._client.ncores().values())
                if not threads and self._threads:
                    tqdm.write("No worker is left; waiting for one.", file=sys.stderr)
                self._threads = threads


async def _knock(address: str) -> None:
    """See that somebody at an address speaks dask's language: its client waits for whoever listens.

    Raises:
        OSError: if nobody does.
        ValueError, TypeError: if the address is none, or its kind needs what is not configured.
    """
    from distributed.comm.core import connect
    from distributed.security import Security

    comm = await connect(address, timeout=_WAIT, **Security().get_connection_args("client"))
    comm.abort()


def _silence() -> None:
    """Let dask keep to itself what this module says in a sentence."""
    for name in list(logging.root.manager.loggerDict):
        if name.startswith(("distributed", "tornado", "asyncio")):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", module="distributed")
