"""Whole games, records and all: run ``pytest -n 0 tests/bench/bench_simulate.py``."""

from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from magsim import records
from magsim.asking import Watch
from magsim.registry import load_bot
from magsim.rules import DIFFICULTIES
from magsim.simulate import play_games

GAMES = 1000


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
@pytest.mark.parametrize("bot", ["random", "greedy", "lookahead"])
def test_a_chunk_is_played_and_written(
    benchmark: BenchmarkFixture, tmp_path: Path, bot: str, difficulty: str
) -> None:
    """A chunk of a thousand games, played and written by one process."""
    rules, player, watch = DIFFICULTIES[difficulty], load_bot(bot), Watch(600)

    def chunk() -> None:
        played = play_games(player, rules, 1, 0, GAMES, watch)
        parts = records.encode_chunk(rules, played)
        records.write_chunk(tmp_path, bot, rules.name, (0, GAMES - 1), parts)

    benchmark.pedantic(chunk, rounds=5, warmup_rounds=1)
    benchmark.extra_info["games_per_second"] = GAMES / benchmark.stats.stats.median
