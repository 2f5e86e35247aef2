"""Asking a bot in a process apart, which the bot may hang or take down.

The process stays for the next question, so that its kernels are loaded once. It is given what the
question is made of, and nothing else.
"""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from joblib.externals.loky.process_executor import TerminatedWorkerError

from magsim.asking import Watch, read_note
from magsim.bot import Bot
from magsim.errors import BotFault
from magsim.pool import call_apart
from magsim.referee import describe_death
from magsim.registry import load_bot
from magsim.rules import Rules

Result = TypeVar("Result")

_bot = cache(load_bot)


def _here(work: Callable[[Bot, Watch], Result], source: str, seconds: float, note: Path) -> Result:
    watch = Watch(seconds, note)
    try:
        return work(_bot(source), watch)
    finally:
        watch.close()


def ask_apart(
    work: Callable[[Bot, Watch], Result], bot: Bot, source: str, rules: Rules, seconds: float
) -> Result:
    """What ``work`` returns in another process, for a bot and a watch of so many ``seconds``.

    ``work`` is a function of a module, or a ``partial`` of one. ``source`` is the spec that loads
    the bot anywhere on this machine; ``rules`` are those that it is asked about. Whatever ``work``
    raises ends the process and is passed on, and so does Ctrl-C.

    Raises:
        BotFault: if the process ends before it answers.
    """
    with TemporaryDirectory() as folder:
        note = Path(folder) / "asked"
        try:
            return call_apart(partial(_here, work, source, seconds, note))
        except TerminatedWorkerError:
            death = describe_death(bot.spec, rules, read_note(note), seconds)
            raise BotFault(death) from None
