"""Classes of boards with the same future: which there are, layer by layer, and finding them.

A *layer* holds the classes with one count of empty cells, by *canonical* masks: of a mask's eight
images the least. A class with a canonical mask has the least of its words under the symmetries that
keep the mask (its *stabiliser*).
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS, RUIN
from magsim.compiled import lean_kernel
from magsim.solver.lines import ANY_DIE, Lines
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

MASKS = 1 << CELLS
NO_KEY = 7778301035150391672
"""The key of no class: in its word, -1, all cells would be empty and hold the last of the codes."""
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


class Classes(NamedTuple):
    """Classes of one layer or of several: class i of all, by layers, canonical masks and keys."""

    keys: Words
    """``words.scrambled`` of their words, ascending within each mask; shape (classes,)."""
    first: NDArray[np.int64]
    """``[mask]``: where its classes begin, like the next two (65536,)."""
    last: NDArray[np.int64]
    """``[mask]``: where they end."""
    first_bucket: NDArray[np.int64]
    """``[mask]``: where its buckets begin."""
    starts: NDArray[np.int32]
    """``[bucket]``: how many classes of the mask are in the buckets before, one more at the end.

    The buckets of a mask divide the range of keys into equal parts, four classes each or so.
    """


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
def bucket(key: int, count: int) -> int:
    """In which of so many equal parts of the range of keys a key is."""
    return ((key >> 32) + (1 << 31)) * count >> 32


@lean_kernel
def buckets(size: int) -> int:
    """How many buckets so many classes of a mask have."""
    return size // 4 + 1


@lean_kernel
def find(word: int, mask: int, masks: Masks, classes: Classes) -> int:
    """The class of a word under any mask; -1 if it is not there."""
    key = scrambled(turned(word, mask, masks))
    canonical = masks.canonical[mask]
    first = classes.first[canonical]
    size = classes.last[canonical] - first
    if size == 0:
        return -1
    at = classes.first_bucket[canonical] + bucket(key, buckets(size))
    for k in range(first + classes.starts[at], first + classes.starts[at + 1]):
        if classes.keys[k] == key:
            return k
    return -1


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


@lean_kernel
def _fill_starts(mask: int, classes: Classes) -> None:
    """Enter where the buckets of a mask begin, and where the last one ends."""
    first, at = classes.first[mask], classes.first_bucket[mask]
    size = classes.last[mask] - first
    count, k = buckets(size), 0
    for part in range(count):
        while k < size and bucket(classes.keys[first + k], count) < part:
            k += 1
        classes.starts[at + part] = k
    classes.starts[at + count] = size


def layout(
    sizes: Mapping[int, int],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """``first``, ``last`` and ``first_bucket`` of masks with so many classes, one after another."""
    masks, counts = np.array([*sizes], np.int64), np.array([*sizes.values()], np.int64)
    first, last, first_bucket = np.zeros((3, MASKS), np.int64)
    last[masks] = counts.cumsum()
    first[masks] = last[masks] - counts
    first_bucket[masks] = np.cumsum(counts // 4 + 2) - (counts // 4 + 2)
    return first, last, first_bucket


def starts_length(sizes: Iterable[int]) -> int:
    """How long ``starts`` is for masks with so many classes."""
    return sum(size // 4 + 2 for size in sizes)


def with_starts(keys: Words, sizes: Mapping[int, int], threads: Executor) -> Classes:
    """The classes of keys, by masks with so many each."""
    starts = np.empty(starts_length(sizes.values()), np.int32)
    classes = Classes(keys, *layout(sizes), starts)
    for _ in threads.map(lambda mask: _fill_starts(mask, classes), sizes):
        pass
    return classes


def sizes_of(classes: Classes) -> dict[int, int]:
    """How many classes each mask has, those that have any, in the order of the masks."""
    sizes = classes.last - classes.first
    return {int(mask): int(sizes[mask]) for mask in np.flatnonzero(sizes)}


def joined(keys: dict[int, Words], threads: Executor) -> Classes:
    """The classes of the keys of each mask, by masks."""
    found = {mask: keys[mask] for mask in sorted(keys) if len(keys[mask])}
    every = np.concatenate([np.empty(0, np.int64), *found.values()])
    return with_starts(every, {mask: len(part) for mask, part in found.items()}, threads)
