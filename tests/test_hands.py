"""The engine's tables of hands, masks of cells, and rule values.

``test_no_jit.py`` runs this file, too.
"""

from itertools import combinations_with_replacement, product

import pytest
from counts import ROLLS
from hypothesis import given
from hypothesis import strategies as st
from reachable import cells_of
from strategies import boards

from magsim import engine
from magsim import rules as law
from magsim.board import (
    CELLS,
    EMPTY,
    LINES,
    NEIGHBOURS,
    RUIN,
    cell_values,
    empty_cells,
    is_number,
    parse_board,
)
from magsim.bot import rule_values
from magsim.engine import HAND_INDEX, HANDS
from magsim.rules import NIGHTMARE, PEACEFUL, Rules


def test_hands_are_all_multisets_of_up_to_four_dice_by_size_and_value():
    by_size = [combinations_with_replacement(range(1, 7), size) for size in range(5)]
    assert list(HANDS) == [hand for hands in by_size for hand in hands]
    assert HANDS[engine.FIRST_ROLL :] == ROLLS
    assert [HANDS[first] for first in engine.FIRST_HAND[:5]] == [
        (), (1,), (1, 1), (1, 1, 1), (1, 1, 1, 1)
    ]  # fmt: skip
    assert engine.FIRST_HAND[5] == engine.ANY_HAND == len(HANDS) == 210


def test_hand_tables_say_what_the_hands_hold():
    for hand, dice in enumerate(HANDS):
        assert HAND_INDEX[dice] == hand
        assert engine.HAND_SIZE[hand] == len(dice)
        assert list(engine.HAND_DICE[hand]) == [*dice, *[0] * (4 - len(dice))]
        assert [v for v in range(1, 7) if engine.HAND_MASK[hand] >> v & 1] == sorted(set(dice))
        for die in range(1, 7):
            more, less = engine.HAND_ADD[hand, die], engine.HAND_REMOVE[hand, die]
            added = tuple(sorted([*dice, die]))
            assert (more == -1) if len(dice) == 4 else (HANDS[more] == added)
            assert (less == -1) if die not in dice else (HANDS[engine.HAND_ADD[less, die]] == dice)


@given(boards)
def test_masks_mark_empty_cells_numbers_and_ruins(board):
    values = cell_values(board)
    assert cells_of(engine.empty_mask(board)) == empty_cells(board)
    numbers = tuple(cell for cell in range(CELLS) if is_number(values[cell]))
    assert cells_of(engine.number_mask(board)) == numbers
    assert cells_of(engine.ruin_mask(board)) == tuple(c for c in range(CELLS) if values[c] == RUIN)


@given(st.integers(0, 0xFFFF))
def test_around_are_the_neighbours_of_a_mask(mask):
    beside = {n for cell in cells_of(mask) for n in NEIGHBOURS[cell]}
    assert cells_of(engine.around(mask)) == tuple(sorted(beside))
    assert engine.count_bits(mask) == len(cells_of(mask))


@given(boards)
def test_transpose_exchanges_rows_and_columns(board):
    values = cell_values(board)
    turned = cell_values(engine.transpose(board))
    for row, column in zip(LINES[:4], LINES[4:], strict=True):
        assert [turned[cell] for cell in row] == [values[cell] for cell in column]


@pytest.mark.parametrize("difference", range(6))
def test_rule_values_say_what_may_stand_next_to_what(difference):
    values = rule_values(Rules("near", minimum=3, power_costs=(5, 7), max_difference=difference))
    for number, die in product(range(1, 7), repeat=2):
        assert values.near[number] >> die & 1 == (abs(number - die) <= difference)
    assert values.near[EMPTY] == values.near[RUIN] == 0b111_1110
    assert (values.minimum, list(values.power_costs)) == (3, [5, 7])


def test_rules_reach_the_engine_with_every_value():
    values = rule_values(
        Rules("all", 4, (1, 2), ruin_penalty=3, straight=5, four=7, two_pairs=11, max_difference=0)
    )
    board = parse_board("1111/2345/2233/R...")
    assert engine.score(board, values) == law.score(board, PEACEFUL).base - 3 + 5 + 7 + 11
    assert rule_values(NIGHTMARE).minimum == 3
