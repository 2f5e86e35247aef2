"""The tables of a run as a value: read from its folder, or played here and now."""

import copy
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from magsim import records
from magsim.asking import Watch
from magsim.bot import Bot
from magsim.errors import BotFault, MagsimError, first_line
from magsim.manifest import default_chunk, read_manifest
from magsim.notebook.games import Game, game_score
from magsim.reading.replay import chosen
from magsim.registry import canonical_spec, load_bot, options_of, reliance
from magsim.rules import Rules
from magsim.simulate import play_games as play_chunk
from magsim.variants import rules_of, whole_number

_MOST = {"games": (1, 2**32 - 1), "seed": (0, 2**64 - 1)}


class Run(NamedTuple):
    """The two tables of a run, lazily; ``magsim schema`` lists their columns.

    ``turns`` has a row a turn and ``games`` a row a game, both with the columns ``difficulty`` and
    ``bot`` first. They unpack: ``turns, games = run``.
    """

    turns: pl.LazyFrame
    games: pl.LazyFrame

    def game(self, index: int, bot: str | None = None, difficulty: str | None = None) -> Game:
        """The recorded game of an index; names may be left out where there is only one.

        Raises:
            MagsimError: if there is no such game, or there are several, naming what to choose from;
                or if the records cannot be read.
        """
        at = whole_number("game", index, 0, 2**32 - 1)
        try:
            return self._game(at, bot, difficulty)
        except records.READ_ERRORS as error:
            raise MagsimError(
                f"game {at}: the records cannot be read: {first_line(error)}"
            ) from error

    def _game(self, index: int, bot: str | None, difficulty: str | None) -> Game:
        found = self.games.filter(pl.col("game") == index).collect()
        if found.is_empty():
            last = self.games.select(pl.col("game").max()).collect().item()
            raise MagsimError(f"game {index} is not in the run, whose last one is game {last}")
        for what, wanted in (("difficulty", difficulty), ("bot", bot)):
            names = found[what].unique(maintain_order=True).to_list()
            found = found.filter(pl.col(what) == chosen(what, wanted, names, "{}=…"))
        row = found.row(0, named=True)
        same = (pl.col(name) == row[name] for name in ("difficulty", "bot", "game"))
        turns = self.turns.filter(*same).drop("difficulty", "bot", "game").collect()
        return Game(row["bot"], row["difficulty"], index, game_score(row), turns)


def load(run: str | Path) -> Run:
    """The tables of a run's folder as polars LazyFrames, for notebooks and scripts.

    Both have the columns ``difficulty`` and ``bot`` before those of the records.

    >>> import polars as pl
    >>> turns, games = load("results/example")
    >>> games.group_by("difficulty", "bot").agg(pl.len().alias("games")).collect().rows()
    [('nightmare', 'random', 2)]

    Raises:
        MagsimError: if the folder holds no run, or nothing has been played of it yet.
    """
    folder = Path(run)
    plan = read_manifest(folder)
    return Run(*(records.scan(folder, table, plan) for table in Run._fields))


def play_games(
    bot: str | Bot,
    games: int = 100,
    difficulty: str | Rules = "survival",
    seed: int = 1,
    **rule_values: int | Sequence[int],
) -> Run:
    """Play games of a bot here and now, and keep their records in memory.

    The rows are those of a tournament with the same seed. Nothing limits the time of a decision.
    The first games compile for about a minute, later ones do not.

    >>> run = play_games("random", games=2, difficulty="nightmare", ruin_penalty=20)
    >>> run.games.select("difficulty", "bot", "game").collect().rows()
    [('nightmare+ruin_penalty=20', 'random', 0), ('nightmare+ruin_penalty=20', 'random', 1)]

    Args:
        bot: a bot spec, such as ``"mcts:iterations=100"``; or an instance of a ``magsim.bot.Bot``,
            which is called by its class and its options unless it has a ``spec``.
        games: how many: the game indices from 0 to ``games`` - 1.
        difficulty: the name of one, or ``magsim.Rules``.
        seed: of all dice, from 0 to 2**64 - 1.
        rule_values: values of ``magsim.Rules`` to change: ``ruin_penalty=20``,
            ``power_costs=[30, 60]``.

    Raises:
        MagsimError: if an argument is not what it should be, or the bot is at fault.
    """
    count = whole_number("games", games, *_MOST["games"])
    dice_seed = whole_number("seed", seed, *_MOST["seed"])
    player = _player(bot)
    rules = rules_of(difficulty, rule_values, "play_games")
    reliance(player, rules)
    parts: dict[str, list[pl.DataFrame]] = {table: [] for table in Run._fields}
    watch = Watch(math.inf)
    try:
        size = default_chunk(count)
        for first in range(0, count, size):
            played = play_chunk(player, rules, dice_seed, first, min(size, count - first), watch)
            parts["turns"].append(records.turns_frame(played.turns))
            parts["games"].append(records.games_frame(played.games, rules))
    except BotFault as fault:
        if isinstance(fault.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None  # of whoever sits at the notebook, no fault of a bot
        raise
    finally:
        watch.close()
    names = pl.lit(rules.name).alias("difficulty"), pl.lit(player.spec).alias("bot")
    return Run(*(pl.concat(parts[table]).lazy().select(*names, pl.all()) for table in Run._fields))


def _player(bot: str | Bot) -> Bot:
    """The bot, with a spec.

    Raises:
        MagsimError: if it is none.
    """
    if isinstance(bot, str):
        return load_bot(bot)
    if isinstance(bot, type) and issubclass(bot, Bot):
        raise MagsimError(f"bot {bot.__name__} is a class: give an instance, {bot.__name__}()")
    if not isinstance(bot, Bot):
        raise MagsimError(f"bot {bot!r}: give a bot spec or an instance of a magsim.bot.Bot")
    if bot.spec:
        return bot
    named = copy.copy(bot)
    kind = type(bot)
    chosen = {entry.name: getattr(bot, entry.name) for entry in options_of(kind)}
    named.spec = canonical_spec(kind.__name__, kind, chosen)  # type: ignore[misc]  # of the class, lest it be an option
    return named
