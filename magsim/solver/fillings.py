"""Every class with so many empty cells, straight from the ways to fill the others.

A board can come about exactly when its numbers are one connected field, or there are none, and
neighbours agree (R8-R11): such a field can be placed number by number, and RUINs whenever. So the
cells that are not to stay empty are filled one after another, from the top left to the bottom
right, each with a RUIN or a number that fits, and half-filled boards are merged as soon as they
have the same future. What matters of them is

- the *word* of their class, as if the cells still to be filled were empty like those of the mask,
  but with all numbers erased that are in no line with a cell of the mask;
- how their numbers hang together: in one *field*, or in several that must yet be joined. A field is
  known by its *rim*, the cells to be filled that are next to it and that some number fits on. No
  more than three fields reach the last four cells filled, so that their rims, 16 bits each, are
  one ``int64``, ascending from the lowest bits; it is 0 for one field, whose rim the word tells.

A field without a rim is finished: no other may be there, and all cells to be filled become RUINs.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple

import numpy as np

from magsim.board import CELLS, NEIGHBOURS, SIDES, SIZE
from magsim.compiled import kernel, lean_kernel
from magsim.solver.classes import Classes, Masks, canonical_masks, joined
from magsim.solver.lines import ANY_DIE, Lines
from magsim.solver.memory import Budget
from magsim.solver.words import (
    DESTINATIONS,
    INVERSE,
    SYMMETRIES,
    Words,
    image,
    least_image,
    normalised,
    placed,
    scrambled,
    without,
)

_RIM = (1 << CELLS) - 1
_RIMS = 3 * CELLS
_IMPOSSIBLE = -1
_DISTANCES = tuple(tuple(sum(divmod(cell, SIZE)) for cell in there) for there in DESTINATIONS)
"""``[symmetry][cell]``: how far down and to the right the cell goes."""
_WAY = 7 * 8
"""Bytes a way to fill a cell: words and rims, sorted, merged, and of the words before."""
_FOUND = 2 * 8 + 1
"""Bytes a class that was found: its key, twice when layers are joined, and its share of starts."""


class _Step(NamedTuple):
    """The next cell to fill, and what is left then."""

    cell: int
    unfilled: int
    """The cells to be filled after it, as a mask."""
    unfilled_bits: int
    bits: int
    """These and the cells of the mask."""
    beside: int
    """Those of ``unfilled`` that are next to ``cell``, as a mask."""
    kept: int
    """All nibbles of the lines with a cell of the mask, set to 15."""


@lean_kernel
def _rim(word: int, cells: int, first: int, lines: Lines) -> int:
    """Those of some cells, all from ``first`` on, that are next to a number and take one."""
    found = 0
    for cell in range(first, min(first + SIZE + 1, CELLS)):
        code = word >> 4 * cell & 15
        if cells >> cell & 1 and code and lines.fits[code]:
            found |= 1 << cell
    return found


@lean_kernel
def _with_rim(rims: int, rim: int) -> int:
    """The rims with one more among them."""
    at = 0
    while 0 < (rims >> at & _RIM) < rim:
        at += CELLS
    lower = rims & ((1 << at) - 1)
    return lower | rim << at | (rims ^ lower) << CELLS


@lean_kernel
def _rims_after(rims: int, step: _Step, number: bool, growing: int) -> int:
    """The rims once a cell is filled; 0 if the one field is finished.

    ``growing`` are the cells to be filled that are next to any number and take one. Where fields
    can no longer become one, the answer is -1.
    """
    grown, found, finished = step.beside, 0, 0
    for at in range(0, _RIMS, CELLS):
        rim = rims >> at & _RIM
        if number and rim >> step.cell & 1:
            grown |= rim
        elif rim & growing:
            found = _with_rim(found, rim & growing)
        elif rim:
            finished += 1
    if number and grown & growing:
        found = _with_rim(found, grown & growing)
    elif number:
        finished += 1
    return _IMPOSSIBLE if finished > 1 or (finished and found) else found


@lean_kernel
def _fitting(word: int, cell: int, lines: Lines) -> int:
    """The numbers that may come to a cell, as bits 1-6; away from others in a field of its own."""
    code = word >> 4 * cell & 15
    return lines.fits[code] if code else ANY_DIE


@lean_kernel
def _count_ways(words: Words, cell: int, lines: Lines) -> int:
    """In how many ways a cell may be filled, in all words together."""
    count = len(words)
    for word in words:
        dice = _fitting(word, cell, lines)
        for die in range(1, SIDES + 1):
            count += dice >> die & 1
    return count


@lean_kernel
def _filled(
    word: int, rims: int, die: int, step: _Step, lines: Lines, to: Words, rims_to: Words, at: int
) -> int:
    """Write the word and rims with a die on the next cell, 0 for a RUIN; where the next go then."""
    after, now = without(word, step.cell), 0
    if die:
        after = placed(word, step.bits, step.cell, die, lines.step)
    if word or die:
        growing = _rim(after, step.unfilled, step.cell + 1, lines)
        now = _rims_after(rims, step, die > 0, growing)
        if now == _IMPOSSIBLE:
            return at
        if now == 0:
            after = after & ~(step.unfilled_bits * 15) | step.unfilled_bits
        after = normalised(after, step.bits, lines.live) & (step.kept | step.bits * 15)
    to[at], rims_to[at] = after, now if now > _RIM else 0
    return at + 1


@kernel
def _fill(words: Words, rims: Words, ways: int, step: _Step, lines: Lines) -> tuple[Words, Words]:
    """The words and rims after a cell is filled in every way, of which there are so many or fewer.

    They are not merged.
    """
    after, rims_after = np.empty(ways, np.int64), np.empty(ways, np.int64)
    count = 0
    for k in range(len(words)):
        word, before = words[k], rims[k]
        if before == 0:
            before = _rim(word, step.unfilled | 1 << step.cell, step.cell, lines)
        dice = _fitting(word, step.cell, lines) | 1
        for die in range(SIDES + 1):
            if dice >> die & 1:
                count = _filled(word, before, die, step, lines, after, rims_after, count)
    return after[:count], rims_after[:count]


@kernel
def _least_keys(words: Words, symmetry: int, stabiliser: int) -> Words:
    """The keys of words under a symmetry that makes their mask canonical."""
    keys = np.empty(len(words), np.int64)
    for k in range(len(words)):
        keys[k] = scrambled(least_image(image(symmetry, words[k]), stabiliser))
    return keys


def _distinct(words: Words) -> Words:
    """The words without repetition, ascending; they are sorted in place."""
    words.sort()
    first = np.ones(len(words), np.bool_)
    first[1:] = words[1:] != words[:-1]
    found: Words = words[first]
    return found


def _merged(words: Words, rims: Words) -> tuple[Words, Words]:
    """Words and rims, each pair once."""
    if not rims.any():
        words = _distinct(words)
        return words, np.zeros_like(words)
    parts = [(_distinct(words[rims == rim]), rim) for rim in np.unique(rims)]
    return (
        np.concatenate([part for part, _ in parts]),
        np.concatenate([np.full(len(part), rim) for part, rim in parts]),
    )


def _image_of_mask(mask: int, symmetry: int) -> int:
    return sum(1 << DESTINATIONS[symmetry][cell] for cell in range(CELLS) if mask >> cell & 1)


def _lowest_right(mask: int) -> int:
    """A symmetry that moves a mask as far to the lower right as can be.

    With its lines late in the order of filling, numbers need to be known for less long.
    """
    cells = [cell for cell in range(CELLS) if mask >> cell & 1]
    return max(range(SYMMETRIES), key=lambda symmetry: sum(_DISTANCES[symmetry][c] for c in cells))


def _kept(mask: int) -> int:
    """All nibbles of the lines with a cell of the mask, set to 15, as a signed number."""
    found = 0
    for cell in range(CELLS):
        if mask >> cell & 1:
            row, column = divmod(cell, SIZE)
            found |= 0xFFFF << 4 * SIZE * row | 0x000F000F000F000F << 4 * column
    return found - (found >> 63 << 64)


def keys_of_mask(mask: int, masks: Masks, lines: Lines, budget: Budget) -> Words:
    """The keys of all classes of a canonical mask that a game can meet, ascending.

    Raises:
        MagsimError: if there is no room for them.
    """
    symmetry = _lowest_right(mask)
    turned = _image_of_mask(mask, symmetry)
    unfilled, kept = (1 << CELLS) - 1 & ~turned, _kept(turned)
    words, rims = np.zeros((2, 1), np.int64)
    for cell in [cell for cell in range(CELLS) if unfilled >> cell & 1]:
        unfilled &= ~(1 << cell)
        beside = sum(1 << other for other in NEIGHBOURS[cell]) & unfilled
        bits = int(masks.bits[turned | unfilled])
        step = _Step(cell, unfilled, int(masks.bits[unfilled]), bits, beside, kept)
        ways = _count_ways(words, cell, lines)
        with budget.taken(_WAY * ways):
            words, rims = _merged(*_fill(words, rims, ways, step, lines))
    keys = _distinct(_least_keys(words, INVERSE[symmetry], int(masks.stabiliser[mask])))
    budget.take(_FOUND * len(keys))
    return keys


def all_classes(
    empty: int,
    masks: Masks,
    lines: Lines,
    threads: Executor,
    budget: Budget,
    told: Callable[[], object] = lambda: None,
) -> Classes:
    """The classes with so many empty cells that games from the empty board can meet.

    ``told`` is called whenever those of a mask are found.

    Raises:
        MagsimError: if there is no room for them.
    """
    found = {}
    chosen = canonical_masks(empty, masks)
    keys_of = partial(keys_of_mask, masks=masks, lines=lines, budget=budget)
    for mask, keys in zip(chosen, threads.map(keys_of, chosen), strict=True):
        found[mask] = keys
        told()
    return joined(found, threads)
