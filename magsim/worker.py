"""What runs in a worker process: playing one chunk into the bytes of its parts.

Heavy modules are imported inside the functions, after ``set_up`` has told them to use one thread.
"""

import contextlib
import hashlib
import os
import shutil
import signal
import threading
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from magsim.errors import BotFault, MagsimError
from magsim.rules import PEACEFUL, Rules

if TYPE_CHECKING:
    from magsim.bot import Bot

WARM_UP_SECONDS = 300.0
"""A first decision may have to wait for a compiler."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Games ``first`` to ``first + games - 1`` of one bot at one difficulty.

    ``bot`` is the canonical spec, ``source`` the spec that loads it anywhere on a machine,
    ``fingerprint`` what the run was planned with, and ``relied`` what the bot relied on then.
    """

    bot: str
    source: str
    fingerprint: str
    relied: str
    rules: Rules
    seed: int
    first: int
    games: int
    time_limit: float

    def note(self, folder: Path) -> Path:
        """The file of a folder in which a worker notes what it asks while it plays this chunk."""
        key = f"{self.bot} {self.rules.name} {self.first}"
        return folder / f"asked-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class Done:
    """A chunk's parts by table and what they took, or the sentence why its bot had to stop."""

    chunk: Chunk
    parts: dict[str, bytes] = field(default_factory=dict)
    decisions: int = 0
    seconds: float = 0.0
    fault: str | None = None


def set_up(parent: int, notes: Path) -> None:
    """Prepare a worker: one thread, Ctrl-C left to the parent, an end when the parent has ended.

    Then it takes the folder of its notes along.
    """
    for name in ("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def leave_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        shutil.rmtree(notes, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=leave_with_parent, daemon=True).start()


@cache
def planned_bot(source: str, planned: str | None = None) -> "Bot":
    """The bot of a spec.

    Raises:
        MagsimError: if it is no longer the one that was planned.
    """
    from magsim.registry import fingerprint, load_bot

    bot = load_bot(source)
    if planned is not None and fingerprint(source) != planned:
        raise MagsimError(f"bot {bot.spec} has changed since the run began; put it back to go on")
    return bot


def _check_reliance(bot: "Bot", chunk: Chunk) -> None:
    """See to it that a bot relies on what it relied on when its run was planned.

    Raises:
        MagsimError: if it does not, or that is gone.
    """
    from magsim.registry import reliance

    found = reliance(bot, chunk.rules)
    if found != chunk.relied:
        raise MagsimError(
            f"bot {chunk.bot} ({chunk.rules.name}) relied on {chunk.relied or 'nothing'} when the "
            f"run began, and relies on {found or 'nothing'} now; put it back to go on"
        )


def try_bot(source: str, seconds: float) -> str | None:
    """Load a bot within a time limit; the sentence that says what is wrong, if anything is."""
    import magsim.registry  # noqa: F401 - what is loaded here is not the bot's to answer for
    from magsim.asking import Asked, TimeUp, Watch

    watch = Watch(seconds)
    try:
        with watch.within(Asked(0, 0, 0, 0, 0, 0, 0)):
            planned_bot(source)
    except TimeUp:
        return f"bot {source} does not import within {seconds:g} s"
    except MagsimError as error:
        return str(error)
    finally:
        watch.close()
    return None


def play_chunk(chunk: Chunk, folder: Path) -> Done:
    """Play a chunk, with its note in a folder; a fault of the bot is reported, not raised.

    Raises:
        OSError: if the note cannot be written.
        MagsimError: if the bot, or what it relies on, has changed since the run began.
    """
    from magsim import records
    from magsim.asking import Watch
    from magsim.simulate import play_games

    note = chunk.note(folder)
    watch = Watch(chunk.time_limit, note)
    try:
        bot = planned_bot(chunk.source, chunk.fingerprint)
        _check_reliance(bot, chunk)
        played = play_games(bot, chunk.rules, chunk.seed, chunk.first, chunk.games, watch)
        parts = records.encode_chunk(chunk.rules, played)
    except BotFault as fault:
        return Done(chunk, fault=str(fault))
    finally:
        watch.close()
        note.unlink(missing_ok=True)
    return Done(chunk, parts, played.decisions, played.seconds)


class Kernels(NamedTuple):
    """Compiled code to have ready: of a bot, or where ``source`` is None, of the simulator.

    It is compiled by playing under ``rules``; ``version`` is what it depends on.
    """

    name: str
    version: str
    source: str | None
    rules: Rules


def kernels(bot: "Bot", source: str, fingerprint: str, relied: str, rules: Rules) -> list[Kernels]:
    """The compiled code that a bot plays by under rules, with what it relies on there."""
    found = [Kernels("the simulator", "", None, PEACEFUL)]
    if bot.compiled:
        name = f"bot {bot.spec.partition(':')[0]}"
        law = rules if relied else PEACEFUL
        found.append(Kernels(name, f"{fingerprint} {relied}".rstrip(), source, law))
    return found


def marker(name: str, version: str) -> Path:
    """The file that says that something is compiled and in the cache."""
    from magsim.compiled import cache_folder

    digest = hashlib.sha256(f"{name} {version}".encode()).hexdigest()[:16]
    return cache_folder() / f"{digest}.compiled"


def mark(path: Path) -> None:
    """Say that something is compiled; where it cannot be said, it will be looked for again."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def warm_up(source: str | None, rules: Rules) -> float:
    """Compile the kernels of a bot, or of the simulator, by playing a game; the seconds it took.

    A fault of the bot is left for the run itself to report.
    """
    from magsim.asking import Watch
    from magsim.simulate import PowerFirst, play_games

    started = time.perf_counter()
    watch = Watch(WARM_UP_SECONDS)
    try:
        play_games(planned_bot(source) if source else PowerFirst(), rules, 0, 0, 1, watch)
    except BotFault:
        pass
    finally:
        watch.close()
    return time.perf_counter() - started
