"""The bot that takes the most points now: what a designer should expect of an eager beginner.

It uses a Power exactly when that gains more points this turn, on average over all throws, than it
costs. All of its arithmetic is in whole numbers: worths are twice the score, as ``lines`` has it.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import EMPTY_BOARD, RUIN, SIDES, SIZE
from magsim.bot import Answers, Bot, Position, Positions, rule_values
from magsim.compiled import kernel
from magsim.decision import Decision
from magsim.engine import (
    LOW_BIT,
    RuleValues,
    count_bits,
    empty_mask,
    legal_values,
    required_minimum,
    transpose,
)
from magsim.rules import Rules
from magsim_bots.growth import NOTHING
from magsim_bots.lines import board_worth, current_worth
from magsim_bots.points import (
    best_placement,
    bonus_bounds,
    bounds,
    points_by_hand,
    short_code,
)
from magsim_bots.ranking import paid, power_options, ranked
from magsim_bots.turn import (
    HAND_COUNT,
    NO_SPARE,
    THROWS,
    best_power,
    place_values,
    sum_throws,
)


class Greed(NamedTuple):
    """What ``greedy`` knows of the rules, made once for each."""

    line: NDArray[np.int32]
    """``lines.current_worth``: twice the score as it stands, by lines; (65536,)."""
    bonus: NDArray[np.int32]
    """``[short code of a line, roll]``: see ``bonus_bounds``; (4096, 126)."""
    opening: NDArray[np.int64]
    """``[powers_left, hand]``: the decision on the empty board, 0 until asked for; (P + 1, 210)."""


@kernel
def ruin_choice(board: int, values: RuleValues) -> int:
    """The empty cell that could take the fewest values, the lowest on ties; RUINs cost alike."""
    fewest, choice = SIDES + 1, -1
    empty = empty_mask(board)
    while empty:
        low = empty & -empty
        empty ^= low
        count = count_bits(legal_values(board, LOW_BIT[low], values.near))
        if count < fewest:
            fewest, choice = count, np.int64(LOW_BIT[low])
    return choice


@kernel
def hand_values(
    board: int, now: int, values: RuleValues, line: NDArray[np.int32], value: NDArray[np.int64]
) -> None:
    """What hands are worth this turn: of a roll its best placement or a RUIN, summed as throws.

    ``value`` has shape (210,), ``now`` is what the board is worth.
    """
    by_hand = np.empty(HAND_COUNT, np.int64)
    points_by_hand(board, values, line, by_hand)
    least = max(required_minimum(board, values), 1)
    empty = count_bits(empty_mask(board))
    place_values(least, empty, NO_SPARE, by_hand, now - 2 * values.ruin_penalty, value)
    sum_throws(value)


@kernel
def _decide(board: int, hand: int, left: int, values: RuleValues, greed: Greed) -> int:
    line = greed.line
    codes = np.empty(2 * SIZE, np.int64)
    turned = transpose(board)
    for k in range(SIZE):
        codes[k] = short_code(board >> 16 * k & 0xFFFF)
        codes[SIZE + k] = short_code(turned >> 16 * k & 0xFFFF)
    now = board_worth(board, line)
    value = np.empty(HAND_COUNT, np.int64)
    bounds(codes, greed.bonus, value)
    best, decision = best_placement(board, hand, values, line, now + value[hand])
    if best == NOTHING:
        best = now - 2 * values.ruin_penalty
        decision = board | RUIN << 4 * ruin_choice(board, values)
    if left == 0:
        return decision
    cost = 2 * values.power_costs[len(values.power_costs) - left]
    sum_throws(value)
    if best_power(hand, cost, value)[0] <= (best - now) * THROWS:
        return decision  # not even the most that the dice could bring would pay
    hand_values(board, now, values, line, value)
    worth, power = best_power(hand, cost, value)
    return power if worth > best * THROWS else decision


@kernel
def _decide_batch(
    boards: NDArray[np.int64],
    hands: NDArray[np.int64],
    powers_left: NDArray[np.int64],
    values: RuleValues,
    greed: Greed,
    decisions: NDArray[np.int64],
) -> None:
    for row in range(len(boards)):
        board, hand, left = boards[row], hands[row], powers_left[row]
        if board != EMPTY_BOARD:
            decisions[row] = _decide(board, hand, left, values, greed)
            continue
        if greed.opening[left, hand] == 0:
            greed.opening[left, hand] = _decide(board, hand, left, values, greed)
        decisions[row] = greed.opening[left, hand]


@cache
def greed(rules: Rules) -> Greed:
    """The tables of ``greedy`` for one set of rules."""
    values = rule_values(rules)
    opening = np.zeros((rules.powers + 1, HAND_COUNT), np.int64)
    return Greed(current_worth(values), bonus_bounds(values), opening)


class Greedy(Bot):
    """Decides for the outcome with the best score now, and for Powers that pay at once.

    A Power is used when its exact expected gain this turn exceeds its cost, a turn in MAGDAGDON
    counting as a RUIN's penalty. A RUIN goes where the fewest values could still go.
    """

    compiled = True
    strength = 156  # measured in results/ladder

    def decide_batch(self, positions: Positions) -> Answers:
        """The decisions; no estimates."""
        decisions = np.empty(len(positions), np.int64)
        _decide_batch(
            positions.boards,
            positions.hands,
            positions.powers_left,
            positions.values,
            greed(positions.rules),
            decisions,
        )
        return Answers(decisions)

    def rank(self, position: Position, key: int, count: int) -> list[Decision]:  # noqa: ARG002 - no chance here
        """Decisions by the score that they leave after this turn, Powers by its exact mean."""
        board, values, line = (
            position.board,
            rule_values(position.rules),
            greed(position.rules).line,
        )
        now = int(board_worth(board, line))
        options = [(THROWS * int(board_worth(after, line)), after) for after in position.outcomes()]
        if not options:
            ruins = sorted(
                position.ruins(),
                key=lambda ruin: int(legal_values(board, ruin.cell, values.near)).bit_count(),
            )
            worth = THROWS * (now - 2 * values.ruin_penalty)
            options = [(worth, position.after(ruin)) for ruin in ruins]
        if position.power_cost is not None:
            value = np.empty(HAND_COUNT, np.int64)
            hand_values(board, now, values, line, value)
            options += power_options(position.dice, 2 * position.power_cost, value)
        spent = paid(position)
        return ranked(options, position, count, lambda worth: worth / (2 * THROWS) - spent)
