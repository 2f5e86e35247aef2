"""The bot that has learned: a search of one turn on a network of n-tuples (``network``)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from magsim.bot import Answers, Bot, Position, Positions, rule_values
from magsim.compiled import kernel
from magsim.decision import Decision
from magsim.engine import HAND_INDEX, RuleValues
from magsim.errors import MagsimError
from magsim.rules import Rules
from magsim_bots.growth import candidates
from magsim_bots.judge import Judge
from magsim_bots.lines import POINT
from magsim_bots.network import NONE, OWN, network_for, reliance, train, weights_option
from magsim_bots.ranking import paid, power_options, ranked
from magsim_bots.turn import HAND_COUNT, IN_A_ROW, THROWS, best_power, turn_values


@kernel
def decide_all(
    boards: NDArray[np.int64],
    hands: NDArray[np.int64],
    powers_left: NDArray[np.int64],
    values: RuleValues,
    judge: Judge,
    decisions: NDArray[np.int64],
    estimates: NDArray[np.float64],
) -> None:
    """Decide in a batch of positions by what a network says of boards after this turn."""
    found, worths = np.empty(1, np.int64), np.empty(1, np.int64)
    powers = len(values.power_costs)
    turn = np.empty((powers + 1, HAND_COUNT), np.int64)
    for row in range(len(boards)):
        board, hand, left = boards[row], hands[row], powers_left[row]
        candidates(board, hand, left, judge.reach + 1, values, judge, found, worths)
        decision, worth = found[0], worths[0]
        if left > 0:
            turn_values(board, left, IN_A_ROW, values, judge, turn)
            cost = values.power_costs[powers - left] * POINT
            most, power = best_power(hand, cost, turn[left - 1])
            if most > worth * THROWS:
                decision, worth = power, most // THROWS
        paid = 0
        for k in range(powers - left):
            paid += values.power_costs[k]
        decisions[row] = decision
        estimates[row] = worth / POINT - paid


class Ntuple(Bot):
    """Decides for the board that is worth most by a network that has learned from self-play.

    The network (``network``) judges every board that this turn can leave, and every roll that a
    Power can lead to.
    """

    compiled = True
    strength = 362  # measured in results/skill

    weights: str = weights_option(OWN)

    def relies_on(self, rules: Rules) -> str:
        """The network."""
        self._judge(rules)
        return reliance(rules, self.weights)

    def prepare(self, rules: Rules) -> None:
        """Read the network."""
        self._judge(rules)

    def _judge(self, rules: Rules) -> Judge:
        network = network_for(rules, self.weights)
        if network:
            return network.judge
        if self.weights == NONE:
            raise MagsimError("bot ntuple plays by a network; weights=none leaves it nothing")
        raise MagsimError(
            f"bot ntuple has not learned {rules.name}; `magsim train ntuple` teaches it these "
            "rules, and ntuple:weights=FILE plays by what it learned"
        )

    def decide_batch(self, positions: Positions) -> Answers:
        """The decisions, each with the expected final score."""
        decisions = np.empty(len(positions), np.int64)
        estimates = np.empty(len(positions), np.float64)
        judge = self._judge(positions.rules)
        decide_all(
            positions.boards,
            positions.hands,
            positions.powers_left,
            positions.values,
            judge,
            decisions,
            estimates,
        )
        return Answers(decisions, estimates)

    def rank(self, position: Position, key: int, count: int) -> list[Decision]:  # noqa: ARG002 - no chance here
        """The best boards of this turn and all Powers, by what the network says of them."""
        judge, left = self._judge(position.rules), position.powers_left
        board, hand, values = position.board, HAND_INDEX[position.dice], rule_values(position.rules)
        boards, worths = np.empty((2, max(count, 1)), np.int64)
        found = candidates(board, hand, left, judge.reach + 1, values, judge, boards, worths)
        options = [(int(worths[i]) * THROWS, int(boards[i])) for i in range(found)]
        if position.power_cost is not None:
            turn = np.empty((left + 1, HAND_COUNT), np.int64)
            turn_values(board, left, IN_A_ROW, values, judge, turn)
            options += power_options(position.dice, position.power_cost * POINT, turn[left - 1])
        spent = paid(position)
        return ranked(options, position, count, lambda worth: worth // THROWS / POINT - spent)

    def train(self, rules: Rules, seed: int, games: int, told: Callable[[int], object]) -> bytes:
        """Learn rules by playing; the file that the option ``weights`` takes."""
        return train(rules, seed, games, told)
