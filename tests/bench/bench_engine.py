"""How fast the engine lists outcomes in the middle of a game.

Run by hand: ``pytest -n 0 tests/bench/bench_engine.py``. It prints the figure,
``outcomes_per_second``, which ``--benchmark-json=FILE`` keeps as extra information: that of the
fastest round, since other work on the machine can only slow a round down.
"""

from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture
from reachable import random_board, random_roll

from magsim import engine
from magsim.board import empty_cells
from magsim.bot import rule_values
from magsim.compiled import kernel
from magsim.engine import HAND_INDEX, RuleValues
from magsim.rules import NIGHTMARE, PEACEFUL, Rules

POSITIONS = 500
EMPTY = range(5, 10)
"""Empty cells of a board in the middle of a game."""


@kernel
def list_outcomes(
    boards: NDArray[np.int64],
    hands: NDArray[np.int64],
    values: RuleValues,
    found: NDArray[np.int64],
) -> int:
    """How many outcomes all positions have; each list is written over the last."""
    total = 0
    for row in range(len(boards)):
        total += engine.outcomes(boards[row], hands[row], values, len(found), found)
    return total


def middle_positions(rules: Rules) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same boards and hands at each call, as many of each number of empty cells."""
    random = Random(1)
    boards: list[int] = []
    hands: list[int] = []
    while len(boards) < POSITIONS:
        wanted = EMPTY[len(boards) % len(EMPTY)]
        board = random_board(rules, random, most_empty=wanted)
        if len(empty_cells(board)) == wanted:
            boards.append(board)
            hands.append(HAND_INDEX[random_roll(random)])
    return np.array(boards), np.array(hands)


@pytest.mark.parametrize("rules", [PEACEFUL, NIGHTMARE], ids=["two_dice", "three_dice"])
def test_outcomes_in_the_middle_of_a_game(
    rules: Rules, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    boards, hands = middle_positions(rules)
    values = rule_values(rules)
    found = np.empty(engine.MAX_OUTCOMES, np.int64)
    total = list_outcomes(boards, hands, values, found)  # compiles
    assert benchmark(list_outcomes, boards, hands, values, found) == total
    benchmark.extra_info["positions"] = POSITIONS
    benchmark.extra_info["outcomes"] = total
    speed = round(total / benchmark.stats.stats.min)
    benchmark.extra_info["outcomes_per_second"] = speed
    with capsys.disabled():
        print(f"\n{rules.name}: {speed:,} outcomes per second ({total:,} of {POSITIONS} positions)")
