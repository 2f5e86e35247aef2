"""A recorded game as a value, shown turn by turn in a notebook."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import polars as pl

from magsim.board import EMPTY_BOARD
from magsim.notebook.boards import Board
from magsim.notebook.pictures import Tile, game_picture
from magsim.rules import Score

Row = dict[str, Any]


def game_score(row: Row) -> Score:
    """The score by its parts of a row of the table ``games``."""
    parts = {part.name: row[part.name] for part in fields(Score) if part.name in row}
    return Score(**parts, total=row["score"])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Game:
    """One recorded game; ``Run.game`` finds it. A notebook shows it turn by turn.

    ``len`` of it is the number of its turns.
    """

    bot: str
    """The bot spec."""
    difficulty: str
    """The name of the rules."""
    index: int
    """The game index: the same index, the same dice."""
    score: Score
    """The final score by its parts, in points where they are no counts."""
    turns: pl.DataFrame
    """A row a turn: the columns of the table ``turns`` from ``turn`` on."""

    @property
    def boards(self) -> tuple[Board, ...]:
        """The board after each turn."""
        return tuple(Board(text) for text in self.turns["board"])

    def __len__(self) -> int:
        return len(self.turns)

    def __repr__(self) -> str:
        return (
            f"<Game {self.index} of {self.bot} at {self.difficulty}: "
            f"{self.score.total} points in {len(self)} turns>"
        )

    def _tiles(self) -> Iterator[Tile]:
        before, score = EMPTY_BOARD, 0
        for row, board in zip(self.turns.iter_rows(named=True), self.boards, strict=True):
            change = row["score"] - score
            yield Tile(f"Turn {row['turn']}", board.packed, before, _told(row, change))
            before, score = board.packed, row["score"]

    def _repr_html_(self) -> str:
        title = f"Game {self.index} of {self.bot} at {self.difficulty}: {self.score.total} points"
        return game_picture(title, list(self._tiles()), _parts(self.score))


def _told(row: Row, change: int) -> list[str]:
    """What is told of a turn under its board."""
    lines = [f"roll {row['roll']}"]
    if row["powers"] is not None:
        lines += [f"Power {power}" for power in row["powers"].split("; ")]
        lines.append(f"dice {row['dice']}")
    if row["magdagdon"] != "no":
        lines.append(f"MAGDAGDON {row['magdagdon']}")
    if row["ruin"] is not None:
        lines.append(f"RUIN on {row['ruin']}")
    if row["placements"] is not None:
        lines.append(f"places {row['placements']}")
    lines.append(f"score {row['score']} ({change:+})")
    return lines


def _parts(score: Score) -> list[str]:
    """The parts of a score, in two lines."""
    return [
        f"base {score.base} + bonuses {score.bonuses} − RUINs {score.ruin_cost} − Powers "
        f"{score.power_cost} = {score.total} points",
        f"STRAIGHTs {score.straights}, FOURs OF A KIND {score.fours}, "
        f"TWO PAIRS {score.two_pairs}, RUINs {score.ruins}",
    ]
