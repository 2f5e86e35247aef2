"""The bot that searches: a Monte-Carlo tree search over decisions, rerolls and rolls to come.

The tree and its simulations are in ``tree``; here the simulations are shared out among the
decisions of the position.
"""

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS, empty_cells
from magsim.bot import Answers, Bot, Position, Positions, option, rule_values
from magsim.compiled import kernel
from magsim.decision import Decision
from magsim.engine import HAND_INDEX, RuleValues, random_below
from magsim.rules import Rules
from magsim_bots.exact import all_reliance, decide_endgame, endgame_option, rank
from magsim_bots.judge import Judge
from magsim_bots.lines import POINT
from magsim_bots.network import OWN, judge_for, weights_option
from magsim_bots.ranking import decision_of, paid
from magsim_bots.tree import (
    ARMS,
    DECISION,
    NO_NODE,
    ROOT,
    Tree,
    add_node,
    expand,
    new_tree,
    simulate,
)
from magsim_bots.turn import THROWS

SOME, MANY = 8, 48
"""Simulations a decision that take about as long: by a network, by what rules alone tell."""
MAX_ROUNDS = 8
"""Halving as many arms as there can be leaves one after fewer rounds."""


@kernel
def _sort_arms(tree: Tree, arms: NDArray[np.int64]) -> None:
    """Sort children of the root by value, the best first, equals as they were."""
    for i in range(1, len(arms)):
        arm = arms[i]
        value = tree.value[arm] - tree.price[arm]
        at = i
        while at > 0 and tree.value[arms[at - 1]] - tree.price[arms[at - 1]] < value:
            arms[at] = arms[at - 1]
            at -= 1
        arms[at] = arm


@kernel
def _search(
    tree: Tree,
    board: int,
    hand: int,
    left: int,
    key: np.uint64,
    iterations: int,
    values: RuleValues,
    judge: Judge,
    arms: NDArray[np.int64],
) -> int:
    """Write the children of the root into ``arms``, the best first; how many were simulated.

    Those that were dropped earlier stand further behind. ``arms`` has shape (ARMS + 1,).
    """
    longest = 2 * (CELLS + len(values.power_costs)) + 4
    path = np.empty(longest, np.int64)
    starts = np.empty(longest, np.int64)
    for depth in range(longest):
        starts[depth] = random_below(key, depth, THROWS)
    tree.size[:] = 0
    path[0] = add_node(tree, DECISION, board, hand, left, 0)
    expand(tree, ROOT, ARMS, judge.reach + 1, values, judge)
    count = 0
    child = tree.child[ROOT]
    while child != NO_NODE:
        arms[count] = child
        count += 1
        child = tree.sibling[child]
    count = min(count, max(2, iterations // 2))  # halving visits arms twice as many times
    simulated = count
    rounds = 0
    while 1 << rounds < count:
        rounds += 1
    while count > 1:
        for _ in range(max(1, iterations // (rounds * count))):
            for i in range(count):
                path[1] = arms[i]
                simulate(tree, path, starts, values, judge)
        _sort_arms(tree, arms[:count])
        count = (count + 1) // 2
        best = tree.value[arms[0]] - tree.price[arms[0]]
        while tree.value[arms[count - 1]] - tree.price[arms[count - 1]] < best - judge.lead:
            count -= 1
    if tree.visits[arms[0]] == 0:
        path[1] = arms[0]
        simulate(tree, path, starts, values, judge)
    return simulated


@kernel
def _decide_batch(
    boards: NDArray[np.int64],
    hands: NDArray[np.int64],
    powers_left: NDArray[np.int64],
    keys: NDArray[np.uint64],
    iterations: int,
    values: RuleValues,
    judge: Judge,
    decisions: NDArray[np.int64],
    estimates: NDArray[np.float64],
) -> None:
    powers = len(values.power_costs)
    tree = new_tree(iterations + MAX_ROUNDS * (ARMS + 1), powers)
    arms = np.empty(ARMS + 1, np.int64)
    for row in range(len(boards)):
        left = powers_left[row]
        _search(tree, boards[row], hands[row], left, keys[row], iterations, values, judge, arms)
        paid = 0
        for k in range(powers - left):
            paid += values.power_costs[k]
        decisions[row] = tree.action[arms[0]]
        estimates[row] = (tree.value[arms[0]] - tree.price[arms[0]]) / POINT - paid


class Mcts(Bot):
    """Decides by Monte-Carlo tree search with exact one-turn expectations at its leaves.

    Boards are judged by a network (``network``) where one was learned for the rules, else by what
    the rules alone tell (``judge``), on which a simulation is faster and tells less.

    The decisions of the position are arms that share the simulations by sequential halving (Karnin,
    Koren, Somekh: "Almost Optimal Exploration in Multi-Armed Bandits", ICML 2013; at the root of a
    search tree: Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022). Below,
    simulations descend by upper confidence bounds (Kocsis, Szepesvari: "Bandit based Monte-Carlo
    Planning", ECML 2006) with progressive widening (Chaslot et al. 2008). All arms meet the same
    throws, and a board's one-turn expectation is the control variate of the turns beyond (Veness,
    Lanctot, Bowling: "Variance Reduction in Monte-Carlo Tree Search", NIPS 2011).
    """

    compiled = True
    strength = 364  # measured in results/ladder

    iterations: int = option(
        0,
        f"simulations a decision; 0: {SOME} with a network, else {MANY}",
        minimum=0,
        maximum=20_000,
    )
    seed: int = option(0, "another stream of its own random numbers", minimum=0)
    endgame: int = endgame_option()
    weights: str = weights_option(OWN)

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
        judged = judge_for(positions.rules, self.weights)
        _decide_batch(
            positions.boards,
            positions.hands,
            positions.powers_left,
            positions.keys,
            self._budget(judged),
            positions.values,
            judged,
            decisions,
            estimates,
        )
        return Answers(decisions, estimates)

    def _budget(self, judged: Judge) -> int:
        return self.iterations or (SOME if len(judged.window) else MANY)

    def rank(self, position: Position, key: int, count: int) -> list[Decision]:
        """The decisions that its search compared, in the order in which halving kept them.

        What was dropped early has been looked at less, and its estimate may stand above that of a
        decision that was kept. Of Powers, only the most promising one is ever compared, if any.
        Endgames are ranked exactly.
        """
        if len(empty_cells(position.board)) <= self.endgame:
            return rank(position, self.endgame)[:count]
        values, judged = rule_values(position.rules), judge_for(position.rules, self.weights)
        budget = self._budget(judged)
        tree = new_tree(budget + MAX_ROUNDS * (ARMS + 1), position.rules.powers)
        arms = np.empty(ARMS + 1, np.int64)
        board, hand, left = position.board, HAND_INDEX[position.dice], position.powers_left
        found = _search(tree, board, hand, left, np.uint64(key), budget, values, judged, arms)
        spent = paid(position)
        return [
            decision_of(
                int(tree.action[arm]),
                position,
                int(tree.value[arm] - tree.price[arm]) / POINT - spent,
            )
            for arm in arms[: min(found, count)]
        ]
