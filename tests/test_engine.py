"""The compiled law, held against the readable one and against cases of an independent program.

Two readings of the law that know nothing of each other are compared here on positions that games
reach under varied rules; ``engine_agreement.py`` does the same at length. Nothing here changes with
``NUMBA_DISABLE_JIT=1``: ``test_no_jit.py`` runs this file so.
"""

from itertools import pairwise, permutations, product
from random import Random

import numpy as np
import pytest
from cases import DATA, digest, each, lines
from counts import ROLLS, count, rules_of
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, DrawFn
from reachable import (
    Drawn,
    cells_of,
    differences,
    images,
    mirrored,
    random_roll,
    random_rules,
    random_turn,
    texts,
)
from strategies import any_power, boards, corrupted, position_pool, positions, rolls, rules, words

from magsim import engine
from magsim import rules as law
from magsim.board import (
    CELL_NAMES,
    CELLS,
    EMPTY,
    RUIN,
    cell_value,
    cell_values,
    empty_cells,
    format_board,
    is_number,
    parse_board,
    parse_dice,
    with_cell,
)
from magsim.bot import rule_values
from magsim.decision import (
    LOWER,
    RAISE,
    REROLL,
    Ruin,
    pack_decision,
    pack_power,
    parse_decision,
    unpack_decision,
)
from magsim.engine import HAND_INDEX, HANDS, MAX_OUTCOMES, RuleValues
from magsim.rules import PEACEFUL, Rules

LOOSEST = Rules("loosest", minimum=1, power_costs=(), max_difference=5)
"""Any number next to any other: nothing but connection restricts."""


def outcomes(board: int, hand: int, values: RuleValues, limit: int = MAX_OUTCOMES) -> list[int]:
    found = np.empty(limit, np.int64)
    count = engine.outcomes(board, hand, values, limit, found)
    return [int(outcome) for outcome in found[:count]]


def outcomes_of_roll(board: int, roll: tuple[int, ...], rules: Rules) -> list[int]:
    return outcomes(board, HAND_INDEX[roll], rule_values(rules))


def legal(position: Drawn, decision: int) -> bool:
    hand, powers_left, values = position.hand, position.powers_left, position.values
    return bool(engine.is_legal(position.board, hand, powers_left, decision, values))


def shown(decision: int, position: Drawn) -> str:
    """A packed decision in text, or its digits where it is none."""
    try:
        return str(unpack_decision(decision, position.board, position.dice))
    except ValueError:
        return hex(decision)


# Cases of an independent program, and counts of our own.


@each("placements.jsonl")
def test_outcomes_are_those_of_the_cases(case):
    board, hand = parse_board(case["board"]), HAND_INDEX[parse_dice(case["dice"])]
    values = rule_values(Rules("case", minimum=case["minimum"], power_costs=()))
    found = outcomes(board, hand, values)
    assert (len(found), digest(found)) == (case["outcomes"], case["sha256"]), texts(found)
    assert engine.in_magdagdon(board, hand, values) == (case["outcomes"] == 0)


@each("scores.jsonl")
def test_scores_are_those_of_the_cases(case):
    board = parse_board(case["board"])
    parts = ("base", "straights", "fours", "two_pairs", "ruins")
    assert engine.score_parts(board) == tuple(case[name] for name in parts)
    assert engine.score(board, rule_values(PEACEFUL)) == case["score"]


COUNTS = "counts.jsonl"
SMALL = 5
"""Empty cells up to which the readable law counts again what it once counted."""


@pytest.mark.exhaustive
@each(COUNTS)
def test_the_engine_counts_what_the_readable_law_counted(case):
    """``counts.jsonl`` was made once by ``rules.outcomes``: python tests/counts.py.

    Each line sums the outcomes of one board under one minimum and one difference over all 126
    rolls, and again over the 1296 ordered throws, and counts the throws that are in MAGDAGDON.
    """
    board, rules = parse_board(case["board"]), rules_of(case)
    assert case | count(board, rules, outcomes_of_roll) == case
    values = rule_values(rules)
    throws = sum(
        len(set(permutations(roll)))
        for roll in ROLLS
        if engine.in_magdagdon(board, HAND_INDEX[roll], values)
    )
    assert throws == case["magdagdon"]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "case",
    [case for case in lines(COUNTS) if case["board"].count(".") <= SMALL],
    ids=lambda case: f"{case['board']} {case['minimum']} {case['max_difference']}",
)
def test_the_readable_law_still_counts_the_same_on_small_boards(case):
    assert case | count(parse_board(case["board"]), rules_of(case), law.outcomes) == case


# The two readings of the law agree.


@given(positions())
def test_outcomes_are_the_lawful_ones(position):
    found = outcomes(position.board, position.hand, position.values)
    lawful = law.outcomes(position.board, position.dice, position.rules)
    assert differences(found, lawful) == ([], [])


@given(positions())
def test_no_outcome_comes_twice(position):
    found = texts(outcomes(position.board, position.hand, position.values))
    assert [text for text, after in pairwise(found) if text == after] == []


@given(positions())
def test_magdagdon_is_the_lawful_one(position):
    found = engine.in_magdagdon(position.board, position.hand, position.values)
    assert found == law.in_magdagdon(position.board, position.dice, position.rules)


@given(boards, rolls, rules)
def test_agreement_does_not_depend_on_the_board_being_reachable(board, roll, rules):
    position = Drawn(with_cell(board & ~15, 0, EMPTY), roll, 0, rules)
    found = outcomes(position.board, position.hand, position.values)
    lawful = law.outcomes(position.board, roll, rules)
    assert differences(found, lawful) == ([], []), position


@given(positions(), st.integers(1, 3))
def test_fewer_dice_in_hand_have_their_outcomes_too(position, size):
    """As while a bot stages by hand; the required minimum stays."""
    hand = position.dice[:size]
    found = outcomes(position.board, HAND_INDEX[hand], position.values)
    lawful = law.outcomes(position.board, hand, position.rules)
    assert differences(found, lawful) == ([], [])


@given(positions())
def test_legal_cells_are_the_lawful_ones(position):
    for die in range(1, 7):
        mask = int(engine.legal_cells(position.board, die, position.values))
        assert cells_of(mask) == law.legal_cells(position.board, die, position.rules), die


@given(positions())
def test_the_required_minimum_is_the_lawful_one(position):
    found = engine.required_minimum(position.board, position.values)
    assert found == law.required_minimum(position.board, position.rules)


@given(boards, rules)
def test_score_parts_are_the_lawful_ones(board, rules):
    lawful = law.score(board, rules)
    parts = (lawful.base, lawful.straights, lawful.fours, lawful.two_pairs, lawful.ruins)
    assert engine.score_parts(board) == parts, format_board(board)
    assert engine.score(board, rule_values(rules)) == lawful.total, format_board(board)


def test_every_line_of_four_cells_earns_its_lawful_bonus():
    names = (None, "straight", "four", "two_pairs")
    for line in product(range(RUIN + 1), repeat=4):
        packed = sum(value << 4 * k for k, value in enumerate(line))
        assert names[engine.line_bonus(packed)] == law.line_bonus(line), line
        assert engine.line_sum(packed) == sum(filter(is_number, line)), line


@given(positions())
def test_every_lawful_outcome_is_legal(position):
    for outcome in sorted(law.outcomes(position.board, position.dice, position.rules)):
        assert legal(position, outcome), shown(outcome, position)


@st.composite
def suspects(draw: DrawFn, position: Drawn) -> int:
    """A packed decision that may well be illegal: any 64 bits, or a near miss."""
    found = [position.board, *outcomes(position.board, position.hand, position.values, 1000)]
    ruins = [with_cell(position.board, cell, RUIN) for cell in empty_cells(position.board)]
    board = st.one_of(st.sampled_from(found), st.sampled_from(ruins))
    kinds = [board, board.flatmap(corrupted), words, any_power, st.integers(-100, -1)]
    return draw(st.one_of(kinds))


@given(positions(), st.data())
def test_any_word_is_judged_as_the_law_judges_it(position: Drawn, data: DataObject):
    for decision in data.draw(st.lists(suspects(position), min_size=1, max_size=8)):
        against = position.illegality(decision)
        assert legal(position, decision) == (against is None), (shown(decision, position), against)


@given(positions())
def test_every_power_is_judged_as_the_law_judges_it(position):
    """All kinds of Power and two kinds that do not exist, on every choice of dice."""
    for kind, mask in product(range(5), range(16)):
        packed = pack_power(kind, mask)
        against = position.illegality(packed)
        assert legal(position, packed) == (against is None), (shown(packed, position), against)


@given(positions())
def test_a_ruin_is_judged_as_the_law_judges_it_on_every_cell(position):
    for cell in empty_cells(position.board):
        packed = pack_decision(Ruin(cell), position.board, position.dice)
        assert legal(position, packed) == (position.illegality(packed) is None), CELL_NAMES[cell]


def test_every_power_changes_every_roll_as_the_law_says():
    for roll in ROLLS:
        for kind, mask in product((RAISE, LOWER, REROLL), range(1, 16)):
            packed = pack_power(kind, mask)
            position = Drawn(0, roll, 1, PEACEFUL)
            if position.illegality(packed) is None:
                power = unpack_decision(packed, 0, roll)
                after = HANDS[engine.power_dice(position.hand, packed)]
                assert after == law.power_dice(roll, power), (roll, str(power))


# Near misses by name.


@pytest.mark.parametrize(
    ("board", "dice", "after", "verdict"),
    [
        ("6.../R.../..../....", "1456", "66../R.../..../....", False),  # one die, two required
        ("6.../R.../..../....", "1456", "66../R5../..../....", True),
        ("6.../R.../..../....", "1456", "66../R55./..../....", False),  # one 5 only
        ("6.../R.../..../....", "1456", "6.5./R.6./..../....", False),  # touches no number
        ("6.../R.../..../....", "1456", "5.../R.../..../....", False),  # changes a number
        ("6.../R.../..../....", "1456", ".6../R5../..../....", False),  # takes a number away
        ("6.../R.../..../....", "1456", "66../55../..../....", False),  # takes a RUIN away
        ("6.../R.../..../....", "1456", "6.../RR../..../....", False),  # no MAGDAGDON
        ("6.../R.../..../....", "1234", "6.../RR../..../....", True),
        ("6.../R.../..../....", "1234", "6.../RR../..../...R", False),  # two RUINs
        ("6.../R.../..../....", "1234", "65../RR../..../....", False),  # a number and a RUIN
        ("6.../R.../..../....", "1234", "R.../R.../..../....", False),  # a number to a RUIN
        ("6.../R.../..../....", "1234", "6.../R.../..../....", False),  # nothing
        ("..../..../..../....", "3333", "333./33../..../....", False),  # five dice
    ],
)
def test_near_misses_are_told_apart(board, dice, after, verdict):
    position = Drawn(parse_board(board), parse_dice(dice), 3, PEACEFUL)
    assert legal(position, parse_board(after)) == verdict


@pytest.mark.parametrize("cell", range(CELLS))
def test_a_cell_of_8_or_more_is_never_legal(cell):
    """Bit 3 of a cell means nothing; that of d4 is the sign, so there it would be a Power."""
    position = Drawn(0, (3, 3, 3, 3), 0, LOOSEST)
    fine = pack_decision(parse_decision("3b2 3b3"), 0, position.dice)
    word = fine | 8 << 4 * cell
    assert legal(position, fine)
    assert not legal(position, word - 2**64 if word >= 2**63 else word)


# What outcomes() promises beyond the law.


@given(positions(), st.integers(1, 40))
def test_a_limit_cuts_the_list_and_writes_no_further(position, limit):
    whole = outcomes(position.board, position.hand, position.values)
    found = np.full(limit + 1, -7, np.int64)
    count = engine.outcomes(position.board, position.hand, position.values, limit, found)
    assert count == min(limit, len(whole))
    assert list(found[:count]) == whole[:count]
    assert found[limit] == -7


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "board",
    [
        "..../..../..../....",
        "1.../..../..../....",
        ".1../..../..../....",
        "..../.1../..../....",
        "..../.1../..1./....",
        "1..1/..../..../1..1",
    ],
)
def test_max_outcomes_is_room_enough_under_the_loosest_rules(board):
    room = 2 * MAX_OUTCOMES
    for roll in ROLLS:
        found = outcomes(parse_board(board), HAND_INDEX[roll], rule_values(LOOSEST), room)
        assert len(found) <= MAX_OUTCOMES, roll


@given(boards, rolls)
def test_max_outcomes_is_room_enough_on_any_board(board, roll):
    found = outcomes(board, HAND_INDEX[roll], rule_values(LOOSEST), 2 * MAX_OUTCOMES)
    assert len(found) <= MAX_OUTCOMES, format_board(board)


@pytest.mark.exhaustive
@given(positions(published=True))
def test_any_hand_finds_the_outcomes_of_all_rolls_at_once(position):
    values = position.values
    at_once = outcomes(position.board, engine.ANY_HAND, values, 2_000_000)
    hands = range(engine.FIRST_ROLL, engine.ANY_HAND)
    by_roll = {board for hand in hands for board in outcomes(position.board, hand, values)}
    assert len(at_once) == len(by_roll)
    assert differences(at_once, by_roll) == ([], [])


# Symmetries: a turned, reflected or mirrored board allows the turned, reflected, mirrored outcomes.


@given(positions())
def test_the_eight_images_of_a_board_have_the_images_of_its_outcomes(position):
    found = outcomes(position.board, position.hand, position.values)
    for k, image in enumerate(images(position.board)):
        turned = outcomes(image, position.hand, position.values)
        assert len(turned) == len(found), format_board(image)
        lawful = [images(outcome)[k] for outcome in found[:50]]
        assert differences(lawful, set(lawful) & set(turned)) == ([], []), format_board(image)


@given(positions())
def test_exchanging_every_v_for_7_minus_v_exchanges_it_in_the_outcomes(position):
    roll = tuple(sorted(7 - die for die in position.dice))
    found = outcomes(position.board, position.hand, position.values)
    other = outcomes(mirrored(position.board), HAND_INDEX[roll], position.values)
    assert differences(other, map(mirrored, found)) == ([], [])


@given(boards)
def test_images_score_alike(board):
    assert {engine.score_parts(image) for image in images(board)} == {engine.score_parts(board)}


def test_a_board_without_symmetry_has_eight_images():
    assert texts(images(parse_board("12../3.../..../...."))) == [
        "..../..../...2/..31",
        "..../..../...3/..21",
        "..../..../2.../13..",
        "..../..../3.../12..",
        "..21/...3/..../....",
        "..31/...2/..../....",
        "12../3.../..../....",
        "13../2.../..../....",
    ]


# Staging.


def lawful_orders(board: int, outcome: int, rules: Rules) -> list[tuple[int, ...]]:
    """All orders in which the readable law lets the new numbers of ``outcome`` be staged."""
    placed = [cell for cell in empty_cells(board) if cell_value(outcome, cell) != EMPTY]
    lawful = []
    for order in permutations(placed):
        staged = board
        for cell in order:
            die = cell_value(outcome, cell)
            if not law.is_legal_cell(staged, die, cell, rules):
                break
            staged = with_cell(staged, cell, die)
        else:
            lawful.append(order)
    return lawful


def staging_order(board: int, outcome: int, rules: Rules) -> list[int] | None:
    order = np.full(4, -1, np.int8)
    count = engine.staging_order(board, outcome, rule_values(rules).near, order)
    return None if count < 0 else [int(cell) for cell in order[:count]]


@given(positions(), st.data())
def test_a_legal_placement_is_staged_in_the_first_lawful_order(position, data):
    """First by its cells: at each step the lowest cell that is legal."""
    found = outcomes(position.board, position.hand, position.values)
    if found:
        outcome = data.draw(st.sampled_from(found))
        orders = lawful_orders(position.board, outcome, position.rules)
        order = staging_order(position.board, outcome, position.rules)
        assert order == list(min(orders)), format_board(outcome)


@given(positions(), st.data())
def test_a_placement_without_a_lawful_order_has_none(position, data):
    outcome = position.board
    for cell in data.draw(st.permutations(empty_cells(position.board)))[:4]:
        outcome = with_cell(outcome, cell, data.draw(st.integers(0, 6)))
    orders = lawful_orders(position.board, outcome, position.rules)
    order = staging_order(position.board, outcome, position.rules)
    assert order == (list(min(orders)) if orders else None), format_board(outcome)


# What these tests are made of.


def test_random_play_is_lawful():
    """Else the positions of these tests would not be reachable."""
    for game in range(60):
        random = Random(game)
        rules, board = random_rules(random), 0
        while not law.is_over(board):
            roll = random_roll(random)
            after = random_turn(board, roll, rules, random)
            assert Drawn(board, roll, 0, rules).illegality(after) is None, format_board(after)
            board = after


def test_positions_are_of_all_kinds():
    pool = position_pool()
    assert {len(empty_cells(position.board)) for position in pool} == set(range(1, 17))
    assert {position.rules.minimum for position in pool} == {1, 2, 3, 4}
    assert {position.rules.max_difference for position in pool} == {0, 1, 2, 3, 4, 5}
    ruins = sum(RUIN in cell_values(position.board) for position in pool)
    magdagdon = sum(
        law.in_magdagdon(position.board, position.dice, position.rules) for position in pool
    )
    assert ruins > 100
    assert magdagdon > 100


def test_the_counts_are_there():
    """Without its file the counting tests would be no tests."""
    assert (DATA / COUNTS).is_file()
    assert len(lines(COUNTS)) > 100
