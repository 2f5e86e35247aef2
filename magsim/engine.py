"""The law compiled: the verbs of ``rules`` on packed boards, fast, for the simulator and for bots.

Kernels take scalars, arrays and the ``RuleValues`` tuple, and hold no state. Four dice travel as a
*hand*: the index of a multiset of up to four values among all 210, ordered by size and then
lexicographically::

    0 the empty hand | 1-6 one die | 7-27 two | 28-83 three | 84-209 four (the 126 distinct rolls)

This module must not know ``rules``: tests hold the two against each other.
"""

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from math import comb, perm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS, DICE, NEIGHBOURS, RUIN, SIDES
from magsim.compiled import kernel
from magsim.decision import LOWER, RAISE, REROLL
from magsim.mixing import GOLDEN, mix

Boards = NDArray[np.int64]
mix_word: Callable[[np.uint64], np.uint64] = kernel(mix)  # type: ignore[assignment]  # int to who reads it, words once compiled

HANDS = tuple(
    hand
    for size in range(DICE + 1)
    for hand in combinations_with_replacement(range(1, SIDES + 1), size)
)
FIRST_HAND = tuple(sum(len(h) < size for h in HANDS) for size in range(DICE + 2))
FIRST_ROLL = FIRST_HAND[DICE]
ANY_HAND = len(HANDS)
"""A hand that holds every value without end, for enumerating all rolls at once."""

HAND_INDEX = {hand: index for index, hand in enumerate(HANDS)}


def _changed(hand: tuple[int, ...], add: int = 0, remove: int = 0) -> int:
    """The index of a hand with one die more or less, -1 where there is no such hand."""
    dice = [*hand, add] if add else list(hand)
    if remove:
        if remove not in dice:
            return -1
        dice.remove(remove)
    return HAND_INDEX.get(tuple(sorted(dice)), -1)


_VALUES = range(1, SIDES + 1)
_ALL_VALUES = sum(1 << value for value in _VALUES)

HAND_SIZE = np.array([*map(len, HANDS), DICE])
HAND_ADD = np.array([[-1, *(_changed(hand, add=v) for v in _VALUES)] for hand in HANDS])
"""``[hand, value]``: the hand with one such die more, -1 where it is full; shape (210, 7)."""
HAND_REMOVE = np.array(
    [[-1, *(_changed(hand, remove=v) for v in _VALUES)] for hand in HANDS]
    + [[-1, *(ANY_HAND for _ in _VALUES)]]
)
"""``[hand, value]``: the hand with one such die less, -1 where it has none; shape (211, 7)."""
HAND_MASK = np.array([*(sum({1 << die for die in hand}) for hand in HANDS), _ALL_VALUES])
"""``[hand]``: bit v is set where the hand holds a v; shape (211,)."""
HAND_DICE = np.array([[*hand, *(0 for _ in range(DICE - len(hand)))] for hand in HANDS])
"""``[hand]``: its dice, ascending, then zeros; shape (210, 4)."""


NEIGHBOUR_MASK = np.array([sum(1 << n for n in around) for around in NEIGHBOURS])
NEIGHBOUR_SHIFT = np.array(
    [[4 * around[k % len(around)] for k in range(4)] for around in NEIGHBOURS]
)
"""``[cell]``: the bit offsets of its neighbours, repeated up to four; shape (16, 4)."""
LOW_BIT = np.zeros(1 << CELLS, np.int8)
LOW_BIT[1 << np.arange(CELLS)] = np.arange(CELLS)
"""``[m & -m]``: the place of the lowest bit of a 16-bit mask m."""

MAX_OUTCOMES = sum(comb(CELLS, k) * perm(DICE, k) for k in range(1, DICE + 1))
"""No roll has more outcomes, whatever the rules: k cells, and an order of k of the dice on them."""


class RuleValues(NamedTuple):
    """The values of the rules as kernels take them; made by ``rule_values``."""

    minimum: int
    near: NDArray[np.int64]
    """``[v]``: which dice may stand next to a v, as bits 1-6 (all where v is no number); (8,)."""
    ruin_penalty: int
    straight: int
    four: int
    two_pairs: int
    power_costs: NDArray[np.int64]
    """What the 1st, 2nd, ... Power used costs, in points."""


def rule_values(
    *,
    minimum: int,
    max_difference: int,
    ruin_penalty: int,
    straight: int,
    four: int,
    two_pairs: int,
    power_costs: Sequence[int],
) -> RuleValues:
    """The ``RuleValues`` of plain numbers, named as in the rules."""
    near = [_ALL_VALUES] * (RUIN + 1)
    for value in _VALUES:
        near[value] = sum(1 << die for die in _VALUES if abs(die - value) <= max_difference)
    near_array, costs = np.array(near, np.int64), np.array(power_costs, np.int64)
    near_array.setflags(write=False)
    costs.setflags(write=False)
    return RuleValues(minimum, near_array, ruin_penalty, straight, four, two_pairs, costs)


@kernel
def gather_bits(nibbles: int) -> int:
    """Bit 0 of each of 16 nibbles, gathered into 16 bits; the other bits must be clear."""
    bits = (nibbles | nibbles >> 3) & 0x0303030303030303
    bits = (bits | bits >> 6) & 0x000F000F000F000F
    bits = (bits | bits >> 12) & 0x000000FF000000FF
    return (bits | bits >> 24) & 0xFFFF


@kernel
def empty_mask(board: int) -> int:
    """The empty cells, bit c for cell c."""
    return gather_bits(~(board | board >> 1 | board >> 2) & 0x1111111111111111)


@kernel
def ruin_mask(board: int) -> int:
    """The RUINs, bit c for cell c."""
    return gather_bits(board & board >> 1 & board >> 2 & 0x1111111111111111)


@kernel
def number_mask(board: int) -> int:
    """The cells that hold a number, bit c for cell c."""
    return ~(empty_mask(board) | ruin_mask(board)) & 0xFFFF


@kernel
def count_bits(mask: int) -> int:
    """How many bits of a 16-bit mask are set."""
    mask = mask - (mask >> 1 & 0x5555)
    mask = (mask & 0x3333) + (mask >> 2 & 0x3333)
    mask = mask + (mask >> 4) & 0x0F0F
    return mask + (mask >> 8) & 0x1F


@kernel
def around(mask: int) -> int:
    """The cells orthogonally next to those of a mask (R9)."""
    return (mask << 4 | mask >> 4 | (mask & 0x7777) << 1 | (mask & 0xEEEE) >> 1) & 0xFFFF


@kernel
def transpose(board: int) -> int:
    """The board with rows and columns exchanged."""
    swap = (board ^ board >> 12) & 0x0000F0F00000F0F0
    board ^= swap ^ swap << 12
    swap = (board ^ board >> 24) & 0x00000000FF00FF00
    return board ^ swap ^ swap << 24


@kernel
def required_minimum(board: int, values: RuleValues) -> int:
    """How many dice this turn asks for, given the board at its start (R5)."""
    return min(values.minimum, count_bits(empty_mask(board)))


@kernel
def legal_values(board: int, cell: int, near: NDArray[np.int64]) -> int:
    """Which dice the numbers next to a cell allow (R10, R11), as bits 1-6."""
    return int(
        near[board >> NEIGHBOUR_SHIFT[cell, 0] & 15]
        & near[board >> NEIGHBOUR_SHIFT[cell, 1] & 15]
        & near[board >> NEIGHBOUR_SHIFT[cell, 2] & 15]
        & near[board >> NEIGHBOUR_SHIFT[cell, 3] & 15]
    )


@kernel
def frontier(board: int) -> int:
    """The empty cells that a die may reach: next to a number; all where none is (R8, R9)."""
    empty = empty_mask(board)
    numbers = number_mask(board)
    return empty & around(numbers) if numbers else empty


@kernel
def legal_cells(board: int, die: int, values: RuleValues) -> int:
    """The cells on which a die may be staged now (R8-R11), as a mask."""
    cells = 0
    candidates = frontier(board)
    while candidates:
        low = candidates & -candidates
        candidates ^= low
        if legal_values(board, LOW_BIT[low], values.near) >> die & 1:
            cells |= low
    return cells


@kernel
def outcomes(board: int, hand: int, values: RuleValues, limit: int, found: Boards) -> int:
    """Write the distinct outcomes of a hand for the required minimum (R4, R5) into ``found``.

    An outcome is an unordered connected set of cells with values. Sets are grown from the frontier
    a cell at a time; a cell that has had its turn is barred from everything grown after it, so that
    each set arises once, and nothing need be hashed. Order is fixed. Stops after ``limit``.

    Returns how many there are; none means MAGDAGDON. ``MAX_OUTCOMES`` is room enough for a roll.
    """
    required = max(required_minimum(board, values), 1)
    boards = np.empty(DICE, np.int64)  # per dice placed: the board with them staged,
    hands = np.empty(DICE, np.int64)  # the dice not yet staged,
    waiting = np.empty(DICE, np.int64)  # cells still to be tried for the next die,
    barred = np.empty(DICE, np.int64)  # cells that may no longer be used,
    cells = np.empty(DICE, np.int64)  # the cell being tried
    dice = np.empty(DICE, np.int64)  # and the values still to be tried on it
    no_number = number_mask(board) == 0
    boards[0] = board
    hands[0] = hand
    waiting[0] = frontier(board)
    barred[0] = ~empty_mask(board)
    dice[0] = 0
    count = 0
    depth = 0
    while depth >= 0:
        if dice[depth] == 0:
            low = waiting[depth] & -waiting[depth]
            if low == 0:
                depth -= 1
                continue
            waiting[depth] ^= low
            barred[depth] |= low
            cells[depth] = LOW_BIT[low]
            allowed = legal_values(boards[depth], cells[depth], values.near)
            dice[depth] = allowed & HAND_MASK[hands[depth]]
            continue
        low = dice[depth] & -dice[depth]
        dice[depth] ^= low
        die = LOW_BIT[low]
        cell = cells[depth]
        staged = boards[depth] | np.int64(die) << 4 * cell
        rest = HAND_REMOVE[hands[depth], die]
        if depth + 1 >= required:
            found[count] = staged
            count += 1
            if count == limit:
                return count
        if rest and depth + 1 < DICE:
            kept = 0 if no_number and depth == 0 else waiting[depth]
            depth += 1
            boards[depth] = staged
            hands[depth] = rest
            barred[depth] = barred[depth - 1]
            waiting[depth] = kept | NEIGHBOUR_MASK[cell] & ~barred[depth]
            dice[depth] = 0
    return count


@kernel
def in_magdagdon(board: int, hand: int, values: RuleValues) -> bool:
    """Whether a hand allows no legal placement of the required minimum (R17)."""
    if required_minimum(board, values) == 0:
        return False
    found = np.empty(1, np.int64)
    return outcomes(board, hand, values, 1, found) == 0


@kernel
def staging_order(
    board: int, outcome: int, near: NDArray[np.int64], order: NDArray[np.int8]
) -> int:
    """Write the cells of a placement into ``order`` as they can be staged, lowest legal cell first.

    Returns how many cells are placed, or -1 if no order is legal (R8-R11). The outcome must keep
    every cell that is not empty and add numbers only; ``order`` holds at least four.
    """
    left = empty_mask(board) & ~empty_mask(outcome)
    staged = board
    count = 0
    while left:
        candidates = left & frontier(staged)
        stuck = True
        while candidates and stuck:
            low = candidates & -candidates
            candidates ^= low
            cell = int(np.int64(LOW_BIT[low]))
            die = outcome >> 4 * cell & 15
            if legal_values(staged, cell, near) >> die & 1:
                staged |= die << 4 * cell
                left ^= low
                order[count] = cell
                count += 1
                stuck = False
        if stuck:
            return -1
    return count


@kernel
def _is_legal_power(hand: int, powers_left: int, kind: int, mask: int) -> bool:
    if powers_left < 1 or mask == 0:
        return False
    if kind == REROLL:
        return True
    if mask & mask - 1 or (kind != RAISE and kind != LOWER):
        return False
    return bool(HAND_DICE[hand, LOW_BIT[mask]] != (SIDES if kind == RAISE else 1))


@kernel
def _is_legal_place(board: int, hand: int, outcome: int, values: RuleValues) -> bool:
    placed = empty_mask(board) & ~empty_mask(outcome)
    count = count_bits(placed)
    if count < max(required_minimum(board, values), 1) or count > DICE:
        return False
    rest = hand
    while placed:
        low = placed & -placed
        placed ^= low
        rest = HAND_REMOVE[rest, outcome >> 4 * np.int64(LOW_BIT[low]) & 15]
        if rest < 0:
            return False
    return staging_order(board, outcome, values.near, np.empty(DICE, np.int8)) == count


@kernel
def is_legal(board: int, hand: int, powers_left: int, decision: int, values: RuleValues) -> bool:
    """Whether a packed decision, any 64 bits, is legal in a position (R4-R19)."""
    if decision < 0:
        code = -1 - decision
        return _is_legal_power(hand, powers_left, code >> DICE, code & (1 << DICE) - 1)
    empty = empty_mask(board)
    if decision & 0x0888888888888888:
        return False
    kept = empty_mask(decision ^ board)
    if (kept | empty) != 0xFFFF:
        return False
    if ruin_mask(decision) & empty:
        return count_bits(kept) == CELLS - 1 and in_magdagdon(board, hand, values)
    return _is_legal_place(board, hand, decision, values)


@kernel
def power_dice(hand: int, decision: int) -> int:
    """The hand after a legal raise or lower; after a reroll, the dice that are kept (R13, R14)."""
    code = -1 - decision
    kind = code >> DICE
    rest = hand
    for k in range(DICE):
        if code >> k & 1:
            die = HAND_DICE[hand, k]
            rest = HAND_REMOVE[rest, die]
            if kind != REROLL:
                rest = HAND_ADD[rest, die + 1 if kind == RAISE else die - 1]
    return rest


@kernel
def line_bonus(line: int) -> int:
    """The bonus of a line of four cells, 4 bits each (R22, R23): 0 none, 1 STRAIGHT, 2 FOUR OF A
    KIND, 3 TWO PAIRS.
    """
    a, b, c, d = line & 15, line >> 4 & 15, line >> 8 & 15, line >> 12 & 15
    if min(a, b, c, d) == 0 or max(a, b, c, d) == RUIN:
        return 0
    if b - a == c - b and c - b == d - c and abs(b - a) == 1:
        return 1
    if a == b and b == c and c == d:
        return 2
    if (a == b and c == d) or (a == c and b == d) or (a == d and b == c):
        return 3
    return 0


@kernel
def line_sum(line: int) -> int:
    """The sum of the numbers in a line of four cells, 4 bits each (R21)."""
    total = 0
    for k in range(4):
        value = line >> 4 * k & 15
        if value != RUIN:
            total += value
    return total


@kernel
def score_parts(board: int) -> tuple[int, int, int, int, int]:
    """Base in points, STRAIGHTs, FOURs OF A KIND, TWO PAIRS, RUINs (R21-R24)."""
    base = 0
    straights = 0
    fours = 0
    two_pairs = 0
    for lines in (board, transpose(board)):
        for k in range(4):
            line = lines >> 16 * k & 0xFFFF
            bonus = line_bonus(line)
            base += line_sum(line)
            straights += bonus == 1
            fours += bonus == 2
            two_pairs += bonus == 3
    return base, straights, fours, two_pairs, count_bits(ruin_mask(board))


@kernel
def score(board: int, values: RuleValues) -> int:
    """The score of a board, finished or not, before the cost of Powers (R25)."""
    base, straights, fours, two_pairs, ruins = score_parts(board)
    bonuses = values.straight * straights + values.four * fours + values.two_pairs * two_pairs
    return base + bonuses - values.ruin_penalty * ruins


@kernel
def random_word(key: np.uint64, k: int) -> np.uint64:
    """The k-th 64-bit word of a bot's own random stream."""
    return mix_word(key + GOLDEN * np.uint64(k + 1))


@kernel
def random_below(key: np.uint64, k: int, n: int) -> int:
    """A number from 0 to n - 1, exactly uniform, from the k-th word of a bot's own stream."""
    size = np.uint64(n)
    word = random_word(key, k)
    unbiased = np.uint64(2**64 - 1) // size * size
    while word >= unbiased:
        word = mix_word(word + GOLDEN)
    return int(np.int64(word % size))
