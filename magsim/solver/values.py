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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS, DICE, SIDES
from magsim.compiled import lean_kernel
from magsim.engine import ANY_HAND, HAND_MASK, HAND_REMOVE
from magsim.solver.classes import Classes, Masks, bucket, buckets, fitting, ruined, sizes_of
from magsim.solver.hands import COUNTS, ROLLS, TRIPLES, WAYS, Hands
from magsim.solver.lines import Lines
from magsim.solver.stakes import FORBIDDEN, Stakes
from magsim.solver.words import (
    image,
    least_image,
    normalised,
    placed,
    points,
    scrambled,
    unscrambled,
)

Values = NDArray[np.int32]
Flags = NDArray[np.uint8]

MOST_HELD = 2
LEVEL, VALUE, WORD, REST = range(4)
"""What ``Work.choice`` holds."""
_MOST_NEXT = CELLS * SIDES
_ROOM = 512
"""How many look-ups wait for each other, so that their cache misses overlap."""
LANES = 8
"""How many classes are worked on at once, which the processor does in the same steps."""
_PART = 1 << 14
"""How many classes are a piece of work."""
_HALF = WAYS // 2


class Tables(NamedTuple):
    """What kernels look up, made once for rules."""

    masks: Masks
    lines: Lines
    hands: Hands


class Below(NamedTuple):
    """What a turn leads to: by dice placed, 1 to 4 (where fewer are listed, the last repeated)."""

    layers: tuple[Classes, Classes, Classes, Classes]
    vectors: tuple[Values, Values, Values, Values]
    """Values, ``[class, level]``, but where ``held`` dice are left those of W.

    ``[class, hand * levels + level]``.
    """
    held: int


class _Waiting(NamedTuple):
    """Classes to be looked up, by dice placed (0 after a RUIN); shapes (5, room)."""

    count: NDArray[np.int64]
    """How many there are; shape (5,)."""
    key: NDArray[np.int64]
    mask: NDArray[np.int64]
    """Canonical."""
    hand: NDArray[np.int64]
    """The dice placed."""
    gain: NDArray[np.int64]
    """Since the turn began, in 1/scale points."""
    word: NDArray[np.int64]
    """As it came about: neither normalised nor turned."""
    rest: NDArray[np.int64]
    """Its empty cells."""
    child: NDArray[np.int64]
    """The class; before it is found, its bucket."""


class Work(NamedTuple):
    """Room for the work on some classes; made once for a mask."""

    count: NDArray[np.int64]
    """``[dice placed - 1]``: how many ways to go on are listed; shape (4,)."""
    word: NDArray[np.int64]
    """``[dice placed - 1, way]``: the word, not normalised; like the next five (4, 96)."""
    mask: NDArray[np.int64]
    """The empty cells."""
    closed: NDArray[np.int64]
    """Cells that no further die goes on, as another way places it there earlier."""
    hand: NDArray[np.int64]
    """The dice placed."""
    left: NDArray[np.int64]
    """The dice that may go on being placed, as in ``engine.HANDS``, or any."""
    gain: NDArray[np.int64]
    """Since the turn began, in 1/scale points."""
    waiting: _Waiting
    choice: NDArray[np.int64]
    """The best placement at one level (shape 4): ``LEVEL``, -1 where none is asked for, ...

    ``VALUE``, gain and value; ``WORD`` with its dice in it; ``REST``, the empty cells left.
    """
    met: Flags
    """``[dice placed, hand]``: whether these can be placed and then be stopped at; (5, 126)."""
    best: Values
    """``[hand, rest * levels + level]``: gain and W; shape (126, 21 * levels) at most."""
    stop: Values
    """``[dice placed, hand, level]``: gain and value, if no more are placed; (4, 56, levels)."""
    ruined: Values
    """``[level, lane]``: the value after the best RUIN, not paid for; shape (levels, 8)."""
    roll: Values
    """``[level, roll, lane]``: what the roll is worth; shape (levels, 126, 8)."""
    power: NDArray[np.int64]
    """``[roll, lane]``: 1296 times what it is worth after a Power, not paid for; (126, 8)."""
    kept: NDArray[np.int64]
    """``[size, hand, lane]``: what a reroll of all other dice is worth; shape (4, 56, 8).

    First the sum over the ways these can fall, then 1296 times the value, of this reroll or of the
    best that keeps fewer dice.
    """
    total: NDArray[np.int64]
    """``[lane]``: sums; shape (8,), like the next two."""
    most: Values
    least: Values
    missing: NDArray[np.int64]
    """How many classes were not found, and what keeps look-ups in order from being left out."""


def new_work(levels: int, held: int) -> Work:
    """Room for the work on classes with so many levels, and vectors of so many dice."""
    waiting = _Waiting(
        np.zeros(DICE + 1, np.int64), *(np.empty((DICE + 1, _ROOM), np.int64) for _ in range(7))
    )
    return Work(
        np.empty(DICE, np.int64),
        *(np.empty((DICE, _MOST_NEXT), np.int64) for _ in range(6)),
        waiting=waiting,
        choice=np.full(4, -1, np.int64),
        met=np.zeros((DICE + 1, ROLLS), np.uint8),
        best=np.full((COUNTS[DICE - held], COUNTS[held] * levels), FORBIDDEN),
        stop=np.full((DICE, TRIPLES, levels), FORBIDDEN),
        ruined=np.empty((levels, LANES), np.int32),
        roll=np.empty((levels, ROLLS, LANES), np.int32),
        power=np.empty((ROLLS, LANES), np.int64),
        kept=np.empty((DICE, TRIPLES, LANES), np.int64),
        total=np.empty(LANES, np.int64),
        most=np.empty(LANES, np.int32),
        least=np.empty(LANES, np.int32),
        missing=np.zeros(2, np.int64),
    )


@lean_kernel
def _ask(
    row: int,
    raw: int,
    word: int,
    rest: int,
    hand: int,
    gain: int,
    masks: Masks,
    work: Work,
) -> None:
    """Let a class wait for being looked up; ``word`` is ``raw`` normalised, for the mask ``rest``."""
    waiting = work.waiting
    canonical = masks.canonical[rest]
    word = least_image(image(masks.symmetry[rest], word), masks.stabiliser[canonical])
    k = waiting.count[row]
    waiting.key[row, k], waiting.mask[row, k] = scrambled(word), canonical
    waiting.hand[row, k], waiting.gain[row, k] = hand, gain
    waiting.word[row, k], waiting.rest[row, k] = raw, rest
    waiting.count[row] = k + 1


@lean_kernel
def _look_up(row: int, layer: Classes, work: Work) -> int:
    """Find the classes that wait in a row; how many there are.

    One step for all of them after the other, as the processor then waits for many at once. Classes
    that are not there are counted and left out.
    """
    waiting = work.waiting
    count, key, child = waiting.count[row], waiting.key[row], waiting.child[row]
    for k in range(count):
        mask = waiting.mask[row, k]
        size = layer.last[mask] - layer.first[mask]
        child[k] = layer.first_bucket[mask] + bucket(key[k], buckets(size))
    touched = 0
    for k in range(count):
        at = layer.first[waiting.mask[row, k]] + layer.starts[child[k]]
        touched ^= layer.keys[min(at, len(layer.keys) - 1)]
    found = 0
    for k in range(count):
        mask = waiting.mask[row, k]
        first = layer.first[mask]
        if first == layer.last[mask]:
            continue
        at, end = first + layer.starts[child[k]], first + layer.starts[child[k] + 1]
        while at < end and layer.keys[at] != key[k]:
            at += 1
        if at < end:
            child[found], waiting.hand[row, found] = at, waiting.hand[row, k]
            waiting.gain[row, found] = waiting.gain[row, k]
            waiting.word[row, found] = waiting.word[row, k]
            waiting.rest[row, found] = waiting.rest[row, k]
            found += 1
    work.missing[0] += count - found
    work.missing[1] ^= touched
    waiting.count[row] = 0
    return found


@lean_kernel
def _take_best(row: int, below: Below, work: Work) -> None:
    """Look up what waits after some dice placed, and keep the best for each multiset of them."""
    vectors = below.vectors[row - 1]
    found = _look_up(row, below.layers[row - 1], work)
    waiting, choice = work.waiting, work.choice
    level = choice[LEVEL]
    if level >= 0:
        for k in range(found):
            value = waiting.gain[row, k] + vectors[waiting.child[row, k], level]
            if value > choice[VALUE]:
                choice[VALUE] = value
                choice[WORD], choice[REST] = waiting.word[row, k], waiting.rest[row, k]
        return
    last = row == DICE - below.held
    width = work.best.shape[1] if last else work.stop.shape[2]
    for k in range(found):
        vector, gain = vectors[waiting.child[row, k]], np.int32(waiting.gain[row, k])
        hand = waiting.hand[row, k]
        best = work.best[hand] if last else work.stop[row, hand]
        work.met[row, hand] = 1
        for q in range(width):
            best[q] = max(best[q], np.int32(vector[q] + gain))


@lean_kernel
def _go_on(
    dice_placed: int,
    word: int,
    mask: int,
    closed: int,
    hand: int,
    left: int,
    gain: int,
    more: bool,
    enough: bool,
    tables: Tables,
    scale: int,
    work: Work,
) -> None:
    """List the ways to place one die more, to place ``more`` after it, and ask where it leads.

    Every set of placements is listed once, with its cells in the one order in which each comes as
    soon as it can: a cell that could have been used before another one is closed after it.
    """
    masks, lines, hands = tables
    count = 0
    for cell in range(CELLS):
        if not (mask & ~closed) >> cell & 1:
            continue
        dice = fitting(word, cell, lines)
        if not dice:
            continue
        closed |= 1 << cell
        dice &= HAND_MASK[left]
        rest = mask & ~(1 << cell)
        bits = masks.bits[rest]
        for die in range(1, 7):
            if not dice >> die & 1:
                continue
            after = placed(word, bits, cell, die, lines.step)
            earned = gain + points(after, bits, cell, die, lines.bonus) * scale
            now = hands.add[dice_placed, hand, die]
            if more:
                work.word[dice_placed, count], work.mask[dice_placed, count] = after, rest
                work.closed[dice_placed, count] = closed
                work.hand[dice_placed, count], work.gain[dice_placed, count] = now, earned
                work.left[dice_placed, count] = HAND_REMOVE[left, die]
                count += 1
            if enough:
                known = normalised(after, bits, lines.live)
                _ask(dice_placed + 1, after, known, rest, now, earned, masks, work)
    work.count[dice_placed] = count


@lean_kernel
def list_placements(
    mask: int,
    word: int,
    dice: int,
    empty: int,
    below: Below,
    tables: Tables,
    stakes: Stakes,
    work: Work,
) -> None:
    """Look at every placement of some dice, as in ``engine.HANDS``, or of any, from a class.

    Fills ``best``, ``stop`` and ``met``; or, if a level is asked for there, only ``choice``.
    """
    required, last = min(stakes.minimum, empty), DICE - below.held
    deepest = min(last, empty)
    enough = required <= 1 or last == 1
    _go_on(0, word, mask, 0, 0, dice, 0, deepest > 1, enough, tables, stakes.scale, work)
    row = 0
    while row >= 0:
        k = work.count[row] - 1
        if k < 0:
            row -= 1
            continue
        work.count[row] = k
        if row + 1 == deepest:
            continue
        row += 1
        if work.waiting.count[row + 1] > _ROOM - _MOST_NEXT:
            _take_best(row + 1, below, work)
        _go_on(
            row,
            work.word[row - 1, k],
            work.mask[row - 1, k],
            work.closed[row - 1, k],
            work.hand[row - 1, k],
            work.left[row - 1, k],
            work.gain[row - 1, k],
            row + 1 < deepest,
            row + 1 >= required or row + 1 == last,
            tables,
            stakes.scale,
            work,
        )
    for placed_dice in range(1, deepest + 1):
        if placed_dice >= required or placed_dice == last:
            _take_best(placed_dice, below, work)


@lean_kernel
def _list_ruins(
    mask: int, first: int, count: int, layer: Classes, below: Below, tables: Tables, work: Work
) -> None:
    """Fill ``ruined`` of so many classes."""
    masks, lines, _ = tables
    for lane in range(count):
        word = unscrambled(layer.keys[first + lane])
        for cell in range(CELLS):
            if mask >> cell & 1:
                rest = mask & ~(1 << cell)
                known = ruined(word, masks.bits[rest], cell, lines)
                _ask(0, word, known, rest, lane, 0, masks, work)
    work.ruined[:] = FORBIDDEN
    for k in range(_look_up(0, below.layers[0], work)):
        lane, vector = work.waiting.hand[0, k], below.vectors[0][work.waiting.child[0, k]]
        for level in range(len(work.ruined)):
            work.ruined[level, lane] = max(work.ruined[level, lane], vector[level])


@lean_kernel
def _spread(size: int, lane: int, hands: Hands, best: Values, met: Flags, work: Work) -> None:
    """Each roll is worth its best division into dice placed and others; ``best`` starts anew."""
    levels = len(work.roll)
    for hand in range(COUNTS[size]):
        if not met[hand]:
            continue
        met[hand] = 0
        width = best.shape[1] // levels
        for rest in range(COUNTS[DICE - size]):
            roll = hands.joined[size, hand, rest]
            at = rest * levels if width > 1 else 0
            for level in range(levels):
                value = best[hand, at + level]
                work.roll[level, roll, lane] = max(work.roll[level, roll, lane], value)
        best[hand] = FORBIDDEN


@lean_kernel
def _sum_over_rerolls(base: Values, hands: Hands, work: Work) -> None:
    """Fill ``kept``: keeping a hand, or some of it, and rolling the other dice."""
    kept = work.kept
    for hand in range(TRIPLES):
        kept[3, hand] = 0
        for die in range(1, 7):
            more = hands.add[3, hand, die]
            for lane in range(LANES):
                kept[3, hand, lane] += base[more, lane]
    for size in range(2, -1, -1):
        for hand in range(COUNTS[size]):
            kept[size, hand] = 0
            for die in range(1, 7):
                more = hands.add[size, hand, die]
                for lane in range(LANES):
                    kept[size, hand, lane] += kept[size + 1, more, lane]
    for size in range(1, DICE):
        for hand in range(COUNTS[size]):
            for lane in range(LANES):
                kept[size, hand, lane] *= SIDES**size
            for k in range(size):
                fewer = hands.take[size, hand, k]
                for lane in range(LANES):
                    value = kept[size - 1, fewer, lane]
                    kept[size, hand, lane] = max(kept[size, hand, lane], value)


@lean_kernel
def weigh_powers(base: Values, hands: Hands, work: Work) -> None:
    """Fill ``power``: what each roll is worth after the best Power, which leads to ``base``."""
    _sum_over_rerolls(base, hands, work)
    for roll in range(ROLLS):
        best = work.power[roll]
        best[:] = FORBIDDEN
        for k in range(2 * DICE):
            moved = hands.moves[roll, k]
            for lane in range(LANES):
                best[lane] = max(best[lane], base[moved, lane])
        for lane in range(LANES):
            best[lane] *= WAYS
        for k in range(DICE):
            fewer = hands.take[DICE, roll, k]
            for lane in range(LANES):
                best[lane] = max(best[lane], work.kept[DICE - 1, fewer, lane])


@lean_kernel
def _may_pay(base: Values, rolls: Values, cost: int, work: Work) -> bool:
    """Whether in any lane a Power that leads from the worst roll to the best one would pay."""
    most, least = work.most, work.least
    for lane in range(LANES):
        most[lane], least[lane] = base[0, lane], rolls[0, lane]
    for roll in range(1, ROLLS):
        for lane in range(LANES):
            most[lane] = max(most[lane], base[roll, lane])
            least[lane] = min(least[lane], rolls[roll, lane])
    found = 0
    for lane in range(LANES):
        found |= np.int64(most[lane]) - cost > least[lane]
    return bool(found)


@lean_kernel
def _settle_rolls(stakes: Stakes, hands: Hands, work: Work) -> None:
    """Put a RUIN where nothing is legal (R17, R18), then use Powers (R12), level by level."""
    levels, penalty, allowed = len(stakes.base), np.int32(stakes.ruin), np.int32(stakes.allowed)
    for level in range(levels):
        rolls, ruin = work.roll[level], work.ruined[level]
        for roll in range(ROLLS):
            for lane in range(LANES):
                if rolls[roll, lane] < allowed:
                    rolls[roll, lane] = ruin[lane] - penalty
    for base in range(levels):
        weighed = False
        for level in range(base + 1, levels):
            rolls, cost = work.roll[level], stakes.cost[level]
            if stakes.base[level] != base or not _may_pay(work.roll[base], rolls, cost, work):
                continue
            if not weighed:
                weigh_powers(work.roll[base], hands, work)
                weighed = True
            for roll in range(ROLLS):
                for lane in range(LANES):
                    value = (work.power[roll, lane] + _HALF) // WAYS - cost
                    rolls[roll, lane] = max(np.int64(rolls[roll, lane]), value)


@lean_kernel
def weigh_rolls(
    mask: int,
    empty: int,
    first: int,
    count: int,
    layer: Classes,
    below: Below,
    tables: Tables,
    stakes: Stakes,
    work: Work,
) -> None:
    """Fill ``work.roll``: what every roll is worth, for up to 8 classes of a canonical mask."""
    hands, required, last = tables.hands, min(stakes.minimum, empty), DICE - below.held
    work.roll[:] = FORBIDDEN
    for lane in range(count):
        word = unscrambled(layer.keys[first + lane])
        list_placements(mask, word, ANY_HAND, empty, below, tables, stakes, work)
        for size in range(required, last):
            _spread(size, lane, hands, work.stop[size], work.met[size], work)
        _spread(last, lane, hands, work.best, work.met[last], work)
    _list_ruins(mask, first, count, layer, below, tables, work)
    _settle_rolls(stakes, hands, work)


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
) -> int:
    """Fill the values of some classes of a canonical mask; how many classes were not found."""
    for first in range(begin, end, LANES):
        count = min(LANES, end - first)
        weigh_rolls(mask, empty, first, count, layer, below, tables, stakes, work)
        for level in range(len(stakes.base)):
            work.total[:] = _HALF
            for roll in range(ROLLS):
                for lane in range(LANES):
                    work.total[lane] += tables.hands.weight[roll] * work.roll[level, roll, lane]
            for lane in range(count):
                values[first + lane, level] = work.total[lane] // WAYS
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
    tables: Tables,
    scale: int,
    work: Work,
    vectors: Values,
) -> int:
    """Fill W of some classes of a canonical mask for ``held`` dice; how many were not found.

    ``vectors`` holds what stopping is worth; ``fewer`` is W of the next layer for one die less.
    """
    levels, hands = len(work.ruined), tables.hands
    for k in range(begin, end):
        word = unscrambled(layer.keys[k])
        _go_on(0, word, mask, 0, 0, ANY_HAND, 0, False, True, tables, scale, work)
        best = vectors[k]
        for i in range(_look_up(1, next_layer, work)):
            die, gain = work.waiting.hand[1, i] + 1, np.int32(work.waiting.gain[1, i])
            vector = fewer[work.waiting.child[1, i]]
            for hand in range(COUNTS[held - 1]):
                q = hands.add[held - 1, hand, die] * levels
                for level in range(levels):
                    value = np.int32(vector[hand * levels + level] + gain)
                    best[q + level] = max(best[q + level], value)
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
) -> Values:
    """W of a layer for all hands of ``held`` dice; shape (classes, hands * levels).

    Raises:
        LookupError: if a class that a step leads to is not there.
    """
    if held == 0:
        return values[empty]
    layer, levels = layers[empty], len(stakes.base)
    shape = (len(layer.keys), COUNTS[held] * levels)
    if empty == 0:
        return np.zeros(shape, np.int32)
    fewer = hold(held - 1, empty - 1, layers, values, tables, stakes, threads)
    vectors = np.empty(shape, np.int32)
    enough = DICE - held >= stakes.minimum

    def missing(mask: int, begin: int, end: int) -> int:
        classes = slice(begin, end)
        vectors[classes] = np.tile(values[empty][classes], COUNTS[held]) if enough else FORBIDDEN
        work = new_work(levels, held)
        arguments = layer, layers[empty - 1], fewer, tables, stakes.scale, work, vectors
        return int(_hold_some(mask, begin, end, held, *arguments))

    _in_parts(layer, threads, missing, _untold)
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

    Raises:
        LookupError: if a class that a step leads to is not there.
    """
    layer, levels = layers[empty], len(stakes.base)
    found = np.empty((len(layer.keys), levels), np.int32)
    last = empty - DICE + held
    vectors = dict(values)
    if last >= 0:
        vectors[last] = hold(held, last, layers, values, tables, stakes, threads)
    reached = below(empty, held, layers, vectors)

    def missing(mask: int, begin: int, end: int) -> int:
        work = new_work(levels, held)
        arguments = empty, layer, reached, tables, stakes, work, found
        return int(_solve_some(mask, begin, end, *arguments))

    _in_parts(layer, threads, missing, told)
    return found
