"""Classes found by filling boards: those, and only those, that steps from the empty board meet."""

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from random import Random

import pytest
from endgames import random_endgame
from stepwise import discover

from magsim.board import CELLS, EMPTY_BOARD
from magsim.errors import MagsimError
from magsim.rules import NIGHTMARE, PEACEFUL, Rules
from magsim.solver.building import PUBLISHED
from magsim.solver.classes import Classes, canonical_masks, mask_tables, sizes_of
from magsim.solver.fillings import all_classes, keys_of_mask
from magsim.solver.lines import line_tables
from magsim.solver.memory import GIB, Budget

MASKS = mask_tables()


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def filled(empty: int, rules: Rules, threads: Executor) -> Classes:
    return all_classes(empty, MASKS, line_tables(rules), threads, Budget(empty, 4 * GIB))


def members(classes: Classes) -> set[tuple[int, int]]:
    """Masks and keys."""
    return {
        (mask, int(key))
        for mask in sizes_of(classes)
        for key in classes.keys[classes.first[mask] : classes.last[mask]]
    }


def same(one: Classes, other: Classes) -> bool:
    """Whether all arrays are equal; quicker than sets."""
    return all((a == b).all() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("difference", range(6))
def test_the_first_layers_are_those_found_step_by_step(difference: int, threads: Executor) -> None:
    rules = replace(NIGHTMARE, max_difference=difference)
    for empty, layer in discover([EMPTY_BOARD], MASKS, line_tables(rules), threads):
        assert members(filled(empty, rules, threads)) == members(layer), f"{empty} empty cells"
        if empty == 13:
            break


@pytest.mark.parametrize(("difference", "above"), [(5, 4), (0, 9)])
def test_from_one_layer_steps_lead_to_the_next(
    difference: int, above: int, threads: Executor
) -> None:
    rules = replace(NIGHTMARE, max_difference=difference, straight=0, four=0, two_pairs=0)
    layer = filled(above, rules, threads)
    for empty, found in discover([], MASKS, line_tables(rules), threads, (above, layer)):
        assert same(filled(empty, rules, threads), found), f"{empty} empty cells"
        if empty == 8:
            break


def test_the_last_layers_of_the_published_rules(threads: Executor) -> None:
    """All that boards lead to is there, and one layer leads to the next, no more and no less."""
    lines, random = line_tables(PEACEFUL), Random(2)
    layers = {empty: filled(empty, PEACEFUL, threads) for empty in range(3)}
    assert {empty: len(layer.keys) for empty, layer in layers.items()} == {
        empty: PUBLISHED[empty] for empty in range(3)
    }
    boards = [random_endgame(PEACEFUL, random, 5) for _ in range(20)]
    met = dict(discover(boards, MASKS, lines, threads))
    below = dict(discover([], MASKS, lines, threads, above=(2, layers[2])))
    assert same(below[1], layers[1])
    assert same(below[0], layers[0])
    assert members(met[2]) <= members(layers[2])
    assert members(met[1]) <= members(layers[1])


def test_a_mask_of_all_cells_has_one_class() -> None:
    lines = line_tables(NIGHTMARE)
    for empty in (0, CELLS):
        (mask,) = canonical_masks(empty, MASKS)
        assert [*keys_of_mask(mask, MASKS, lines, Budget(empty, GIB))] == [0]


def test_too_little_memory_is_told_at_once(threads: Executor) -> None:
    with pytest.raises(MagsimError, match="with 3 empty cells take more memory to find than the 0"):
        all_classes(3, MASKS, line_tables(NIGHTMARE), threads, Budget(3, 100_000))
