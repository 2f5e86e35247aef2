"""Sequential procedures: their looks, and their levels by simulation."""

import math
from itertools import pairwise

import numpy as np
import pytest

from magsim.analysis.intervals import mean_of_sums
from magsim.analysis.sequential import ERROR, FIRST, STEP, Rule, Sprt, Until, looks

SPREAD = 60.0
"""The deviation of the differences of two like bots, in points; roughly as seen."""


def draw(chance: np.random.Generator, mean: float, count: int) -> np.ndarray:
    """Differences as games have them: most are nothing, the others far apart, to one side more."""
    hit = chance.random(count) < 0.3
    wide = chance.gamma(2.0, 1.0, count) - 2.0
    return mean + SPREAD * hit * wide


def run(rule: Rule, values: np.ndarray) -> tuple[int, float, float]:
    """The games at the stop, the mean and the half width."""
    sums, squares = values.cumsum(), (values * values).cumsum()
    for games in looks(len(values)):
        mean = mean_of_sums(games, sums[games - 1], squares[games - 1])
        if rule.is_enough(mean) or games == len(values):
            assert mean.mean is not None
            assert mean.half_width is not None
            return games, mean.mean, mean.half_width
    raise AssertionError


def test_looks_are_at_whole_parts_and_never_far_apart() -> None:
    every = list(looks(100_000))
    assert every[0] == FIRST
    assert every[-1] == 100_000
    assert all(games % STEP == 0 for games in every)
    assert all(STEP <= after - games <= 0.11 * games + STEP for games, after in pairwise(every))
    assert list(looks(250)) == [250]


@pytest.mark.parametrize("half_width", [2.0, 4.0])
def test_the_interval_at_the_stop_keeps_its_level(half_width: float) -> None:
    chance, missed, count = np.random.default_rng(1), 0, 600
    for _ in range(count):
        games, mean, width = run(Until(half_width), draw(chance, 3.0, 20_000))
        assert width <= half_width or games == 20_000
        missed += abs(mean - 3.0) > width
    assert missed / count < 0.05 + 3 * math.sqrt(0.05 * 0.95 / count)


@pytest.mark.parametrize("truth", [0.0, 3.0])
def test_the_sequential_test_errs_no_more_often_than_it_says(truth: float) -> None:
    chance, wrong, count, taken = np.random.default_rng(2), 0, 600, []
    test = Sprt(0.0, 3.0)
    for _ in range(count):
        games, mean, _ = run(test, draw(chance, truth, 60_000))
        wrong += (mean > 1.5) != (truth > 1.5)
        taken.append(games)
    assert wrong / count < ERROR + 3 * math.sqrt(ERROR * (1 - ERROR) / count)
    fixed = ((1.6449 + 1.6449) * SPREAD * math.sqrt(0.6) / 3.0) ** 2
    assert np.mean(taken) < fixed, "it is to need fewer games than a test of fixed length"


def test_bots_that_differ_in_nothing_are_told_at_once() -> None:
    test = Sprt(0.0, 2.0)
    assert run(test, np.zeros(10_000)) == (FIRST, 0.0, 0.0)
    assert test.ratio(mean_of_sums(500, 0, 0)) == -math.inf
