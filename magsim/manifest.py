"""A run's plan and its manifest: all that its records depend on, kept beside them.

The manifest is written once, before the first game; only a match, which does not know how many
games it takes, replaces it by one with more. A run is resumed only by the same plan.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from magsim import __version__
from magsim.compiled import source_key
from magsim.errors import MagsimError
from magsim.rules import DIFFICULTIES, Rules

FILE = "manifest.json"
FORMAT = 1
_VERSIONED = ("numba", "numpy")
_NAMED = 3
"""Difficulties that a difference names; an experiment may have a thousand."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a tournament plays: every bot at all rules on game indices 0 to ``games`` - 1.

    ``bots`` maps canonical bot specs to fingerprints; ``chunk`` is the games of one part;
    ``versions`` are those that decisions may depend on, and ``relied`` is what bots rely on beside,
    by bot spec and name of rules, for those that rely on anything.
    """

    seed: int
    games: int
    chunk: int
    bots: dict[str, str]
    rules: tuple[Rules, ...]
    versions: dict[str, str] = dataclasses.field(default_factory=lambda: current_versions())
    relied: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)

    def chunks(self) -> Iterator[tuple[int, int]]:
        """First game index and number of games of each chunk."""
        for first in range(0, self.games, self.chunk):
            yield first, min(self.chunk, self.games - first)


def current_versions() -> dict[str, str]:
    """The versions, here and now, that decisions may depend on."""
    ours = f"{__version__} sources:{source_key([Path(__file__).parent])}"
    return {"magsim": ours} | {name: version(name) for name in _VERSIONED}


def default_chunk(games: int) -> int:
    """The games of a chunk unless told: a thousand, fewer in a small run so that progress shows."""
    return min(1000, max(50, games // 20))


def default_folder(plan: Plan, name: str | None = None) -> Path:
    """``results/`` and a name, made unique by a digest of the configuration.

    Unless a ``name`` is given, it is made from bots and difficulties.
    """
    standard = plan.rules == tuple(DIFFICULTIES.values())
    difficulties = "all" if standard else "+".join(rules.name for rules in plan.rules)
    readable = name or f"{'+'.join(plan.bots)}-{difficulties}"
    safe = re.sub(r"[^A-Za-z0-9_.+=-]+", "-", readable)[:80]
    config = [list(plan.bots), [dataclasses.asdict(r) for r in plan.rules], plan.games, plan.seed]
    digest = hashlib.sha256(json.dumps(config).encode()).hexdigest()[:8]
    return Path("results") / f"{safe}-{plan.games}-seed{plan.seed}-{digest}"


def _to_json(plan: Plan) -> str:
    table = {"format": FORMAT, **dataclasses.asdict(plan)}
    if not plan.relied:
        del table["relied"]
    return json.dumps(table, indent=2) + "\n"


def write_manifest(run: Path, plan: Plan) -> None:
    """Write the manifest of a new run, whole or not at all; one that is there is left alone.

    Raises:
        OSError: if the folder cannot be written.
    """
    temporary = run / f".{FILE}.{os.getpid()}.tmp"
    if (run / FILE).exists():
        return
    run.mkdir(parents=True, exist_ok=True)
    try:
        temporary.write_text(_to_json(plan), encoding="utf-8")
        with contextlib.suppress(FileExistsError):  # somebody was faster: theirs stands
            os.link(temporary, run / FILE)
    finally:
        temporary.unlink(missing_ok=True)


def grow_manifest(run: Path, plan: Plan) -> None:
    """Replace the manifest of a run by that of the same run with more games.

    Raises:
        OSError: if the folder cannot be written.
    """
    temporary = run / f".{FILE}.{os.getpid()}.tmp"
    try:
        temporary.write_text(_to_json(plan), encoding="utf-8")
        temporary.replace(run / FILE)
    finally:
        temporary.unlink(missing_ok=True)


def is_leftover(path: Path) -> bool:
    """Whether a file is what a kill left of a manifest being written."""
    return path.name.startswith(f".{FILE}.") and path.name.endswith(".tmp")


def read_manifest(run: Path) -> Plan:
    """The plan of a run.

    Raises:
        MagsimError: if there is no run here, or its manifest is broken.
    """
    path = run / FILE
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MagsimError(f"{run} is no run: there is no {FILE} in it") from None
    except OSError as error:
        raise MagsimError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise MagsimError(f"{path} cannot be read: {error}") from error
    try:
        if table.pop("format") != FORMAT:
            raise MagsimError(f"{path}: its format is not {FORMAT}, which this version reads")
        rules = tuple(_rules(entry) for entry in table.pop("rules"))
        plan = Plan(**table, rules=rules)
    except (KeyError, TypeError, AttributeError) as error:
        raise MagsimError(f"{path} is no manifest of a run: {error}") from error
    wrong = _first_wrong(plan)
    if wrong:
        raise MagsimError(f"{path} is no manifest of a run: {wrong}")
    return plan


def _holds_texts(table: object) -> bool:
    return isinstance(table, dict) and all(isinstance(text, str) for text in table.values())


def _first_wrong(plan: Plan) -> str | None:
    """What a plan holds that no plan can, if anything."""
    limits = {"seed": (0, 2**64 - 1), "games": (1, 2**32 - 1), "chunk": (1, 2**32 - 1)}
    for name, (low, high) in limits.items():
        value = getattr(plan, name)
        if type(value) is not int or not low <= value <= high:
            return f"{name} is {value!r}"
    for name in ("bots", "versions"):
        if not _holds_texts(getattr(plan, name)):
            return f"{name} is {getattr(plan, name)!r}"
    if not isinstance(plan.relied, dict) or not all(map(_holds_texts, plan.relied.values())):
        return f"relied is {plan.relied!r}"
    for rules in plan.rules:
        values = dataclasses.asdict(rules)
        named = isinstance(values.pop("name"), str)
        costs = values.pop("power_costs")
        if not named or not all(type(value) is int for value in (*values.values(), *costs)):
            return f"rules are {rules}"
    return None


def _rules(entry: dict[str, Any]) -> Rules:
    return Rules(**entry | {"power_costs": tuple(entry["power_costs"])})


def differences(old: Plan, new: Plan) -> list[str]:
    """What differs between two plans, each in words."""
    found = [
        f"{name} {getattr(old, name)} there, {getattr(new, name)} here"
        for name in ("seed", "games", "chunk")
        if getattr(old, name) != getattr(new, name)
    ]
    if list(old.bots) != list(new.bots):
        found.append(f"bots {','.join(old.bots)} there, {','.join(new.bots)} here")
    found += [
        f"bot {bot} is {old.bots[bot]} there, {new.bots[bot]} here"
        for bot in old.bots
        if bot in new.bots and old.bots[bot] != new.bots[bot]
    ]
    if old.rules != new.rules:
        found.append(_rules_difference(old.rules, new.rules))
    else:
        found += _reliance_differences(old, new)
    for name in sorted(old.versions.keys() | new.versions.keys()):
        there, here = old.versions.get(name, "none"), new.versions.get(name, "none")
        found += [f"{name} {there} there, {here} here"] * (there != here)
    return found


def _reliance_differences(old: Plan, new: Plan) -> Iterator[str]:
    for bot in (bot for bot in old.bots if bot in new.bots):
        before, now = old.relied.get(bot, {}), new.relied.get(bot, {})
        for at in (rules.name for rules in old.rules):
            there, here = before.get(at, "nothing"), now.get(at, "nothing")
            if there != here:
                yield f"bot {bot} relies on {there} there, {here} here ({at})"


def _names(names: list[str]) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ",".join(names[:_NAMED]) + more


def _rules_difference(old: tuple[Rules, ...], new: tuple[Rules, ...]) -> str:
    there, here = [rules.name for rules in old], [rules.name for rules in new]
    if there != here:
        gone = [name for name in there if name not in here]
        new_here = [name for name in here if name not in there]
        if not gone and not new_here:
            return "difficulties in another order"
        sides = ((gone, "only there"), (new_here, "only here"))
        told = [f"{_names(names)} {side}" for names, side in sides if names]
        return f"difficulties {' and '.join(told)}"
    changed = next(pair for pair in zip(old, new, strict=True) if pair[0] != pair[1])
    fields = dataclasses.fields(Rules)
    name = next(
        f.name for f in fields if getattr(changed[0], f.name) != getattr(changed[1], f.name)
    )
    return (
        f"{name} of {changed[0].name} is {getattr(changed[0], name)} there, "
        f"{getattr(changed[1], name)} here"
    )
