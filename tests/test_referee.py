"""Whatever a bot does wrong becomes one sentence that names bot, difficulty and place."""

import dataclasses
import math

import numpy as np
import pytest
from asked import (
    FIRST,
    OPEN,
    STUCK,
    Batched,
    batched,
    fault_of,
    first_decisions,
    many,
    plain,
    positions,
    sentence,
)

from magsim.board import format_board, parse_board
from magsim.bot import Answers, Bot, Position, Positions
from magsim.decision import Decision, Place, Power, Ruin, pack_decision, pack_power, parse_decision
from magsim.dice import rolls
from magsim.errors import BotFault
from magsim.referee import Referee
from magsim.rules import NIGHTMARE, PEACEFUL, Rules
from magsim.simulate import play_games

# Illegal decisions, with the rule that they break.

ILLEGAL = [
    (OPEN, "5b1", "places 1 dice, 2 required (R5)"),
    (OPEN, "5b1 3c1", "places a 3 that is not among 1456 (R4)"),
    (OPEN, "5b1 5c1", "places a 5 that is not among 1456 (R4)"),
    (OPEN, "5b1 1d4", "1 on d4 is not legal in any order (R8-R11)"),
    (OPEN, "6b1 4c1", "4 on c1 is not legal in any order (R8-R11)"),
    (OPEN, "5b1 4c1 6a3", "6 on a3 is not legal in any order (R8-R11)"),
    (OPEN, "ruin d4", "the turn is not in MAGDAGDON (R19)"),
    (OPEN, "+6", "no die goes below 1 or above 6 (R13)"),
    (OPEN, "-1", "no die goes below 1 or above 6 (R13)"),
    (OPEN.replace("=3", "=0"), "+5", "uses a Power, none is left (R12)"),
    (OPEN.replace("=3", "=0"), "reroll 1456", "uses a Power, none is left (R12)"),
    (STUCK, "3b1 4b2", "3 on b1 is not legal in any order (R8-R11)"),
]
illegal = pytest.mark.parametrize(
    ("at", "decision", "why"), ILLEGAL, ids=[f"{at} {decision}" for at, decision, _ in ILLEGAL]
)


@illegal
def test_an_illegal_decision_of_a_plain_bot_is_named_with_its_rule(at, decision, why, watch):
    bot = plain(lambda _: parse_decision(decision))
    assert fault_of(bot, positions(at), watch) == sentence(
        f"decided '{decision}', which is illegal: {why}", at
    )


@illegal
def test_an_illegal_decision_of_a_batch_is_named_with_its_rule(at, decision, why, watch):
    asked = positions(at)
    position = asked.position(0)
    packed = pack_decision(parse_decision(decision), position.board, position.dice)
    bot = batched(lambda _: Answers(np.array([packed])))
    assert fault_of(bot, asked, watch) == sentence(
        f"decided '{decision}', which is illegal: {why}", at
    )


def test_nothing_is_no_decision(watch):
    bot = plain(lambda _: Place(()))
    assert fault_of(bot, positions(OPEN), watch) == sentence(
        "decided 'nothing', which is illegal: places 0 dice, 2 required (R5)", OPEN
    )


def test_a_reroll_of_no_die_is_illegal(watch):
    bot = plain(lambda _: Power("reroll", ()))
    assert "which is illegal: rerolls no die (R14); game 70" in fault_of(
        bot, positions(OPEN), watch
    )


def test_raising_two_dice_is_illegal(watch):
    bot = plain(lambda _: Power("raise", (4, 5)))
    assert "which is illegal: raises or lowers exactly one die (R13)" in (
        fault_of(bot, positions(OPEN), watch)
    )


def test_a_code_of_no_power_is_illegal(watch):
    bot = batched(lambda _: Answers(np.array([pack_power(3, 1)])))
    assert "which is illegal: is no Power (R13, R14); game 70" in (
        fault_of(bot, positions(OPEN), watch)
    )


@pytest.mark.parametrize(
    ("after", "why"),
    [
        ("6R../R.../..../...R", "a placed die has no value from 1 to 6"),  # two RUINs at once
        ("65../RR../..../....", "a placed die has no value from 1 to 6"),
        ("5.../R.../..../....", "a cell that is not empty changes"),
        ("65../4.../..../....", "a cell that is not empty changes"),
        ("..../..../..../....", "a cell that is not empty changes"),
    ],
)
@pytest.mark.parametrize("at", [OPEN, STUCK])
def test_a_board_that_no_decision_leaves_is_none(at, after, why, watch):
    packed = parse_board(after)
    bot = batched(lambda _: Answers(np.array([packed])))
    assert fault_of(bot, positions(at), watch) == sentence(
        f"decided {packed:#x}, which is no decision here: {why}", at
    )


def test_cells_of_8_or_more_are_no_decision(watch):
    bot = batched(lambda _: Answers(np.array([8])))
    assert "decided 0x8, which is no decision here: " in fault_of(bot, positions(FIRST), watch)


# Answers of plain bots that are no decisions.


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (None, "answered None: a decision is a Place, a Power or a Ruin"),
        ("5b1 6c1", "answered '5b1 6c1': a decision is a Place, a Power or a Ruin"),
        (3, "answered 3: a decision is a Place, a Power or a Ruin"),
        (Place, "a decision is a Place, a Power or a Ruin"),
        (parse_decision("5a1 6b1"), "a1 is not empty"),
        (parse_decision("5a2 6b1"), "a2 is not empty"),
        (parse_decision("5b1 4b1"), "b1 is not empty"),
        (Place(((5, 16),)), "16 is not a cell"),
        (Place(((7, 1),)), "7 is not the value of a die"),
        (Place(5), "'int' object is not iterable"),
        (Place(((5,),)), "not enough values to unpack"),
        (Ruin(16), "a RUIN goes on an empty cell (R18)"),
        (Ruin(0), "a RUIN goes on an empty cell (R18)"),
        (Ruin("d4"), "'str' object cannot be interpreted as an integer"),
        (Place(((5.0, 1), (6, 2))), "'float' object cannot be interpreted as an integer"),
        (parse_decision("+3"), "there is no such die among 1456"),
        (parse_decision("reroll 44"), "there is no such die among 1456"),
        (Power("flip", (1,)), "a Power is one of raise, lower, reroll"),
        (Ruin(15, estimate="high"), "could not convert string to float: 'high'"),
        (Ruin(15, estimate=math.inf), "an estimate is a score, at most 1e+09"),
        (Ruin(15, estimate=-math.inf), "an estimate is a score, at most 1e+09"),
    ],
    ids=repr,
)
def test_what_is_no_decision_is_shown_with_what_is_wrong(answer, what, watch):
    fault = fault_of(plain(lambda _: answer), positions(OPEN), watch)
    assert fault.startswith("bot rogue:level=2 (peaceful) answered ")
    assert what in fault
    assert fault.endswith(f"; game 70, turn 5, position {OPEN}")


@pytest.mark.parametrize("estimate", [1e300, -1e300, 1.1e9])
def test_an_estimate_beyond_all_scores_is_refused(estimate, watch):
    """The records hold 32 bits, where the largest would be infinite."""
    bot = plain(lambda at: dataclasses.replace(at.placements()[0], estimate=estimate))
    assert "an estimate is a score, at most 1e+09" in fault_of(bot, positions(OPEN), watch)
    batch = batched(lambda asked: Answers(first_decisions(asked), np.array([estimate])))
    assert fault_of(batch, positions(OPEN), watch) == sentence(
        "estimated a score beyond 1e+09", OPEN
    )


# Answers of the batch form that have not its form.


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (None, "answered None, not Answers"),
        ([33], "answered [33], not Answers"),
        ((np.array([33]), None), "answered (array([33]), None), not Answers"),
        (np.array([33]), "answered array([33]), not Answers"),
        (Answers([33]), "answered decisions [33], not an int64 array"),
        (Answers(np.array([33], np.int32)), "answered decisions array([33], dtype=int32), not an"),
        (Answers(np.array([33.0])), "answered decisions array([33.]), not an int64 array"),
        (Answers(np.array([33], np.uint64)), "dtype=uint64), not an int64 array"),
        (Answers(np.array([33, 33])), "answered decisions of shape (2,) to 1 positions"),
        (Answers(np.array([], np.int64)), "answered decisions of shape (0,) to 1 positions"),
        (Answers(np.array([[33]])), "answered decisions of shape (1, 1) to 1 positions"),
        (Answers(np.array(33)), "answered decisions of shape () to 1 positions"),
        (Answers(np.array([33]), [1.0]), "answered estimates [1.0], not a float array"),
        (
            Answers(np.array([33]), np.array([1])),
            "answered estimates array([1]), not a float array",
        ),
        (Answers(np.array([33]), np.array([])), "answered estimates of shape (0,) to 1 positions"),
        (Answers(np.array([33]), np.array(1.0)), "answered estimates of shape () to 1 positions"),
        (Answers(np.array([33]), np.array([math.inf])), "estimated a score beyond 1e+09"),
        (Answers(np.array([33]), np.array([-math.inf])), "estimated a score beyond 1e+09"),
    ],
    ids=repr,
)
def test_answers_of_another_form_are_refused(answer, what, watch):
    """33 is 0x21, a 1 on a1 and a 2 on b1: it would be legal."""
    at = FIRST.replace("1336", "1236")
    fault = fault_of(batched(lambda _: answer), positions(at), watch)
    assert what in fault
    assert fault.startswith("bot rogue:level=2 (peaceful) ")
    assert fault.endswith(f"; game 70, turn 5, position {at}")


def test_the_decision_of_these_tests_is_legal(watch):
    at = positions(FIRST.replace("1336", "1236"))
    bot = batched(lambda _: Answers(np.array([33]), np.array([12.5])))
    decisions, estimates = Referee(bot, PEACEFUL, watch).ask(at, np.array([70]), 5)
    assert (decisions.tolist(), estimates.tolist()) == ([33], [12.5])


@pytest.mark.parametrize("estimates", [None, np.array([np.nan]), np.array([np.nan], np.float32)])
def test_no_estimate_is_nan(estimates, watch):
    bot = batched(lambda asked: Answers(first_decisions(asked), estimates))
    _, found = Referee(bot, PEACEFUL, watch).ask(positions(OPEN), np.array([70]), 5)
    assert found.dtype == np.float32
    assert np.isnan(found).all()


# Which of many.


@pytest.mark.parametrize("guilty", [0, 1, 2, 7, 19])
def test_the_guilty_position_of_a_batch_is_named(guilty, watch):
    asked = positions(*many(20))

    def answer(given: Positions) -> Answers:
        decisions = first_decisions(given)
        decisions[given.keys == guilty] = -1 - (2 << 4)  # a reroll of no die
        return Answers(decisions)

    fault = fault_of(batched(answer), asked, watch)
    assert fault.endswith(f"; game {70 + guilty}, turn 5, position {many(20)[guilty]}")


@pytest.mark.parametrize("guilty", [0, 5, 19])
def test_the_guilty_position_of_a_plain_bot_is_named(guilty, watch):
    asked = positions(*many(20))
    count = iter(range(20))

    def answer(position: Position) -> Decision:
        if next(count) == guilty:
            raise LookupError("no idea")
        return position.decisions()[0]

    fault = fault_of(plain(answer), asked, watch)
    assert "raised LookupError: no idea" in fault
    assert fault.endswith(f"; game {70 + guilty}, turn 5, position {many(20)[guilty]}")


def test_a_batch_that_raises_is_named_by_its_first_position(watch):
    sizes = []

    def answer(given: Positions) -> Answers:
        sizes.append(len(given))
        if len(given) > 1:
            raise LookupError("no idea")
        return Answers(first_decisions(given))

    fault = fault_of(batched(answer), positions(*many(20)), watch)
    first, batch = sum(sizes[:-1]), sizes[-1]
    assert fault.endswith(
        f"raised LookupError: no idea; game {70 + first}, turn 5, position {many(20)[first]} "
        f"(the first of a batch of {batch})"
    )


def test_every_position_is_asked_once_and_in_order(watch):
    keys = []

    def answer(given: Positions) -> Answers:
        keys.extend(given.keys.tolist())
        return Answers(first_decisions(given), given.keys.astype(np.float64))

    asked = positions(*many(50))
    bot = batched(answer)
    decisions, estimates = Referee(bot, PEACEFUL, watch).ask(asked, np.arange(50), 1)
    assert keys == list(range(50))
    assert decisions.tolist() == first_decisions(asked).tolist()
    assert estimates.tolist() == keys


def test_a_bot_prepares_once_before_its_first_answer(watch):
    told = []

    class Prepared(Batched):
        def prepare(self, rules: Rules) -> None:
            told.append(rules)

    def answer(given: Positions) -> Answers:
        told.append(len(given))
        return Answers(first_decisions(given))

    bot = Prepared()
    bot.answer = answer
    referee = Referee(bot, PEACEFUL, watch)
    for _ in range(2):
        referee.ask(positions(OPEN), np.array([70]), 5)
    assert told == [PEACEFUL, 1, 1]


def test_what_raises_in_preparing_is_the_bots_fault(watch):
    class Unprepared(Batched):
        def prepare(self, rules: Rules) -> None:
            raise LookupError(f"no table for {rules.name}")

    assert fault_of(Unprepared(), positions(OPEN), watch) == sentence(
        "raised LookupError: no table for peaceful", OPEN
    )


def test_the_difficulty_is_named(watch):
    at = "..../..../..../.... 1336 powers=0"
    bot = plain(lambda _: parse_decision("3a1 3b1"))
    assert fault_of(bot, positions(at, rules=NIGHTMARE), watch) == sentence(
        "decided '3a1 3b1', which is illegal: places 2 dice, 3 required (R5)", at, "nightmare"
    )


def test_a_fault_in_a_whole_game_is_named_by_its_game_and_turn(watch):
    """The bot plays fair until it is asked about a board that is not empty."""

    def answer(position: Position) -> Decision:
        return position.placements()[0] if position.board == 0 else Place(())

    with pytest.raises(BotFault) as fault:
        play_games(plain(answer), PEACEFUL, 3, 40, 5, watch)
    board = format_board(plain_first(3, 40))
    assert f"places 0 dice, 2 required (R5); game 40, turn 2, position {board} " in str(fault.value)


def plain_first(seed: int, game: int) -> int:
    """The board after the first placement on the first roll of a game."""
    roll = rolls(seed, np.array([game], np.uint64), 1)[0].tolist()
    return Position(0, tuple(roll), 3, PEACEFUL).outcomes()[0]


# Bots that raise.


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (ValueError("no idea"), "raised ValueError: no idea"),
        (AssertionError(), "raised AssertionError: "),
        (NotImplementedError("later"), "raised NotImplementedError: later"),
        (SystemExit(0), "raised SystemExit: 0"),
        (RecursionError("deep"), "raised RecursionError: deep"),
        (StopIteration(), "raised StopIteration: "),
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [plain, batched])
def test_what_a_bot_raises_is_its_fault(error, what, make, watch):
    def answer(_: object) -> Decision:
        raise error

    assert fault_of(make(answer), positions(OPEN), watch) == sentence(what, OPEN)


def test_an_error_that_cannot_say_what_it_is_is_a_fault_too(watch):
    def answer(_: object) -> Decision:
        raise Unspeakable

    assert "raised Unspeakable" in fault_of(plain(answer), positions(OPEN), watch)


def test_a_bot_without_decide_says_so(watch):
    class Idle(Bot):
        spec = "rogue:level=2"

    assert fault_of(Idle(), positions(OPEN), watch) == sentence(
        "raised NotImplementedError: Idle has no decide()", OPEN
    )


def test_a_fault_keeps_the_bots_own_traceback(watch):
    bot = plain(lambda _: 1 // 0)
    with pytest.raises(BotFault) as fault:
        Referee(bot, PEACEFUL, watch).ask(positions(OPEN), np.array([70]), 5)
    assert isinstance(fault.value.__cause__, ZeroDivisionError)
