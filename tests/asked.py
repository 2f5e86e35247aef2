"""Bots that answer as a test tells them, and positions to ask them about."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from magsim.asking import Watch
from magsim.board import parse_board, parse_dice
from magsim.bot import Answers, Bot, Position, Positions
from magsim.decision import Decision, pack_decision
from magsim.engine import HAND_INDEX
from magsim.errors import BotFault
from magsim.referee import Referee
from magsim.rules import PEACEFUL, Rules

Decide = Callable[[Position], Decision]
Batch = Callable[[Positions], Answers]
OPEN = "6.../R.../..../.... 1456 powers=3"
"""A board on which b1 alone takes a die first: a 5 or a 6."""

STUCK = "6.../R.../..../.... 1234 powers=3"
"""The same in MAGDAGDON."""

FIRST = "..../..../..../.... 1336 powers=3"


class Plain(Bot):
    """A bot in plain Python."""

    spec = "rogue:level=2"

    def __post_init__(self) -> None:
        self.answer: Decide = lambda position: position.decisions()[0]

    def decide(self, position: Position) -> Decision:
        return self.answer(position)


class Batched(Bot):
    """A bot of the batch form; decides the first legal thing unless told otherwise."""

    spec = "rogue:level=2"

    def __post_init__(self) -> None:
        self.answer: Batch = lambda positions: Answers(first_decisions(positions))

    def decide_batch(self, positions: Positions) -> Answers:
        return self.answer(positions)


def first_decisions(positions: Positions) -> NDArray[np.int64]:
    found = [positions.position(row) for row in range(len(positions))]
    packed = [pack_decision(at.decisions()[0], at.board, at.dice) for at in found]
    return np.array(packed, np.int64)


def plain(answer: Decide) -> Plain:
    bot = Plain()
    bot.answer = answer
    return bot


def batched(answer: Batch) -> Batched:
    bot = Batched()
    bot.answer = answer
    return bot


def positions(*texts: str, rules: Rules = PEACEFUL) -> Positions:
    boards, dice, powers = zip(*(text.split() for text in texts), strict=True)
    return Positions(
        np.array([*map(parse_board, boards)]),
        np.array([HAND_INDEX[parse_dice(roll)] for roll in dice]),
        np.array([int(text.removeprefix("powers=")) for text in powers]),
        np.arange(len(texts), dtype=np.uint64),
        rules,
    )


def fault_of(bot: Bot, asked: Positions, watch: Watch) -> str:
    """The sentence of a bot's fault, when it is asked these positions from game 70 on, turn 5."""
    referee, games = Referee(bot, asked.rules, watch), np.arange(70, 70 + len(asked))
    with pytest.raises(BotFault) as fault:
        referee.ask(asked, games, turn=5)
    assert fault.value.exit_code == 3
    return str(fault.value)


def sentence(what: str, at: str, rules: str = "peaceful") -> str:
    return f"bot rogue:level=2 ({rules}) {what}; game 70, turn 5, position {at}"


def many(count: int) -> list[str]:
    return [f"..../..../..../{'R' * (k % 4):.<4} 1336 powers=3" for k in range(count)]
