"""A bot's own random numbers in compiled code.

``test_no_jit.py`` runs this file, too.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from magsim import engine

GOLDEN = 0x9E3779B97F4A7C15
MASK = 2**64 - 1


def mix(word: int) -> int:
    """SplitMix64's finaliser in Python's own integers, after the paper that ``mixing`` names."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK
    return word ^ word >> 31


@given(st.integers(0, MASK), st.integers(0, 1000))
def test_random_words_are_those_of_splitmix64(key, k):
    word = engine.random_word(np.uint64(key), k)
    assert int(word) == mix(key + (k + 1) * GOLDEN & MASK)


@given(st.integers(0, MASK), st.integers(0, 1000), st.integers(1, 2**63 - 1))
def test_random_below_takes_the_first_word_under_the_last_multiple(key, k, n):
    """So all n are equally likely, even where n is no small part of 2**64."""
    word = mix(key + (k + 1) * GOLDEN & MASK)
    while word >= MASK // n * n:
        word = mix(word + GOLDEN & MASK)
    assert engine.random_below(np.uint64(key), k, n) == word % n


def test_random_below_draws_again_where_a_quarter_of_the_words_are_too_large():
    n = 3 << 61
    redrawn = [key for key in range(100) if mix(key + GOLDEN) >= 2 * n]
    assert 10 < len(redrawn) < 40
    assert all(0 <= engine.random_below(np.uint64(key), 0, n) < n for key in redrawn)


def unmix(word: int) -> int:
    """The word that ``mix`` makes this of."""
    word ^= word >> 31 ^ word >> 62
    word = word * pow(0x94D049BB133111EB, -1, 2**64) & MASK
    word ^= word >> 27 ^ word >> 54
    word = word * pow(0xBF58476D1CE4E5B9, -1, 2**64) & MASK
    return word ^ word >> 30 ^ word >> 60


@pytest.mark.parametrize("n", [3, 6, 7, 100])
def test_random_below_draws_again_from_the_last_multiple_on_and_not_before(n):
    def below(word: int) -> int:
        return engine.random_below(np.uint64(unmix(word) - GOLDEN & MASK), 0, n)

    multiple = MASK // n * n
    assert below(multiple - 1) == n - 1
    assert below(multiple) == mix(multiple + GOLDEN & MASK) % n


def test_random_below_one_is_nought():
    assert {engine.random_below(np.uint64(key), 0, 1) for key in range(20)} == {0}
