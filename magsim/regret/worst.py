"""The decisions that lost most, looked up in the records, with what would have been best."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from magsim.bot import Position
from magsim.decision import Decision, pack_decision
from magsim.reading.replay import Turn, read_game
from magsim.solver.perfect import Perfect


@dataclass(frozen=True, slots=True)
class Worst:
    """A decision, and the best one in its position; estimates are what perfect play expects."""

    difficulty: str
    bot: str
    game: int
    turn: int
    position: Position
    made: Decision
    best: Decision
    regret: float


def positions(turn: Turn) -> list[tuple[Position, Decision]]:
    """The positions of a turn in order, with what was decided in each."""
    start, found = turn.start, []
    dice = start.dice
    for used, (power, after) in enumerate(turn.powers):
        left = start.powers_left - used
        found.append((Position(start.board, dice, left, start.rules), power))
        dice = after
    left = start.powers_left - len(turn.powers)
    return [*found, (Position(start.board, dice, left, start.rules), turn.closing)]


def look_up(run: Path, solutions: dict[str, Perfect], worst: pl.DataFrame) -> list[Worst]:
    """The decisions of rows of ``Sums.worst`` in words, in their order.

    Raises:
        MagsimError: if a part is damaged.
    """
    found = []
    for row in worst.iter_rows(named=True):
        perfect, game = solutions[row["difficulty"]], row["game"]
        played = read_game(run, row["bot"], row["difficulty"], game)
        position, decision = positions(played.turn(row["turn"]))[row["step"] - 1]
        weighed = perfect.weighed(position)
        packed = pack_decision(decision, position.board, position.dice)
        made = next(
            option
            for option in weighed
            if pack_decision(option, position.board, position.dice) == packed
        )
        names = row["difficulty"], row["bot"], game, row["turn"]
        found.append(Worst(*names, position, made, weighed[0], row["regret"]))
    return found
