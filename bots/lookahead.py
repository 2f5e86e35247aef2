"""The bot that looks one turn ahead: an expectimax, exact over the 126 rolls of the next turn.

Boards are judged by what their lines can still earn (``lines``); only the boards of this turn that
look best at once are looked at further (``turn``).
"""

import numpy as np
from numpy.typing import NDArray

from magsim.board import empty_cells
from magsim.bot import Answers, Bot, Position, Positions, option, rule_values
from magsim.compiled import kernel
from magsim.decision import Decision
from magsim.engine import HAND_INDEX, RuleValues
from magsim.rules import Rules
from magsim_bots.exact import all_reliance, decide_endgame, endgame_option, rank
from magsim_bots.growth import candidates, promising
from magsim_bots.judge import Judge
from magsim_bots.lines import POINT
from magsim_bots.network import NONE, judge_for, weights_option
from magsim_bots.ranking import paid, power_options, ranked
from magsim_bots.turn import HAND_COUNT, IN_A_ROW, THROWS, best_power, turn_values, turn_worth


@kernel
def _decide(
    board: int, hand: int, left: int, width: int, values: RuleValues, judge: Judge
) -> tuple[int, int]:
    """The decision in one position, and the final score it expects, in 1/256 point."""
    boards = np.empty(width, np.int64)
    worths = np.empty(width, np.int64)
    count = candidates(board, hand, left, judge.reach + 1, values, judge, boards, worths)
    paid = 0
    powers = len(values.power_costs)
    for k in range(powers - left):
        paid += values.power_costs[k] * POINT
    count = promising(worths[:count], judge)
    if left > 0:
        turn = np.empty((left + 1, HAND_COUNT), np.int64)
        turn_values(board, left, IN_A_ROW, values, judge, turn)
        cost = values.power_costs[powers - left] * POINT
        worth, decision = best_power(hand, cost, turn[left - 1])
        if worth > worths[0] * THROWS:
            return decision, worth // THROWS - paid
    best, decision = turn_worth(boards[0], left, values, judge), boards[0]
    for i in range(1, count):
        worth = turn_worth(boards[i], left, values, judge)
        if worth > best:
            best, decision = worth, boards[i]
    return decision, best - paid


@kernel
def _decide_batch(
    boards: NDArray[np.int64],
    hands: NDArray[np.int64],
    powers_left: NDArray[np.int64],
    width: int,
    values: RuleValues,
    judge: Judge,
    decisions: NDArray[np.int64],
    estimates: NDArray[np.float64],
) -> None:
    for row in range(len(boards)):
        decision, worth = _decide(boards[row], hands[row], powers_left[row], width, values, judge)
        decisions[row] = decision
        estimates[row] = worth / POINT


class Lookahead(Bot):
    """Decides for the board that is worth most after the next turn, on average over its rolls."""

    compiled = True
    strength = 327  # measured in results/ladder

    width: int = option(6, "how many boards are looked at further", minimum=1, maximum=1000)
    endgame: int = endgame_option()
    weights: str = weights_option(NONE)

    def relies_on(self, rules: Rules) -> str:
        """The network, and the solution that endgames are played by, if any are."""
        return all_reliance(rules, self.weights, self.endgame)

    def prepare(self, rules: Rules) -> None:
        """Read the network."""
        judge_for(rules, self.weights)

    def decide_batch(self, positions: Positions) -> Answers:
        """The decisions, each with the expected final score."""
        return decide_endgame(positions, self.endgame, self._search)

    def _search(self, positions: Positions) -> Answers:
        decisions = np.empty(len(positions), np.int64)
        estimates = np.empty(len(positions), np.float64)
        _decide_batch(
            positions.boards,
            positions.hands,
            positions.powers_left,
            self.width,
            positions.values,
            judge_for(positions.rules, self.weights),
            decisions,
            estimates,
        )
        return Answers(decisions, estimates)

    def rank(self, position: Position, key: int, count: int) -> list[Decision]:  # noqa: ARG002 - no chance here
        """The boards that it looks at further, by their worth after the next turn, and all Powers.

        Powers are weighed against the board that looks best at once, on this turn's measure, so all
        keep their distance from it on the measure of what is decided. Endgames are ranked exactly.
        """
        if len(empty_cells(position.board)) <= self.endgame:
            return rank(position, self.endgame)[:count]
        board, left, values = position.board, position.powers_left, rule_values(position.rules)
        judged = judge_for(position.rules, self.weights)
        boards, worths = np.empty(self.width, np.int64), np.empty(self.width, np.int64)
        hand, reach = HAND_INDEX[position.dice], judged.reach + 1
        found = candidates(board, hand, left, reach, values, judged, boards, worths)
        found = promising(worths[:found], judged)
        after = [int(turn_worth(boards[i], left, values, judged)) for i in range(found)]
        places = [(worth * THROWS, int(boards[i])) for i, worth in enumerate(after)]
        ahead = (max(after) - int(worths[0])) * THROWS
        powers = []
        if position.power_cost is not None:
            turn = np.empty((left + 1, HAND_COUNT), np.int64)
            turn_values(board, left, IN_A_ROW, values, judged, turn)
            powers = power_options(position.dice, position.power_cost * POINT, turn[left - 1])
        if powers and max(powers)[0] > worths[0] * THROWS:
            options = powers + [(worth - ahead, packed) for worth, packed in places]
        else:
            options = places + [(worth + ahead, packed) for worth, packed in powers]
        spent = paid(position)
        return ranked(
            options, position, count, lambda worth: (worth // THROWS - spent * POINT) / POINT
        )
