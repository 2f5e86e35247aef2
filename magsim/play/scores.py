"""High scores: one small file a game, so that no score is ever rewritten, and none lost by another.

A game's file bears the game's name: writing it twice is writing it once.
"""

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from magsim.play.saves import Sitting
from magsim.play.storage import data_folder, listed, write_whole


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

    def day(self) -> str:
        """The date where the player is, ISO 8601."""
        return datetime.fromisoformat(self.date).astimezone().date().isoformat()


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


def _read(path: Path, difficulty: str) -> HighScore:
    """The score of a file.

    Raises:
        ValueError: if it holds none of this difficulty.
    """
    if not path.is_file():
        raise ValueError("no file")
    entry = HighScore(**json.loads(path.read_bytes()))
    counts = (entry.turns, entry.powers, entry.hints, entry.seed)
    if not all(type(number) is int and number >= 0 for number in counts):
        raise ValueError("no counts")
    if type(entry.score) is not int or type(entry.seed_chosen) is not bool:
        raise ValueError("no score")
    if entry.difficulty != difficulty:
        raise ValueError("no score of this difficulty")
    entry.day()
    return entry


def read(difficulty: str) -> tuple[list[HighScore], list[Path]]:
    """The scores of a difficulty, the best first and equals by date; and the files that hold none.

    Raises:
        MagsimError: if the folder cannot be read.
    """
    found, damaged = [], []
    for path in listed(folder() / difficulty):
        try:
            found.append(_read(path, difficulty))
        except (OSError, ValueError, TypeError, OverflowError, RecursionError):
            damaged.append(path)
    return sorted(found, key=lambda entry: (-entry.score, entry.date)), damaged
