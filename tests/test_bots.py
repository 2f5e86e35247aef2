"""The bots that come along: what all keep to, and each against a slow reading of what it claims."""

import dataclasses
import random
from collections.abc import Iterator
from functools import cache
from itertools import product
from math import factorial

import numpy as np
import pytest
from reachable import random_board

from magsim import engine, registry, rules
from magsim.asking import Watch
from magsim.board import empty_cells, format_board, parse_board, with_cell
from magsim.bot import Bot, Position, Positions, rule_values
from magsim.decision import Decision, Power, unpack_decision, unpack_power
from magsim.rules import DIFFICULTIES, NIGHTMARE, PEACEFUL, SURVIVAL, Rules
from magsim.simulate import play_games
from magsim_bots.greedy import Greedy
from magsim_bots.judge import judge, static_worth
from magsim_bots.lines import POINT, board_worth, current_worth
from magsim_bots.mcts import Mcts
from magsim_bots.random import MAX_POWERS, distinct_powers
from magsim_bots.turn import turn_worth

BOTS = sorted(registry.installed().keys() - {"optimal"})
"""All but ``optimal``, which has a file of its own."""
RANKING = ["greedy", "lookahead", "mcts", "ntuple"]
"""Those that weigh several decisions."""
ODD_RULES = [
    Rules("gentle", 1, (0, 0, 5, 5, 9, 30), ruin_penalty=0, max_difference=2),
    Rules("strict", 4, (), ruin_penalty=40, straight=0, max_difference=0),
    Rules("dear", 3, (1000,), ruin_penalty=1000, four=1000, two_pairs=1000),
]
LAWS = [*DIFFICULTIES.values(), *ODD_RULES]


def plays(name: str, law: Rules) -> bool:
    """Whether a bot plays these rules as it comes: ``ntuple`` has learned those of the game."""
    return name != "ntuple" or law in DIFFICULTIES.values()


def some_positions(law: Rules, seed: int, count: int) -> Iterator[Position]:
    """Positions of random play at all stages, with random rolls and Powers left."""
    rng = random.Random(seed)
    while count:
        board = random_board(law, rng, rng.randint(1, 16))
        if empty_cells(board):
            dice = tuple(sorted(rng.choices(range(1, 7), k=4)))
            yield Position(board, dice, rng.randint(0, law.powers), law)
            count -= 1


def batch(positions: list[Position], keys: list[int] | None = None) -> Positions:
    return Positions(
        np.array([position.board for position in positions]),
        np.array([engine.HAND_INDEX[position.dice] for position in positions]),
        np.array([position.powers_left for position in positions]),
        np.array(keys or range(len(positions)), np.uint64),
        positions[0].rules,
    )


@pytest.mark.parametrize(
    ("name", "law"),
    [
        pytest.param(name, law, id=f"{name}-{law.name}")
        for name, law in product(BOTS, LAWS)
        if plays(name, law)
    ],
)
def test_whole_games_are_legal_under_all_rules(name: str, law: Rules, watch: Watch) -> None:
    # The referee would raise.
    games = 2 if name == "mcts" else 6
    played = play_games(registry.load_bot(name), law, 5, 0, games, watch)
    assert played.games.turns.min() >= 4
    estimates = played.turns.estimate
    assert np.isnan(estimates).all() or np.isfinite(estimates).all()


@pytest.mark.parametrize("name", BOTS)
def test_each_position_is_decided_on_its_own(name: str) -> None:
    positions = list(some_positions(PEACEFUL, 1, 12))
    bot = registry.load_bot(name)
    together = bot.decide_batch(batch(positions))
    for row, position in enumerate(positions):
        alone = bot.decide_batch(batch([position], [row]))
        assert alone.decisions[0] == together.decisions[row], str(position)
    again = registry.load_bot(name).decide_batch(batch(positions))
    assert (again.decisions == together.decisions).all()


@cache
def positions_for(name: str) -> list[Position]:
    """Positions under all rules that a bot plays."""
    laws = [law for law in LAWS if plays(name, law)]
    return [position for law in laws for position in some_positions(law, 11, 10)]


@pytest.mark.parametrize("name", BOTS)
def test_the_first_of_a_ranking_is_the_decision(name: str) -> None:
    bot = registry.load_bot(name)
    for key, position in enumerate(positions_for(name), 1):
        answers = bot.decide_batch(batch([position], [key]))
        decided = unpack_decision(int(answers.decisions[0]), position.board, position.dice)
        ranking = bot.rank(position, key, 5)
        assert ranking[0] == decided, str(position)
        if answers.estimates is not None:
            assert ranking[0].estimate == answers.estimates[0], str(position)


@pytest.mark.parametrize("name", RANKING)
def test_a_ranking_holds_distinct_legal_decisions_with_estimates(name: str) -> None:
    bot = registry.load_bot(name)
    for key, position in enumerate(positions_for(name), 1):
        ranking = bot.rank(position, key, 5)
        assert len(set(ranking)) == len(ranking) <= 5, str(position)
        assert set(position.decisions()).issuperset(ranking), str(position)
        estimates = [ranked.estimate for ranked in ranking]
        assert None not in estimates, str(position)
        if name != "mcts":  # it keeps the order of its search
            assert estimates == sorted(estimates, reverse=True), str(position)


def test_a_ranking_is_as_long_as_asked_and_begins_alike() -> None:
    position = Position(0, (2, 3, 4, 6), 3, PEACEFUL)
    for name in RANKING:
        longer = registry.load_bot(name).rank(position, 1, 1000)
        assert len(longer) > (2 if name == "mcts" else 5), name  # it compares a few only
        for count in (0, 1, 5):
            assert registry.load_bot(name).rank(position, 1, count) == longer[:count], name


def test_a_bot_ranks_its_decision_alone_unless_it_can_more() -> None:
    class First(Bot):
        def decide(self, position: Position) -> Decision:
            return dataclasses.replace(position.decisions()[0], estimate=2.5)

    class FirstOfGreedy(Greedy):
        def decide(self, position: Position) -> Decision:
            return position.decisions()[0]

    position = Position(0, (2, 3, 4, 6), 0, SURVIVAL)
    for bot, estimate in ((First(), 2.5), (FirstOfGreedy(), None)):
        (decision,) = bot.rank(position, 1, 5)
        assert decision == position.decisions()[0]
        assert decision.estimate == estimate


def test_random_draws_each_legal_decision_equally_often() -> None:
    position = Position(parse_board("2345/.3.6/R456/3445"), (2, 4, 5, 5), 1, SURVIVAL)
    law = dataclasses.replace(SURVIVAL, minimum=1)
    position = dataclasses.replace(position, rules=law)
    legal = position.decisions()
    draws = 400 * len(legal)
    answers = registry.load_bot("random").decide_batch(batch([position] * draws))
    drawn = [
        unpack_decision(int(packed), position.board, position.dice) for packed in answers.decisions
    ]
    counts = [drawn.count(decision) for decision in legal]
    assert sum(counts) == draws
    chi_square = sum((count - 400) ** 2 / 400 for count in counts)
    df = len(legal) - 1
    # The 99.9 % point by Wilson and Hilferty's cube.
    limit = df * (1 - 2 / (9 * df) + 3.0902 * (2 / (9 * df)) ** 0.5) ** 3
    assert chi_square < limit


@pytest.mark.parametrize("dice", [(1, 2, 3, 4), (1, 1, 1, 1), (2, 2, 5, 6), (3, 5, 5, 5)])
def test_random_knows_the_powers_that_a_position_lists(dice: tuple[int, ...]) -> None:
    found = np.empty(MAX_POWERS, np.int64)
    count = distinct_powers(engine.HAND_INDEX[dice], found)
    powers = [unpack_power(int(packed), dice) for packed in found[:count]]
    listed = Position(0, dice, 1, SURVIVAL).powers()
    assert len(powers) == len(set(powers))
    assert set(powers) == set(listed)


def best_now(board: int, dice: tuple[int, ...], law: Rules) -> int:
    """The best score at once, by the readable law."""
    found = [rules.score(outcome, law).total for outcome in rules.outcomes(board, dice, law)]
    return max(found, default=rules.score(board, law).total - law.ruin_penalty)


def power_worths(position: Position) -> dict[Power, float]:
    """What each Power makes of the best score at once, less its cost, exact over all throws."""
    board, dice, law = position.board, position.dice, position.rules
    cost, known = position.power_cost or 0, {}

    def worth(after: tuple[int, ...]) -> int:
        if after not in known:
            known[after] = best_now(board, after, law)
        return known[after]

    found = {}
    for power in position.powers():
        throws = list(product(range(1, 7), repeat=len(power.dice)))
        rolled = throws if power.kind == "reroll" else [()]
        total = sum(worth(rules.power_dice(dice, power, throw)) for throw in rolled)
        found[power] = total / len(rolled) - cost
    return found


@pytest.mark.parametrize("law", [PEACEFUL, dataclasses.replace(SURVIVAL, power_costs=(25,))])
def test_greedy_takes_the_most_now_and_powers_that_pay(law: Rules) -> None:
    used = 0
    for position in some_positions(law, 3, 40):
        if len(empty_cells(position.board)) > 7:
            continue
        packed = int(Greedy().decide_batch(batch([position])).decisions[0])
        decision = unpack_decision(packed, position.board, position.dice)
        stay = best_now(position.board, position.dice, law)
        powers = power_worths(position)
        best_power = max(powers.values(), default=-(10**9))
        if isinstance(decision, Power):
            used += 1
            assert best_power > stay, str(position)
            assert powers[decision] == pytest.approx(best_power), str(position)
        else:
            assert best_power <= stay + 1e-9, str(position)
            assert rules.score(packed, law).total == stay, str(position)
    assert used >= 3


def test_greedy_ranks_by_the_score_after_the_turn() -> None:
    law, seen = PEACEFUL, 0
    for position in some_positions(law, 4, 25):
        if len(empty_cells(position.board)) > 6:
            continue
        seen += 1
        spent = sum(law.power_costs[: law.powers - position.powers_left])
        worth: dict[Decision, float] = dict(power_worths(position))
        for decision in (*position.placements(), *position.ruins()):
            worth[decision] = rules.score(position.after(decision), law).total
        for ranked in Greedy().rank(position, 0, 1000):
            expected = pytest.approx(worth.pop(ranked) - spent)
            assert ranked.estimate == expected, f"{position}: {ranked}"
        assert not worth, str(position)
    assert seen > 5


def test_the_lines_of_a_board_add_up_to_twice_its_score() -> None:
    for law in (PEACEFUL, ODD_RULES[0]):
        table = current_worth(rule_values(law))
        for position in some_positions(law, 4, 100):
            assert board_worth(position.board, table) == 2 * rules.score(position.board, law).total


def test_a_full_board_is_judged_by_its_score() -> None:
    for text in ("4RRR/4544/R654/45R5", "5544/6555/6654/566R", "1234/1234/1234/1234"):
        board = parse_board(text)
        total = rules.score(board, NIGHTMARE).total
        assert static_worth(board, 0, judge(NIGHTMARE)) == total * POINT


@pytest.mark.parametrize(
    "text", ["5434/6.23/5.12/RR11", "2345/R3.6/R456/344.", "RRRR/R.3R/R..R/RRRR"]
)
def test_a_turn_is_worth_the_exact_mean_over_all_rolls(text: str) -> None:
    # With at most two empty cells, and without Powers, a turn places all it can think of.
    board, law, total = parse_board(text), NIGHTMARE, 0
    for hand in engine.HANDS[engine.FIRST_ROLL :]:
        outcomes = rules.outcomes(board, hand, law) or {
            with_cell(board, cell, rules.RUIN) for cell in empty_cells(board)
        }
        orders = factorial(4)
        for die in set(hand):
            orders //= factorial(hand.count(die))
        total += orders * max(int(static_worth(outcome, 0, judge(law))) for outcome in outcomes)
    assert turn_worth(board, 0, rule_values(law), judge(law)) == total // 6**4, format_board(board)


def test_mcts_finds_the_only_way_to_the_straight() -> None:
    # d4 takes 4, 5 or 6; only a 6 makes 3-4-5-6 in the row and in the column.
    position = Position(parse_board("1123/R114/1R15/345."), (4, 5, 6, 6), 0, SURVIVAL)
    answers = Mcts().decide_batch(batch([position]))
    assert format_board(int(answers.decisions[0])).endswith("3456")
    assert answers.estimates is not None
    exact = rules.score(int(answers.decisions[0]), SURVIVAL, powers_used=1).total
    assert answers.estimates[0] == pytest.approx(exact)


def test_mcts_plays_alike_for_equal_keys_and_not_for_all() -> None:
    positions = [*some_positions(PEACEFUL, 8, 1)] * 40
    alike = Mcts(iterations=8).decide_batch(batch(positions, [5] * 40))
    assert len(set(alike.decisions.tolist())) == 1
    assert alike.estimates is not None
    assert len(set(alike.estimates.tolist())) == 1
    various = Mcts(iterations=8).decide_batch(batch(positions))
    assert various.estimates is not None
    assert len(set(various.estimates.tolist())) > 1


def test_search_bots_value_a_power_that_rescues() -> None:
    # One cell left that takes a 3 only; accepting costs 15 points, a Power nothing here.
    law = dataclasses.replace(SURVIVAL, power_costs=(0,))
    position = Position(parse_board("2345/2.45/3445/3445"), (1, 2, 6, 6), 1, law)
    assert position.in_magdagdon()
    for name in ("greedy", "lookahead", "mcts"):
        packed = int(registry.load_bot(name).decide_batch(batch([position])).decisions[0])
        decision = unpack_decision(packed, position.board, position.dice)
        assert decision == Power("raise", (2,)), name
