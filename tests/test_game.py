"""A game as a person plays it: staging, taking back, Powers, the dice of the seed, the end."""

from copy import copy

import numpy as np
import pytest
from players import script

from magsim import dice
from magsim import rules as law
from magsim.board import CELL_NAMES, cell_value, format_board, parse_board, parse_cell
from magsim.decision import Place, Power, Ruin
from magsim.play.game import GAME_INDEX, DieIsStaged, Game
from magsim.rules import DIFFICULTIES, NIGHTMARE, PEACEFUL, SURVIVAL, Rules


def at(board: str, hand: str, rules: Rules = PEACEFUL) -> Game:
    """A game that stands at a board with some dice."""
    game = Game(0, rules)
    game.board = parse_board(board)
    game.hand = tuple(map(int, hand))
    return game


def pairs(text: str) -> list[tuple[int, int]]:
    return [(int(word[0]), parse_cell(word[1:])) for word in text.split()]


def texts(placements: tuple[tuple[int, int], ...]) -> str:
    return " ".join(f"{die}{CELL_NAMES[cell]}" for die, cell in placements)


def finish_turn(game: Game) -> None:
    """Confirm a legal placement."""
    outcome = min(law.outcomes(game.board, game.hand, game.rules))
    cells = [cell for cell in range(16) if cell_value(outcome ^ game.board, cell)]
    game.stage([(cell_value(outcome, cell), cell) for cell in cells])
    game.confirm()


def stands(game: Game) -> tuple[object, ...]:
    return game.board, game.hand, game.staged, game.turn, game.powers_used, game.steps


@pytest.mark.parametrize("rules", DIFFICULTIES.values(), ids=lambda rules: rules.name)
def test_every_step_of_a_game_is_legal_and_on_the_dice_of_its_seed(rules: Rules) -> None:
    for player in range(10):
        _, game = script(11, rules, player)
        board, left, turn, rerolls, hand = 0, rules.powers, 0, 0, ()
        for step in game.steps:
            if step.turn != turn:
                turn, rerolls = turn + 1, 0
                rolled = dice.rolls(11, np.array([GAME_INDEX], np.uint64), turn)[0]
                hand = tuple(map(int, rolled))
            assert (step.turn, step.board, step.dice, step.powers_left) == (turn, board, hand, left)
            law.check(board, hand, left, step.decision, rules)
            match step.decision:
                case Power() as power:
                    rerolls += power.kind == "reroll"
                    games = np.array([GAME_INDEX], np.uint64)
                    drawn = dice.dice(11, games, turn, rerolls)[0][: len(power.dice)]
                    hand = law.power_dice(hand, power, [int(die) for die in drawn])
                    left -= 1
                case Place() as place:
                    board = law.check_place(board, hand, place, rules)
                case Ruin() as ruin:
                    board = law.check_ruin(board, hand, ruin, rules)
        assert (board, turn, rules.powers - left) == (game.board, game.turn, game.powers_used)
        assert game.over
        assert game.score == law.score(board, rules, rules.powers - left)


def test_staged_dice_count_for_the_next_and_for_the_score_but_are_not_permanent() -> None:
    game = at("..../..../..../....", "3456")
    game.stage(pairs("3b2"))
    assert (game.available, texts(game.staged)) == ((4, 5, 6), "3b2")
    assert game.legal_cells(4) == tuple(map(parse_cell, ("b1", "a2", "c2", "b3")))
    assert game.legal_cells(6) == ()
    assert format_board(game.board) == "..../..../..../...."
    assert format_board(game.staged_board) == "..../.3../..../...."
    assert game.score.total == 6


@pytest.mark.parametrize(
    ("hand", "staged", "taken", "back"),
    [
        ("1456", "4b1 5c1 6d1", "d1", "6d1"),
        ("1456", "4b1 5c1 6d1", "c1", "5c1 6d1"),
        ("1456", "4b1 5c1 6d1", "b1", "4b1 5c1 6d1"),
        ("1445", "4b1 4a2 5c1", "b1", "4b1 5c1"),
        ("1445", "4b1 4a2 5b2", "b1", "4b1"),  # b2 still touches a2
        ("1445", "4b1 4a2 5b2", "a2", "4a2"),
    ],
)
def test_taking_back_takes_what_leans_on_it(hand: str, staged: str, taken: str, back: str) -> None:
    game = at("3.../..../..../....", hand)
    game.stage(pairs(staged))
    assert texts(game.take_back(parse_cell(taken))) == back
    left = [word for word in staged.split() if word not in back.split()]
    assert sorted(texts(game.staged).split()) == sorted(left)
    with pytest.raises(KeyError):
        game.take_back(parse_cell(taken))


def test_on_a_board_without_numbers_the_first_staged_die_that_is_left_holds_the_others() -> None:
    game = at("..../..../..../....", "3344")
    game.stage(pairs("3b2 4b3 4a2"))
    assert texts(game.take_back(parse_cell("b2"))) == "3b2 4a2"
    assert texts(game.staged) == "4b3"


def test_no_die_is_staged_twice_or_where_it_may_not_go() -> None:
    game = at("3.../..../..../....", "3446")
    before = stands(game)
    for placements, error in (
        ("5b1", law.NoSuchDie),
        ("4b1 4a2 4c1", law.NoSuchDie),
        ("6b1", law.IllegalCell),
        ("4b1 6c1", law.IllegalCell),
        ("4b1 4b1", law.IllegalCell),
    ):
        with pytest.raises(error):
            game.stage(pairs(placements))
        assert stands(game) == before
    game.stage(pairs("4b1 4a2"))
    with pytest.raises(DieIsStaged):
        game.stage(pairs("4c1"))


def test_a_turn_is_confirmed_once_the_minimum_is_staged() -> None:
    game = at("3.../..../..../....", "3446", NIGHTMARE)
    game.stage(pairs("4b1 4a2"))
    with pytest.raises(law.TooFewDice):
        game.confirm()
    game.stage(pairs("3b2"))
    game.confirm()
    assert (format_board(game.board), game.turn, game.staged) == ("34../43../..../....", 2, ())


def test_powers_touch_available_dice_only_and_are_counted() -> None:
    game = at("3.../..../..../....", "1346")
    game.stage(pairs("4b1"))
    before = stands(game)
    for power, error in (
        (Power("raise", (4,)), DieIsStaged),
        (Power("reroll", (1, 4)), DieIsStaged),
        (Power("raise", (5,)), law.NoSuchDie),
        (Power("reroll", (3, 3)), law.NoSuchDie),
        (Power("raise", (6,)), law.BeyondTheDie),
        (Power("lower", (1,)), law.BeyondTheDie),
    ):
        with pytest.raises(error):
            game.use(power)
        assert stands(game) == before
    game.use(Power("lower", (6,)))
    game.use(Power("raise", (1,)))
    assert (game.hand, game.powers_left, texts(game.staged)) == ((2, 3, 4, 5), 1, "4b1")
    game.use(Power("raise", (2,)))
    with pytest.raises(law.NoPowerLeft):
        game.use(Power("raise", (3,)))
    assert game.score.power_cost == 70


def test_a_refused_reroll_draws_nothing() -> None:
    game, straight = Game(3, PEACEFUL), Game(3, PEACEFUL)
    missing = next(die for die in range(1, 7) if die not in game.hand)
    with pytest.raises(law.NoSuchDie):
        game.use(Power("reroll", (missing,)))
    for played in (game, straight):
        played.use(Power("reroll", played.hand))
    assert game.hand == straight.hand


def test_the_second_reroll_of_a_turn_has_dice_of_its_own_and_the_next_turn_is_not_moved() -> None:
    plain, rerolled = Game(8, PEACEFUL), Game(8, PEACEFUL)
    hands = []
    for _ in range(3):
        rerolled.use(Power("reroll", rerolled.hand))
        hands.append(rerolled.hand)
    assert len({*hands, plain.hand}) == 4
    for game in (plain, rerolled):
        finish_turn(game)
    assert plain.hand == rerolled.hand


def test_magdagdon_is_judged_by_all_dice_staged_or_not() -> None:
    game = at("1R6./R.../..../....", "3334")
    assert game.in_magdagdon
    with pytest.raises(law.CellNotEmpty):
        game.accept(parse_cell("a1"))
    game.accept(parse_cell("d4"))
    assert (format_board(game.board), game.turn) == ("1R6./R.../..../...R", 2)
    game = at("3.../..../..../....", "3446", SURVIVAL)
    game.stage(pairs("4b1 4a2"))
    with pytest.raises(law.NotInMagdagdon):
        game.accept(parse_cell("d4"))


def test_near_the_end_as_many_dice_as_empty_cells_are_enough() -> None:
    game = at("1212/2121/1212/212.", "1356", NIGHTMARE)
    assert game.required == 1
    game.stage(pairs("1d4"))
    game.confirm()
    assert game.over
    assert game.turn == 1


def test_a_copy_goes_its_own_way() -> None:
    game = Game(1, PEACEFUL)
    before = stands(game)
    other = copy(game)
    other.use(Power("reroll", other.hand))
    other.stage([(other.hand[0], 0)])
    assert stands(game) == before
    assert stands(other) != before
