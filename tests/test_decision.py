"""Decisions: their text notation and their packed form."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_power, boards, cells, corrupted, decisions, dice, rolls

from magsim.board import (
    EMPTY_BOARD,
    RUIN,
    NotationError,
    empty_cells,
    format_board,
    parse_board,
    parse_cell,
)
from magsim.decision import (
    LOWER,
    POWER_KINDS,
    RAISE,
    REROLL,
    Place,
    Power,
    Ruin,
    pack_decision,
    pack_power,
    parse_decision,
    unpack_decision,
)

BOARD = parse_board("..../.34./..R./....")
DICE = (2, 3, 3, 6)
ALL_ROLLS = list(combinations_with_replacement(range(1, 7), 4))


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("3b2", Place(((3, parse_cell("b2")),))),
        ("3b2 4b3", Place(((3, parse_cell("b2")), (4, parse_cell("b3"))))),
        ("+3", Power("raise", (3,))),
        ("-3", Power("lower", (3,))),
        ("reroll 14", Power("reroll", (1, 4))),
        ("ruin c3", Ruin(parse_cell("c3"))),
    ],
)
def test_every_kind_of_decision_has_one_notation(text, decision):
    assert parse_decision(text) == decision
    assert str(decision) == text


@given(decisions)
def test_decisions_survive_their_notation(decision):
    assert parse_decision(str(decision)) == decision


def test_spaces_and_the_order_of_rerolled_dice_do_not_matter():
    assert parse_decision("  3b2   4b3 ") == parse_decision("3b2 4b3")
    assert parse_decision("reroll 41") == parse_decision("reroll 14")


def test_an_estimate_is_no_part_of_what_is_decided():
    assert Ruin(3, estimate=120.5) == Ruin(3)
    assert Power("raise", (3,), estimate=1.0) == Power("raise", (3,))
    assert Place(((3, 5),), estimate=1.0) == Place(((3, 5),))


@pytest.mark.parametrize(
    "text", ["", "b2", "place 3b2", "3b2,4b3", "33", "+", "raise 3", "ruin", "ruin c3 c4", "reroll"]
)
def test_a_text_that_is_no_decision_is_told_how_to_write_one(text):
    with pytest.raises(NotationError) as refusal:
        parse_decision(text)
    assert str(refusal.value) == (
        f"decision {text!r}: write a placement as '3b2 4b3', a Power as '+3', '-3' or "
        "'reroll 14', a RUIN as 'ruin c3'"
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("7b2", "dice '7'"),
        ("3e2", "cell 'e2'"),
        ("+0", "dice '0'"),
        ("reroll 17", "dice '17'"),
        ("ruin c5", "cell 'c5'"),
    ],
)
def test_a_decision_with_no_such_die_or_cell_names_it(text, complaint):
    with pytest.raises(NotationError, match=f"^{complaint}: "):
        parse_decision(text)


def test_a_packed_placement_is_the_board_after_it():
    packed = pack_decision(parse_decision("3b3 2b1"), BOARD, DICE)
    assert format_board(packed) == ".2../.34./.3R./...."


def test_a_packed_ruin_is_the_board_after_it():
    assert format_board(pack_decision(Ruin(0), BOARD, DICE)) == "R.../.34./..R./...."


def test_a_packed_power_is_negative_and_marks_sorted_dice():
    assert pack_decision(parse_decision("+2"), BOARD, DICE) == -1 - 0b00_0001
    assert pack_decision(parse_decision("-6"), BOARD, DICE) == -1 - 0b01_1000
    assert pack_decision(parse_decision("reroll 336"), BOARD, DICE) == -1 - 0b10_1110


@given(boards, rolls, st.data())
def test_placements_survive_packing(board, roll, data):
    order = data.draw(st.permutations(empty_cells(board)))
    chosen = sorted(order[: data.draw(st.integers(0, len(roll)))])
    place = Place(tuple(zip(data.draw(st.permutations(roll)), chosen, strict=False)))
    packed = pack_decision(place, board, roll)
    assert packed >= 0
    assert unpack_decision(packed, board, roll) == place


@given(boards, rolls, cells)
def test_ruins_survive_packing(board, roll, cell):
    board &= ~(15 << 4 * cell)
    packed = pack_decision(Ruin(cell), board, roll)
    assert packed >= 0
    assert unpack_decision(packed, board, roll) == Ruin(cell)


@pytest.mark.parametrize("kind", [RAISE, LOWER, REROLL])
def test_every_packed_power_survives_on_every_roll(kind):
    """All 16 masks on all 126 rolls; of equal dice, packing takes the first."""
    for roll in ALL_ROLLS:
        for mask in range(16):
            packed = pack_power(kind, mask)
            power = unpack_decision(packed, BOARD, roll)
            marked = tuple(die for k, die in enumerate(roll) if mask >> k & 1)
            assert packed < 0
            assert power == Power(POWER_KINDS[kind], marked)
            again = pack_decision(power, BOARD, roll)
            assert unpack_decision(again, BOARD, roll) == power
            if len(set(roll)) == len(roll):
                assert again == packed


def test_all_48_packed_powers_differ():
    codes = {pack_power(kind, mask) for kind in (RAISE, LOWER, REROLL) for mask in range(16)}
    assert codes == set(range(-48, 0))


def test_a_code_of_no_power_unpacks_to_no_kind_of_power():
    power = unpack_decision(pack_power(3, 0b0001), BOARD, DICE)
    assert isinstance(power, Power)
    assert power.kind not in POWER_KINDS


@given(boards, rolls, st.one_of(any_power, st.integers(-(2**63), -1)))
def test_any_negative_word_unpacks_to_a_power_of_dice_that_are_there(board, roll, packed):
    power = unpack_decision(packed, board, roll)
    assert isinstance(power, Power)
    left = list(roll)
    for die in power.dice:
        left.remove(die)


def test_nothing_placed_is_an_empty_placement():
    assert unpack_decision(BOARD, BOARD, DICE) == Place(())
    assert str(Place(())) == "nothing"


@pytest.mark.parametrize(
    ("after", "complaint"),
    [
        ("..../.44./..R./....", "a cell that is not empty changes"),
        ("..../..4./..R./....", "a cell that is not empty changes"),
        ("..../.34./..3./....", "a cell that is not empty changes"),
        ("R.../.34./..R./...R", "a placed die has no value from 1 to 6"),
        ("R2../.34./..R./....", "a placed die has no value from 1 to 6"),
    ],
)
def test_a_board_that_no_decision_leaves_is_refused(after, complaint):
    with pytest.raises(ValueError, match=complaint):
        unpack_decision(parse_board(after), BOARD, DICE)


@given(boards, rolls, st.data())
def test_a_word_unpacks_to_the_decision_that_packs_to_it_or_is_refused(board, roll, data):
    packed = data.draw(corrupted(board))
    try:
        decision = unpack_decision(packed, board, roll)
    except ValueError:
        return
    if packed >= 0:
        assert pack_decision(decision, board, roll) == packed


@pytest.mark.parametrize(
    ("decision", "complaint"),
    [
        (Place(((7, 0),)), "7 is not the value of a die"),
        (Place(((0, 0),)), "0 is not the value of a die"),
        (Place(((3, 16),)), "16 is not a cell"),
        (Place(((3, -1),)), "-1 is not a cell"),
        (parse_decision("3b2"), "b2 is not empty"),
        (parse_decision("3c3"), "c3 is not empty"),
        (parse_decision("3a1 2a1"), "a1 is not empty"),
        (parse_decision("ruin b2"), "a RUIN goes on an empty cell (R18)"),
        (parse_decision("ruin c3"), "a RUIN goes on an empty cell (R18)"),
        (Ruin(16), "a RUIN goes on an empty cell (R18)"),
        (parse_decision("+4"), "there is no such die among 2336"),
        (parse_decision("reroll 22"), "there is no such die among 2336"),
        (Power("flip", (2,)), "a Power is one of raise, lower, reroll"),
        ("3b2", "a decision is a Place, a Power or a Ruin"),
        (None, "a decision is a Place, a Power or a Ruin"),
    ],
)
def test_a_decision_without_a_packed_form_is_refused(decision, complaint):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - its text is compared below
        pack_decision(decision, BOARD, DICE)
    assert str(refusal.value) == complaint


@given(dice, cells)
def test_packing_takes_dice_of_any_integer_type(die, cell):
    """As they come out of arrays: an int8 is not to lose the upper cells of the board."""
    place = Place(((np.int8(die), np.uint8(cell)),))
    assert pack_decision(place, EMPTY_BOARD, DICE) == die << 4 * cell
    assert pack_decision(Ruin(np.int8(cell)), EMPTY_BOARD, DICE) == RUIN << 4 * cell
