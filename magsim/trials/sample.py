"""What checks of a bot work on: the bot, its games, and positions of them to be put to it again."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim import dice
from magsim.asking import Watch
from magsim.board import EMPTY_BOARD
from magsim.bot import Bot, Positions
from magsim.decision import POWER_KINDS, Power, unpack_decision
from magsim.engine import HANDS
from magsim.registry import load_bot
from magsim.rules import DIFFICULTIES, Rules
from magsim.simulate import Played, Turns, play_games

Ints = NDArray[np.int64]

SAMPLE = 200
"""How many positions of each difficulty are put to the bot again."""


class Wrong(Exception):
    """What a check found wrong, in a sentence."""


@dataclass(frozen=True, slots=True)
class Checkup:
    """What is checked: the bot of a spec, on games 0 to ``games`` - 1 of a seed.

    ``time_limit`` is that of a decision, in seconds.
    """

    source: str
    rules: tuple[Rules, ...] = tuple(DIFFICULTIES.values())
    seed: int = 0
    games: int = 20
    time_limit: float = 20.0

    def play(self, bot: Bot, rules: Rules, first: int, games: int) -> Played:
        """Play games of a bot.

        Raises:
            BotFault: at the first fault of the bot.
        """
        with self.watch() as watch:
            return play_games(bot, rules, self.seed, first, games, watch)

    @contextlib.contextmanager
    def watch(self) -> Iterator[Watch]:
        """A watch with the time limit."""
        watch = Watch(self.time_limit)
        try:
            yield watch
        finally:
            watch.close()


@cache
def bot_of(checkup: Checkup) -> Bot:
    """The bot, loaded once."""
    return load_bot(checkup.source)


@cache
def played(checkup: Checkup, rules: Rules) -> Played:
    """The games under rules, played once."""
    return checkup.play(bot_of(checkup), rules, 0, checkup.games)


class Sample(NamedTuple):
    """Positions at the start of turns of the games played; shapes (n,)."""

    game: Ints
    turn: Ints
    positions: Positions
    first: Ints
    """The first decision of each turn, as ``first_decisions`` has it."""

    def where(self, row: int) -> str:
        """A position, and where it was met."""
        place = f"game {self.game[row]}, turn {self.turn[row]}"
        rules = self.positions.rules.name
        return f"{rules}, {place}, position {self.positions.position(row)}"

    def in_words(self, first: int, row: int) -> str:
        """A decision in this position, as ``first_decisions`` has it, in text."""
        position = self.positions.position(row)
        if first < 0:
            kind, hand = divmod(-1 - first, 256)
            return f"'{Power(POWER_KINDS[kind], HANDS[hand])}'"
        return f"'{unpack_decision(first, position.board, position.dice)}'"


def first_decisions(turns: Turns) -> Ints:
    """What was decided first in each turn: a Power as -1 - its code, or the board after it."""
    if not turns.powers.shape[1]:
        return turns.board
    code = turns.powers[:, 0]
    return np.where(code >= 0, -1 - code, turns.board)


def boards_before(turns: Turns) -> Ints:
    """The boards at the start of turns, which are whole games."""
    return np.where(turns.turn == 1, EMPTY_BOARD, np.roll(turns.board, 1))


@cache
def sample(checkup: Checkup, rules: Rules) -> Sample:
    """Positions spread over all games under rules."""
    turns = played(checkup, rules).turns
    rows = np.unique(np.linspace(0, len(turns.game) - 1, SAMPLE).astype(np.int64))
    game, turn = turns.game[rows], turns.turn[rows]
    games = dice.bot_keys(checkup.seed, game.astype(np.uint64), bot_of(checkup).spec)
    keys = np.concatenate(
        [dice.decision_keys(games[k : k + 1], int(turn[k]), 0) for k in range(len(rows))]
    )
    positions = Positions(
        boards_before(turns)[rows], turns.roll[rows], turns.powers_left[rows], keys, replace(rules)
    )
    return Sample(game, turn, positions, first_decisions(turns)[rows])
