"""Perfect play for bots: decisions, rankings and endgames by a solution, and what to rely on."""

import mmap
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from magsim import solver
from magsim.board import CELLS, format_board
from magsim.bot import Answers, Position, Positions, option
from magsim.compiled import source_key
from magsim.decision import Decision, unpack_decision
from magsim.errors import MagsimError
from magsim.rules import Rules
from magsim.solver import memory
from magsim.solver.library import needed_perfect
from magsim.solver.perfect import Perfect
from magsim_bots import network
from magsim_bots.choosing import NO_DECISION, decide_all, new_guide

_STRETCH, _PATIENCE = 1 << 26, 5.0
"""Bytes that are read ahead between two looks at the clock; seconds."""

guide_of = cache(new_guide)
"""The guide by perfect play, always the same one."""


@cache
def read_ahead(perfect: Perfect) -> None:
    """Map all of a solution into this process, in order, if the memory can hold it.

    Look-ups would do so a page at a time, and from a disk many times slower. It gives up where even
    this takes long.
    """
    classes, values = perfect.book.below.layers[0], perfect.book.below.vectors[0]
    parts = classes.starts, classes.keys, values, perfect.limits
    if sum(part.nbytes for part in parts) > memory.available():
        return
    until = time.monotonic() + _PATIENCE
    for part in parts:
        bytes_of = part.reshape(-1).view(np.uint8)
        for start in range(0, len(bytes_of), _STRETCH):
            bytes_of[start : start + _STRETCH : mmap.PAGESIZE].max()
            if time.monotonic() > until:
                return


def reliance(rules: Rules, empty: int) -> str:
    """What a bot relies on that plays perfectly from so many empty cells on.

    Raises:
        MagsimError: if there is no solution that reaches so far.
    """
    program = source_key([Path(solver.__file__).parent])
    return f"solution {needed_perfect(rules, empty).fingerprint} read by {program}"


def all_reliance(rules: Rules, weights: str, empty: int) -> str:
    """What a bot relies on that searches by a network and plays endgames perfectly, if it does.

    Raises:
        MagsimError: if the network cannot be read, or there is no solution that reaches so far.
    """
    solved = reliance(rules, empty) if empty else ""
    return ", ".join(filter(None, (network.reliance(rules, weights), solved)))


def decide(positions: Positions, empty: int) -> Answers:
    """Perfect decisions, each with the expected final score.

    Positions have up to ``empty`` empty cells; the solution is one that reaches so far.

    Raises:
        MagsimError: if there is no solution, or it does not reach a position.
    """
    perfect = needed_perfect(positions.rules, empty)
    decisions = np.empty(len(positions), np.int64)
    estimates = np.empty(len(positions), np.float64)
    decide_all(
        positions.boards,
        positions.hands,
        positions.powers_left,
        positions.values,
        guide_of(perfect),
        decisions,
        estimates,
    )
    lost = np.flatnonzero(decisions == NO_DECISION)
    if len(lost):
        board = format_board(int(positions.boards[lost[0]]))
        raise MagsimError(
            f"board {board}: the solution in {perfect.path} does not reach it; 'magsim solve' says "
            "whether it is damaged"
        )
    return Answers(decisions, estimates)


def endgame_option() -> int:
    """The option ``endgame`` of bots that search before it."""
    chosen: int = option(
        0,
        "play perfectly from so many empty cells on, by a solution that reaches so far",
        minimum=0,
        maximum=CELLS,
    )
    return chosen


def empty_cells_left(boards: NDArray[np.int64]) -> NDArray[np.uint8]:
    """How many empty cells boards have."""
    filled = (boards | boards >> 1 | boards >> 2) & 0x1111111111111111
    return np.asarray(CELLS - np.bitwise_count(filled))


def decide_endgame(
    positions: Positions, endgame: int, search: Callable[[Positions], Answers]
) -> Answers:
    """Perfect decisions from so many empty cells on, and before that those of a ``search``.

    Raises:
        MagsimError: if there is no solution, or it does not reach a position.
    """
    if endgame == 0:
        return search(positions)
    late = empty_cells_left(positions.boards) <= endgame
    decisions = np.empty(len(positions), np.int64)
    estimates = np.full(len(positions), np.nan)
    for rows, decide_some in ((late, partial(decide, empty=endgame)), (~late, search)):
        if rows.any():
            some = Positions(
                positions.boards[rows],
                positions.hands[rows],
                positions.powers_left[rows],
                positions.keys[rows],
                positions.rules,
            )
            answers = decide_some(some)
            decisions[rows] = answers.decisions
            if answers.estimates is not None:
                estimates[rows] = answers.estimates
    return Answers(decisions, estimates)


def rank(position: Position, empty: int) -> list[Decision]:
    """Every legal decision with the final score to expect of it, the one decided for first.

    ``empty`` is as in ``decide``.

    Raises:
        MagsimError: if there is no solution, or it does not reach the position.
    """
    packed = int(decide(position.alone(0), empty).decisions[0])
    first = unpack_decision(packed, position.board, position.dice)
    weighed = needed_perfect(position.rules, empty).weighed(position)
    return sorted(weighed, key=lambda option: option != first)
