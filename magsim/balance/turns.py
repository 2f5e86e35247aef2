"""What Powers are worth to a perfect player in turns that were played, part by part.

Whatever was decided, and however many Powers were left: only the boards and dice are taken from
the records. All is exact, and counted in whole ``UNIT`` parts of a point.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from magsim.board import CELLS
from magsim.errors import MagsimError
from magsim.regret.decisions import Decisions, Ints
from magsim.regret.judging import judge_distinct, read_turns
from magsim.regret.sums import UNIT
from magsim.solver.perfect import Perfect

TENTHS = 10
"""Prices are counted in tenths of a point."""


@dataclass(frozen=True, slots=True)
class Task:
    """A part of the table ``turns`` to weigh, up to game ``most`` (not included) if told."""

    turns: Path
    bot: str
    perfect: Perfect
    seed: int
    most: int | None


def first_decisions(task: Task) -> Decisions:
    """The first decision of each turn in a part.

    Raises:
        MagsimError: if the part is damaged or makes no sense.
    """
    _, decisions = read_turns(task.turns, task.perfect.rules, task.seed, task.most)
    first = decisions.step == 1
    return Decisions(*(column[first] for column in decisions))


def weigh_part(task: Task) -> pl.DataFrame:
    """The turns of a part, with what Powers are worth in them; see ``weigh_turns``.

    Raises:
        MagsimError: if the part is damaged or makes no sense, or the solution does not reach it.
    """
    turns = first_decisions(task)
    try:
        return weigh_turns(turns, task.perfect)
    except MagsimError as error:
        raise MagsimError(f"{task.turns}, {error}") from error


def worth_column(powers: int) -> str:
    """The column for what so many Powers are worth more than one fewer."""
    return f"worth_{powers}"


def weigh_turns(turns: Decisions, perfect: Perfect) -> pl.DataFrame:
    """What Powers are worth in turns, given by their first decisions.

    Columns: game, turn, empty (cells at its start), powers (left at its start), ``worth_column`` of
    1 to all Powers (what perfect play expects before the roll, minus what it expects with one
    Power fewer; in UNIT parts of a point), magdagdon (whether the roll was in it), gain (of the
    best Power, paid for, over the best decision that is none; in UNIT parts; null where no Power
    was left), price (the last tenth of a point, counted in tenths, at which the best Power still is
    the better choice; null likewise).

    Raises:
        MagsimError: if the solution does not reach a board.
    """
    columns: dict[str, NDArray[np.int64] | NDArray[np.bool_]] = {
        "game": turns.game,
        "turn": turns.turn,
        "empty": _count_empty(turns.board),
        "powers": turns.powers_left,
    }
    boards, which = np.unique(turns.board, return_inverse=True)
    futures = [_units(boards, left, perfect)[which] for left in range(perfect.rules.powers + 1)]
    for powers in range(1, perfect.rules.powers + 1):
        columns[worth_column(powers)] = futures[powers] - futures[powers - 1]
    return pl.DataFrame(columns).hstack(_weigh_powers(turns, perfect))


def _weigh_powers(turns: Decisions, perfect: Perfect) -> pl.DataFrame:
    """The columns magdagdon, gain and price of ``weigh_turns``."""
    # What was decided is not asked: with the board itself for it, fewer decisions are different.
    judged = judge_distinct(turns._replace(decision=turns.board), perfect)
    level = perfect.levels[turns.powers_left]
    gain = judged.power - judged.staying
    price = gain + perfect.book.stakes.cost[level]
    some = pl.Series(turns.powers_left > 0)
    return pl.DataFrame(
        {
            "magdagdon": judged.magdagdon == 1,
            "gain": gain * (UNIT // perfect.scale),
            "price": (price * TENTHS - 1) // perfect.scale,
        }
    ).with_columns(pl.when(some).then(pl.col("gain", "price")))


def _units(boards: Ints, powers_left: int, perfect: Perfect) -> Ints:
    """What perfect play still gains from boards on, before a roll, in UNIT parts."""
    units: Ints = np.rint(perfect.futures(boards, powers_left) * UNIT).astype(np.int64)
    return units


def _count_empty(boards: Ints) -> Ints:
    counts: Ints = sum((boards >> 4 * cell & 15 == 0).astype(np.int64) for cell in range(CELLS))
    return counts
