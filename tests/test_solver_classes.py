"""Which classes there are, that each is found, and that boards of one class share their future."""

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from random import Random

import numpy as np
import pytest
from endgames import PerfectPlay, random_endgame
from stepwise import discover

from magsim import rules as law
from magsim.board import (
    CELLS,
    EMPTY_BOARD,
    NEIGHBOURS,
    RUIN,
    SIDES,
    cell_value,
    empty_cells,
    format_board,
    is_number,
    parse_board,
    with_cell,
)
from magsim.engine import empty_mask
from magsim.rules import NIGHTMARE, PEACEFUL, SURVIVAL, Rules
from magsim.solver.classes import (
    Classes,
    canonical_masks,
    class_word,
    find,
    mask_tables,
    sizes_of,
    turned,
)
from magsim.solver.lines import line_tables
from magsim.solver.words import SYMMETRIES, image, unscrambled

MASKS = mask_tables()
LINES = line_tables(NIGHTMARE)


@pytest.fixture
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def class_of(board: int) -> tuple[int, int]:
    mask = empty_mask(board)
    word = turned(class_word(board, int(MASKS.bits[mask]), LINES), mask, MASKS)
    return int(MASKS.canonical[mask]), word


def members(layer: Classes) -> set[tuple[int, int]]:
    """The classes of a layer as masks and words."""
    return {
        (mask, int(unscrambled(key)))
        for mask in sizes_of(layer)
        for key in layer.keys[layer.first[mask] : layer.last[mask]]
    }


def test_there_are_so_many_canonical_masks() -> None:
    counted = [len(canonical_masks(empty, MASKS)) for empty in range(CELLS + 1)]
    assert counted[3:7] == [77, 252, 567, 1051]
    assert counted == counted[::-1]


def test_the_first_layers_from_the_empty_board(threads: Executor) -> None:
    counted = []
    for empty, layer in discover([EMPTY_BOARD], MASKS, LINES, threads):
        counted.append(len(layer.keys))
        if empty == 12:
            break
    assert counted == [1, 21, 273, 2368, 15675]


def test_the_classes_below_a_board_are_those_of_the_boards_that_steps_lead_to(
    threads: Executor,
) -> None:
    """Every way to go on die by die and RUIN by RUIN, by the readable law."""
    starts = [parse_board(text) for text in ("..56/1.R5/1R44/2233", "R.R./.RRR/RRRR/R.R.")]
    boards = set(starts)
    waiting = list(starts)
    while waiting:
        board = waiting.pop()
        steps = {with_cell(board, cell, RUIN) for cell in empty_cells(board)}
        for die in range(1, SIDES + 1):
            lawful = law.legal_cells(board, die, NIGHTMARE)
            steps |= {with_cell(board, cell, die) for cell in lawful}
        waiting += steps - boards
        boards |= steps
    for empty, layer in discover(starts, MASKS, LINES, threads):
        expected = {class_of(b) for b in boards if len(empty_cells(b)) == empty}
        assert members(layer) == expected


def test_every_class_is_found_under_every_image_and_no_other(threads: Executor) -> None:
    found = dict(discover([parse_board("..56/1.R5/1..4/2233")], MASKS, LINES, threads))
    layer = found[4]
    for mask in sizes_of(layer):
        for k in range(layer.first[mask], layer.last[mask]):
            word = int(unscrambled(layer.keys[k]))
            for symmetry in range(SYMMETRIES):
                turned_bits = image(symmetry, int(MASKS.bits[mask]))
                there = int(np.flatnonzero(MASKS.bits == turned_bits)[0])
                assert find(image(symmetry, word), there, MASKS, layer) == k
            assert find(word ^ 2 << 60, int(mask), MASKS, layer) == -1
    assert find(0, 0b1111, MASKS, layer) == -1  # of a mask without classes


def test_neighbouring_masks_do_not_mix(threads: Executor) -> None:
    """A word is looked for among those of its mask only."""
    ((_, layer), *_) = discover([parse_board("RRRR/RRRR/RRRR/RR..")], MASKS, LINES, threads)
    masks = [int(mask) for mask in canonical_masks(2, MASKS)]
    assert sum(find(0, mask, MASKS, layer) == 0 for mask in masks) == 1


def agree(board: int, rules: Rules) -> bool:
    """Whether neighbouring numbers differ by what the rules allow."""
    values = [cell_value(board, cell) for cell in range(CELLS)]
    return all(
        abs(values[a] - values[b]) <= rules.max_difference
        for a in range(CELLS)
        for b in NEIGHBOURS[a]
        if is_number(values[a]) and is_number(values[b])
    )


def redrawn(board: int, random: Random) -> int:
    """The board with one to five of its filled cells changed for anything."""
    for cell in random.sample(range(CELLS), random.randint(1, 5)):
        if cell_value(board, cell):
            board &= ~(15 << 4 * cell)
            board = with_cell(board, cell, random.randint(1, RUIN))
    return board


@pytest.mark.parametrize("rules", [NIGHTMARE, SURVIVAL, PEACEFUL], ids=lambda rules: rules.name)
def test_boards_of_a_class_share_their_future(rules: Rules) -> None:
    random = Random(4)
    play = PerfectPlay(rules)
    met = 0
    while met < 15:
        board = random_endgame(rules, random, 2)
        others = (redrawn(board, random) for _ in range(300))
        for other in {b for b in others if agree(b, rules) and class_of(b) == class_of(board)}:
            if other == board:
                continue
            met += 1
            for powers in range(rules.powers + 1):
                assert play.future(other, powers) == pytest.approx(
                    play.future(board, powers), abs=1e-9
                ), f"{format_board(board)} and {format_board(other)}, {powers} Powers left"
            break
