"""The value of every class of a layer: backward induction over single steps of a turn.

The *value* of a class, at one level of Powers left, is what perfect play will still gain from the
start of a turn: numbers twice, bonuses, RUINs and Powers paid for. Values are whole multiples of
1/``scale`` of a point, each rounded to the nearest one.

A turn is taken apart into single dice. Let W(class, hand) be the best that a turn which holds the
dice of ``hand`` back can come to, from a board on which the others have been placed: W(class, no
dice) is the class's value, and otherwise W is the best of stopping there, if that is enough, and of
placing one of the dice, which leads to W of a class with one empty cell less and of the hand
without it. What a roll is worth is the best over its first dice and their cells of W with the other
dice in hand. How many dice are *held* back is a matter of memory: for each class of one layer below
there is a vector, of a number for each of the 6 single dice, or for each of the 21 pairs, and the
longer it is the fewer first dice are left to list.

Where no placement is legal, the turn is in MAGDAGDON, and a RUIN is put where it costs least (R17,
R18); then the Powers, level by level (R12-R16).
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor

import numpy as np

from magsim.board import DICE
from magsim.compiled import lean_kernel
from magsim.engine import ANY_HAND
from magsim.solver.ahead import prefetch
from magsim.solver.classes import Classes, sizes_of
from magsim.solver.hands import COUNTS, ROLLS, WAYS
from magsim.solver.lanes import LANES, floor, load, product, quotient, same, store, total
from magsim.solver.limits import NO_LIMITS, Limits, limit_some
from magsim.solver.placements import go_on, look_up
from magsim.solver.stakes import FORBIDDEN, Stakes
from magsim.solver.turns import weigh_rolls
from magsim.solver.words import unscrambled
from magsim.solver.work import Below, Tables, Values, Work, new_work

_PART = 1 << 14
"""How many classes are a piece of work."""
_NO_ONES = np.empty((0, 1), np.int32)


@lean_kernel
def _solve_some(
    mask: int,
    begin: int,
    end: int,
    empty: int,
    layer: Classes,
    below: Below,
    tables: Tables,
    stakes: Stakes,
    work: Work,
    values: Values,
    limits: Limits,
) -> int:
    """Fill the values of some classes of a canonical mask; how many classes were not found."""
    for first in range(begin, end, LANES):
        count = min(LANES, end - first)
        weigh_rolls(mask, empty, first, count, layer, below, tables, stakes, work)
        for level in range(len(stakes.base)):
            every = same(0)
            for roll in range(ROLLS):
                ways = same(tables.hands.weight[roll])
                every = total(every, product(ways, load(work.roll[level], roll)))
            store(floor(total(quotient(every, same(WAYS)), same(0.5))), work.value, level)
            for lane in range(count):
                values[first + lane, level] = work.value[level, lane]
        if len(limits):
            limit_some(first, count, stakes, work.paid, values, limits)
    return int(work.missing[0])


@lean_kernel
def _hold_some(
    mask: int,
    begin: int,
    end: int,
    held: int,
    layer: Classes,
    next_layer: Classes,
    fewer: Values,
    plain: Values,
    tables: Tables,
    scale: int,
    work: Work,
    vectors: Values,
    ones: Values,
) -> int:
    """Fill W of some classes of a canonical mask for ``held`` dice; how many were not found.

    ``vectors`` holds what stopping is worth; ``fewer`` is W of the next layer for one die less. If
    there are any ``ones``, which hold what stopping is worth, they are filled, too: W for one die,
    by the values of the next layer, ``plain``.
    """
    levels, hands = len(work.ruined), tables.hands
    for k in range(begin, end):
        word = unscrambled(layer.keys[k])
        go_on(0, word, mask, 0, 0, ANY_HAND, 0, False, True, tables, scale, work)
        best, found = vectors[k], look_up(1, next_layer, fewer, work)
        for i in range(found if len(ones) else 0):
            prefetch(plain, work.waiting.child[1, i] * levels)
        for i in range(found):
            die, gain = work.waiting.hand[1, i] + 1, np.int32(work.waiting.gain[1, i])
            vector = fewer[work.waiting.child[1, i]]
            for hand in range(COUNTS[held - 1]):
                q = hands.add[held - 1, hand, die] * levels
                for level in range(levels):
                    value = np.int32(vector[hand * levels + level] + gain)
                    best[q + level] = max(best[q + level], value)
        if len(ones):
            one = ones[k]
            for i in range(found):
                q = work.waiting.hand[1, i] * levels
                for level in range(levels):
                    value = np.int32(plain[work.waiting.child[1, i], level])
                    value += np.int32(work.waiting.gain[1, i])
                    one[q + level] = max(one[q + level], value)
    return int(work.missing[0])


def _in_parts(
    layer: Classes,
    threads: Executor,
    work_on: Callable[[int, int, int], int],
    told: Callable[[int], object],
) -> None:
    """Work on all classes of a layer, a part of a mask at a time; ``told`` how many are done."""
    parts = [
        (mask, begin, min(begin + _PART, int(layer.last[mask])))
        for mask in sizes_of(layer)
        for begin in range(int(layer.first[mask]), int(layer.last[mask]), _PART)
    ]
    lost = 0
    for part, missing in zip(parts, threads.map(lambda part: work_on(*part), parts), strict=True):
        told(part[2] - part[1])
        lost += missing
    if lost:
        raise LookupError(f"{lost} steps lead to classes not found")


def _untold(classes: int) -> None:
    """Nobody watches."""


def hold(
    held: int,
    empty: int,
    layers: Mapping[int, Classes],
    values: Mapping[int, Values],
    tables: Tables,
    stakes: Stakes,
    threads: Executor,
    ones: dict[int, Values],
) -> Values:
    """W of a layer for all hands of ``held`` dice; shape (classes, hands * levels).

    Those for one die, which the layer above this one needs next, are found on the way to those for
    two and left in ``ones``, by the count of empty cells; what is there is taken out.

    Raises:
        LookupError: if a class that a step leads to is not there.
    """
    if held == 0:
        return values[empty]
    if held == 1 and empty in ones:
        return ones.pop(empty)
    layer, levels = layers[empty], len(stakes.base)

    def stopping(dice: int) -> Values:
        """Room for W, to be filled with what is worth to stop with so many dice."""
        return np.empty((len(layer.keys), COUNTS[dice] * levels), np.int32)

    vectors, one = stopping(held), stopping(1) if held > 1 else _NO_ONES
    if empty == 0:
        vectors[:], one[:] = 0, 0
        return vectors
    fewer = hold(held - 1, empty - 1, layers, values, tables, stakes, threads, ones)

    def missing(mask: int, begin: int, end: int) -> int:
        classes = slice(begin, end)
        for found, dice in ((vectors, held), (one, 1)):
            enough = DICE - dice >= stakes.minimum
            worth = np.tile(values[empty][classes], COUNTS[dice]) if enough else FORBIDDEN
            if len(found):
                found[classes] = worth
        work, reached = new_work(levels, held), values[empty - 1]
        arguments = layer, layers[empty - 1], fewer, reached, tables, stakes.scale, work
        return int(_hold_some(mask, begin, end, held, *arguments, vectors, one))

    _in_parts(layer, threads, missing, _untold)
    if held > 1:
        ones.clear()
        ones[empty] = one
    return vectors


def below(
    empty: int, held: int, layers: Mapping[int, Classes], vectors: Mapping[int, Values]
) -> Below:
    """What turns with so many empty cells lead to; both by the count of empty cells left."""
    left = [max(empty - placed_dice, empty - DICE + held, 0) for placed_dice in range(1, DICE + 1)]
    a, b, c, d = left
    return Below(
        (layers[a], layers[b], layers[c], layers[d]),
        (vectors[a], vectors[b], vectors[c], vectors[d]),
        held,
    )


def solve_layer(
    empty: int,
    held: int,
    layers: Mapping[int, Classes],
    values: Mapping[int, Values],
    tables: Tables,
    stakes: Stakes,
    threads: Executor,
    told: Callable[[int], object] = _untold,
    limits: Limits = NO_LIMITS,
    ones: dict[int, Values] | None = None,
) -> Values:
    """The value of every class of a layer at every level; shape (classes, levels).

    Args:
        empty: cells that are empty in its classes, at least 1.
        held: dice to hold back, 0 to 2.
        layers: this layer and the four below it, by their empty cells.
        values: those of the layers below.
        tables: of the rules.
        stakes: of the rules.
        threads: where to work.
        told: how many more classes are done, now and then.
        limits: to be filled, if they are wanted; shape (classes, levels).
        ones: what ``hold`` left when the layer below was solved, and leaves for the next one.

    Raises:
        LookupError: if a class that a step leads to is not there.
    """
    layer, levels = layers[empty], len(stakes.base)
    found = np.empty((len(layer.keys), levels), np.int32)
    last = empty - DICE + held
    vectors = dict(values)
    if last >= 0:
        kept = {} if ones is None else ones
        vectors[last] = hold(held, last, layers, values, tables, stakes, threads, kept)
    reached = below(empty, held, layers, vectors)

    def missing(mask: int, begin: int, end: int) -> int:
        work = new_work(levels, held)
        arguments = empty, layer, reached, tables, stakes, work, found, limits
        return int(_solve_some(mask, begin, end, *arguments))

    _in_parts(layer, threads, missing, told)
    return found
