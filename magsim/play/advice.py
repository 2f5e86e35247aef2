"""What a bot has to say to a player: a hint, a game of its own on the same dice, a post-mortem.

The bot answers in a process apart. For hints and post-mortems it is told positions, and keys that
depend on them alone, so that nothing it says can tell of the dice to come. Kernels of its own are
to be compiled before (``tournament.compile_kernels``), or it may run out of time.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from hashlib import blake2b
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim import records
from magsim import rules as law
from magsim.asking import Watch
from magsim.board import DICE, SIDES, format_dice
from magsim.bot import Bot, Position, Positions
from magsim.decision import Decision, Power, pack_decision, unpack_decision
from magsim.engine import HAND_INDEX, HANDS
from magsim.entrants import Entrant
from magsim.errors import MagsimError
from magsim.play.game import GAME_INDEX
from magsim.play.steps import Step
from magsim.pool import stop_workers
from magsim.reading.apart import ask_apart
from magsim.reading.explain import Explanation, Inquiry, explain, explain_apart
from magsim.reading.replay import Game, read_turns
from magsim.referee import Referee
from magsim.rules import Rules
from magsim.simulate import Played, play_games

_NO_ESTIMATES = "bot {} gives no estimates, and decisions are judged by them"


class Regret(NamedTuple):
    """A decision that cost points, by a bot's own estimates.

    ``better`` is what the bot would have decided; the values, in points, are the final scores to be
    expected after what was decided and after that.
    """

    step: Step
    better: Decision
    value: float
    better_value: float

    @property
    def cost(self) -> float:
        """What the decision cost, in points."""
        return self.better_value - self.value


def _key(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def hint(
    board: int,
    dice: Sequence[int],
    powers_left: int,
    rules: Rules,
    turn: int,
    entrant: Entrant,
    seconds: float,
    count: int,
) -> Explanation:
    """What a bot would decide in a position, and its ``count`` best options.

    The same position gets the same hint, whatever the seed of the game. The bot's process stays for
    the next hint.

    Raises:
        BotFault: if the bot does not do what a bot must, within so many ``seconds`` an answer.
    """
    position = Position(board, tuple(sorted(dice)), powers_left, rules)
    about = Inquiry(GAME_INDEX, turn, position, _key(str(position)))
    return explain_apart(about, entrant.bot, entrant.source, seconds, count)


def _play(rules: Rules, seed: int, bot: Bot, watch: Watch) -> Played:
    return play_games(bot, rules, seed, GAME_INDEX, 1, watch)


def rival_game(entrant: Entrant, rules: Rules, seed: int, seconds: float) -> Game:
    """A bot's game 0 as a tournament of this seed records it, from the first roll to the end.

    Raises:
        BotFault: if the bot does not do what a bot must, within so many ``seconds`` an answer.
    """
    work = partial(_play, rules, seed)
    try:
        played = ask_apart(work, entrant.bot, entrant.source, rules, seconds)
    finally:
        stop_workers()  # a process that has met these dice is to give no hints on them
    rows = records.turns_frame(played.turns).to_dicts()
    turns = tuple(read_turns(rows, rules, seed, GAME_INDEX))
    (result,) = records.games_frame(played.games, rules).to_dicts()
    return Game(seed, rules, entrant.bot.spec, GAME_INDEX, turns, result)


@cache
def _throws(kept: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The hands of four that throwing dice to those kept can make, and their chances."""
    thrown = DICE - len(kept)
    ways = Counter(
        HAND_INDEX[tuple(sorted(kept + faces))]
        for faces in product(range(1, SIDES + 1), repeat=thrown)
    )
    return np.array([*ways], np.int64), np.array([*ways.values()]) / SIDES**thrown


class _Critic:
    """Judges the decisions of a game by what one bot expects after them."""

    def __init__(self, bot: Bot, watch: Watch, rules: Rules) -> None:
        self._bot = bot
        self._rules = rules
        self._referee = Referee(bot, rules, watch)

    def regret(self, step: Step) -> Regret | None:
        """The regret of a decision; None if the bot would do no better.

        Raises:
            BotFault: if the bot does not do what a bot must.
            MagsimError: if it gives no estimates.
        """
        start = Position(step.board, step.dice, step.powers_left, self._rules)
        decisions, _ = self._ask(start.alone(_key(str(start))), step.turn)
        better = unpack_decision(int(decisions[0]), step.board, step.dice)
        made, best = (pack_decision(d, step.board, step.dice) for d in (step.decision, better))
        if made == best:
            return None
        regret = Regret(step, better, self._value(step, made), self._value(step, best))
        return regret if regret.cost > 0 else None

    def _value(self, step: Step, packed: int) -> float:
        """The final score to be expected after a decision, in points."""
        if packed < 0:
            power = unpack_decision(packed, step.board, step.dice)
            assert isinstance(power, Power)
            kept = law.power_dice(step.dice, power)
            return self._mean(step, step.board, step.powers_left - 1, kept, step.turn)
        if law.is_over(packed):
            used = self._rules.powers - step.powers_left
            return law.score(packed, self._rules, used).total
        return self._mean(step, packed, step.powers_left, (), step.turn + 1)

    def _mean(self, step: Step, board: int, left: int, kept: tuple[int, ...], turn: int) -> float:
        """What the bot expects on a board, on average over the dice thrown to those kept.

        Whatever was decided, the same hand gets the same key: what differs is then not by chance.
        """
        hands, chances = _throws(kept)
        start = Position(step.board, step.dice, step.powers_left, self._rules)
        keys = [_key(f"{start} {format_dice(HANDS[hand])}") for hand in hands]
        positions = Positions(
            np.full(len(hands), board, np.int64),
            hands,
            np.full(len(hands), left, np.int64),
            np.array(keys, np.uint64),
            self._rules,
        )
        _, estimates = self._ask(positions, turn)
        return float(chances @ estimates.astype(np.float64))

    def _ask(
        self, positions: Positions, turn: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        games = np.full(len(positions), GAME_INDEX, np.int64)
        decisions, estimates = self._referee.ask(positions, games, turn)
        if np.isnan(estimates).any():
            raise MagsimError(_NO_ESTIMATES.format(self._bot.spec))
        return decisions, estimates


def _exact_regret(rules: Rules, step: Step, bot: Bot, watch: Watch) -> Regret | None:
    """The regret of a decision by a bot that is ``exact``; None if nothing is worth more."""
    start = Position(step.board, step.dice, step.powers_left, rules)
    found = explain(Inquiry(GAME_INDEX, step.turn, start, _key(str(start))), bot, watch)
    worths: dict[int, float] = {}
    for option in found.options:
        if option.estimate is None:
            raise MagsimError(_NO_ESTIMATES.format(bot.spec))
        worths[pack_decision(option, step.board, step.dice)] = option.estimate
    best, made = found.options[0], pack_decision(step.decision, step.board, step.dice)
    if made not in worths:
        raise MagsimError(f"bot {bot.spec} leaves '{step.decision}' out of its ranking at {start}")
    regret = Regret(step, best, worths[made], max(worths.values()))
    return regret if regret.cost > 0 else None


def _regrets(rules: Rules, steps: Sequence[Step], bot: Bot, watch: Watch) -> list[Regret]:
    if bot.exact:
        regrets = [_exact_regret(rules, step, bot, watch) for step in steps]
    else:
        critic = _Critic(bot, watch, rules)
        regrets = [critic.regret(step) for step in steps]
    found = [regret for regret in regrets if regret is not None]
    return sorted(found, key=lambda regret: -regret.cost)


def regrets(rules: Rules, steps: Sequence[Step], entrant: Entrant, seconds: float) -> list[Regret]:
    """The decisions of a game at which a bot would have done better, the dearest first.

    What a decision is worth is the mean, over the dice thrown next, of what the bot then expects of
    the final score; of a last decision it is the score itself. A bot whose worths are exact gives
    them without any throws.

    Raises:
        BotFault: if the bot does not do what a bot must, within so many ``seconds`` an answer.
        MagsimError: if it gives no estimates.
    """
    work = partial(_regrets, rules, tuple(steps))
    return ask_apart(work, entrant.bot, entrant.source, rules, seconds)
