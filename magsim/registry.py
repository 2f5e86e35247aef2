"""Finding bots: installed ones by entry point, others by file; reading bot specs.

A bot spec is ``name:option=value:option=value`` or ``path/to/my_bot.py:option=value``, or ``cmd:``
and a program with its arguments. No bot is known here: installed ones register in the entry-point
group ``magsim.bots``.
"""

import contextlib
import dataclasses
import hashlib
import importlib.util
import math
import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from magsim.bot import Bot
from magsim.compiled import BOT_GROUP, package_folder, source_key
from magsim.errors import MagsimError
from magsim.program import PREFIX, program_bot, program_fingerprint
from magsim.rules import Rules

_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a bot, as ``magsim bots`` lists it."""

    name: str
    type: type
    default: object
    help: str
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]

    def allowed(self) -> str:
        """What the option takes, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        words = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
        text = words[self.type]
        if self.minimum is not None and self.maximum is not None:
            return f"{text} from {self.minimum} to {self.maximum}"
        if self.minimum is not None:
            return f"{text}, at least {self.minimum}"
        return text if self.maximum is None else f"{text}, at most {self.maximum}"

    def parse(self, text: str) -> int | float | bool | str:
        """The value of a text.

        Raises:
            ValueError: if the text is not what ``allowed`` says.
        """
        value: int | float | bool | str = text
        if self.type is bool:
            if text.lower() not in _WORDS:
                raise ValueError(text)
            value = _WORDS[text.lower()]
        elif self.type in (int, float):
            value = self.type(text)
            low, high = self.minimum, self.maximum
            below, above = low is not None and value < low, high is not None and value > high
            if not math.isfinite(value) or below or above:
                raise ValueError(text)
        elif self.choices and text not in self.choices:
            raise ValueError(text)
        return value


def options_of(bot: type[Bot]) -> list[Option]:
    """The options of a bot class, in the order of their definition."""
    try:
        hints = typing.get_type_hints(bot)
    except (NameError, TypeError) as error:
        raise MagsimError(f"bot {bot.__name__}: an option's type is unknown: {error}") from error
    found = []
    for entry in dataclasses.fields(bot):  # type: ignore[arg-type]  # made one by Bot
        if hints[entry.name] not in (int, float, bool, str):
            raise MagsimError(
                f"bot {bot.__name__}: option {entry.name!r} is to be annotated as int, float, bool "
                f"or str, not {hints[entry.name]}"
            )
        limits = {key: entry.metadata.get(key) for key in ("minimum", "maximum")}
        about = entry.metadata.get("help", "")
        choices = entry.metadata.get("choices", ())
        found.append(
            Option(entry.name, hints[entry.name], entry.default, about, **limits, choices=choices)
        )
    return found


def _suggestion(word: str, known: list[str]) -> str:
    near = get_close_matches(word, known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def installed() -> dict[str, EntryPoint]:
    """The installed bots by name.

    Raises:
        MagsimError: if two packages register one name.
    """
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=BOT_GROUP), key=lambda entry: entry.name):
        if entry.name in found and found[entry.name].value != entry.value:
            raise MagsimError(
                f"bot {entry.name!r} is registered twice, as {found[entry.name].value} and "
                f"{entry.value}; uninstall one of the packages"
            )
        found[entry.name] = entry
    return found


def installed_class(name: str) -> type[Bot]:
    """The class of an installed bot.

    Raises:
        MagsimError: if there is none of that name, or it does not import.
    """
    known = installed()
    if name not in known:
        raise MagsimError(
            f"unknown bot {name!r}{_suggestion(name, list(known))} "
            f"(installed: {', '.join(known) or 'none'}; a file is given by its path, ending in .py)"
        )
    try:
        loaded = known[name].load()
    except (Exception, SystemExit) as error:
        raise MagsimError(
            f"bot {name!r} does not import from {known[name].value}: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Bot)):
        raise MagsimError(f"bot {name!r}: {known[name].value} is no subclass of magsim.bot.Bot")
    return loaded


def _asked(bot: Bot, method: str, *arguments: object) -> object:
    """What a method of a bot gives, its exceptions in a sentence.

    Raises:
        MagsimError: if it raises anything.
    """
    try:
        return getattr(bot, method)(*arguments)
    except MagsimError:
        raise
    except (Exception, SystemExit) as error:
        raise MagsimError(
            f"bot {bot.spec}: {method}() raised {type(error).__name__}: {error}"
        ) from error


def reliance(bot: Bot, rules: Rules) -> str:
    """What a bot ``relies_on`` under rules.

    Raises:
        MagsimError: if it is not there, or the bot cannot say.
    """
    text = _asked(bot, "relies_on", rules)
    if not isinstance(text, str):
        raise MagsimError(f"bot {bot.spec}: relies_on() gave {text!r}, not a text")
    return text


def check_learner(bot: Bot) -> None:
    """See that a bot can learn at all.

    Raises:
        MagsimError: if it has nothing to learn.
    """
    if type(bot).train is Bot.train:
        raise MagsimError(f"bot {bot.spec} has nothing to learn")


def learn(bot: Bot, rules: Rules, seed: int, games: int, told: Callable[[int], object]) -> bytes:
    """What a bot learns of rules by playing: see ``Bot.train``.

    Raises:
        MagsimError: if the bot fails at it.
    """
    content = _asked(bot, "train", rules, seed, games, told)
    if not isinstance(content, bytes):
        raise MagsimError(f"bot {bot.spec}: train() gave {content!r}, not bytes")
    return content


def strongest(rules: Rules) -> str:
    """The name of the installed bot that plays best under rules, of equals the first.

    That is a bot whose worths are ``exact``, else the one of the greatest ``strength``. Bots that
    do not import, or that lack what they rely on, are passed over.

    Raises:
        MagsimError: if there is none that can be used.
    """
    strengths: dict[str, tuple[bool, float]] = {}
    for name in installed():
        with contextlib.suppress(MagsimError):
            bot = load_bot(name)
            reliance(bot, rules)
            strengths[name] = bot.exact, bot.strength
    if not strengths:
        raise MagsimError("no bot is installed that can be used; `magsim bots` says more")
    return max(strengths, key=lambda name: strengths[name])


def _file_class(path: Path) -> type[Bot]:
    if not path.is_file():
        raise MagsimError(f"bot file {path}: there is no such file")
    name = f"magsim_bot_file_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look up annotations
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise MagsimError(
            f"bot file {path} does not import: {type(error).__name__}: {error}"
        ) from error
    public = [value for key, value in vars(module).items() if not key.startswith("_")]
    classes = [value for value in public if isinstance(value, type) and issubclass(value, Bot)]
    found = list(dict.fromkeys(value for value in classes if value.__module__ == name))
    if len(found) != 1:
        names = ", ".join(value.__name__ for value in found) or "none"
        raise MagsimError(
            f"bot file {path}: it must define exactly one public subclass of magsim.bot.Bot, "
            f"it defines {names}"
        )
    return found[0]


def split_spec(text: str) -> tuple[str, list[str]]:
    """The name or path of a bot spec, and its ``option=value`` parts."""
    if text.startswith(PREFIX):
        return text, []
    name, *parts = text.split(":")
    return name, parts


def _parse_options(text: str, bot: type[Bot], parts: list[str]) -> dict[str, object]:
    options = {entry.name: entry for entry in options_of(bot)}
    chosen: dict[str, object] = {}
    for part in parts:
        name, equals, value = part.partition("=")
        if not equals:
            raise MagsimError(f"bot {text!r}: {part!r} is to be written as option=value")
        if name not in options:
            raise MagsimError(
                f"bot {text!r}: unknown option {name!r}{_suggestion(name, list(options))} "
                f"(it has: {', '.join(options) or 'none'})"
            )
        if name in chosen:
            raise MagsimError(f"bot {text!r}: option {name!r} is given twice")
        try:
            chosen[name] = options[name].parse(value)
        except (ValueError, OverflowError) as error:
            raise MagsimError(
                f"bot {text!r}: option {name}={value} is to be {options[name].allowed()}"
            ) from error
    return {name: chosen[name] for name in options if name in chosen}


def canonical_spec(name: str, bot: type[Bot], chosen: dict[str, object]) -> str:
    """The bot spec of a name and options: those that are not default, in their order."""
    defaults = {entry.name: entry.default for entry in options_of(bot)}
    parts = [name]
    for key, value in chosen.items():
        if value != defaults[key]:
            parts.append(f"{key}={str(value).lower() if isinstance(value, bool) else value}")
    return ":".join(parts)


def load_bot(text: str) -> Bot:
    """The bot of a bot spec; its ``spec`` is canonical: its name and what is not default.

    Raises:
        MagsimError: if the spec names no bot, an unknown option, or a value that is not allowed.
    """
    if not text.isprintable():
        raise MagsimError(f"bot {text!r}: a bot spec is printable text")
    if text.startswith(PREFIX):
        return program_bot(text)
    name, parts = split_spec(text)
    path = Path(name)
    is_file = path.suffix == ".py"
    bot_class = _file_class(path.resolve()) if is_file else installed_class(name)
    chosen = _parse_options(text, bot_class, parts)
    try:
        bot = bot_class(**chosen)
    except (Exception, SystemExit) as error:
        raise MagsimError(
            f"bot {text!r} cannot be set up: {type(error).__name__}: {error}"
        ) from error
    canonical = canonical_spec(path.name if is_file else name, bot_class, chosen)
    bot.spec = canonical  # type: ignore[misc]  # of the class, lest it be an option
    return bot


def worker_spec(text: str) -> str:
    """The same bot spec with an absolute path, so that a worker elsewhere finds the file.

    Raises:
        MagsimError: if the path holds a sign that bot specs are split at.
    """
    name, parts = split_spec(text)
    if text.startswith(PREFIX) or not name.endswith(".py"):
        return text
    path = str(Path(name).resolve())
    if ":" in path or "," in path:
        raise MagsimError(
            f"bot file {path}: its path must hold no ':' and no ','; move it elsewhere"
        )
    return ":".join([path, *parts])


def fingerprint(text: str) -> str:
    """What must stay the same for it to play the same: a digest of its file or its package."""
    if text.startswith(PREFIX):
        return program_fingerprint(text)
    name, _ = split_spec(text)
    if name.endswith(".py"):
        return f"sha256:{hashlib.sha256(Path(name).read_bytes()).hexdigest()}"
    entry = installed()[name]
    version = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
    return f"{version} sources:{source_key([package_folder(entry.module)])}"
