"""Every placement of a turn from a class, each set of dice and cells once, and where it leads."""

import numpy as np

from magsim.board import CELLS, DICE
from magsim.compiled import lean_kernel
from magsim.engine import HAND_MASK, HAND_REMOVE
from magsim.solver.ahead import prefetch
from magsim.solver.classes import Classes, Masks, bucket, buckets, fitting
from magsim.solver.stakes import Stakes
from magsim.solver.words import image, least_image, normalised, placed, points, scrambled
from magsim.solver.work import (
    LEVEL,
    MOST_NEXT,
    REST,
    ROOM,
    VALUE,
    WORD,
    Below,
    Tables,
    Values,
    Work,
)


@lean_kernel
def ask(
    row: int,
    raw: int,
    word: int,
    rest: int,
    hand: int,
    gain: int,
    masks: Masks,
    work: Work,
) -> None:
    """Let a class wait for being looked up: a word, ``raw`` and normalised, and its mask."""
    waiting = work.waiting
    canonical = masks.canonical[rest]
    word = least_image(image(masks.symmetry[rest], word), masks.stabiliser[canonical])
    k = waiting.counts[row]
    waiting.key[row, k], waiting.mask[row, k] = scrambled(word), canonical
    waiting.hand[row, k], waiting.gain[row, k] = hand, gain
    waiting.word[row, k], waiting.rest[row, k] = raw, rest
    waiting.counts[row] = k + 1


@lean_kernel
def look_up(row: int, layer: Classes, vectors: Values, work: Work) -> int:
    """Find the classes that wait in a row; how many there are.

    Each step is done for all of them before the next one, and what that needs is asked for ahead:
    nothing of it is in the cache. Classes that are not there are counted and left out.
    """
    waiting = work.waiting
    count, key, child = waiting.counts[row], waiting.key[row], waiting.child[row]
    for k in range(count):
        mask = waiting.mask[row, k]
        size = layer.last[mask] - layer.first[mask]
        child[k] = layer.first_bucket[mask] + bucket(key[k], buckets(size))
        prefetch(layer.starts, child[k])
    for k in range(count):
        prefetch(layer.keys, layer.first[waiting.mask[row, k]] + layer.starts[child[k]])
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
            for line in range(0, vectors.shape[1], 16):
                prefetch(vectors, at * vectors.shape[1] + line)
    work.missing[0] += count - found
    waiting.counts[row] = 0
    return found


@lean_kernel
def _take_best(row: int, below: Below, work: Work) -> None:
    """Look up what waits after some dice placed, and keep the best for each multiset of them."""
    vectors = below.vectors[row - 1]
    found = look_up(row, below.layers[row - 1], vectors, work)
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
def go_on(
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
                ask(dice_placed + 1, after, known, rest, now, earned, masks, work)
    work.counts[dice_placed] = count


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
    go_on(0, word, mask, 0, 0, dice, 0, deepest > 1, enough, tables, stakes.scale, work)
    row = 0
    while row >= 0:
        k = work.counts[row] - 1
        if k < 0:
            row -= 1
            continue
        work.counts[row] = k
        if row + 1 == deepest:
            continue
        row += 1
        if work.waiting.counts[row + 1] > ROOM - MOST_NEXT:
            _take_best(row + 1, below, work)
        go_on(
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
