"""The bots that enter a tournament: read from their specs, tried, and compiled before they play."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from joblib import delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from magsim import worker
from magsim.bot import Bot
from magsim.errors import MagsimError
from magsim.pool import parallel
from magsim.registry import fingerprint, load_bot, reliance, worker_spec
from magsim.rules import Rules
from magsim.worker import Kernels


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot in a tournament: its canonical spec, the spec that loads it, its fingerprint."""

    bot: Bot
    source: str
    fingerprint: str


def enter(specs: str, time_limit: float) -> list[Entrant]:
    """The bots of specs joined by commas.

    Raises:
        MagsimError: if a spec is wrong, two name the same bot, or a bot file does not import.
    """
    entrants: dict[str, Entrant] = {}
    for text in (text.strip() for text in specs.split(",")):
        if text.partition(":")[0].endswith(".py"):
            _try_file(worker_spec(text), time_limit)
        bot = load_bot(text)
        if bot.spec in entrants:
            raise MagsimError(f"bot {bot.spec!r} is named twice in {specs!r}")
        entrants[bot.spec] = Entrant(bot, worker_spec(text), fingerprint(text))
    return list(entrants.values())


def enter_one(option: str, spec: str, time_limit: float, rules: Rules) -> Entrant:
    """The one bot of a spec, compiled, for these rules; ``option`` is where the spec was given.

    Raises:
        MagsimError: if the spec names no bot, or several, or what the bot relies on is not there.
    """
    entrants = enter(spec, time_limit)
    if len(entrants) > 1:
        raise MagsimError(f"{option} {spec}: name one bot, not {len(entrants)}")
    compile_kernels(entrants, rules)
    return entrants[0]


def _try_file(source: str, time_limit: float) -> None:
    """Import a stranger's file in a worker first, where it can do no harm."""
    try:
        (problem,) = parallel(1, [delayed(worker.try_bot)(source, time_limit)])
    except TerminatedWorkerError:
        problem = f"bot {source} takes its process down when it is imported"
    if problem:
        raise MagsimError(problem)


def needed_kernels(entrants: list[Entrant], rules: Rules) -> Iterator[Kernels]:
    """The compiled code that bots play by under rules, each once.

    Raises:
        MagsimError: if what a bot relies on under them is not there.
    """
    found: dict[tuple[str, str], Kernels] = {}
    for entrant in entrants:
        relied = reliance(entrant.bot, rules)
        for entry in worker.kernels(
            entrant.bot, entrant.source, entrant.fingerprint, relied, rules
        ):
            found.setdefault((entry.name, entry.version), entry)
    yield from found.values()


def compile_kernels(entrants: list[Entrant], rules: Rules) -> None:
    """Compile in a worker what is not in the cache yet, and say how long it took.

    ``rules`` are some that the bots are going to play by, and that what they rely on is for.

    Raises:
        MagsimError: if what a bot relies on under them is not there.
    """
    for name, version, source, law in needed_kernels(entrants, rules):
        compile_once(name, version, partial(worker.warm_up, source, law))


def compile_once(name: str, version: str, warm_up: Callable[[], float]) -> None:
    """Call in a worker what compiles something, unless it has been called; say how long it took.

    ``warm_up`` returns the seconds that it took; ``name`` is how to call what it compiles.
    """
    marker = worker.marker(name, version)
    if marker.exists():
        return
    print(f"Compiling {name}, this once ...", file=sys.stderr)
    try:
        (seconds,) = parallel(1, [delayed(warm_up)()])
    except TerminatedWorkerError:
        return  # the work itself will say where its process was taken down
    print(f"Compiled {name} in {seconds:.1f} s.", file=sys.stderr)
    worker.mark(marker)
