"""The readable law, rule by rule; the numbers are those of RULES.md."""

from dataclasses import replace

import pytest
from cases import digest, each
from reachable import texts

from magsim import rules as law
from magsim.board import CELL_NAMES, parse_board, parse_cell, parse_dice
from magsim.decision import Place, Power, Ruin, parse_decision
from magsim.rules import DIFFICULTIES, NIGHTMARE, PEACEFUL, SURVIVAL, IllegalDecision, Rules

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


def test_r26_a_game_is_over_when_no_cell_is_empty():
    assert law.is_over(parse_board("1234/RRRR/1111/666R"))
    assert not law.is_over(parse_board("1234/RRRR/1111/66.R"))


def test_check_place_returns_the_outcome():
    place = parse_decision("4b1 3a1")
    assert isinstance(place, Place)
    after = law.check_place(0, (3, 4, 5, 6), place, PEACEFUL)
    assert texts([after]) == ["34../..../..../...."]
