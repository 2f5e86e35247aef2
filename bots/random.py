"""The bot that knows nothing: one uniform draw among all distinct legal decisions.

It is the floor that every other bot is measured from.
"""

import numpy as np
from numpy.typing import NDArray

from magsim.board import DICE, RUIN, SIDES
from magsim.bot import Answers, Bot, Positions
from magsim.compiled import kernel
from magsim.decision import LOWER, RAISE, REROLL
from magsim.engine import (
    HAND_DICE,
    LOW_BIT,
    MAX_OUTCOMES,
    RuleValues,
    empty_mask,
    outcomes,
    random_below,
)

MAX_POWERS = 2 * DICE + (1 << DICE) - 1


@kernel
def distinct_powers(hand: int, found: NDArray[np.int64]) -> int:
    """Write the packed Powers that differ by value of dice (R13, R14); returns how many.

    Of equal dice a Power takes the first ones. ``found`` has room for ``MAX_POWERS``.
    """
    dice = HAND_DICE[hand]
    count = 0
    for k in range(DICE):
        if k > 0 and dice[k] == dice[k - 1]:
            continue
        if dice[k] < SIDES:
            found[count] = -1 - (RAISE << DICE | 1 << k)
            count += 1
        if dice[k] > 1:
            found[count] = -1 - (LOWER << DICE | 1 << k)
            count += 1
    for mask in range(1, 1 << DICE):
        first = True
        for k in range(1, DICE):
            if mask >> k & 1 and not mask >> (k - 1) & 1 and dice[k] == dice[k - 1]:
                first = False
        if first:
            found[count] = -1 - (REROLL << DICE | mask)
            count += 1
    return count


@kernel
def _decide(
    boards: NDArray[np.int64],
    hands: NDArray[np.int64],
    powers_left: NDArray[np.int64],
    keys: NDArray[np.uint64],
    values: RuleValues,
    decisions: NDArray[np.int64],
) -> None:
    found = np.empty(MAX_OUTCOMES, np.int64)
    powers = np.empty(MAX_POWERS, np.int64)
    for row in range(len(boards)):
        board = boards[row]
        places = outcomes(board, hands[row], values, MAX_OUTCOMES, found)
        if places == 0:
            empty = empty_mask(board)
            while empty:
                low = empty & -empty
                empty ^= low
                found[places] = board | RUIN << 4 * np.int64(LOW_BIT[low])
                places += 1
        count = distinct_powers(hands[row], powers) if powers_left[row] > 0 else 0
        pick = random_below(keys[row], 0, places + count)
        decisions[row] = found[pick] if pick < places else powers[pick - places]


class Random(Bot):
    """Decides by one uniform draw among all distinct legal decisions of the position.

    These are the distinct outcomes (boards that a placement can leave), the distinct Powers by the
    values of the dice they take, and in MAGDAGDON the RUIN on each empty cell, all with equal
    chance. Most outcomes place many dice, so it does too.
    """

    compiled = True
    strength = 28  # measured in results/ladder

    def decide_batch(self, positions: Positions) -> Answers:
        """One draw for each position, from its own key."""
        decisions = np.empty(len(positions), np.int64)
        _decide(
            positions.boards,
            positions.hands,
            positions.powers_left,
            positions.keys,
            positions.values,
            decisions,
        )
        return Answers(decisions)
