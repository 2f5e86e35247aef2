"""The score by the readable law, rule by rule; the numbers are those of RULES.md."""

from dataclasses import replace
from itertools import product

import pytest

from magsim import rules as law
from magsim.board import cell_values, parse_board
from magsim.rules import PEACEFUL, SURVIVAL


def bonus(line: str) -> str | None:
    return law.line_bonus(cell_values(parse_board(f"{line}/..../..../...."))[:4])


@pytest.mark.parametrize("line", ["1234", "2345", "3456", "6543", "5432", "4321"])
def test_r22_a_straight_is_four_consecutive_values_in_one_direction(line):
    assert bonus(line) == "straight"


@pytest.mark.parametrize("line", ["1243", "2343", "3454", "1235", "1232", "1123", "4561", "6123"])
def test_r22_other_orders_and_gaps_are_no_straight(line):
    assert bonus(line) is None


@pytest.mark.parametrize("line", ["1111", "6666"])
def test_r22_four_of_a_kind(line):
    assert bonus(line) == "four"


@pytest.mark.parametrize("line", ["3344", "3434", "3443", "4433", "4343", "4334", "1166"])
def test_r22_two_pairs_come_in_any_order(line):
    assert bonus(line) == "two_pairs"


@pytest.mark.parametrize("line", ["3334", "3343", "4333", "3345", "1213"])
def test_r22_three_of_a_kind_or_one_pair_earn_nothing(line):
    assert bonus(line) is None


def test_r22_among_all_lines_each_earns_one_bonus_at_most():
    """By counting: 3 runs both ways, 6 values, and 15 pairs of values in 6 orders each."""
    earned = [law.line_bonus(line) for line in product(range(1, 7), repeat=4)]
    assert [earned.count(name) for name in ("straight", "four", "two_pairs")] == [6, 6, 90]
    assert earned.count(None) == 6**4 - 102


@pytest.mark.parametrize("line", ["123R", "R234", "11R1", "33R4", "RRRR", "123.", "...."])
def test_r23_a_line_with_a_ruin_or_a_gap_earns_no_bonus(line):
    assert bonus(line) is None


def test_r21_every_number_counts_in_its_row_and_its_column():
    assert law.score(parse_board("1.../..../..5./...."), PEACEFUL).base == 2 * (1 + 5)
    assert law.score(parse_board("1111/2222/3333/4444"), PEACEFUL).base == 2 * 4 * (1 + 2 + 3 + 4)


def test_r21_to_r25_a_score_by_parts():
    """Rows: four, straight, none, RUIN. Columns: none, none, two pairs (3344), RUIN."""
    board = parse_board("3333/2345/2344/123R")
    score = law.score(board, PEACEFUL, powers_used=2)
    rows, columns = 12 + 14 + 13 + 6, 8 + 11 + 14 + 12
    assert (score.fours, score.straights, score.two_pairs) == (1, 1, 1)
    assert score.base == rows + columns
    assert score.bonuses == 40 + 60 + 20
    assert (score.ruins, score.ruin_cost) == (1, 15)
    assert score.power_cost == 10 + 20
    assert score.total == rows + columns + 120 - 15 - 30


def test_r23_numbers_beside_a_ruin_still_count():
    assert law.score(parse_board("RRRR/RRRR/RRRR/456R"), PEACEFUL).base == 2 * 15


def test_r24_each_ruin_costs_15_and_a_score_can_be_negative():
    score = law.score(parse_board("RRRR/RRRR/RRRR/RRRR"), SURVIVAL, powers_used=1)
    assert (score.base, score.bonuses, score.ruins) == (0, 0, 16)
    assert score.total == -16 * 15 - 70


def test_points_are_a_matter_of_the_rules():
    rules = replace(PEACEFUL, ruin_penalty=7, straight=1, four=2, two_pairs=4)
    score = law.score(parse_board("3333/2345/2344/123R"), rules)
    assert (score.bonuses, score.ruin_cost) == (1 + 2 + 4, 7)
