"""What runs on a worker of a cluster: seeing whether it is fit, playing a chunk, learning.

Only references to these functions travel, and what they are to do; code and tables are those that
are installed there.
"""

import asyncio
import contextlib
import fcntl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from magsim.asking import read_note
from magsim.cluster.child import Child, Unwanted, within
from magsim.errors import MagsimError
from magsim.rules import Rules
from magsim.worker import Chunk, Done, Kernels

_own = threading.local()

TELL_SECONDS = 0.5
"""How often learning is heard of."""
START_SECONDS = 60.0
"""What a process may take to start, beside the time limit of each bot."""

Tell = Callable[[object], None]


class Order(NamedTuple):
    """What all of a run's tasks share: its key, and the versions that its bytes depend on.

    A process that bots played in serves one run: the next may be of other sources.
    """

    key: str
    versions: dict[str, str]


class Needs(NamedTuple):
    """What a worker must have: versions by name; of each bot spec, source and fingerprint.

    A bot may take ``seconds`` to be imported.
    """

    versions: dict[str, str]
    bots: list[tuple[str, str, str]]
    kernels: list[Kernels]
    seconds: float


class Found(NamedTuple):
    """Why a worker is not fit to play, if it is not; whether it must compile first."""

    problem: str | None
    cold: bool


@cache
def versions() -> dict[str, str]:
    """The versions, here, that the bytes of records depend on."""
    from magsim.manifest import current_versions

    return current_versions() | {"polars": version("polars")}


async def examine(needs: Needs) -> Found:
    """See whether this worker is fit to play, in a process of its own; the worker goes on."""
    return await asyncio.to_thread(_examined, needs)


def _examined(needs: Needs) -> Found:
    child = Child()
    seconds = START_SECONDS + needs.seconds * len(needs.bots)
    try:
        return Found(*child.call(_examine, needs, wanted=within(seconds)))
    except EOFError:
        return Found("a process of its own ended while it loaded the bots", False)
    except Unwanted:
        return Found(f"a process of its own did not load the bots within {seconds:g} s", False)
    except MagsimError as error:
        return Found(str(error), False)
    finally:
        child.end()


def _examine(_tell: Tell, needs: Needs) -> Found:
    from magsim.registry import fingerprint
    from magsim.worker import marker, try_bot

    _check_versions(needs.versions)
    for spec, source, wanted in needs.bots:
        problem = try_bot(source, needs.seconds)
        if problem:
            return Found(f"bot {spec} is not there: {problem}", False)
        if fingerprint(source) != wanted:
            return Found(f"bot {spec} is another one there ({fingerprint(source)})", False)
    return Found(None, not all(marker(k.name, k.version).exists() for k in needs.kernels))


def _check_versions(wanted: dict[str, str]) -> None:
    """See that nothing is of another version here.

    Raises:
        MagsimError: if something is.
    """
    here = versions()
    for name, text in wanted.items():
        if here.get(name) != text:
            there = here.get(name, "none")
            raise MagsimError(f"{name} is {there} there, {text} here; install the same there")


def play_chunk(chunk: Chunk, order: Order) -> Done:
    """Play a chunk in the process of this thread; who ends that process twice is at fault.

    Raises:
        MagsimError: if something of it is missing here; it names the worker.
    """
    from magsim.referee import describe_death

    with _as_worker() as wanted:
        try:
            _child(order).call(_get_ready, chunk, order, wanted=wanted)
        except EOFError:  # playing will say where
            _let_go()
        for _ in range(2):
            child = _child(order)
            try:
                done: Done = child.call(_play, chunk, child.folder, wanted=wanted)
                return done
            except EOFError:
                asked = read_note(chunk.note(child.folder))
                _let_go()
    fault = describe_death(chunk.bot, chunk.rules, asked, chunk.time_limit)
    return Done(chunk, fault=fault)


def learn(
    order: Order, source: str, fingerprint: str, rules: Rules, seed: int, games: int
) -> tuple[str, bytes]:
    """The name of the rules and what a bot learned of them.

    Games done are events of a topic that is called like the order.

    Raises:
        MagsimError: if the bot fails at it, or ends its process; it names the worker.
    """
    from distributed import get_worker

    def told(done: object) -> None:
        get_worker().log_event(order.key, (rules.name, done))

    words = order.versions, source, fingerprint, rules, seed, games
    with _as_worker() as wanted:
        try:
            content: bytes = _child(order).call(_learn, *words, wanted=wanted, told=told)
        except EOFError:
            _let_go()
            raise MagsimError(f"bot {source} took its process down") from None
    return rules.name, content


def _child(order: Order) -> Child:
    """The process of this thread for a run, a new one if need be."""
    key, child = getattr(_own, "child", ("", None))
    if child is not None and key == order.key and child.is_there():
        assert isinstance(child, Child)
        return child
    _let_go()
    _own.child = order.key, Child()
    return _child(order)


def _let_go() -> None:
    """End the process of this thread, if it has one."""
    _, child = getattr(_own, "child", ("", None))
    if child is not None:
        child.end()
    _own.child = "", None


@contextmanager
def _as_worker() -> Iterator[Callable[[], bool]]:
    """Whether the task of this thread is still wanted; what goes wrong names this worker."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state != "cancelled"

    try:
        yield wanted
    except Unwanted:
        _let_go()
        raise
    except (MagsimError, OSError) as error:
        raise MagsimError(f"worker {worker.address}: {error}") from None


def _get_ready(_tell: Tell, chunk: Chunk, order: Order) -> None:
    """Load the bot of a chunk, and compile what is not in the cache."""
    from magsim.worker import kernels, planned_bot, try_bot

    _check_versions(order.versions)  # whoever joins late was not examined
    problem = try_bot(chunk.source, chunk.time_limit)
    if problem:
        raise MagsimError(problem)
    bot = planned_bot(chunk.source, chunk.fingerprint)
    for entry in kernels(bot, chunk.source, chunk.fingerprint, chunk.relied, chunk.rules):
        _compile(entry)


def _compile(entry: Kernels) -> None:
    """Compile what is not in the cache, one process of a machine for all of them."""
    from magsim.worker import mark, marker, warm_up

    path = marker(entry.name, entry.version)
    if path.exists():
        return
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):  # where nothing can be kept, each compiles for itself
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = held.enter_context(path.with_suffix(".lock").open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            warm_up(entry.source, entry.rules)
            mark(path)


def _play(_tell: Tell, chunk: Chunk, folder: Path) -> Done:
    from magsim.worker import play_chunk

    try:
        return play_chunk(chunk, folder)
    except OSError as error:
        raise MagsimError(f"{folder} cannot be written: {error.strerror or error}") from error


def _learn(
    tell: Tell,
    wanted: dict[str, str],
    source: str,
    fingerprint: str,
    rules: Rules,
    seed: int,
    games: int,
) -> bytes:
    from magsim.registry import learn
    from magsim.worker import planned_bot

    done, heard = 0, time.monotonic()

    def told(more: int) -> None:
        nonlocal done, heard
        done += more
        if time.monotonic() - heard > TELL_SECONDS or done == games:
            heard = time.monotonic()
            tell(done)

    _check_versions(wanted)
    return learn(planned_bot(source, fingerprint), rules, seed, games, told)
