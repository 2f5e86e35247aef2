"""What a bot would decide at a turn of a recorded game, and which decisions it likes best there.

The bot is asked with the key of its own randomness that it would have had in the run: about a game
of its own, it answers what it answered then. It runs in a process apart, as in a tournament.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np
from joblib import delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from magsim import dice
from magsim import rules as law
from magsim.asking import Asked, TimeUp, Watch, read_note
from magsim.bot import BadAnswer, Bot, Position, pack_answer
from magsim.decision import Decision
from magsim.engine import HAND_INDEX
from magsim.errors import BotFault
from magsim.pool import parallel, stop_workers
from magsim.reading.replay import Game
from magsim.referee import describe, exception_words
from magsim.registry import load_bot

OPTIONS = 5
"""How many decisions are shown."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a bot decides, and its best options, best first; none if it ranks none."""

    decision: Decision
    options: tuple[Decision, ...]


def _asked(game: Game, turn: int, position: Position) -> Asked:
    hand, now = HAND_INDEX[position.dice], time.time_ns() // 1_000_000
    return Asked(game.index, turn, position.board, hand, position.powers_left, 1, now)


def explain(game: Game, turn: int, bot: Bot, watch: Watch, count: int = OPTIONS) -> Explanation:
    """Ask a bot about the roll of a recorded turn, as it lay before any Power.

    Raises:
        MagsimError: if the game has no such turn.
        BotFault: if the bot raises, takes too long, answers what is no legal decision, names an
            option twice, or contradicts itself.
    """
    position = game.turn(turn).start
    keys = dice.bot_keys(game.seed, np.array([game.index], np.uint64), bot.spec)
    key = int(dice.decision_keys(keys, turn, 0)[0])

    def fault(what: str) -> BotFault:
        return BotFault(describe(bot.spec, game.rules, _asked(game, turn, position), what))

    def ask(work: Callable[[], Result]) -> Result:
        bot.random.seed(key)
        try:
            with watch.within(_asked(game, turn, position), loading=bot.compiled):
                return work()
        finally:
            watch.disarm()

    try:
        decision = ask(lambda: Bot.rank(bot, position, key, 1))[0]
        options: tuple[Decision, ...] = ()
        if type(bot).rank is not Bot.rank:
            options = ask(lambda: tuple(islice(bot.rank(position, key, count), count)))
        packed = [pack_answer(option, position)[0] for option in (decision, *options)]
    except TimeUp:
        raise fault(f"gave no answer within {watch.seconds:g} s") from None
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
    for place, option in enumerate(options, 1):
        if packed[place] in packed[1:place]:
            raise fault(f"ranks '{option}' twice")
    return Explanation(decision, options)


def _explain_here(game: Game, turn: int, source: str, seconds: float, note: Path) -> Explanation:
    watch = Watch(seconds, note)
    try:
        return explain(game, turn, load_bot(source), watch)
    finally:
        watch.close()


def explain_apart(game: Game, turn: int, bot: Bot, source: str, seconds: float) -> Explanation:
    """Ask a bot as ``explain`` does, in a process that it may hang or take down.

    ``source`` is the spec that loads the bot anywhere on this machine.

    Raises:
        MagsimError: if the game has no such turn.
        BotFault: if the bot does not do what a bot must, within so many ``seconds`` an answer.
    """
    with TemporaryDirectory() as folder:
        note = Path(folder) / "asked"
        try:
            task = delayed(_explain_here)(game, turn, source, seconds, note)
            found: list[Explanation] = list(parallel(1)([task]))
        except TerminatedWorkerError:
            asked = read_note(note)
            what = "took its process down"
            if asked and time.time() - asked.at / 1000 >= seconds:
                what = f"gave no answer within {seconds:g} s and could not be interrupted"
            asked = asked or _asked(game, turn, game.turn(turn).start)
            raise BotFault(describe(bot.spec, game.rules, asked, what)) from None
        finally:
            stop_workers()
    return found[0]
