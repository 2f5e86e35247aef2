"""What runs on a worker of a cluster: seeing whether it is fit, playing a chunk, learning.

Only references to these functions travel, and what they are to do; code and tables are those that
are installed there.
"""

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
from magsim.cluster.child import Child
from magsim.errors import MagsimError
from magsim.rules import Rules
from magsim.worker import Chunk, Done, Kernels

_own = threading.local()

TELL_SECONDS = 0.5
"""How often learning is heard of."""

Tell = Callable[[object], None]


class Needs(NamedTuple):
    """What a worker must have: versions by name; of each bot spec, source and fingerprint."""

    versions: dict[str, str]
    bots: list[tuple[str, str, str]]
    kernels: list[Kernels]


class Found(NamedTuple):
    """Why a worker is not fit to play, if it is not; whether it must compile first."""

    problem: str | None
    cold: bool


@cache
def versions() -> dict[str, str]:
    """The versions, here, that the bytes of records depend on."""
    from magsim.manifest import current_versions

    return current_versions() | {"polars": version("polars")}


def examine(needs: Needs) -> Found:
    """See whether this worker is fit to play, in a process of its own."""
    child = Child()
    try:
        return Found(*child.call(_examine, needs))
    except EOFError:
        return Found("a process of its own ended while it loaded the bots", False)
    finally:
        child.end()


def _examine(_tell: Tell, needs: Needs) -> Found:
    from magsim.registry import fingerprint, load_bot
    from magsim.worker import marker

    problem = _other_version(needs.versions)
    if problem:
        return Found(problem, False)
    for spec, source, wanted in needs.bots:
        try:
            load_bot(source)
        except MagsimError as error:
            return Found(f"bot {spec} is not there: {error}", False)
        if fingerprint(source) != wanted:
            return Found(f"bot {spec} is another one there ({fingerprint(source)})", False)
    return Found(None, not all(marker(k.name, k.version).exists() for k in needs.kernels))


def _other_version(wanted: dict[str, str]) -> str | None:
    """What is of another version here, if anything is."""
    here = versions()
    for name, text in wanted.items():
        if here.get(name) != text:
            there = here.get(name, "none")
            return f"{name} is {there} there, {text} here; install the same there"
    return None


def play_chunk(chunk: Chunk, versions: dict[str, str]) -> Done:
    """Play a chunk in the process of this thread; who ends that process twice is at fault.

    Raises:
        MagsimError: if something of it is missing here; it names the worker.
    """
    from magsim.referee import describe_death

    for _ in range(2):
        child = _child()
        try:
            with _named():
                done: Done = child.call(_play, chunk, versions, child.folder)
                return done
        except EOFError:
            asked = read_note(chunk.note(child.folder))
            _let_go()
    fault = describe_death(chunk.bot, chunk.rules, asked, chunk.time_limit)
    return Done(chunk, fault=fault)


def learn(topic: str, spec: str, rules: Rules, seed: int, games: int) -> tuple[str, bytes]:
    """The name of the rules and what a bot learned of them; games done are events of ``topic``.

    Raises:
        MagsimError: if the bot fails at it, or ends its process; it names the worker.
    """
    from distributed import get_worker

    worker = get_worker()

    def told(done: object) -> None:
        worker.log_event(topic, (rules.name, done))

    try:
        with _named():
            content: bytes = _child().call(_learn, spec, rules, seed, games, told=told)
            return rules.name, content
    except EOFError:
        _let_go()
        raise MagsimError(f"worker {worker.address}: bot {spec} took its process down") from None


def _child() -> Child:
    """The process of this thread."""
    if not hasattr(_own, "child"):
        _own.child = Child()
    child: Child = _own.child
    return child


def _let_go() -> None:
    """End the process of this thread; the next one that is wanted is a new one."""
    _own.child.end()
    del _own.child


@contextmanager
def _named() -> Iterator[None]:
    """Put this worker's address before what went wrong."""
    from distributed import get_worker

    try:
        yield
    except MagsimError as error:
        raise MagsimError(f"worker {get_worker().address}: {error}") from None


def _play(_tell: Tell, chunk: Chunk, versions: dict[str, str], folder: Path) -> Done:
    from magsim import worker

    problem = _other_version(versions)  # whoever joins late was not examined
    if problem:
        raise MagsimError(problem)
    bot = worker.planned_bot(chunk.source, chunk.fingerprint)
    _compile(worker.kernels(bot, chunk.source, chunk.fingerprint, chunk.relied, chunk.rules))
    try:
        return worker.play_chunk(chunk, folder)
    except OSError as error:
        raise MagsimError(f"{folder} cannot be written: {error.strerror or error}") from error


def _compile(kernels: list[Kernels]) -> None:
    """Compile what is not in the cache, one process of a machine for all of them."""
    from magsim.worker import mark, marker, warm_up

    for entry in kernels:
        path = marker(entry.name, entry.version)
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                warm_up(entry.source, entry.rules)
                mark(path)


def _learn(tell: Tell, spec: str, rules: Rules, seed: int, games: int) -> bytes:
    from magsim.registry import learn, load_bot

    done, heard = 0, time.monotonic()

    def told(more: int) -> None:
        nonlocal done, heard
        done += more
        if time.monotonic() - heard > TELL_SECONDS or done == games:
            heard = time.monotonic()
            tell(done)

    return learn(load_bot(spec), rules, seed, games, told)
