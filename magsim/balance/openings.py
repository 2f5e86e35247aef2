"""Openings: what every first placement is worth to a perfect player, from the solution alone.

Placements are taken up to symmetry. All Powers are still left after them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from magsim.analysis.shapes import canonical, shape
from magsim.board import (
    CELLS,
    DICE,
    EMPTY_BOARD,
    SIDES,
    cell_values,
    format_board,
    format_dice,
    parse_board,
)
from magsim.bot import rule_values
from magsim.engine import ANY_HAND, FIRST_ROLL, HAND_INDEX, HANDS, outcomes
from magsim.regret.decisions import Decisions
from magsim.regret.judging import judge_distinct
from magsim.rules import score
from magsim.solver.hands import WAYS, hand_tables
from magsim.solver.perfect import UNKNOWN, Perfect

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

MOST = sum(comb(CELLS, k) * SIDES**k for k in range(1, DICE + 1))
"""No rules have more first placements."""
ROLLS = HANDS[FIRST_ROLL:]


@dataclass(frozen=True, slots=True)
class Openings:
    """Openings under some rules; values are expected final scores in points.

    ``placements``: every first placement up to symmetry, the most valuable first: board (text),
    shape (with ``X`` for numbers), value, allowed (share of rolls that allow it), best (share of
    rolls that have none better).
    ``rolls``: the 126 rolls in order: roll, chance, best (board), value, second (the next best
    board), second_value, gap (between the two), power (what using a Power first is worth); null
    where there is nothing such.
    ``shapes``: every set of cells up to symmetry, the one that is most often best first: shape,
    example (its board that is most often the best of all, else the most valuable one), allowed
    (share of rolls), best (share of rolls in which none is better), loss (mean against the best, in
    points, where the roll allows it).
    Shares of rolls are by their chances. Of placements that are worth the same, each is best.
    """

    placements: pl.DataFrame
    rolls: pl.DataFrame
    shapes: pl.DataFrame


def openings(perfect: Perfect) -> Openings:
    """All openings of rules that are solved whole.

    Raises:
        MagsimError: if the solution does not reach a board.
    """
    boards, values = _placements(perfect)
    fits = _fits(boards)
    worth = np.where(fits, values, -np.inf)
    chance = hand_tables().weight / WAYS
    top = worth.max(axis=1, initial=-np.inf)
    best = fits & (worth == top[:, None])
    texts = [format_board(board) for board in boards]
    placements = pl.DataFrame(
        {
            "board": texts,
            "shape": [shape(text) for text in texts],
            "value": values,
            "allowed": chance @ fits,
            "best": chance @ best,
        },
        schema_overrides={"board": pl.String, "shape": pl.String},
    )
    rolls = _rolls(texts, worth, chance, perfect)
    return Openings(placements, rolls, _shapes(placements, worth, chance))


def _placements(perfect: Perfect) -> tuple[list[int], Floats]:
    """The boards after every first placement up to symmetry, the most valuable first; values."""
    values = rule_values(perfect.rules)
    found = np.empty(MOST, np.int64)
    count = outcomes(EMPTY_BOARD, ANY_HAND, values, len(found), found)
    different = {canonical(format_board(int(board))) for board in found[:count]}
    boards = [parse_board(text) for text in sorted(different)]
    now = np.array([score(board, perfect.rules).total for board in boards], np.float64)
    worths = perfect.futures(boards, perfect.rules.powers) + now
    order = np.argsort(-worths, kind="stable")
    return [boards[k] for k in order], worths[order]


def _fits(boards: Sequence[int]) -> Bools:
    """``[roll, placement]``: whether a roll has the dice of a placement."""
    hands = [tuple(sorted(value for value in cell_values(board) if value)) for board in boards]
    held = np.array([[hand.count(die) for die in range(1, SIDES + 1)] for hand in HANDS])
    enough = np.all(held[FIRST_ROLL:, None] >= held[None], axis=2)
    fits: Bools = enough[:, np.array([HAND_INDEX[hand] for hand in hands], np.int64)]
    return fits


def _rolls(texts: Sequence[str], worth: Floats, chance: Floats, perfect: Perfect) -> pl.DataFrame:
    """The table ``rolls`` from ``worth[roll, placement]``, most valuable first, -inf if not."""
    powers = _powers_first(perfect)
    rows: list[tuple[Any, ...]] = []
    for k, roll in enumerate(ROLLS):
        allowed = np.flatnonzero(worth[k] > -np.inf)[:2]
        two = [(texts[place], float(worth[k, place])) for place in allowed]
        (best, value), (second, lower) = [*two, (None, None), (None, None)][:2]
        gap = None if value is None or lower is None else value - lower
        rows.append((format_dice(roll), chance[k], best, value, second, lower, gap, powers[k]))
    names = ("roll", "chance", "best", "value", "second", "second_value", "gap", "power")
    kinds = dict.fromkeys(names, pl.Float64) | dict.fromkeys(("roll", "best", "second"), pl.String)
    return pl.DataFrame(rows, schema={name: kinds[name] for name in names}, orient="row")


def _powers_first(perfect: Perfect) -> list[float | None]:
    """What the best Power on each roll of the first turn is worth; None where there are none."""
    count = len(ROLLS)
    if not perfect.rules.powers:
        return [None] * count
    empty, ones = np.full(count, EMPTY_BOARD), np.ones(count, np.int64)
    hands, left = FIRST_ROLL + np.arange(count), np.full(count, perfect.rules.powers)
    asked = Decisions(ones, ones, ones, empty, hands, left, empty, empty, ones)
    power = judge_distinct(asked, perfect).power
    return [None if worth == UNKNOWN else worth / perfect.scale for worth in power.tolist()]


def _shapes(placements: pl.DataFrame, worth: Floats, chance: Floats) -> pl.DataFrame:
    """The table ``shapes``."""
    top = worth.max(axis=1, initial=-np.inf)
    rows: list[tuple[Any, ...]] = []
    for (name,), part in placements.with_row_index("place").group_by("shape", maintain_order=True):
        here = worth[:, part["place"].to_numpy()].max(axis=1)
        allowed = here > -np.inf
        share = float(chance[allowed].sum())
        loss = float(chance[allowed] @ (top[allowed] - here[allowed])) / share
        best = float(chance[allowed & (here == top)].sum())
        example = part.sort("best", "value", descending=True, maintain_order=True)["board"][0]
        rows.append((str(name), example, share, best, loss))
    schema = {
        "shape": pl.String,
        "example": pl.String,
        **dict.fromkeys(("allowed", "best", "loss"), pl.Float64),
    }
    found = pl.DataFrame(rows, schema=schema, orient="row")
    return found.sort("best", "loss", descending=[True, False], maintain_order=True)
