"""Geometry, the packed board, and the notation of boards, cells and dice (R1, R2)."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import boards, cells, dice

from magsim.board import (
    CELL_NAMES,
    CELLS,
    COLUMNS,
    LINES,
    NEIGHBOURS,
    ROWS,
    RUIN,
    NotationError,
    cell_value,
    cell_values,
    empty_cells,
    format_board,
    format_dice,
    is_number,
    pack_cells,
    parse_board,
    parse_cell,
    parse_dice,
    with_cell,
)
from magsim.errors import MagsimError


def test_the_example_of_r2_has_3_on_b2_4_on_c2_and_a_ruin_on_c3():
    board = parse_board("..../.34./..R./....")
    standing = {CELL_NAMES[cell]: cell_value(board, cell) for cell in range(CELLS)}
    assert {name: value for name, value in standing.items() if value} == {
        "b2": 3,
        "c2": 4,
        "c3": RUIN,
    }


def test_a1_is_the_lowest_nibble_and_d4_the_highest_below_the_sign():
    assert parse_board("1.../..../..../....") == 0x1
    assert parse_board(".2../..../..../....") == 0x20
    assert parse_board("..../3.../..../....") == 0x3_0000
    assert parse_board("..../..../..../...6") == 0x6000_0000_0000_0000
    assert parse_board("RRRR/RRRR/RRRR/RRRR") == 0x7777_7777_7777_7777 < 2**63


@given(boards)
def test_boards_survive_their_notation(board):
    assert parse_board(format_board(board)) == board


@given(boards)
def test_boards_survive_their_cells(board):
    assert pack_cells(cell_values(board)) == board


@given(boards, cells, st.integers(1, RUIN))
def test_with_cell_sets_an_empty_cell_and_no_other(board, cell, value):
    cleared = board & ~(15 << 4 * cell)
    after = with_cell(cleared, cell, value)
    assert cell_value(after, cell) == value
    assert after & ~(15 << 4 * cell) == cleared


@given(boards)
def test_empty_cells_are_the_dots_of_the_text(board):
    dots = [
        cell for cell, symbol in enumerate(format_board(board).replace("/", "")) if symbol == "."
    ]
    assert list(empty_cells(board)) == dots


def test_only_1_to_6_are_numbers():
    assert [value for value in range(RUIN + 1) if is_number(value)] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("cell", "around"),
    [
        ("a1", "b1 a2"),
        ("b1", "a1 c1 b2"),
        ("d3", "d2 c3 d4"),
        ("b2", "b1 a2 c2 b3"),
        ("d4", "d3 c4"),
    ],
)
def test_neighbours_are_orthogonal(cell, around):
    assert [CELL_NAMES[n] for n in NEIGHBOURS[parse_cell(cell)]] == around.split()


def test_neighbours_are_the_24_pairs_of_cells_one_step_apart():
    def steps(one: str, other: str) -> int:
        return sum(abs(ord(a) - ord(b)) for a, b in zip(one, other, strict=True))

    pairs = {(one, other) for one in range(CELLS) for other in NEIGHBOURS[one]}
    assert len(pairs) == 2 * 24
    assert pairs == {
        (one, other)
        for one, other in product(range(CELLS), repeat=2)
        if steps(CELL_NAMES[one], CELL_NAMES[other]) == 1
    }


def test_lines_are_four_rows_then_four_columns():
    assert LINES == ROWS + COLUMNS
    assert [" ".join(CELL_NAMES[cell] for cell in line) for line in LINES] == [
        "a1 b1 c1 d1",
        "a2 b2 c2 d2",
        "a3 b3 c3 d3",
        "a4 b4 c4 d4",
        "a1 a2 a3 a4",
        "b1 b2 b3 b4",
        "c1 c2 c3 c4",
        "d1 d2 d3 d4",
    ]


@given(cells)
def test_cells_survive_their_notation(cell):
    assert parse_cell(CELL_NAMES[cell]) == cell


@given(st.lists(dice, min_size=1, max_size=6))
def test_dice_are_read_and_written_in_ascending_order(dice):
    assert parse_dice("".join(map(str, dice))) == tuple(sorted(dice))
    assert format_dice(dice) == "".join(map(str, sorted(dice)))


@pytest.mark.parametrize(
    "text",
    ["", "....", "..../..../....", "..../..../..../.....", "..../..../..../..../....", "." * 16],
)
def test_a_board_of_another_shape_is_refused(text):
    with pytest.raises(NotationError) as refusal:
        parse_board(text)
    assert str(refusal.value) == (
        f"board {text!r}: a board is four rows of four cells, joined by '/'"
    )


@pytest.mark.parametrize("symbol", ["0", "7", "r", "x", " ", "²"])
def test_a_board_with_another_symbol_is_refused(symbol):
    text = f"..../.{symbol}../..../...."
    with pytest.raises(NotationError) as refusal:
        parse_board(text)
    assert str(refusal.value) == f"board {text!r}: cell {symbol!r} is not one of .123456R"


@pytest.mark.parametrize("text", ["", "a", "a0", "a5", "e1", "A1", "1a", "a1b", " a1"])
def test_a_cell_that_does_not_exist_is_refused(text):
    with pytest.raises(NotationError) as refusal:
        parse_cell(text)
    assert str(refusal.value) == f"cell {text!r}: a cell is a column a-d and a row 1-4, such as b2"


@pytest.mark.parametrize("text", ["", "0", "17", "12 34", "1.", "²", "R"])
def test_dice_that_do_not_exist_are_refused(text):
    with pytest.raises(NotationError) as refusal:
        parse_dice(text)
    assert str(refusal.value) == (f"dice {text!r}: dice are written as digits 1-6, such as 2336")


def test_a_notation_error_is_for_people_and_for_python():
    assert issubclass(NotationError, MagsimError)
    assert issubclass(NotationError, ValueError)
