"""What the rolls of a turn are worth: their best placements, a RUIN where none is legal, Powers."""

from magsim.board import CELLS, DICE, SIDES
from magsim.compiled import lean_kernel
from magsim.engine import ANY_HAND
from magsim.solver.classes import Classes, ruined
from magsim.solver.hands import COUNTS, ROLLS, WAYS, Hands, Steps
from magsim.solver.lanes import (
    Lanes,
    any_reaches,
    chosen,
    floor,
    greater,
    lesser,
    load,
    product,
    quotient,
    same,
    store,
    total,
)
from magsim.solver.placements import ask, list_placements, look_up
from magsim.solver.stakes import FORBIDDEN, Stakes
from magsim.solver.words import unscrambled
from magsim.solver.work import Averages, Below, Flags, Tables, Values, Work

Rows = Values | Averages


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
def _sum_of_six(terms: Rows, rows: Steps) -> Lanes:
    """Add up the rows of ``terms`` that follow the first of ``rows``."""
    first = total(total(load(terms, rows[1]), load(terms, rows[2])), load(terms, rows[3]))
    second = total(total(load(terms, rows[4]), load(terms, rows[5])), load(terms, rows[6]))
    return total(first, second)


@lean_kernel
def _best_of_four(terms: Rows, rows: Steps) -> Lanes:
    """The best of four rows of ``terms``."""
    first = greater(load(terms, rows[0]), load(terms, rows[1]))
    return greater(first, greater(load(terms, rows[2]), load(terms, rows[3])))


@lean_kernel
def _weigh_rerolls(base: Values, hands: Hands, kept: Averages) -> None:
    """Fill ``kept``: 1296 times what it is worth to keep a hand, or some of it, and roll the rest.

    The sums are whole, and so are their quotients by 6.
    """
    size = DICE - 1
    for hand in range(COUNTS[size]):
        found = product(_sum_of_six(base, hands.add[size, hand]), same(WAYS / SIDES))
        store(found, kept[size], hand)
    for size in range(DICE - 2, -1, -1):
        for hand in range(COUNTS[size]):
            found = quotient(_sum_of_six(kept[size + 1], hands.add[size, hand]), same(SIDES))
            store(found, kept[size], hand)
    for size in range(1, DICE):
        for hand in range(COUNTS[size]):
            fewer = _best_of_four(kept[size - 1], hands.take[size, hand])
            store(greater(load(kept[size], hand), fewer), kept[size], hand)


@lean_kernel
def weigh_powers(base: Values, hands: Hands, work: Work) -> None:
    """Fill ``power``: what each roll is worth after the best Power, which leads to ``base``."""
    _weigh_rerolls(base, hands, work.kept)
    ways, half = same(WAYS), same(0.5)
    for roll in range(ROLLS):
        moves = hands.moves[roll]
        moved = greater(_best_of_four(base, moves[:DICE]), _best_of_four(base, moves[DICE:]))
        thrown = quotient(_best_of_four(work.kept[DICE - 1], hands.take[DICE, roll]), ways)
        store(greater(moved, floor(total(thrown, half))), work.power, roll)


@lean_kernel
def _may_pay(base: Values, rolls: Values, cost: int) -> bool:
    """Whether in any lane a Power that leads from the worst roll to the best one would pay."""
    most, least = load(base, 0), load(rolls, 0)
    for roll in range(1, ROLLS):
        most, least = greater(most, load(base, roll)), lesser(least, load(rolls, roll))
    return any_reaches(total(most, same(-cost)), least)


@lean_kernel
def _use_power(cost: int, rolls: Values, power: Values) -> Lanes:
    """Use a Power where it pays; the most that a roll was worth for which it does."""
    paid = forbidden = same(float(FORBIDDEN))
    for roll in range(ROLLS):
        staying, using = load(rolls, roll), total(load(power, roll), same(-cost))
        paid = greater(paid, chosen(using, staying, staying, forbidden))
        store(greater(using, staying), rolls, roll)
    return paid


@lean_kernel
def _settle_rolls(stakes: Stakes, hands: Hands, work: Work) -> None:
    """Put a RUIN where nothing is legal (R17, R18), then use Powers (R12), level by level."""
    levels, allowed = len(stakes.base), same(stakes.allowed)
    for level in range(levels):
        ruin = total(load(work.ruined, level), same(-stakes.ruin))
        for roll in range(ROLLS):
            placing = load(work.roll[level], roll)
            store(chosen(placing, allowed, placing, ruin), work.roll[level], roll)
    work.paid[:] = FORBIDDEN
    for base in range(levels):
        weighed = False
        for level in range(base + 1, levels):
            rolls, cost = work.roll[level], stakes.cost[level]
            if stakes.base[level] != base or not _may_pay(work.roll[base], rolls, cost):
                continue
            if not weighed:
                weigh_powers(work.roll[base], hands, work)
                weighed = True
            store(_use_power(cost, rolls, work.power), work.paid, level)


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
    """Fill ``work.roll`` and ``work.paid`` for up to 8 classes of a canonical mask."""
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
