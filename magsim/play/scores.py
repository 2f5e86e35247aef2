"""High scores: one small file a game, so that no score is ever rewritten, and none lost by another.

A game's file bears the game's name: writing it twice is writing it once.
"""

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from magsim.errors import MagsimError
from magsim.play.saves import Sitting
from magsim.play.storage import data_folder, write_whole
from magsim.rules import DIFFICULTIES


@dataclass(frozen=True, slots=True)
class HighScore:
    """How a person's game ended (R26); ``date`` is ISO 8601 in UTC, ``powers`` those used."""

    date: str
    difficulty: str
    score: int
    turns: int
    powers: int
    hints: int
    seed: int
    seed_chosen: bool


def folder() -> Path:
    """Where the scores are kept, a folder for each difficulty."""
    return data_folder() / "scores"


def add(sitting: Sitting, date: str) -> HighScore:
    """Keep the score of a game that is over.

    Raises:
        MagsimError: if it cannot be written; the game can be opened again, and will try again.
    """
    game = sitting.game
    entry = HighScore(
        date,
        game.rules.name,
        game.score.total,
        game.turn,
        game.powers_used,
        sitting.hints,
        game.seed,
        sitting.seed_chosen,
    )
    path = folder() / game.rules.name / f"{sitting.name}.json"
    write_whole(path, json.dumps(asdict(entry), indent=1) + "\n")
    return entry


def _read(path: Path) -> HighScore:
    entry = HighScore(**json.loads(path.read_bytes()))
    numbers = (entry.score, entry.turns, entry.powers, entry.hints, entry.seed)
    if entry.difficulty not in DIFFICULTIES or not all(type(n) is int for n in numbers):
        raise ValueError("no score")
    datetime.fromisoformat(entry.date)
    return entry


def read(difficulty: str) -> tuple[list[HighScore], list[Path]]:
    """The scores of a difficulty, the best first and equals by date; and the files that hold none.

    Raises:
        MagsimError: if the folder cannot be read.
    """
    found, damaged = [], []
    try:
        for path in sorted((folder() / difficulty).glob("[!.]*.json")):
            try:
                found.append(_read(path))
            except (ValueError, TypeError):
                damaged.append(path)
    except OSError as error:
        raise MagsimError(f"{folder()} cannot be read: {error.strerror or error}") from error
    return sorted(found, key=lambda entry: (-entry.score, entry.date)), damaged
