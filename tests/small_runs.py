"""Small runs made in this process, with plain bots under any name."""

from collections.abc import Iterable
from pathlib import Path

from magsim import records
from magsim.asking import Watch
from magsim.bot import Bot
from magsim.manifest import Plan, write_manifest
from magsim.rules import DIFFICULTIES, Rules
from magsim.simulate import Played, PowerFirst, play_games


def write(run: Path, bot: str, rules: Rules, played: Played) -> None:
    """Write a chunk that was played in this process."""
    games = int(played.games.game[0]), int(played.games.game[-1])
    records.write_chunk(run, bot, rules.name, games, records.encode_chunk(rules, played))


def make_run(
    run: Path,
    watch: Watch,
    games: dict[str, int],
    rules: Iterable[Rules] = DIFFICULTIES.values(),
    bots: dict[str, Bot] | None = None,
    chunk: int = 5,
) -> Path:
    """A run in which each bot played so many games; bots not given are ``PowerFirst``."""
    plan = Plan(1, max(games.values()), chunk, dict.fromkeys(games, "1"), tuple(rules))
    write_manifest(run, plan)
    for at in plan.rules:
        for name, count in games.items():
            bot = (bots or {}).get(name) or PowerFirst()
            for first in range(0, count, chunk):
                played = play_games(bot, at, 1, first, min(chunk, count - first), watch)
                write(run, name, at, played)
    return run
