"""Which rules to play: the three difficulties, and variants of them from a file or from the prompt.

A rules file is TOML with any of the values of ``Rules`` and, if wanted, a ``name``; ``--set`` takes
one value, also in TOML. Both change each chosen difficulty and add to its name: the changed rules
of ``survival`` are called ``survival+harsh`` or ``survival+ruin_penalty=20``.
"""

import dataclasses
import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from operator import index
from pathlib import Path
from typing import Any

from magsim.board import DICE, SIDES
from magsim.errors import MagsimError
from magsim.rules import DIFFICULTIES, Rules

MAX_POWERS = 9
MAX_POINTS = 1000

_LIMITS = {
    "minimum": (1, DICE),
    "ruin_penalty": (0, MAX_POINTS),
    "straight": (0, MAX_POINTS),
    "four": (0, MAX_POINTS),
    "two_pairs": (0, MAX_POINTS),
    "max_difference": (0, SIDES - 1),
}
_KEYS = (*_LIMITS, "power_costs")

Changes = dict[str, int | tuple[int, ...]]
"""Values of ``Rules`` by name."""


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def checked(key: str, value: object, where: str) -> int | tuple[int, ...]:
    """The value of a key as ``Rules`` takes it.

    Raises:
        MagsimError: if there is no such key, or the value is not allowed; ``where`` says where.
    """
    if key not in _KEYS:
        near = get_close_matches(key, _KEYS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise MagsimError(f"{where}: unknown key {key!r}{hint} (known: {', '.join(_KEYS)})")
    if key == "power_costs":
        if (
            isinstance(value, list)
            and len(value) <= MAX_POWERS
            and all(_is_whole(cost, 0, MAX_POINTS) for cost in value)
        ):
            return tuple(value)
        raise MagsimError(
            f"{where}: power_costs = {value!r} is to be a list of up to {MAX_POWERS} whole numbers "
            f"from 0 to {MAX_POINTS}, the cost of each Power in the order of use"
        )
    low, high = _LIMITS[key]
    if not _is_whole(value, low, high):
        raise MagsimError(
            f"{where}: {key} = {value!r} is to be a whole number from {low} to {high}"
        )
    assert isinstance(value, int)
    return value


def read_toml(path: Path, where: str) -> dict[str, Any]:
    """The table of a TOML file.

    Raises:
        MagsimError: if it cannot be read or is no TOML; ``where`` says what file it is.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise MagsimError(f"{where} cannot be read: {reason}") from error
    except (ValueError, RecursionError) as error:  # no TOML, or a number of thousands of digits
        raise MagsimError(f"{where} is no TOML: {error}") from error


def _read_file(path: Path) -> tuple[str, Changes]:
    """The name and the changes of a rules file."""
    where = f"rules file {path}"
    table = read_toml(path, where)
    name = table.pop("name", path.stem)
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_.-]{1,40}", name):
        raise MagsimError(
            f"{where}: name = {name!r} is to be 1 to 40 letters, digits, '_', '.' or '-'"
        )
    return name, {key: checked(key, value, where) for key, value in table.items()}


_LONGEST = 60
"""So much of what was given is said back."""


def _read_setting(text: str) -> tuple[str, int | tuple[int, ...]]:
    key, equals, value = (part.strip() for part in text.partition("="))
    where = f"--set {text[:_LONGEST]}"
    if not equals:
        raise MagsimError(f"{where}: write it as key=value, such as ruin_penalty=20")
    if not key.isidentifier():
        raise MagsimError(f"{where}: {key!r} is no key (known: {', '.join(_KEYS)})")
    try:
        parsed = tomllib.loads(f"value = {value}")
    except (ValueError, RecursionError):  # Python reads no whole number of 4,300 digits
        parsed = {}
    if parsed.keys() != {"value"}:
        if len(value) > _LONGEST:
            raise MagsimError(f"{where}...: {len(value):,} signs are too long for a value")
        raise MagsimError(f"{where}: {value!r} is no whole number or [list] of them")
    return key, checked(key, parsed["value"], where)


def difficulties(text: str) -> list[Rules]:
    """The rules of difficulties joined by commas, or of ``all``.

    Raises:
        MagsimError: if one is unknown or named twice.
    """
    names = list(DIFFICULTIES) if text == "all" else text.split(",")
    if "all" in names:
        raise MagsimError(f"--difficulty {text}: all stands by itself")
    for name in names:
        if name not in DIFFICULTIES:
            near = get_close_matches(name, [*DIFFICULTIES, "all"], n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise MagsimError(
                f"unknown difficulty {name!r}{hint} (known: {', '.join(DIFFICULTIES)}, all)"
            )
    if len(set(names)) < len(names):
        raise MagsimError(f"--difficulty {text} names a difficulty twice")
    return [DIFFICULTIES[name] for name in names]


def whole_number(what: str, value: Any, low: int, high: int) -> int:
    """A whole number within limits, of whatever type counts as one.

    Raises:
        MagsimError: if it is none; ``what`` says what it is for.
    """
    try:
        found = low - 1 if isinstance(value, bool) else index(value)
    except TypeError:
        found = low - 1
    if not low <= found <= high:
        raise MagsimError(f"{what} {value!r} is to be a whole number from {low} to {high}")
    return found


def rules_of(
    difficulty: str | Rules, values: Mapping[str, object] | None = None, where: str = "values"
) -> Rules:
    """The rules of one difficulty, or rules themselves, checked, with some values changed.

    They are named as ``--set`` names them; ``where`` says where the values were given.

    >>> rules_of("survival", {"ruin_penalty": 20}).name
    'survival+ruin_penalty=20'

    Raises:
        MagsimError: if it is not the name of one difficulty, or a value is not allowed.
    """
    if isinstance(difficulty, Rules):
        rules = _own(difficulty)
    elif not isinstance(difficulty, str):
        raise MagsimError(f"difficulty {difficulty!r}: give a name or magsim.Rules")
    else:
        rules, *more = difficulties(difficulty)
        if more:
            raise MagsimError(
                f"difficulty {difficulty!r}: name one difficulty, not {1 + len(more)}"
            )
    changes = {key: _checked_value(key, value, where) for key, value in (values or {}).items()}
    return vary(rules, changes, [f"{key}={format_value(value)}" for key, value in changes.items()])


def _own(rules: Rules) -> Rules:
    """Rules that somebody made, with the limits that all rules have.

    Raises:
        MagsimError: if the name is no text or a value is not allowed.
    """
    if not isinstance(rules.name, str) or not rules.name or not rules.name.isprintable():
        raise MagsimError(f"rules {rules.name!r}: their name is to be a printable text")
    where = f"rules {rules.name!r}"
    return vary(rules, {key: _checked_value(key, getattr(rules, key), where) for key in _KEYS}, [])


def _checked_value(key: str, value: object, where: str) -> int | tuple[int, ...]:
    """A value as Python has it, where costs may be a tuple."""
    return checked(key, list(value) if isinstance(value, tuple) else value, where)


def format_value(value: int | tuple[int, ...]) -> str:
    """A value in a name of rules: ``20``, or ``[30,60]``."""
    return str(value) if isinstance(value, int) else "[" + ",".join(map(str, value)) + "]"


def vary(rules: Rules, changes: Changes, suffixes: Sequence[str]) -> Rules:
    """Rules with some values changed, and a name that says how."""
    name = "+".join([rules.name, *suffixes])
    return dataclasses.replace(rules, name=name, **changes)  # type: ignore[arg-type]


def choose_rules(
    difficulty: str = "all", file: Path | None = None, settings: Sequence[str] = ()
) -> list[Rules]:
    """The rules to play, each with a name of its own.

    Args:
        difficulty: names of difficulties joined by commas, or ``all``.
        file: a rules file whose values change each of them.
        settings: ``key=value`` texts, applied after the file.

    Raises:
        MagsimError: if a name, a key, a value or the file is wrong.
    """
    changes: Changes = {}
    suffixes = []
    if file is not None:
        name, changes = _read_file(file)
        suffixes.append(name)
    for text in settings:
        key, value = _read_setting(text)
        if any(suffix.startswith(f"{key}=") for suffix in suffixes):
            raise MagsimError(f"--set {text}: {key} is set twice")
        changes[key] = value
        suffixes.append(f"{key}={format_value(value)}")
    return [vary(rules, changes, suffixes) for rules in difficulties(difficulty)]
