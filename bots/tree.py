"""The search tree of ``mcts``: its nodes as a struct of arrays, and the steps of one simulation.

Three kinds of nodes are told apart. At a *decision* node the dice lie on the table and the bot is
to choose; a *chance* node waits for the dice of a reroll; an *afterstate* is a board whose turn is
over and waits for four fresh dice. All worths are in 1/256 point and count from the node on.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import DICE, SIDES
from magsim.compiled import kernel
from magsim.decision import REROLL
from magsim.engine import HAND_ADD, HAND_SIZE, RuleValues, empty_mask, power_dice
from magsim_bots.growth import NOTHING, candidates, promising
from magsim_bots.judge import Judge, static_worth
from magsim_bots.lines import POINT
from magsim_bots.turn import HAND_COUNT, IN_A_ROW, THROWS, best_power, turn_values

DECISION, CHANCE, AFTERSTATE = 0, 1, 2
"""The kinds of nodes."""
NO_NODE = -1
"""No child, no sibling: the end of a list."""
NO_TURN = -1
"""No table of turn values has been made for the node."""
ROOT = 0
"""The node of the position to decide."""

ARMS = 12
"""How many boards the root chooses among at most."""
BREADTH = 4
"""How many boards any other decision node chooses among at most."""
EVALUATED = 1
"""How many of them are evaluated when the node is new."""
EXPLORE = 2 * POINT
"""The scale of the upper bounds that guide the descent below the root."""
STRIDE = 803
"""Throws are taken in strides near the golden section of 1296, prime to 6: evenly, none twice."""


class Tree(NamedTuple):
    """N nodes and T tables of turn values, and what of them is in use."""

    kind: NDArray[np.int8]
    """(N,): ``DECISION``, ``CHANCE`` or ``AFTERSTATE``."""
    board: NDArray[np.int64]
    """(N,): the packed board."""
    hand: NDArray[np.int64]
    """(N,): the roll at a decision, the dice kept at a chance node, 0 at an afterstate."""
    left: NDArray[np.int64]
    """(N,): Powers left."""
    action: NDArray[np.int64]
    """(N,): the packed decision that leads here from a decision node."""
    price: NDArray[np.int64]
    """(N,): what this decision costs: a Power's cost, else 0."""
    static: NDArray[np.int64]
    """(N,): the worth before any search, by the same measure for all children of a node."""
    value: NDArray[np.int64]
    """(N,): the worth as the search has it."""
    visits: NDArray[np.int64]
    """(N,): how many simulations went through the node, 0 for one not yet evaluated."""
    child: NDArray[np.int64]
    """(N,): the first child, or ``NO_NODE``."""
    sibling: NDArray[np.int64]
    """(N,): the next child of the same parent, or ``NO_NODE``."""
    turn: NDArray[np.int64]
    """(N,): the row in ``turns`` for the node's board, or ``NO_TURN``."""
    turns: NDArray[np.int64]
    """(T, P + 1, 210): ``turn_values`` of nodes' boards, for up to P Powers."""
    size: NDArray[np.int64]
    """(2,): how many nodes and how many tables are in use."""
    found: NDArray[np.int64]
    """(2, ARMS): room for candidates and for their worths."""


@kernel
def new_tree(simulations: int, powers: int) -> Tree:
    """An empty tree with room for so many simulations, under rules with so many Powers.

    A simulation makes a table of turn values for the board that it comes to, and at most one more.
    """
    nodes = 2 + ARMS + simulations * (2 + BREADTH)
    return Tree(
        kind=np.empty(nodes, np.int8),
        board=np.empty(nodes, np.int64),
        hand=np.empty(nodes, np.int64),
        left=np.empty(nodes, np.int64),
        action=np.empty(nodes, np.int64),
        price=np.empty(nodes, np.int64),
        static=np.empty(nodes, np.int64),
        value=np.empty(nodes, np.int64),
        visits=np.empty(nodes, np.int64),
        child=np.empty(nodes, np.int64),
        sibling=np.empty(nodes, np.int64),
        turn=np.empty(nodes, np.int64),
        turns=np.empty((1 + 2 * simulations, powers + 1, HAND_COUNT), np.int64),
        size=np.zeros(2, np.int64),
        found=np.empty((2, ARMS), np.int64),
    )


@kernel
def add_node(tree: Tree, kind: int, board: int, hand: int, left: int, static: int) -> int:
    """A new node without parent; its index."""
    node = tree.size[0]
    tree.size[0] += 1
    tree.kind[node] = kind
    tree.board[node] = board
    tree.hand[node] = hand
    tree.left[node] = left
    tree.action[node] = board
    tree.price[node] = 0
    tree.static[node] = static
    tree.value[node] = static
    tree.visits[node] = 0
    tree.child[node] = NO_NODE
    tree.sibling[node] = NO_NODE
    tree.turn[node] = NO_TURN
    return node


@kernel
def count_throws(kept: int) -> int:
    """In how many ways the dice that a hand lacks can fall."""
    return SIDES ** (DICE - HAND_SIZE[kept])


@kernel
def add_turn(tree: Tree, node: int, values: RuleValues, judge: Judge) -> None:
    """Make the table of turn values for a node's board."""
    row = tree.size[1]
    tree.size[1] += 1
    turn_values(tree.board[node], tree.left[node], IN_A_ROW, values, judge, tree.turns[row])
    tree.turn[node] = row
    if tree.kind[node] == CHANCE:
        tree.static[node] = tree.turns[row, tree.left[node], tree.hand[node]] // count_throws(
            tree.hand[node]
        )


@kernel
def add_power(tree: Tree, node: int, cost: int, worth: int, power: int) -> int:
    """A child for a Power: a decision node with other dice, or a chance node with fewer dice."""
    hand = power_dice(tree.hand[node], power)
    kind = CHANCE if (-1 - power) >> DICE == REROLL else DECISION
    child = add_node(tree, kind, tree.board[node], hand, tree.left[node] - 1, worth + cost)
    tree.action[child] = power
    tree.price[child] = cost
    return child


@kernel
def expand(
    tree: Tree, node: int, breadth: int, reach: int, values: RuleValues, judge: Judge
) -> None:
    """Give a decision node its children: the best Power, if one is left, then the best boards.

    What is further behind the best board than ``Judge.slack`` is left out.
    """
    left = tree.left[node]
    last = NO_NODE
    boards, worths = tree.found[0, :breadth], tree.found[1, :breadth]
    count = candidates(
        tree.board[node], tree.hand[node], left, reach, values, judge, boards, worths
    )
    count = promising(worths[:count], judge)
    if left > 0:
        cost = values.power_costs[len(values.power_costs) - left] * POINT
        if tree.turn[node] == NO_TURN:
            add_turn(tree, node, values, judge)
        fewer = tree.turns[tree.turn[node], left - 1]
        worth, power = best_power(tree.hand[node], cost, fewer)
        if worth // THROWS >= worths[0] - judge.slack:
            last = add_power(tree, node, cost, worth // THROWS, power)
            tree.child[node] = last
    for i in range(count):
        child = add_node(tree, AFTERSTATE, boards[i], 0, left, worths[i])
        if last == NO_NODE:
            tree.child[node] = child
        else:
            tree.sibling[last] = child
        last = child


@kernel
def evaluate(tree: Tree, node: int, values: RuleValues, judge: Judge) -> None:
    """Judge an afterstate by the exact expectation over its next turn."""
    if empty_mask(tree.board[node]) == 0:
        tree.value[node] = static_worth(tree.board[node], tree.left[node], judge)
    else:
        add_turn(tree, node, values, judge)
        tree.value[node] = tree.turns[tree.turn[node], tree.left[node], 0] // THROWS
    tree.static[node] = tree.value[node]
    tree.visits[node] = 1


@kernel
def evaluate_children(tree: Tree, node: int, values: RuleValues, judge: Judge) -> None:
    """Judge a new decision node by its first boards, and its Power by what it gains over them."""
    child, power = tree.child[node], NO_NODE
    if tree.kind[child] != AFTERSTATE:
        child, power = tree.sibling[child], child
    static = tree.static[child]
    best = NOTHING
    for _ in range(EVALUATED):
        if child != NO_NODE:
            evaluate(tree, child, values, judge)
            best = max(best, tree.value[child])
            child = tree.sibling[child]
    if power != NO_NODE:
        tree.value[power] += best - static
        best = max(best, tree.value[power] - tree.price[power])
    tree.value[node] = best
    tree.visits[node] = 1


@kernel
def is_fresh(tree: Tree, node: int) -> bool:
    """Whether a child of a decision node has no value of the search yet."""
    return tree.kind[node] == AFTERSTATE and tree.visits[node] == 0


@kernel
def select(tree: Tree, node: int) -> int:
    """The child of a decision node to visit: a fresh one as visits grow, else by upper bounds."""
    root_visits = np.sqrt(np.float64(tree.visits[node]))
    spread = np.int64(EXPLORE * root_visits)
    known = 0
    fresh = NO_NODE
    best, best_bound = NO_NODE, NOTHING
    child = tree.child[node]
    while child != NO_NODE:
        if is_fresh(tree, child):
            fresh = child if fresh == NO_NODE else fresh
        else:
            known += tree.kind[child] == AFTERSTATE
            bound = tree.value[child] - tree.price[child] + spread // (1 + tree.visits[child])
            if bound > best_bound:
                best, best_bound = child, bound
        child = tree.sibling[child]
    if fresh != NO_NODE and known < EVALUATED - 1 + np.int64(root_visits):
        return fresh
    return best


@kernel
def throw(kept: int, index: int) -> int:
    """The hand when the missing dice fall as the ``index``-th of all their throws."""
    hand = kept
    for _ in range(DICE - HAND_SIZE[kept]):
        hand = HAND_ADD[hand, 1 + index % SIDES]
        index //= SIDES
    return hand


@kernel
def next_roll(tree: Tree, node: int, start: int) -> int:
    """The decision node after the next throw of a chance node or afterstate, new if need be.

    The i-th visit of any node at the same depth takes the same throw: common random numbers.
    """
    kept = tree.hand[node]
    hand = throw(kept, (start + STRIDE * tree.visits[node]) % count_throws(kept))
    child = tree.child[node]
    while child != NO_NODE:
        if tree.hand[child] == hand:
            return child
        child = tree.sibling[child]
    static = tree.turns[tree.turn[node], tree.left[node], hand]
    child = add_node(tree, DECISION, tree.board[node], hand, tree.left[node], static)
    tree.turn[child] = tree.turn[node]
    tree.sibling[child] = tree.child[node]
    tree.child[node] = child
    return child


@kernel
def best_value(tree: Tree, node: int) -> int:
    """The value of the best child of a decision node, less what its Power costs."""
    best = NOTHING
    child = tree.child[node]
    while child != NO_NODE:
        if not is_fresh(tree, child):
            best = max(best, tree.value[child] - tree.price[child])
        child = tree.sibling[child]
    return best


@kernel
def mean_value(tree: Tree, node: int, judge: Judge) -> int:
    """The value of a chance node or afterstate, from the throws that were sampled.

    It is the exact expectation of the static worths, plus the mean excess of the sampled children
    over theirs: the static worth is the control variate. ``Judge.doubt`` visits without excess are
    mixed in.
    """
    excess, visits = 0, 0
    child = tree.child[node]
    while child != NO_NODE:
        excess += tree.visits[child] * (tree.value[child] - tree.static[child])
        visits += tree.visits[child]
        child = tree.sibling[child]
    return tree.static[node] + excess // (visits + judge.doubt)


@kernel
def back_up(tree: Tree, path: NDArray[np.int64], depth: int, judge: Judge) -> None:
    """Renew the nodes above the last one of a path, from the bottom up."""
    for at in range(depth - 1, ROOT, -1):
        node = path[at]
        if tree.kind[node] == DECISION:
            tree.value[node] = best_value(tree, node)
        else:
            tree.value[node] = mean_value(tree, node, judge)
        tree.visits[node] += 1


@kernel
def simulate(
    tree: Tree,
    path: NDArray[np.int64],
    starts: NDArray[np.int64],
    values: RuleValues,
    judge: Judge,
) -> None:
    """One simulation from ``path[1]``, a child of the root: select, expand, evaluate, back up.

    ``path`` is room for the nodes on the way; ``starts[d]`` is where the throws at depth d begin.
    """
    depth = 1
    node = path[1]
    while True:
        if tree.kind[node] == DECISION:
            if tree.child[node] == NO_NODE:
                expand(tree, node, BREADTH, judge.reach, values, judge)
                evaluate_children(tree, node, values, judge)
                break
            node = select(tree, node)
        elif is_fresh(tree, node):
            evaluate(tree, node, values, judge)
            break
        elif empty_mask(tree.board[node]) == 0:
            tree.visits[node] += 1
            break
        else:
            if tree.turn[node] == NO_TURN:
                add_turn(tree, node, values, judge)
            node = next_roll(tree, node, starts[depth])
        depth += 1
        path[depth] = node
    back_up(tree, path, depth, judge)
