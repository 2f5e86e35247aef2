"""What a bot would decide at a turn of a recorded game, and which decisions it likes best there.

The bot runs in this process, with the key of its own randomness that it would have had in the run:
asked about a game of its own, it answers what it answered then.
"""

import time
from dataclasses import dataclass

import numpy as np

from magsim import dice
from magsim import rules as law
from magsim.asking import Asked
from magsim.bot import BadAnswer, Bot, pack_answer
from magsim.decision import Decision
from magsim.engine import HAND_INDEX
from magsim.errors import BotFault
from magsim.reading.replay import Game
from magsim.referee import describe, exception_words

OPTIONS = 5
"""How many decisions are shown."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a bot decides, and its best options, best first; none if it ranks none."""

    decision: Decision
    options: tuple[Decision, ...]


def explain(game: Game, turn: int, bot: Bot, count: int = OPTIONS) -> Explanation:
    """Ask a bot about the roll of a recorded turn, as it lay before any Power.

    Raises:
        MagsimError: if the game has no such turn.
        BotFault: if the bot raises, answers what is no legal decision, or contradicts itself.
    """
    position = game.turn(turn).start
    keys = dice.bot_keys(game.seed, np.array([game.index], np.uint64), bot.spec)
    key = int(dice.decision_keys(keys, turn, 0)[0])

    def fault(what: str) -> BotFault:
        hand, left = HAND_INDEX[position.dice], position.powers_left
        now = time.time_ns() // 1_000_000
        asked = Asked(game.index, turn, position.board, hand, left, 1, now)
        return BotFault(describe(bot.spec, game.rules, asked, what))

    try:
        bot.random.seed(key)
        decision = Bot.rank(bot, position, key, 1)[0]
        bot.random.seed(key)
        ranks = type(bot).rank is not Bot.rank
        options = tuple(bot.rank(position, key, count)) if ranks else ()
        packed = [pack_answer(option, position)[0] for option in (decision, *options)]
    except KeyboardInterrupt:
        raise
    except BadAnswer as error:
        raise fault(str(error)) from error
    except BaseException as error:  # an exit, too, is the bot's
        raise fault(f"raised {exception_words(error)}") from error
    for option in (decision, *options):
        try:
            law.check(position.board, position.dice, position.powers_left, option, game.rules)
        except law.IllegalDecision as error:
            raise fault(f"decided '{option}', which is illegal: {error}") from error
    if options and packed[0] != packed[1]:
        raise fault(f"decides '{decision}' and ranks '{options[0]}' first")
    return Explanation(decision, options)
