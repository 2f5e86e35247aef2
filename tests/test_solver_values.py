"""Perfect play against a recursion on the readable law, an independent program, and itself."""

from collections.abc import Sequence
from random import Random
from typing import Any

import cases
import numpy as np
import pytest
from endgames import ROLLS, PerfectPlay, exactly, random_endgame
from reachable import images
from stepwise import Solved, solve

from magsim import rules as law
from magsim.board import CELLS, empty_cells, format_board, parse_board
from magsim.errors import MagsimError
from magsim.rules import DIFFICULTIES, NIGHTMARE, PEACEFUL, SURVIVAL, Rules
from magsim.solver.hands import hand_tables, number, of_size
from magsim.solver.stakes import levels_of, stakes_of

TOGETHER = ([NIGHTMARE], [PEACEFUL, SURVIVAL])


def endgames(rules: Rules, seed: int, empty: int, count: int) -> list[int]:
    """Boards with so many empty cells; they differ with the seed."""
    random = Random(seed)
    return [random_endgame(rules, random, empty) for _ in range(count)]


def rounding(solved: Solved, board: int) -> float:
    """What rounding may add up to: half a unit for each mean and each Power on the way."""
    powers = max(rules.powers for rules in solved.rules)
    return len(empty_cells(board)) * (1 + powers) / solved.stakes.scale


def compare(solved: Solved, rules: Rules, board: int, play: PerfectPlay) -> None:
    for powers in range(rules.powers + 1):
        expected = law.score(board, rules).total + play.future(board, powers)
        found = solved.value(board, powers, rules)
        assert found == pytest.approx(float(expected), abs=rounding(solved, board) + 1e-9), (
            f"{format_board(board)} under {rules}, {powers} Powers left"
        )


def test_the_recursion_plays_by_the_law() -> None:
    """The oracle's own placements, roll by roll."""
    for rules in DIFFICULTIES.values():
        play = PerfectPlay(rules)
        for board in endgames(rules, seed=1, empty=2, count=4):
            for roll in ROLLS:
                assert play.outcomes(board, roll) == law.outcomes(board, roll, rules)


@pytest.mark.parametrize("empty", [1, 2])
@pytest.mark.parametrize("rules", DIFFICULTIES.values(), ids=list(DIFFICULTIES))
def test_endgames_are_worth_what_the_recursion_says(rules: Rules, empty: int) -> None:
    boards = endgames(rules, seed=empty, empty=empty, count=100 if empty == 1 else 50)
    together = next(group for group in TOGETHER if rules in group)
    solved, play = solve(together, boards), PerfectPlay(rules)
    for board in boards:
        compare(solved, rules, board, play)


@pytest.mark.parametrize("rules", DIFFICULTIES.values(), ids=list(DIFFICULTIES))
def test_longer_endgames_are_worth_what_the_recursion_says(rules: Rules) -> None:
    boards = endgames(rules, seed=3, empty=3, count=6)
    solved, play = solve([rules], boards), PerfectPlay(rules)
    for board in boards:
        compare(solved, rules, board, play)


def test_a_minimum_of_all_four_dice_is_kept_to() -> None:
    """Which shows only where four cells are empty."""
    rules = Rules("four", minimum=4, power_costs=())
    boards = endgames(rules, seed=4, empty=4, count=4)
    solved, play = solve([rules], boards), PerfectPlay(rules)
    for board in boards:
        compare(solved, rules, board, play)


def test_an_endgame_in_fractions() -> None:
    (board,) = endgames(PEACEFUL, seed=5, empty=1, count=1)
    compare(solve([PEACEFUL], [board]), PEACEFUL, board, exactly(PEACEFUL))


def drawn_rules(random: Random) -> Rules:
    """Any rules at all, dear, cheap and free."""
    return Rules(
        "drawn",
        minimum=random.randint(1, 4),
        power_costs=tuple(random.choice((0, 7, 40, 1000)) for _ in range(random.randint(0, 2))),
        ruin_penalty=random.choice((0, 3, 15, 1000)),
        straight=random.choice((0, 60, 1000)),
        four=random.choice((0, 40)),
        two_pairs=random.choice((0, 20, 70)),
        max_difference=random.randint(0, 5),
    )


@pytest.mark.parametrize("seed", range(40))
def test_variants_are_worth_what_the_recursion_says(seed: int) -> None:
    rules = drawn_rules(Random(seed))
    boards = endgames(rules, seed, empty=1, count=3) + endgames(rules, seed, empty=2, count=2)
    solved, play = solve([rules], boards), PerfectPlay(rules)
    for board in boards:
        compare(solved, rules, board, play)


@pytest.mark.parametrize("rules", DIFFICULTIES.values(), ids=list(DIFFICULTIES))
def test_boards_of_ruins_are_worth_what_the_recursion_says(rules: Rules) -> None:
    texts = ("RRRR/R.RR/RRRR/RRRR", "RRRR/R..R/RRRR/RRRR", "RRRR/R.RR/RR.R/RRRR")
    boards = [parse_board(text) for text in texts]
    solved, play = solve([rules], boards), PerfectPlay(rules)
    for board in boards:
        compare(solved, rules, board, play)


@pytest.mark.parametrize("together", TOGETHER, ids=["nightmare", "peaceful and survival"])
def test_the_cases_of_an_independent_program(together: Sequence[Rules]) -> None:
    found = cases.lines("values.jsonl")
    wanted = [case for case in found if DIFFICULTIES[case["difficulty"]] in together]
    solved = solve(together, [parse_board(case["board"]) for case in wanted])
    assert len(wanted) >= 15
    for case in wanted:
        assert values_of(solved, case) == pytest.approx(
            case["expected_final_score_by_powers_left"], abs=5e-6
        ), case


def values_of(solved: Solved, case: dict[str, Any]) -> list[float]:
    rules, board = DIFFICULTIES[case["difficulty"]], parse_board(case["board"])
    return [solved.value(board, powers, rules) for powers in range(rules.powers + 1)]


def test_a_full_board_is_worth_its_score() -> None:
    board = parse_board("2345/R345/1123/1R23")
    expected = law.score(board, PEACEFUL).total
    assert solve([PEACEFUL], [board]).value(board, 3) == expected


@pytest.fixture(scope="module")
def solved() -> Solved:
    return solve(TOGETHER[1], endgames(PEACEFUL, seed=6, empty=4, count=3))


def test_more_powers_are_never_worth_less(solved: Solved) -> None:
    assert sum(len(layer.values) for layer in solved.layers.values()) > 60
    for layer in solved.layers.values():
        for level, base in enumerate(solved.stakes.base):
            if base >= 0:
                assert (layer.values[:, level] >= layer.values[:, base]).all()


def test_the_images_of_a_board_are_worth_the_same(solved: Solved) -> None:
    for board in endgames(PEACEFUL, seed=6, empty=4, count=3):
        assert len({solved.future(image, 2) for image in images(board)}) == 1


def test_jobs_change_nothing(solved: Solved) -> None:
    alone = solve(TOGETHER[1], endgames(PEACEFUL, seed=6, empty=4, count=3), jobs=1)
    for empty, layer in solved.layers.items():
        assert np.array_equal(alone.layers[empty].classes.keys, layer.classes.keys)
        assert np.array_equal(alone.layers[empty].values, layer.values)


@pytest.mark.parametrize("held", [0, 1])
def test_how_many_dice_are_held_back_changes_nothing(solved: Solved, held: int) -> None:
    fewer = solve(TOGETHER[1], endgames(PEACEFUL, seed=6, empty=4, count=3), held=held)
    for empty, layer in solved.layers.items():
        assert np.array_equal(fewer.layers[empty].values, layer.values)


def test_rules_solved_together_are_worth_what_they_are_alone(solved: Solved) -> None:
    boards = endgames(PEACEFUL, seed=6, empty=4, count=3)
    alone = solve([SURVIVAL], boards)
    for board in boards:
        for powers in (0, 1):
            assert alone.value(board, powers) == solved.value(board, powers, SURVIVAL)


def test_fewer_layers_are_worth_the_same(solved: Solved) -> None:
    boards = endgames(PEACEFUL, seed=6, empty=4, count=3)
    low = solve(TOGETHER[1], boards, most_empty=2)
    assert list(low.layers) == [0, 1, 2]
    for empty, layer in low.layers.items():
        assert np.array_equal(layer.values, solved.layers[empty].values)


def test_what_is_not_solved_is_told_in_a_sentence(solved: Solved) -> None:
    (board,) = endgames(PEACEFUL, seed=6, empty=4, count=1)
    with pytest.raises(MagsimError, match=r"^board \.\.\.\./.* does not reach it$"):
        solved.value(0, 3)
    with pytest.raises(MagsimError, match="does not reach it"):
        solved.value(parse_board("1111/1111/1111/1.11"), 3)
    with pytest.raises(MagsimError, match=r"^4 Powers left: not solved"):
        solved.value(board, 4)
    with pytest.raises(MagsimError, match=r"^1 Powers left: not solved"):
        solved.value(board, 1, Rules("dear", 2, (1, 2)))


def test_only_the_costs_of_powers_may_differ() -> None:
    with pytest.raises(MagsimError, match=r"^peaceful and nightmare cannot be solved together"):
        solve([PEACEFUL, NIGHTMARE])


def test_levels_are_shared_where_the_costs_to_come_are_the_same() -> None:
    assert levels_of([PEACEFUL, SURVIVAL]) == [(), (40,), (70,), (20, 40), (10, 20, 40)]
    stakes = stakes_of([PEACEFUL, SURVIVAL])
    assert stakes.base.tolist() == [-1, 0, 0, 1, 3]
    assert (stakes.cost / stakes.scale).tolist() == [0, 40, 70, 20, 10]


@pytest.mark.parametrize("penalty", [0, 15, 1000])
@pytest.mark.parametrize("bonus", [0, 60, 1000])
def test_all_that_can_come_fits_into_a_value(penalty: int, bonus: int) -> None:
    rules = Rules("", 2, (70,), ruin_penalty=penalty, straight=bonus, four=0, two_pairs=0)
    stakes = stakes_of([rules])
    most = (2 * 6 * CELLS + 8 * bonus) * stakes.scale
    least = -penalty * CELLS * stakes.scale
    lifted = -(2**31) + 3 * (2 * 6 + 2 * bonus) * stakes.scale  # by three dice, forbidden still
    assert lifted < stakes.allowed <= least
    assert most < 2**31 <= 2.1 * (max(most, 2**31 + lifted - least) + stakes.scale)


def test_the_published_rules_are_solved_in_fine_steps() -> None:
    assert stakes_of([PEACEFUL]).scale == stakes_of([NIGHTMARE]).scale == 2**21


def test_steps_between_hands() -> None:
    hands = hand_tables()
    assert hands.weight.sum() == 6**4
    for k, roll in enumerate(of_size(4)):
        lifted = [(*roll[:i], d + s, *roll[i + 1 :]) for i, d in enumerate(roll) for s in (-1, 1)]
        lawful = {number(dice) for dice in lifted if all(1 <= die <= 6 for die in dice)}
        assert set(hands.moves[k]) == lawful
        assert hands.weight[k] == sum(
            sorted(fall) == list(roll) for fall in np.ndindex(7, 7, 7, 7) if 0 not in fall
        )
    for size in range(4):
        for k, hand in enumerate(of_size(size)):
            for die in range(1, 7):
                more = hands.add[size, k, die]
                assert more == number((*hand, die))
                assert k in hands.take[size + 1, more]
        for k, hand in enumerate(of_size(size + 1)):
            assert {number(hand[:i] + hand[i + 1 :]) for i in range(size + 1)} == set(
                hands.take[size + 1, k, : size + 1]
            )
    for size in range(5):
        for a, one in enumerate(of_size(size)):
            for b, other in enumerate(of_size(4 - size)):
                assert hands.joined[size, a, b] == number(one + other)
