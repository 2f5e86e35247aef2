"""Games under way: every command is on disk before its dice are seen, and only one player goes on.

A save holds decisions, not boards: it is played again, by the rules, when it is opened. The seed in
it is sealed, so that nobody reads the dice to come by accident; who wants to break the seal, can.
"""

import contextlib
import fcntl
import json
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from magsim.decision import Decision, Place, Power, parse_decision
from magsim.errors import MagsimError, first_line
from magsim.play.game import Game
from magsim.play.storage import data_folder, listed, write_whole
from magsim.rules import DIFFICULTIES, Rules

Value = TypeVar("Value")

FORMAT = 1
MAX_DRAWN_SEED = 10**15
"""Drawn seeds are below it: too many to be tried out against a roll, few enough to be passed on."""


class BeingPlayed(MagsimError):
    """Another process plays the game."""


class Gone(MagsimError):
    """The game has ended, or its save was taken away."""


@dataclass(slots=True)
class Sitting:
    """One person at one game: its name, when it began, how it came about, and the game itself.

    ``seed_chosen`` tells a seed that the player named, whose dice may be known, from one that was
    drawn; ``against`` is the spec of a rival bot, if there is one; ``hints`` counts those given.
    """

    name: str
    started: str
    seed_chosen: bool
    against: str | None
    hints: int
    game: Game


def begin(rules: Rules, seed: int | None, against: str | None) -> Sitting:
    """A new game, with a seed of its own if none is given."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    drawn = secrets.randbelow(MAX_DRAWN_SEED) if seed is None else seed
    name = f"{now[:10]}-{secrets.token_hex(6)}"
    return Sitting(name, now, seed is not None, against, 0, Game(drawn, rules))


def folder() -> Path:
    """Where games under way are kept."""
    return data_folder() / "games"


def _path(name: str) -> Path:
    return folder() / f"{name}.json"


def _seal(seed: int, name: str) -> int:
    """Seal or open a seed: the same does both."""
    return seed ^ int.from_bytes(blake2b(f"seal {name}".encode(), digest_size=8).digest())


def _turn_texts(game: Game) -> list[list[str]]:
    """The decisions so far, a list for each turn, the present one last."""
    turns: list[list[str]] = [[] for _ in range(game.turn)]
    for step in game.steps:
        turns[step.turn - 1].append(str(step.decision))
    return turns


def save(sitting: Sitting) -> None:
    """Write a game under way.

    Raises:
        MagsimError: if it cannot be written.
    """
    game = sitting.game
    content = {
        "format": FORMAT,
        "started": sitting.started,
        "difficulty": game.rules.name,
        "sealed": f"{_seal(game.seed, sitting.name):016x}",
        "seed_chosen": sitting.seed_chosen,
        "against": sitting.against,
        "hints": sitting.hints,
        "turns": _turn_texts(game),
        "staged": str(Place(game.staged)) if game.staged else "",
    }
    write_whole(_path(sitting.name), json.dumps(content, indent=1) + "\n")


def _field(content: dict[str, Any], name: str, kind: type[Value]) -> Value:
    """A field of a save.

    Raises:
        ValueError: if it is not there, or of another type.
    """
    value = content.get(name)
    if type(value) is not kind:
        raise ValueError(f"its {name} is no {kind.__name__}")
    return value


def _replayed(content: dict[str, Any], name: str) -> Game:
    """The game of a save, played again.

    Raises:
        ValueError: if a field is wrong, or a decision against the rules.
    """
    difficulty, sealed = _field(content, "difficulty", str), _field(content, "sealed", str)
    if difficulty not in DIFFICULTIES:
        raise ValueError(f"its difficulty is none of {', '.join(DIFFICULTIES)}")
    if not re.fullmatch("[0-9a-f]{16}", sealed):
        raise ValueError("its seal is broken")
    game = Game(_seal(int(sealed, 16), name), DIFFICULTIES[difficulty])
    for number, texts in enumerate(_field(content, "turns", list), 1):
        if number != game.turn:
            raise ValueError(f"turn {number} does not follow")
        for text in texts:
            if number != game.turn or game.over:
                raise ValueError(f"'{text}' does not follow in turn {number}")
            _decide(game, parse_decision(str(text)))
    if staged := _field(content, "staged", str):
        placement = parse_decision(staged)
        if not isinstance(placement, Place):
            raise ValueError("what is staged is no placement")
        game.stage(placement.placements)
    return game


def _decide(game: Game, decision: Decision) -> None:
    match decision:
        case Power():
            game.use(decision)
        case Place():
            game.stage(decision.placements)
            game.confirm()
        case _:
            game.accept(decision.cell)


def load(name: str) -> Sitting:
    """A game as it was left.

    Raises:
        Gone: if it is not there.
        MagsimError: if it cannot be read, or holds what the rules do not allow.
    """
    path = _path(name)
    try:
        content = json.loads(path.read_bytes())
        if type(content) is not dict or content.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        against, hints = content.get("against", 0), _field(content, "hints", int)
        if against is not None and type(against) is not str:
            raise ValueError("its rival is no bot spec")
        if hints < 0:
            raise ValueError("its hints are less than none")
        return Sitting(
            name,
            _field(content, "started", str),
            _field(content, "seed_chosen", bool),
            against,
            hints,
            _replayed(content, name),
        )
    except FileNotFoundError:
        raise Gone(f"{path} is not there any more") from None
    except OSError as error:
        raise MagsimError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise MagsimError(
            f"{path} is damaged, or no saved game of this version ({first_line(error)}); "
            "move it away to go on with another"
        ) from error


def remove(name: str) -> None:
    """Forget a game that has ended.

    Raises:
        MagsimError: if its save cannot be taken away.
    """
    try:
        _path(name).unlink(missing_ok=True)
    except OSError as error:
        raise MagsimError(f"{_path(name)} cannot be removed: {error.strerror or error}") from error


def names() -> list[str]:
    """The games under way, the one played last first.

    Raises:
        MagsimError: if their folder cannot be read.
    """
    found = []
    for path in listed(folder()):
        with contextlib.suppress(OSError):  # it has ended just now, or is no file
            found.append((path.stat().st_mtime_ns, path.stem))
    return [name for _, name in sorted(found, reverse=True)]


@contextlib.contextmanager
def claimed(name: str) -> Iterator[None]:
    """Hold a game for this process alone, to the end of the body.

    Raises:
        BeingPlayed: if another process holds it.
        MagsimError: if its lock cannot be made.
    """
    path = _path(name).with_suffix(".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise MagsimError(f"{path} cannot be written: {error.strerror or error}") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BeingPlayed(f"game {name} is being played in another terminal") from None
        except OSError as error:
            raise MagsimError(f"{path} cannot be locked: {error.strerror or error}") from error
        try:
            yield
        finally:
            if not _path(name).exists():
                with contextlib.suppress(OSError):  # an empty file that is left is in nobody's way
                    path.unlink()
    finally:
        os.close(lock)
