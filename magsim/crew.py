"""Who plays the chunks of a run: worker processes of this machine, or those of somebody else.

Whoever it is hands back the bytes of parts; the run's own process writes them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import chain

from joblib import delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from magsim import worker
from magsim.asking import read_note
from magsim.entrants import Entrant, compile_kernels
from magsim.pool import notes, parallel, stop_workers
from magsim.referee import describe_death
from magsim.rules import Rules
from magsim.worker import Chunk, Done

ROOM = 8
"""Chunks handed out and not yet taken back, for each that can be played at a time."""


class UnderWay:
    """Chunks as they are handed out, those of a round; ``chunks`` are those not yet taken back.

    A round ends early where so many are under way that results wait to be written: nobody holds
    back who plays, so that memory would fill.
    """

    def __init__(
        self,
        first: Chunk,
        rest: Iterator[Chunk],
        wanted: Callable[[Chunk], bool],
        go_on: Callable[[int], bool],
    ) -> None:
        self._source = chain([first], rest)
        self._wanted = wanted
        self._go_on = go_on
        self.chunks: dict[Chunk, None] = {}

    def __iter__(self) -> Iterator[Chunk]:
        for chunk in self._source:
            if self._wanted(chunk):
                self.chunks[chunk] = None
                yield chunk
            if not self._go_on(len(self.chunks)):
                return

    def back(self, done: Done) -> Done:
        """Take a chunk back."""
        del self.chunks[done.chunk]
        return done


class Crew(ABC):
    """Workers that play chunks."""

    @abstractmethod
    def prepare(self, entrants: list[Entrant], rules: Rules) -> None:
        """See that all who play can play these bots, and say so if they must compile first.

        ``rules`` are some that they are going to be played by.

        Raises:
            MagsimError: if something of it is missing.
        """

    @abstractmethod
    def play(self, chunks: Iterator[Chunk], wanted: Callable[[Chunk], bool]) -> Iterator[Done]:
        """Play chunks as far as they are ``wanted`` when their turn comes; as they get done.

        Raises:
            MagsimError: if a bot, or what it relies on, is not what the run was planned with.
        """

    @abstractmethod
    def stop(self) -> None:
        """End what is under way, and let go of the workers."""


class Processes(Crew):
    """Worker processes of this machine, ``jobs`` at work at a time; they stay if they are kept."""

    def __init__(self, jobs: int, keep: bool = False) -> None:
        self._jobs = jobs
        self._keep = keep

    def prepare(self, entrants: list[Entrant], rules: Rules) -> None:
        """Compile what is not in the cache yet."""
        compile_kernels(entrants, rules)

    def play(self, chunks: Iterator[Chunk], wanted: Callable[[Chunk], bool]) -> Iterator[Done]:
        """Play chunks; when a process dies, play those under way one by one to find out why."""
        room, folder = ROOM * self._jobs, notes()
        for first in chunks:
            under_way = UnderWay(first, chunks, wanted, lambda count: count < room)
            try:
                tasks = (delayed(worker.play_chunk)(chunk, folder) for chunk in under_way)
                for done in parallel(self._jobs, tasks):
                    yield under_way.back(done)
            except TerminatedWorkerError:
                for chunk in filter(wanted, under_way.chunks):
                    yield _play_alone(chunk)

    def stop(self) -> None:
        """End the processes, unless they are kept."""
        if not self._keep:
            stop_workers()


def _play_alone(chunk: Chunk) -> Done:
    try:
        (done,) = parallel(1, [delayed(worker.play_chunk)(chunk, notes())])
    except TerminatedWorkerError:
        asked = read_note(chunk.note(notes()))
        return Done(chunk, fault=describe_death(chunk.bot, chunk.rules, asked, chunk.time_limit))
    assert isinstance(done, Done)
    return done
