"""What the prompt asks of the readable law: why not, several dice at once, what can be earned."""

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from reachable import random_roll, texts

from magsim import rules as law
from magsim.board import LINES, RUIN, cell_values, empty_cells, parse_board, parse_cell, with_cell
from magsim.rules import PEACEFUL

EMPTY = "..../..../..../...."


@pytest.mark.parametrize(
    ("board", "die", "cell", "reason", "beside"),
    [
        (EMPTY, 3, "b2", None, ""),
        ("R.../..../..../....", 3, "a1", "ruin", ""),
        ("3.../..../..../....", 3, "a1", "taken", ""),
        ("3.../..../..../....", 3, "c1", "apart", ""),
        ("3.../..../..../....", 3, "b2", "apart", ""),
        ("3R../..../..../....", 3, "c1", "apart", ""),
        ("3.../..../..../....", 4, "b1", None, ""),
        ("3.../..../..../....", 5, "b1", "differs", "a1"),
        ("3.5./..../..../....", 3, "b1", "differs", "c1"),
        ("3.5./..../..../....", 1, "b1", "differs", "a1 c1"),
        ("3.5./..../..../....", 4, "b1", None, ""),
    ],
)
def test_why_a_die_cannot_be_staged(board, die, cell, reason, beside):
    found = law.obstacle(parse_board(board), die, parse_cell(cell), PEACEFUL)
    if reason is None:
        assert found is None
    else:
        cells = tuple(parse_cell(name) for name in beside.split())
        assert found == law.Obstacle(reason, cells)


@given(strategies.boards, strategies.dice, strategies.rules)
def test_there_is_an_obstacle_exactly_where_a_cell_is_not_legal(board, die, rules):
    legal_cells = law.legal_cells(board, die, rules)
    for cell in range(16):
        assert (law.obstacle(board, die, cell, rules) is None) == (cell in legal_cells)


def test_dice_are_staged_in_whatever_order_is_legal():
    placements = [(5, parse_cell("c1")), (4, parse_cell("b1"))]
    board, staged, left_over = law.stage(parse_board("3.../..../..../...."), placements, PEACEFUL)
    assert texts([board]) == ["345./..../..../...."]
    assert (staged, left_over) == (placements[::-1], [])


def test_what_never_becomes_legal_is_left_over():
    placements = [(6, parse_cell("c1")), (4, parse_cell("b1")), (1, parse_cell("d4"))]
    board, staged, left_over = law.stage(parse_board("3.../..../..../...."), placements, PEACEFUL)
    assert texts([board]) == ["34../..../..../...."]
    assert (staged, left_over) == ([placements[1]], [placements[0], placements[2]])


@pytest.mark.parametrize(
    ("board", "line", "names"),
    [
        (EMPTY, 0, "straight four two_pairs"),
        ("2.../..../..../....", 0, "straight four two_pairs"),
        ("23../..../..../....", 0, "straight two_pairs"),
        ("22../..../..../....", 0, "four two_pairs"),
        ("2.2./..../..../....", 0, "four two_pairs"),
        ("232./..../..../....", 0, "two_pairs"),
        ("2344/..../..../....", 0, ""),
        ("2345/..../..../....", 0, "straight"),
        ("3344/..../..../....", 0, "two_pairs"),
        ("3333/..../..../....", 0, "four"),
        ("33R./..../..../....", 0, ""),
        ("3..6/..../..../....", 0, "straight"),
        ("3..3/.5../..../....", 0, "two_pairs"),
        ("3..3/.6../..../....", 0, ""),
        ("3..3/.4../..../....", 0, "four two_pairs"),
        ("1.../2.../3.../....", 4, "straight"),
        ("..../RRRR/3456/4566", 0, ""),
        ("..../RRR./3456/4566", 0, "straight four two_pairs"),
        ("..../R.RR/2.5./2345", 0, ""),  # no die fits b3, the way to b2 and row 1
        ("..../RRRR/RRRR/RRRR", 0, "straight four two_pairs"),
    ],
)
def test_what_a_line_can_still_earn(board, line, names):
    found = law.bonuses_within_reach(parse_board(board), LINES[line], PEACEFUL)
    assert " ".join(found) == names


@given(strategies.positions(), st.randoms(use_true_random=False))
def test_whatever_a_line_comes_to_earn_was_within_reach(position, chance):
    """Played on by chance, from the position to its end."""
    board, rules = position.board, position.rules
    reach = [set(law.bonuses_within_reach(board, line, rules)) for line in LINES]
    while not law.is_over(board):
        dice = random_roll(chance)
        outcomes = sorted(law.outcomes(board, dice, rules))
        cells = empty_cells(board)
        board = (
            chance.choice(outcomes) if outcomes else with_cell(board, chance.choice(cells), RUIN)
        )
        values = cell_values(board)
        for line, before in zip(LINES, reach, strict=True):
            now = set(law.bonuses_within_reach(board, line, rules))
            assert now <= before
            before &= now
            if law.line_bonus([values[cell] for cell in line]):
                assert now == {law.line_bonus([values[cell] for cell in line])}
