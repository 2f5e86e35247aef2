"""A turn in small actions, for learners: their numbers, what they make, what is allowed and seen.

A small action stages one die, uses a Power, confirms what is staged, or accepts a RUIN. It is a
number::

      0 +  16 * (value - 1) + cell   stage a die of this value on a cell
     96 +  value - 1                 raise a die of this value
    102 +  value - 1                 lower a die of this value
    108 +  mask - 1                  reroll: bit k of the mask is the k-th of the dice, ascending
    123                              confirm
    124 +  cell                      RUIN

Powers come before staging, as R15 has it, and nothing is taken back: a die may be staged only where
the required minimum can still be reached, so that there is always a way on. What is legal is for
``engine`` to say. This module knows nothing of dice to come, nor of Gymnasium.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from magsim import engine
from magsim import rules as law
from magsim.board import (
    CELLS,
    DICE,
    EMPTY_BOARD,
    SIDES,
    SIZE,
    cell_values,
    empty_cells,
    with_cell,
)
from magsim.bot import Position, rule_values
from magsim.decision import (
    LOWER,
    POWER_KINDS,
    RAISE,
    REROLL,
    Decision,
    Place,
    Power,
    Ruin,
    pack_decision,
    pack_power,
    unpack_power,
)
from magsim.rules import SURVIVAL

STAGE_FIRST = 0
RAISE_FIRST = STAGE_FIRST + SIDES * CELLS
LOWER_FIRST = RAISE_FIRST + SIDES
REROLL_FIRST = LOWER_FIRST + SIDES
CONFIRM = REROLL_FIRST + (1 << DICE) - 1
RUIN_FIRST = CONFIRM + 1
ACTIONS = RUIN_FIRST + CELLS
"""How many small actions there are: 140."""

Observation = dict[str, NDArray[Any]]
Mask = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn under way: the position that is decided on, and what is staged so far.

    ``position`` holds the dice as Powers left them, and no dice once the game has ended;
    ``placements`` are (die, cell) pairs in the order of staging.
    """

    position: Position
    placements: tuple[tuple[int, int], ...] = ()

    @property
    def board(self) -> int:
        """The board with the staged dice on it."""
        board = self.position.board
        for die, cell in self.placements:
            board = with_cell(board, cell, die)
        return board

    @property
    def dice(self) -> tuple[int, ...]:
        """The dice that are not staged, ascending."""
        dice = list(self.position.dice)
        for die, _ in self.placements:
            dice.remove(die)
        return tuple(dice)

    @property
    def required(self) -> int:
        """How many more dice must be staged before the turn can be confirmed (R5)."""
        minimum = law.required_minimum(self.position.board, self.position.rules)
        return max(0, minimum - len(self.placements))

    @property
    def score(self) -> int:
        """The score so far in points, staged dice counted and Powers paid (R25)."""
        rules = self.position.rules
        used = rules.powers - self.position.powers_left
        return self.position.score(self.board) - sum(rules.power_costs[:used])

    def after(self, action: int) -> "Turn | Decision":
        """What an allowed small action makes: the turn with a die more staged, or a decision."""
        if action < RAISE_FIRST:
            die, cell = divmod(action - STAGE_FIRST, CELLS)
            return replace(self, placements=(*self.placements, (die + 1, cell)))
        if action < LOWER_FIRST:
            return Power(POWER_KINDS[RAISE], (action - RAISE_FIRST + 1,))
        if action < REROLL_FIRST:
            return Power(POWER_KINDS[LOWER], (action - LOWER_FIRST + 1,))
        if action < CONFIRM:
            return unpack_power(pack_power(REROLL, action - REROLL_FIRST + 1), self.position.dice)
        return Place(self.placements) if action == CONFIRM else Ruin(action - RUIN_FIRST)


def actions_of(decision: Decision, position: Position) -> list[int]:
    """The small actions that make a legal decision, such as one of a recorded game.

    >>> from magsim.board import parse_board
    >>> from magsim.decision import parse_decision
    >>> position = Position(parse_board("12../..../..../...."), (3, 3, 4, 6), 1, SURVIVAL)
    >>> actions_of(parse_decision("4d1 3c1"), position)
    [34, 51, 123]
    >>> actions_of(parse_decision("reroll 36"), position)
    [116]
    """
    match decision:
        case Place():
            _, staged, _ = law.stage(position.board, decision.placements, position.rules)
            return [*(STAGE_FIRST + CELLS * (die - 1) + cell for die, cell in staged), CONFIRM]
        case Power(kind="reroll"):
            packed = pack_decision(decision, position.board, position.dice)
            return [REROLL_FIRST - 1 + (-1 - packed) % (1 << DICE)]
        case Power():
            first = RAISE_FIRST if decision.kind == "raise" else LOWER_FIRST
            return [first + decision.dice[0] - 1]
        case Ruin():
            return [RUIN_FIRST + decision.cell]


@cache
def _power_actions(dice: tuple[int, ...]) -> tuple[int, ...]:
    """The distinct Powers on dice: of rerolls that name the same values, one."""
    position = Position(EMPTY_BOARD, dice, 1, SURVIVAL)
    return tuple(actions_of(power, position)[0] for power in position.powers())


def _stagings(turn: Turn) -> Iterator[int]:
    """The dice that may be staged and leave a way to the required minimum."""
    values = rule_values(turn.position.rules)
    board, dice = turn.board, turn.dice
    hand = engine.HAND_INDEX[dice]
    then = values._replace(minimum=max(0, turn.required - 1))
    for die in sorted(set(dice)):
        rest = int(engine.HAND_REMOVE[hand, die])
        legal = int(engine.legal_cells(board, die, values))
        for cell in range(CELLS):
            if not legal >> cell & 1:
                continue
            if not then.minimum or not engine.in_magdagdon(with_cell(board, cell, die), rest, then):
                yield STAGE_FIRST + CELLS * (die - 1) + cell


def action_mask(turn: Turn) -> Mask:
    """Which small actions are allowed: 1 or 0, int8 of shape (140,); none once the game has ended.

    Powers while nothing is staged and one is left; RUINs in MAGDAGDON; else dice to be staged, and
    ``CONFIRM`` as soon as the required minimum is.
    """
    mask = np.zeros(ACTIONS, np.int8)
    position = turn.position
    if not position.dice:
        return mask
    if not turn.placements:
        if position.powers_left:
            mask[list(_power_actions(position.dice))] = 1
        if position.in_magdagdon():
            mask[[RUIN_FIRST + cell for cell in empty_cells(position.board)]] = 1
            return mask
    mask[list(_stagings(turn))] = 1
    mask[CONFIRM] = bool(turn.placements) and not turn.required
    return mask


def observation(turn: Turn) -> Observation:
    """What is seen of a turn, in new arrays, by name as Gymnasium sorts them.

    ``board`` int8 (4, 4): 0 empty, 1-6 a number, 7 a RUIN, staged dice included; ``dice`` int8
    (4,): those not staged, ascending, then zeros; ``powers_left`` int8 (1,); ``required`` int8
    (1,): dice to be staged before ``CONFIRM``; ``score`` int32 (1,): so far, in points; ``staged``
    int8 (4, 4): 1 where a die is staged.
    """
    board = np.array(cell_values(turn.board), np.int8)
    staged = np.zeros(CELLS, np.int8)
    staged[[cell for _, cell in turn.placements]] = 1
    return {
        "board": board.reshape(SIZE, SIZE),
        "dice": engine.HAND_DICE[engine.HAND_INDEX[turn.dice]].astype(np.int8),
        "powers_left": np.array([turn.position.powers_left], np.int8),
        "required": np.array([turn.required], np.int8),
        "score": np.array([turn.score], np.int32),
        "staged": staged.reshape(SIZE, SIZE),
    }
