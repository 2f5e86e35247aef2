"""The value of every class of a layer: backward induction over single steps of a turn.

The *value* of a class, at one level of Powers left, is what perfect play will still gain from the
start of a turn: numbers twice, bonuses, RUINs and Powers paid for. Values are whole multiples of
1/``scale`` of a point, each rounded to the nearest one.

A turn is taken apart into single dice. Let W(class, hand) be the best that a turn which holds the
dice of ``hand`` back can come to, from a board on which some have been placed: W(class, no dice) is
the class's value, and otherwise W is the best of stopping there and of placing one of the dice,
which leads to W of a class with one empty cell less and of the hand without it. A layer stores W
of up to one die (``one``) and of two (``two``). What a roll is worth is the best over the first two
dice and their cells of W two layers below with the other two in hand. Where no placement is legal,
the turn is in MAGDAGDON, and a RUIN is put where it costs least (R17, R18); then the Powers, level
by level (R12-R16).
"""

from concurrent.futures import Executor
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS, SIDES
from magsim.compiled import lean_kernel
from magsim.solver.classes import Index, Layer, Masks, find, fitting, ruined
from magsim.solver.hands import PAIRS, ROLLS, TRIPLES, WAYS, Hands
from magsim.solver.lines import Lines
from magsim.solver.stakes import FORBIDDEN, Stakes
from magsim.solver.words import normalised, placed, points

Values = NDArray[np.int32]

_MOST_FIRST = CELLS * SIDES
_MOST_PAIRS = comb(CELLS, 2) * SIDES**2
_HALF = WAYS // 2


class Tables(NamedTuple):
    """What kernels look up, made once for rules."""

    masks: Masks
    lines: Lines
    hands: Hands


class Below(NamedTuple):
    """The two layers below one, with the vectors W of their classes."""

    next: Index
    one: Values
    """``[class, 0 or the die in hand, level]`` of the next layer; shape (classes, 7, levels)."""
    after: Index
    two: Values
    """``[class, pair in hand * levels + level]`` of the one after it; (classes, 21 * levels)."""


class _Work(NamedTuple):
    """Room for the work on one class; made once for a mask."""

    cell: NDArray[np.int64]
    """``[first die that can be placed]``: where, like the next four; shape (96,)."""
    die: NDArray[np.int64]
    word: NDArray[np.int64]
    """The word after it, not normalised."""
    gain: NDArray[np.int64]
    child: NDArray[np.int64]
    """The class of the next layer that it leads to."""
    pair: NDArray[np.int64]
    """``[first two dice that can be placed]``: which, like the next two; shape (4320,)."""
    pair_gain: Values
    pair_child: NDArray[np.int64]
    """The class that they lead to, two layers below."""
    best: Values
    """``[pair placed, pair in hand * levels + level]``: gain and W; shape (21, 21 * levels)."""
    ruined: NDArray[np.int64]
    """``[level]``: the value after the best RUIN, not paid for; shape (levels,)."""
    roll: NDArray[np.int64]
    """``[level, roll]``: what the roll is worth; shape (levels, 126)."""
    kept_one: NDArray[np.int64]
    """``[hand]``: what a reroll of all other dice is worth, like the next two; shape (6,).

    First the sum over the ways these can fall, then 1296 times the value, of this reroll or of the
    best that keeps fewer dice.
    """
    kept_two: NDArray[np.int64]
    kept_three: NDArray[np.int64]
    missing: NDArray[np.int64]
    """How many classes were not found; shape (1,)."""


def _work(levels: int) -> _Work:
    return _Work(
        cell=np.empty(_MOST_FIRST, np.int64),
        die=np.empty(_MOST_FIRST, np.int64),
        word=np.empty(_MOST_FIRST, np.int64),
        gain=np.empty(_MOST_FIRST, np.int64),
        child=np.empty(_MOST_FIRST, np.int64),
        pair=np.empty(_MOST_PAIRS, np.int64),
        pair_gain=np.empty(_MOST_PAIRS, np.int32),
        pair_child=np.empty(_MOST_PAIRS, np.int64),
        best=np.empty((PAIRS, PAIRS * levels), np.int32),
        ruined=np.empty(levels, np.int64),
        roll=np.empty((levels, ROLLS), np.int64),
        kept_one=np.empty(SIDES, np.int64),
        kept_two=np.empty(PAIRS, np.int64),
        kept_three=np.empty(TRIPLES, np.int64),
        missing=np.zeros(1, np.int64),
    )


@lean_kernel
def _first_dice(mask: int, word: int, below: Below, tables: Tables, scale: int, work: _Work) -> int:
    """List every first die and cell, and the value after the best RUIN; how many there are."""
    masks, lines = tables.masks, tables.lines
    count = 0
    work.ruined[:] = FORBIDDEN
    for cell in range(CELLS):
        if not mask >> cell & 1:
            continue
        rest = mask & ~(1 << cell)
        bits = masks.bits[rest]
        child = find(ruined(word, bits, cell, lines), rest, masks, below.next)
        if child < 0:
            work.missing[0] += 1
            continue
        for level in range(len(work.ruined)):
            work.ruined[level] = max(work.ruined[level], below.one[child, 0, level])
        dice = fitting(word, cell, lines)
        for die in range(1, 7):
            if not dice >> die & 1:
                continue
            after = placed(word, bits, cell, die, lines.step)
            child = find(normalised(after, bits, lines.live), rest, masks, below.next)
            if child < 0:
                work.missing[0] += 1
                continue
            work.cell[count], work.die[count], work.word[count] = cell, die, after
            work.gain[count] = points(after, bits, cell, die, lines.bonus) * scale
            work.child[count] = child
            count += 1
    return count


@lean_kernel
def _first_pairs(
    mask: int,
    word: int,
    firsts: int,
    below: Below,
    tables: Tables,
    scale: int,
    work: _Work,
) -> int:
    """List every first two dice and their cells, each set of them once; how many there are."""
    masks, lines, hands = tables
    count = 0
    for k in range(firsts):
        first = work.cell[k]
        for cell in range(CELLS):
            if not mask >> cell & 1 or cell == first:
                continue
            dice = fitting(work.word[k], cell, lines)
            if cell < first:  # what could come first is listed from there
                dice &= ~fitting(word, cell, lines)
            if not dice:
                continue
            rest = mask & ~(1 << first) & ~(1 << cell)
            bits = masks.bits[rest]
            for die in range(1, 7):
                if not dice >> die & 1:
                    continue
                after = placed(work.word[k], bits, cell, die, lines.step)
                child = find(normalised(after, bits, lines.live), rest, masks, below.after)
                if child < 0:
                    work.missing[0] += 1
                    continue
                gain = work.gain[k] + points(after, bits, cell, die, lines.bonus) * scale
                work.pair[count] = hands.pair[work.die[k], die]
                work.pair_gain[count], work.pair_child[count] = gain, child
                count += 1
    return count


@lean_kernel
def _best_of_pairs(pairs: int, two: Values, work: _Work) -> int:
    """Fill ``best`` for every pair that can be placed; which they are, bit p for pair p."""
    met = 0
    width = work.best.shape[1]
    for k in range(pairs):
        pair, gain = work.pair[k], work.pair_gain[k]
        best, vector = work.best[pair], two[work.pair_child[k]]
        if met >> pair & 1:
            for q in range(width):
                value = np.int32(vector[q] + gain)
                best[q] = max(best[q], value)
        else:
            met |= 1 << pair
            for q in range(width):
                best[q] = np.int32(vector[q] + gain)
    return met


@lean_kernel
def _rolls_of_pairs(met: int, hands: Hands, work: _Work) -> None:
    """Each roll is worth its best division into a pair placed and a pair in hand."""
    levels = len(work.roll)
    for pair in range(PAIRS):
        if not met >> pair & 1:
            continue
        for rest in range(PAIRS):
            roll = hands.joined[pair, rest]
            for level in range(levels):
                value = np.int64(work.best[pair, rest * levels + level])
                if value > work.roll[level, roll]:
                    work.roll[level, roll] = value


@lean_kernel
def _rolls_of_single_dice(firsts: int, one: Values, hands: Hands, work: _Work) -> None:
    """Where one die is enough: each roll is worth at least placing just one of its dice."""
    for k in range(firsts):
        for level in range(len(work.roll)):
            value = one[work.child[k], 0, level] + work.gain[k]
            for triple in range(TRIPLES):
                roll = hands.add_to_triple[triple, work.die[k]]
                if value > work.roll[level, roll]:
                    work.roll[level, roll] = value


@lean_kernel
def _sum_over_rerolls(base: NDArray[np.int64], hands: Hands, work: _Work) -> int:
    """What keeping any dice and rolling the others sums to, over the ways these can fall."""
    for triple in range(TRIPLES):
        total = 0
        for die in range(1, 7):
            total += base[hands.add_to_triple[triple, die]]
        work.kept_three[triple] = total
    for pair in range(PAIRS):
        total = 0
        for die in range(1, 7):
            total += work.kept_three[hands.add_to_pair[pair, die]]
        work.kept_two[pair] = total
    none = 0
    for die in range(SIDES):
        total = 0
        for other in range(1, 7):
            total += work.kept_two[hands.add_to_die[die, other]]
        work.kept_one[die] = total
        none += total
    return none


@lean_kernel
def _best_of_kept(none: int, hands: Hands, work: _Work) -> None:
    """Make ``kept_*`` the best of keeping these or some of them, as 1296 times a value."""
    for die in range(SIDES):
        work.kept_one[die] = max(work.kept_one[die] * 6, none)
    for pair in range(PAIRS):
        best = work.kept_two[pair] * 36
        for k in range(2):
            best = max(best, work.kept_one[hands.from_pair[pair, k]])
        work.kept_two[pair] = best
    for triple in range(TRIPLES):
        best = work.kept_three[triple] * 216
        for k in range(3):
            best = max(best, work.kept_two[hands.from_triple[triple, k]])
        work.kept_three[triple] = best


@lean_kernel
def _use_powers(level: int, base: int, cost: int, hands: Hands, work: _Work) -> None:
    """Raise what rolls are worth at a level to the best Power, which leads to the base level."""
    before, rolls = work.roll[base], work.roll[level]
    none = _sum_over_rerolls(before, hands, work)
    _best_of_kept(none, hands, work)
    for roll in range(ROLLS):
        moved = before[hands.moves[roll, 0]]
        for k in range(1, 8):
            moved = max(moved, before[hands.moves[roll, k]])
        best = moved * WAYS
        for k in range(4):
            best = max(best, work.kept_three[hands.from_roll[roll, k]])
        rolls[roll] = max(rolls[roll], (best + _HALF) // WAYS - cost)


@lean_kernel
def _settle_rolls(stakes: Stakes, hands: Hands, work: _Work) -> None:
    """Put a RUIN where nothing is legal (R17, R18), then use Powers (R12), level by level."""
    for level in range(len(stakes.base)):
        rolls, ruin = work.roll[level], work.ruined[level] - stakes.ruin
        for roll in range(ROLLS):
            if rolls[roll] < stakes.allowed:
                rolls[roll] = ruin
        if stakes.base[level] >= 0:
            _use_powers(level, stakes.base[level], stakes.cost[level], hands, work)


@lean_kernel
def _write_vectors(
    firsts: int, below: Below, stakes: Stakes, hands: Hands, work: _Work, one: Values, two: Values
) -> None:
    """Fill W of a class: ``one`` has shape (7, levels), ``two`` (21 * levels,)."""
    levels = len(stakes.base)
    for level in range(levels):
        total = 0
        for roll in range(ROLLS):
            total += hands.weight[roll] * work.roll[level, roll]
        value = np.int32((total + _HALF) // WAYS)
        one[0, level] = value
        for die in range(1, 7):
            one[die, level] = value if stakes.minimum <= 3 else FORBIDDEN
        for pair in range(PAIRS):
            two[pair * levels + level] = value if stakes.minimum <= 2 else FORBIDDEN
    for k in range(firsts):
        die, gain, after = work.die[k], work.gain[k], below.one[work.child[k]]
        for level in range(levels):
            one[die, level] = max(one[die, level], np.int32(after[0, level] + gain))
            for other in range(1, 7):
                q = hands.pair[die, other] * levels + level
                two[q] = max(two[q], np.int32(after[other, level] + gain))


@lean_kernel
def _solve_mask(
    mask: int,
    empty: int,
    layer: Layer,
    below: Below,
    tables: Tables,
    stakes: Stakes,
    work: _Work,
    one: Values,
    two: Values,
) -> int:
    """Fill W of every class of a canonical mask; how many classes below were not found."""
    hands = tables.hands
    for k in range(layer.first[mask], layer.first[mask + 1]):
        word = layer.words[k]
        firsts = _first_dice(mask, word, below, tables, stakes.scale, work)
        work.roll[:] = FORBIDDEN
        if empty >= 2:
            pairs = _first_pairs(mask, word, firsts, below, tables, stakes.scale, work)
            met = _best_of_pairs(pairs, below.two, work)
            _rolls_of_pairs(met, hands, work)
        if empty == 1 or stakes.minimum == 1:
            _rolls_of_single_dice(firsts, below.one, hands, work)
        _settle_rolls(stakes, hands, work)
        _write_vectors(firsts, below, stakes, hands, work, one[k], two[k])
    return int(work.missing[0])


def solve_layer(
    empty: int,
    layer: Layer,
    below: Below,
    tables: Tables,
    stakes: Stakes,
    one: Values,
    two: Values,
    threads: Executor,
) -> None:
    """Fill W of every class of a layer, the masks with the most classes first.

    Raises:
        LookupError: if a class that a step leads to is in neither of the layers below.
    """

    def missing(mask: int) -> int:
        work = _work(len(stakes.base))
        count: int = _solve_mask(mask, empty, layer, below, tables, stakes, work, one, two)
        return count

    sizes = np.diff(layer.first)
    largest_first = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    if lost := sum(threads.map(missing, largest_first.tolist())):
        raise LookupError(f"{lost} steps from {empty} empty cells lead to classes not found")
