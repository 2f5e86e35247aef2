"""Classes of boards with the same future: which there are, layer by layer, and finding them.

A *layer* holds the classes with one count of empty cells, by *canonical* masks: of a mask's eight
images the least. A class with a canonical mask has the least of its words under the symmetries that
keep the mask (its *stabiliser*). Every turn is a row of single steps, a die on a cell or a RUIN,
and each leads one layer down; so the classes are found from the top, each mask from those with one
cell more, and a mask is a piece of work of its own.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS, RUIN, empty_cells
from magsim.compiled import kernel, lean_kernel
from magsim.solver.lines import ANY_DIE, Lines
from magsim.solver.words import (
    DESTINATIONS,
    INVERSE,
    SYMMETRIES,
    Words,
    image,
    least_image,
    mixed,
    normalised,
    placed,
    without,
)

MASKS = 1 << CELLS
NO_WORD = -1
"""No class: all sixteen cells would be empty and hold the last of the codes."""
_INVERSE = np.array(INVERSE)


class Masks(NamedTuple):
    """Masks of empty cells up to symmetry; all shapes (65536,)."""

    canonical: NDArray[np.int64]
    """``[mask]``: the least of its images."""
    symmetry: NDArray[np.int64]
    """``[mask]``: a symmetry that makes it canonical."""
    stabiliser: NDArray[np.int64]
    """``[mask]``: the symmetries that keep it, bit s for symmetry s."""
    bits: NDArray[np.int64]
    """``[mask]``: the same set with a nibble a cell, the lowest bit set."""


class Layer(NamedTuple):
    """The classes with so many empty cells; class i of all, by canonical masks, then by words."""

    words: Words
    """Ascending within each mask; shape (classes,)."""
    first: NDArray[np.int64]
    """``[mask]``: where its classes begin; shape (65537,)."""


class Index(NamedTuple):
    """Where to find the words of a layer: an open hash table for each mask, one after another."""

    first: NDArray[np.int64]
    """``[mask]``: where its slots begin; shape (65537,)."""
    words: Words
    """``[slot]``: a word, or ``NO_WORD``; shape (slots,)."""
    classes: NDArray[np.int32]
    """``[slot]``: the class of the word; shape (slots,)."""


@cache
def mask_tables() -> Masks:
    """All tables of masks; they are the same for all rules."""
    mask = np.arange(MASKS)
    images = np.zeros((SYMMETRIES, MASKS), np.int64)
    bits = np.zeros(MASKS, np.int64)
    for cell in range(CELLS):
        bits |= (mask >> cell & 1) << 4 * cell
        for symmetry, there in enumerate(DESTINATIONS):
            images[symmetry] |= (mask >> cell & 1) << there[cell]
    stabiliser = ((images == mask).T << np.arange(SYMMETRIES)).sum(axis=1)
    return Masks(images.min(axis=0), images.argmin(axis=0), stabiliser, bits)


def canonical_masks(empty: int, masks: Masks) -> list[int]:
    """The canonical masks of so many cells, ascending."""
    mask = np.arange(MASKS)
    chosen = (masks.canonical == mask) & (np.bitwise_count(mask) == empty)
    return [int(found) for found in mask[chosen]]


@lean_kernel
def class_word(board: int, bits: int, lines: Lines) -> int:
    """The word of a packed board whose empty cells are ``bits``, not yet turned."""
    word = 0
    for cell in range(CELLS):
        value = board >> 4 * cell & 15
        if 1 <= value < RUIN:
            word = placed(word, bits, cell, value, lines.step)
    return normalised(word, bits, lines.live) if word else word


@lean_kernel
def turned(word: int, mask: int, masks: Masks) -> int:
    """The word of the class under the canonical mask of ``mask``."""
    word = image(masks.symmetry[mask], word)
    return least_image(word, masks.stabiliser[masks.canonical[mask]])


@lean_kernel
def find(word: int, mask: int, masks: Masks, index: Index) -> int:
    """The class of a word under any mask; -1 if it is not there."""
    word = turned(word, mask, masks)
    canonical = masks.canonical[mask]
    first = index.first[canonical]
    slots = index.first[canonical + 1] - first
    if slots == 0:
        return -1
    slot = (mixed(word) * slots) >> 32
    while index.words[first + slot] != word:
        if index.words[first + slot] == NO_WORD:
            return -1
        slot += 1
        if slot == slots:
            slot = 0
    return int(index.classes[first + slot])


@lean_kernel
def ruined(word: int, bits: int, cell: int, lines: Lines) -> int:
    """The word after ``cell`` became a RUIN (R18); ``bits`` are the cells that are empty then."""
    if word == 0:
        return word
    return normalised(without(word, cell), bits, lines.live)


@lean_kernel
def fitting(word: int, cell: int, lines: Lines) -> int:
    """The dice that may go on an empty cell now, as bits 1-6 (R8-R10)."""
    return lines.fits[word >> 4 * cell & 15] if word else ANY_DIE


@kernel
def _insert(table: Words, count: int, word: int) -> tuple[Words, int]:
    """Put a word into a hash table, which grows; the table then, and how many words it holds."""
    size = len(table)
    slot = (mixed(word) * size) >> 32
    while table[slot] != NO_WORD:
        if table[slot] == word:
            return table, count
        slot += 1
        if slot == size:
            slot = 0
    table[slot] = word
    count += 1
    if 10 * count > 6 * size:
        larger = np.full(2 * size, NO_WORD, np.int64)
        for old in table:
            if old != NO_WORD:
                slot = (mixed(old) * (2 * size)) >> 32
                while larger[slot] != NO_WORD:
                    slot += 1
                    if slot == 2 * size:
                        slot = 0
                larger[slot] = old
        table = larger
    return table, count


@kernel
def _discover_mask(mask: int, starts: Words, above: Layer, masks: Masks, lines: Lines) -> Words:
    """The words of a canonical mask: those to start from, and all that a step leads to.

    In no order. ``above`` is the layer with one empty cell more.
    """
    table, count = np.full(64, NO_WORD, np.int64), 0
    bits, stabiliser = masks.bits[mask], masks.stabiliser[mask]
    for word in starts:
        table, count = _insert(table, count, word)
    for cell in range(CELLS):
        if mask >> cell & 1:
            continue
        before = mask | 1 << cell
        canonical = masks.canonical[before]
        back = _INVERSE[masks.symmetry[before]]
        for k in range(above.first[canonical], above.first[canonical + 1]):
            for symmetry in range(SYMMETRIES):
                if not masks.stabiliser[canonical] >> symmetry & 1:
                    continue
                word = image(back, image(symmetry, above.words[k]))
                after = least_image(ruined(word, bits, cell, lines), stabiliser)
                table, count = _insert(table, count, after)
                dice = fitting(word, cell, lines)
                for die in range(1, 7):
                    if dice >> die & 1:
                        after = placed(word, bits, cell, die, lines.step)
                        after = least_image(normalised(after, bits, lines.live), stabiliser)
                        table, count = _insert(table, count, after)
    found = np.empty(count, np.int64)
    count = 0
    for word in table:
        if word != NO_WORD:
            found[count] = word
            count += 1
    return found


@lean_kernel
def _fill_index(mask: int, layer: Layer, index: Index) -> None:
    """Enter the words of a mask."""
    first = index.first[mask]
    slots = index.first[mask + 1] - first
    for k in range(layer.first[mask], layer.first[mask + 1]):
        slot = (mixed(layer.words[k]) * slots) >> 32
        while index.words[first + slot] != NO_WORD:
            slot += 1
            if slot == slots:
                slot = 0
        index.words[first + slot] = layer.words[k]
        index.classes[first + slot] = k


def empty_mask(board: int) -> int:
    """The empty cells of a board."""
    return sum(1 << cell for cell in empty_cells(board))


def _layer(words: dict[int, Words]) -> Layer:
    """The layer of the words of each canonical mask."""
    first = np.zeros(MASKS + 1, np.int64)
    for mask, found in words.items():
        first[mask + 1] = len(found)
    none = np.empty(0, np.int64)
    return Layer(np.concatenate([none, *(words[mask] for mask in sorted(words))]), first.cumsum())


def _starts(boards: Iterable[int], masks: Masks, lines: Lines) -> dict[int, Words]:
    """The words of the classes of boards, by canonical mask."""
    words: dict[int, set[int]] = {}
    for board in boards:
        mask = empty_mask(board)
        word = turned(class_word(board, masks.bits[mask], lines), mask, masks)
        words.setdefault(int(masks.canonical[mask]), set()).add(word)
    return {mask: np.array(sorted(found), np.int64) for mask, found in words.items()}


def discover(
    boards: Iterable[int], masks: Masks, lines: Lines, threads: Executor
) -> Iterator[tuple[int, Layer]]:
    """The classes that play from any of the boards meets, with the count of empty cells.

    Layer by layer, from that of the board with the most empty cells down to the full board.
    """
    starts = _starts(boards, masks, lines)
    layer = _layer({})
    for empty in range(max(mask.bit_count() for mask in starts), -1, -1):
        above = layer

        def words_of(mask: int, above: Layer = above) -> Words:
            start = starts.get(mask, np.empty(0, np.int64))
            found: Words = _discover_mask(mask, start, above, masks, lines)
            found.sort()
            return found

        chosen = canonical_masks(empty, masks)
        layer = _layer(dict(zip(chosen, threads.map(words_of, chosen), strict=True)))
        yield empty, layer


def indexed(layer: Layer, threads: Executor) -> Index:
    """The index of a layer; seven in ten slots hold a word."""
    sizes = np.diff(layer.first)
    first = np.concatenate([[0], np.where(sizes > 0, sizes * 10 // 7 + 2, 0).cumsum()])
    index = Index(first, np.full(first[-1], NO_WORD), np.zeros(first[-1], np.int32))
    for _ in threads.map(lambda mask: _fill_index(mask, layer, index), np.flatnonzero(sizes)):
        pass
    return index
