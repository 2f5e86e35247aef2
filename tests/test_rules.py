"""The readable law, rule by rule; the numbers are those of RULES.md."""

from dataclasses import replace
from itertools import product

import pytest
import strategies
from cases import digest, each
from hypothesis import given
from hypothesis import strategies as st
from reachable import random_roll, texts

from magsim import rules as law
from magsim.board import (
    CELL_NAMES,
    LINES,
    RUIN,
    cell_values,
    empty_cells,
    parse_board,
    parse_cell,
    parse_dice,
    with_cell,
)
from magsim.decision import Place, Power, Ruin, parse_decision
from magsim.rules import (
    DIFFICULTIES,
    NIGHTMARE,
    PEACEFUL,
    SURVIVAL,
    IllegalDecision,
    Rules,
)

EMPTY = "..../..../..../...."


def legal(board: str, die: int, rules: Rules = PEACEFUL) -> str:
    """The legal cells of a die, by name."""
    return " ".join(CELL_NAMES[cell] for cell in law.legal_cells(parse_board(board), die, rules))


def outcomes(board: str, dice: str, rules: Rules = PEACEFUL) -> list[str]:
    return texts(law.outcomes(parse_board(board), parse_dice(dice), rules))


def in_magdagdon(board: str, dice: str, rules: Rules = PEACEFUL) -> bool:
    return law.in_magdagdon(parse_board(board), parse_dice(dice), rules)


def complaint(
    board: str, dice: str, decision: str, rules: Rules = PEACEFUL, powers_left: int = 3
) -> str | None:
    """What the law says against a decision; None if it is legal."""
    try:
        law.check(
            parse_board(board), parse_dice(dice), powers_left, parse_decision(decision), rules
        )
    except IllegalDecision as error:
        return str(error)
    return None


# Cases of an independent program.


@each("placements.jsonl")
def test_outcomes_are_those_of_the_cases(case):
    board, dice = parse_board(case["board"]), parse_dice(case["dice"])
    rules = Rules("case", minimum=case["minimum"], power_costs=())
    found = law.outcomes(board, dice, rules)
    assert (len(found), digest(found)) == (case["outcomes"], case["sha256"]), texts(found)
    assert law.in_magdagdon(board, dice, rules) == (case["outcomes"] == 0)


@each("scores.jsonl")
def test_scores_are_those_of_the_cases(case):
    score = law.score(parse_board(case["board"]), PEACEFUL)
    parts = ("base", "straights", "fours", "two_pairs", "ruins")
    assert {name: getattr(score, name) for name in parts} == {name: case[name] for name in parts}
    assert score.total == case["score"]


# A turn.


@pytest.mark.parametrize(
    ("board", "rules", "required"),
    [
        (EMPTY, PEACEFUL, 2),
        (EMPTY, SURVIVAL, 2),
        (EMPTY, NIGHTMARE, 3),
        ("1234/1234/1234/1...", NIGHTMARE, 3),
        ("1234/1234/1234/12..", NIGHTMARE, 2),
        ("1234/1234/1234/123.", NIGHTMARE, 1),
        ("1234/1234/1234/123.", PEACEFUL, 1),
        ("1234/1234/1234/1234", PEACEFUL, 0),
    ],
)
def test_r5_the_required_minimum_shrinks_with_the_empty_cells(board, rules, required):
    assert law.required_minimum(parse_board(board), rules) == required


def test_r5_empty_cells_are_counted_at_the_start_of_the_turn():
    """Three are empty, so three dice are required, though only one cell is left for the third."""
    assert complaint("3333/3333/3333/3...", "3336", "3b4 3c4", NIGHTMARE) == (
        "places 2 dice, 3 required (R5)"
    )
    assert complaint("3333/3333/3333/3...", "3336", "3b4 3c4 3d4", NIGHTMARE) is None


def test_r4_more_dice_than_required_may_be_placed():
    assert outcomes("3333/3333/3333/33..", "3334", PEACEFUL) == [
        "3333/3333/3333/3333",
        "3333/3333/3333/3334",
        "3333/3333/3333/3343",
    ]
    assert complaint(EMPTY, "3333", "3a1 3b1 3c1 3d1") is None


def test_r4_every_die_is_placed_once():
    assert complaint(EMPTY, "1236", "2a1 2b1") == "places a 2 that is not among 1236 (R4)"
    assert complaint(EMPTY, "1226", "2a1 2b1") is None
    assert complaint(EMPTY, "1236", "4a1 3b1") == "places a 4 that is not among 1236 (R4)"


def test_r4_staged_dice_already_count_for_the_next():
    assert complaint("..../..../..../...1", "2346", "3d2 2d3", PEACEFUL) is None
    assert complaint("..../..../..../...1", "2346", "3d2 4d1", PEACEFUL) == (
        "3 on d2 is not legal in any order (R8-R11)"
    )


def test_r6_the_three_difficulties():
    assert list(DIFFICULTIES) == ["peaceful", "survival", "nightmare"]
    assert [
        (rules.powers, rules.minimum, rules.power_costs) for rules in DIFFICULTIES.values()
    ] == [
        (3, 2, (10, 20, 40)),
        (1, 2, (70,)),
        (0, 3, ()),
    ]


# Legal cells.


def test_r8_the_first_number_goes_anywhere():
    assert legal(EMPTY, 6) == " ".join(CELL_NAMES)


def test_r8_ruins_alone_do_not_bind_the_first_number():
    assert legal("RRRR/RRRR/RR.R/R..R", 6) == "c3 b4 c4"


def test_r9_later_numbers_touch_a_number():
    assert legal("..../.3../..../....", 3) == "b1 a2 c2 b3"
    assert legal("3.../..../..../....", 3) == "b1 a2"


def test_r10_a_die_differs_by_at_most_one_from_its_neighbours():
    one = "..../.3../..../...."
    assert [die for die in range(1, 7) if legal(one, die)] == [2, 3, 4]


@pytest.mark.parametrize(
    ("row", "allowed"),
    [("2.4.", [3]), ("2.5.", []), ("3.4.", [3, 4]), ("3.3.", [2, 3, 4]), ("1.1.", [1, 2])],
)
def test_r10_a_die_fits_every_neighbour(row, allowed):
    board = f"RRRR/{row}/RRRR/...."
    assert [die for die in range(1, 7) if "b2" in legal(board, die)] == allowed


def test_r11_a_ruin_neither_connects_nor_constrains():
    assert legal("R.../..../..../...3", 3) == "d3 c4"
    assert legal("..../.3R./..../....", 4) == "b1 a2 b3"


def test_r11_diagonals_do_not_matter():
    assert legal("6.../..../.3../....", 3) == "b2 a3 c3 b4"
    assert "b1" not in legal("..../..3./..../....", 3)


def test_taken_cells_are_never_legal():
    assert legal("333R/3333/3333/3333", 3) == ""


def test_another_difference_is_a_matter_of_the_rules():
    one = "..../.3../..../...."
    for difference, allowed in [(0, [3]), (2, [1, 2, 3, 4, 5]), (3, [1, 2, 3, 4, 5, 6])]:
        rules = replace(PEACEFUL, max_difference=difference)
        assert [die for die in range(1, 7) if legal(one, die, rules)] == allowed


def test_the_order_of_staging_does_not_matter_for_what_is_placed():
    """5 needs 4, and 4 needs 3: written backwards it is the same placement."""
    board = "3.../..../..../...."
    assert complaint(board, "1456", "4b1 5c1") is None
    assert complaint(board, "1456", "5c1 4b1") is None
    assert complaint(board, "1456", "6d1 5c1 4b1") is None
    assert complaint(board, "1456", "6d1 5c1") == "6 on d1 is not legal in any order (R8-R11)"


def test_two_dice_that_only_touch_each_other_are_no_field():
    assert complaint("3.../..../..../....", "3333", "3c3 3d3") == (
        "3 on c3 is not legal in any order (R8-R11)"
    )
    assert complaint(EMPTY, "3333", "3a1 3c1") == "3 on c1 is not legal in any order (R8-R11)"


def test_outcomes_are_told_apart_by_the_board_alone():
    """Two equal dice exchanged leave the same board."""
    assert outcomes("RRRR/RRRR/RRRR/RR..", "3366") == ["RRRR/RRRR/RRRR/RR33", "RRRR/RRRR/RRRR/RR66"]


# Powers.


@pytest.mark.parametrize("power", ["+3", "-3", "-6", "reroll 1", "reroll 36", "reroll 1336"])
def test_r13_r14_legal_powers(power):
    assert complaint(EMPTY, "1336", power) is None


def test_r12_a_power_needs_one_left():
    for power in ("+3", "-3", "reroll 1336"):
        assert complaint(EMPTY, "1336", power, powers_left=1) is None
        assert complaint(EMPTY, "1336", power, powers_left=0) == "uses a Power, none is left (R12)"


def test_r12_powers_work_in_and_out_of_magdagdon():
    for board in (EMPTY, "6.../RRRR/RRRR/RRRR"):
        assert complaint(board, "1112", "+2") is None
        assert complaint(board, "1112", "reroll 112") is None


def test_r13_no_die_leaves_1_to_6():
    assert complaint(EMPTY, "1336", "+6") == "no die goes below 1 or above 6 (R13)"
    assert complaint(EMPTY, "1336", "-1") == "no die goes below 1 or above 6 (R13)"
    assert law.power_dice((1, 3, 3, 6), Power("raise", (1,))) == (2, 3, 3, 6)
    assert law.power_dice((1, 3, 3, 6), Power("lower", (6,))) == (1, 3, 3, 5)


def test_r13_changes_one_die_by_one():
    assert law.power_dice((1, 3, 3, 6), Power("raise", (3,))) == (1, 3, 4, 6)
    assert law.power_dice((1, 3, 3, 6), Power("lower", (3,))) == (1, 2, 3, 6)
    with pytest.raises(IllegalDecision, match="exactly one die"):
        law.check_power((1, 3, 3, 6), 1, Power("raise", (3, 3)))
    with pytest.raises(IllegalDecision, match="exactly one die"):
        law.check_power((1, 3, 3, 6), 1, Power("lower", ()))


def test_r13_r14_a_power_takes_dice_that_are_there():
    for power in ("+4", "-2", "reroll 4", "reroll 333", "reroll 13366"):
        assert complaint(EMPTY, "1336", power) == ("there is no such die among 1336 (R13, R14)")


def test_r14_a_reroll_keeps_the_other_dice():
    assert law.power_dice((1, 3, 3, 6), Power("reroll", (3, 6)), (5, 2)) == (1, 2, 3, 5)


def test_r14_a_reroll_takes_a_die():
    with pytest.raises(IllegalDecision, match=r"rerolls no die \(R14\)"):
        law.check_power((1, 3, 3, 6), 1, Power("reroll", ()))


def test_there_is_no_other_power():
    with pytest.raises(IllegalDecision, match="is no Power"):
        law.check_power((1, 3, 3, 6), 1, Power("flip", (1,)))


def test_r16_powers_cost_by_the_order_of_use():
    board = parse_board("1111/1111/1111/1111")
    costs = [law.score(board, PEACEFUL, used).power_cost for used in range(4)]
    assert costs == [0, 10, 30, 70]
    assert law.score(board, SURVIVAL, 1).power_cost == 70
    assert law.score(board, NIGHTMARE).power_cost == 0


# MAGDAGDON.


def test_r17_magdagdon_is_when_the_minimum_cannot_be_placed():
    board = "6.../R.../..../...."
    assert not in_magdagdon(board, "1456")
    assert in_magdagdon(board, "1234")
    assert outcomes(board, "1234") == []


def test_r17_one_legal_die_is_not_enough():
    """Only a 5 or 6 fits; one of the two cells can be filled, two dice are required."""
    board = "6.R./R..R/..../...R"
    assert legal(board, 5) == "b1"
    assert in_magdagdon(board, "1235")
    assert not in_magdagdon(board, "1245")


def test_r17_r19_staging_into_a_dead_end_is_no_magdagdon():
    """With 3 on b1 nothing fits c1 beside the 4; but 2 on b1 leaves c1 to the 3."""
    board = "3..4/RRRR/RRRR/RRRR"
    assert legal("33.4/RRRR/RRRR/RRRR", 2) == legal("33.4/RRRR/RRRR/RRRR", 6) == ""
    assert not in_magdagdon(board, "2366")
    assert outcomes(board, "2366") == ["3234/RRRR/RRRR/RRRR"]
    assert complaint(board, "2366", "ruin b1") == "the turn is not in MAGDAGDON (R19)"
    assert in_magdagdon(board, "2466")


def test_r18_in_magdagdon_any_empty_cell_becomes_a_ruin_even_with_powers_left():
    board = "6.../R.../..../...."
    for cell in ("b1", "d4", "a3"):
        assert complaint(board, "1234", f"ruin {cell}", powers_left=3) is None
    after = law.check_ruin(parse_board(board), (1, 2, 3, 4), Ruin(parse_cell("d4")), PEACEFUL)
    assert texts([after]) == ["6.../R.../..../...R"]


def test_r18_a_taken_cell_becomes_no_ruin():
    board = "6.../R.../..../...."
    assert complaint(board, "1234", "ruin a1") == "a1 is not empty (R18)"
    assert complaint(board, "1234", "ruin a2") == "a2 is not empty (R18)"


def test_r18_in_magdagdon_nothing_can_be_placed():
    board = "6.R./R..R/..../...R"
    assert complaint(board, "1235", "5b1") == "places 1 dice, 2 required (R5)"
    assert complaint(board, "1235", "5b1 3b2") == "3 on b2 is not legal in any order (R8-R11)"


def test_r19_outside_magdagdon_nothing_can_be_accepted():
    board = "6.../R.../..../...."
    assert complaint(board, "1456", "ruin d4") == "the turn is not in MAGDAGDON (R19)"


def test_r20_unreachable_empty_cells_still_count():
    """d4 is cut off: two cells are empty, two dice required, and one can be placed."""
    board = "3333/3333/333R/33R."
    assert law.required_minimum(parse_board(board), PEACEFUL) == 1
    board = "3333/3333/33.R/33R."
    assert law.required_minimum(parse_board(board), PEACEFUL) == 2
    assert in_magdagdon(board, "3333")
    assert outcomes(board, "3333") == []


def test_r20_an_unreachable_cell_can_only_become_a_ruin():
    board = "3333/3333/333R/33R."
    for dice in ("1111", "3333", "2345"):
        assert in_magdagdon(board, dice)
        assert complaint(board, dice, "ruin d4") is None


def test_r20_changed_dice_are_judged_anew():
    """A Power may lead out of MAGDAGDON, or into it."""
    board = "6.R./R..R/..../...R"
    assert in_magdagdon(board, "1235")
    assert not in_magdagdon(board, "1245")
    assert law.power_dice((1, 2, 3, 5), Power("raise", (3,))) == (1, 2, 4, 5)
    assert law.power_dice((1, 2, 4, 5), Power("lower", (4,))) == (1, 2, 3, 5)


def test_a_board_of_ruins_starts_a_new_field():
    board = "RRRR/R..R/RRRR/R..."
    assert not in_magdagdon(board, "1346")
    assert outcomes(board, "1346") == [
        "RRRR/R..R/RRRR/R.34",
        "RRRR/R..R/RRRR/R.43",
        "RRRR/R..R/RRRR/R34.",
        "RRRR/R..R/RRRR/R43.",
        "RRRR/R34R/RRRR/R...",
        "RRRR/R43R/RRRR/R...",
    ]


# Score.


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


def test_r26_a_game_is_over_when_no_cell_is_empty():
    assert law.is_over(parse_board("1234/RRRR/1111/666R"))
    assert not law.is_over(parse_board("1234/RRRR/1111/66.R"))


def test_check_place_returns_the_outcome():
    place = parse_decision("4b1 3a1")
    assert isinstance(place, Place)
    after = law.check_place(0, (3, 4, 5, 6), place, PEACEFUL)
    assert texts([after]) == ["34../..../..../...."]


# What the prompt asks of the law: why not, several dice at once, what a line can still earn.


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
