"""What the rolls of a turn are worth: their best placements, a RUIN where none is legal, Powers."""

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS, DICE, SIDES
from magsim.compiled import lean_kernel
from magsim.engine import ANY_HAND
from magsim.solver.classes import Classes, ruined
from magsim.solver.hands import COUNTS, ROLLS, TRIPLES, WAYS, Hands
from magsim.solver.placements import ask, list_placements, look_up
from magsim.solver.stakes import FORBIDDEN, Stakes
from magsim.solver.words import unscrambled
from magsim.solver.work import LANES, Below, Flags, Tables, Values, Work

_HALF = WAYS // 2


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
                ask(0, word, known, rest, lane, 0, masks, work)
    work.ruined[:] = FORBIDDEN
    for k in range(look_up(0, below.layers[0], below.vectors[0], work)):
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
        for lane in range(LANES):
            best[lane] = (best[lane] + _HALF) // WAYS


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
        found |= np.int64(most[lane]) - cost >= least[lane]
    return bool(found)


@lean_kernel
def _note_paid(power: NDArray[np.int64], rolls: Values, cost: int, paid: Values) -> None:
    """Fill ``paid`` of a level: the most that a roll is worth without a Power that pays for it."""
    for roll in range(ROLLS):
        for lane in range(LANES):
            pays = power[roll, lane] - cost >= rolls[roll, lane]
            paid[lane] = max(paid[lane], rolls[roll, lane] if pays else FORBIDDEN)


@lean_kernel
def _settle_rolls(stakes: Stakes, hands: Hands, limited: bool, work: Work) -> None:
    """Put a RUIN where nothing is legal (R17, R18), then use Powers (R12), level by level."""
    levels, penalty, allowed = len(stakes.base), np.int32(stakes.ruin), np.int32(stakes.allowed)
    for level in range(levels):
        rolls, ruin = work.roll[level], work.ruined[level]
        for roll in range(ROLLS):
            for lane in range(LANES):
                if rolls[roll, lane] < allowed:
                    rolls[roll, lane] = ruin[lane] - penalty
    work.paid[:] = FORBIDDEN
    for base in range(levels):
        weighed = False
        for level in range(base + 1, levels):
            rolls, cost = work.roll[level], stakes.cost[level]
            if stakes.base[level] != base or not _may_pay(work.roll[base], rolls, cost, work):
                continue
            if not weighed:
                weigh_powers(work.roll[base], hands, work)
                weighed = True
            if limited:
                _note_paid(work.power, rolls, cost, work.paid[level])
            for roll in range(ROLLS):
                for lane in range(LANES):
                    value = work.power[roll, lane] - cost
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
    limited: bool,
    work: Work,
) -> None:
    """Fill ``work.roll``: what every roll is worth, for up to 8 classes of a canonical mask.

    If they are ``limited``, fill ``work.paid``, too.
    """
    hands, required, last = tables.hands, min(stakes.minimum, empty), DICE - below.held
    work.roll[:] = FORBIDDEN
    for lane in range(count):
        word = unscrambled(layer.keys[first + lane])
        list_placements(mask, word, ANY_HAND, empty, below, tables, stakes, work)
        for size in range(required, last):
            _spread(size, lane, hands, work.stop[size], work.met[size], work)
        _spread(last, lane, hands, work.best, work.met[last], work)
    _list_ruins(mask, first, count, layer, below, tables, work)
    _settle_rolls(stakes, hands, limited, work)
