"""Every die as a function of (seed, game, turn, stream, k): fair, independent, and fixed for ever.

Seeds are fixed, so each test passes always or never. A chi-square statistic is compared with its
99.9 % quantile by the formula of Wilson and Hilferty (1931): df (1 - 2/(9 df) + z sqrt(2/(9 df)))^3
with z = 3.0902, the 99.9 % quantile of the normal distribution.
"""

from hashlib import blake2b
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from magsim import dice
from magsim.dice import ROLL_STREAM, bot_keys, decision_keys, faces, rolls

GAMES = np.arange(40_000, dtype=np.uint64)
SEED = 7
GOLDEN = 0x9E3779B97F4A7C15
MASK = 2**64 - 1
LAST_MULTIPLE = 2**64 // 6 * 6


def critical(df: int) -> float:
    """The 99.9 % quantile of chi-square with ``df`` degrees of freedom, after Wilson-Hilferty."""
    z = 3.0902
    return df * (1 - 2 / (9 * df) + z * (2 / (9 * df)) ** 0.5) ** 3


def chi_square(values: NDArray[np.integer], kinds: int) -> float:
    """The statistic of values 0 to ``kinds`` - 1 against all being equally likely."""
    observed = np.bincount(values.ravel(), minlength=kinds)
    assert len(observed) == kinds
    expected = values.size / kinds
    assert expected > 5
    return float(((observed - expected) ** 2 / expected).sum())


def pair(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.int64]:
    """A pair of dice as a number from 0 to 35."""
    return (one.astype(np.int64) - 1) * 6 + other - 1


def test_the_critical_values_are_those_of_tables():
    """A little above them, least so where there are many degrees of freedom."""
    assert critical(5) == pytest.approx(20.515, rel=0.012)
    assert critical(35) == pytest.approx(66.619, rel=0.002)
    assert critical(100) == pytest.approx(149.449, rel=0.001)


def test_unfair_dice_would_be_found():
    """A die that shows six in 17.2 % instead of 16.7 % of its throws fails the test of faces."""
    fair = dice.dice(SEED, GAMES, 1, ROLL_STREAM) - 1
    loaded = np.where((np.arange(fair.size).reshape(fair.shape) % 160 == 0), 5, fair)
    assert chi_square(loaded, 6) > critical(5)


# Fair.


@pytest.mark.parametrize("seed", [0, 1, SEED, 2**64 - 1])
@pytest.mark.parametrize("turn", [1, 9])
def test_faces_are_equally_likely(seed, turn):
    assert chi_square(dice.dice(seed, GAMES, turn, ROLL_STREAM) - 1, 6) < critical(5)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("stream", [ROLL_STREAM, 1, 3])
def test_faces_are_equally_likely_in_every_place(place, stream):
    thrown = np.concatenate([dice.dice(SEED, GAMES, turn, stream)[:, place] for turn in (1, 2, 5)])
    assert chi_square(thrown - 1, 6) < critical(5)


@pytest.mark.parametrize("turn", [1, 2, 8])
def test_all_1296_ordered_rolls_are_equally_likely(turn):
    thrown = dice.dice(SEED, GAMES, turn, ROLL_STREAM).astype(np.int64) - 1
    assert chi_square(thrown @ [216, 36, 6, 1], 6**4) < critical(6**4 - 1)


# Independent.


@pytest.mark.parametrize(("one", "other"), [*combinations(range(4), 2)])
def test_the_dice_of_a_roll_are_independent(one, other):
    thrown = dice.dice(SEED, GAMES, 1, ROLL_STREAM)
    assert chi_square(pair(thrown[:, one], thrown[:, other]), 36) < critical(35)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((SEED, 0, 1, 0), (SEED, 0, 2, 0)),  # the next turn
        ((SEED, 0, 1, 0), (SEED, 0, 1, 1)),  # a reroll
        ((SEED, 0, 1, 1), (SEED, 0, 1, 2)),  # another reroll
        ((SEED, 0, 2, 0), (SEED, 0, 1, 1)),  # a reroll and the next turn
        ((SEED, 0, 1, 0), (SEED, 1, 1, 0)),  # the next game
        ((SEED, 0, 1, 0), (SEED + 1, 0, 1, 0)),  # the next seed
        ((SEED, 1, 1, 0), (SEED + 1, 0, 1, 0)),  # the next seed, a game before
    ],
)
def test_dice_of_different_places_in_a_run_are_independent(one, other, place):
    def thrown(seed: int, later: int, turn: int, stream: int) -> NDArray[np.uint8]:
        return dice.dice(seed, GAMES + np.uint64(later), turn, stream)[:, place]

    assert chi_square(pair(thrown(*one), thrown(*other)), 36) < critical(35)


@pytest.mark.parametrize("place", range(3))
def test_a_die_is_independent_of_the_next_place_in_the_next_turn(place):
    one, other = dice.dice(SEED, GAMES, 1, 0)[:, place + 1], dice.dice(SEED, GAMES, 2, 0)[:, place]
    assert chi_square(pair(one, other), 36) < critical(35)


def test_no_two_throws_of_a_small_run_come_from_one_word():
    """20 games, 16 turns, 4 streams: 1280 throws, of which 1296 kinds; equal ones are by chance."""
    thrown = np.concatenate(
        [dice.dice(SEED, GAMES[:20], turn, stream) for turn in range(1, 17) for stream in range(4)]
    )
    kinds = len(np.unique(thrown.astype(np.int64) @ [216, 36, 6, 1]))
    assert 760 < kinds < 860  # 1296 (1 - exp(-1280 / 1296)) = 813, give or take three deviations


# Fixed for ever.


def mix(word: int) -> int:
    """SplitMix64's finaliser in Python's own integers, after the paper that ``mixing`` names."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK
    return word ^ word >> 31


def one_die(seed: int, game: int, turn: int, stream: int, k: int) -> int:
    word = mix(seed)
    for index in (game, turn, stream, k):
        word = mix(word + GOLDEN * (index + 1) & MASK)
    while word >= LAST_MULTIPLE:
        word = mix(word + GOLDEN & MASK)
    return word % 6 + 1


seeds = st.integers(0, MASK)


@given(seeds, st.integers(0, 2**32), st.integers(1, 40), st.integers(0, 9))
def test_dice_are_a_chain_of_splitmix64(seed, game, turn, stream):
    thrown = dice.dice(seed, np.array([game], np.uint64), turn, stream)
    assert thrown.tolist() == [[one_die(seed, game, turn, stream, k) for k in range(4)]]


def test_these_dice_never_change():
    """Whoever changes one of these numbers changes the records of every seed."""
    games = np.array([0, 1, 2, 999_999], np.uint64)
    assert dice.dice(1, games, 1, ROLL_STREAM).tolist() == [
        [3, 4, 5, 6],
        [3, 5, 3, 1],
        [2, 1, 5, 2],
        [6, 4, 5, 1],
    ]
    assert dice.dice(1, games, 2, 1).tolist() == [
        [5, 2, 3, 2],
        [6, 4, 3, 6],
        [3, 6, 3, 5],
        [1, 3, 4, 6],
    ]
    assert dice.dice(2**64 - 1, games, 16, ROLL_STREAM).tolist() == [
        [2, 5, 6, 6],
        [4, 2, 1, 2],
        [4, 3, 4, 1],
        [6, 6, 1, 5],
    ]


def test_these_keys_never_change():
    keys = bot_keys(1, np.array([0, 1], np.uint64), "mcts:iterations=500")
    assert [hex(key) for key in keys] == ["0xd888cfed26077556", "0x4b55d4d4b397291c"]
    assert [hex(key) for key in decision_keys(keys, 3, 1)] == [
        "0xd629d56d025cde2d",
        "0x2ef2010597dcb7b2",
    ]


@given(seeds, st.integers(1, 40), st.lists(st.integers(0, 2**32), min_size=1, max_size=9))
def test_a_game_has_its_dice_whatever_games_are_asked_with_it(seed, turn, games):
    together = dice.dice(seed, np.array(games, np.uint64), turn, 0)
    alone = [dice.dice(seed, np.array([game], np.uint64), turn, 0)[0] for game in games]
    assert together.tolist() == np.array(alone).tolist()


@given(seeds, st.integers(1, 40))
def test_a_roll_is_its_dice_in_ascending_order(seed, turn):
    games = GAMES[:50]
    lawful = [sorted(row) for row in dice.dice(seed, games, turn, ROLL_STREAM).tolist()]
    assert rolls(seed, games, turn).tolist() == lawful


# Exactly uniform.


def test_words_past_the_last_multiple_of_6_are_drawn_again():
    """2**64 leaves a remainder of 4 by 6: the four largest words would favour 1 to 4."""
    assert LAST_MULTIPLE == 2**64 - 4
    for word in range(2**64 - 4, 2**64):
        again = mix(word + GOLDEN & MASK)
        assert again < LAST_MULTIPLE
        assert faces(np.array([word], np.uint64)) == again % 6 + 1


def test_the_last_words_before_are_kept():
    words = [*range(12), *range(LAST_MULTIPLE - 6, LAST_MULTIPLE)]
    assert faces(np.array(words, np.uint64)).tolist() == [1, 2, 3, 4, 5, 6] * 3


def test_drawing_again_touches_no_other_word_and_not_the_argument():
    words = np.array([[5, 2**64 - 1], [6, 7]], np.uint64)
    before = words.copy()
    assert faces(words)[:, 0].tolist() == [6, 1]
    assert faces(words)[1].tolist() == [1, 2]
    assert (words == before).all()


def test_a_word_may_be_drawn_again_twice(monkeypatch):
    """No word is known that needs it; so here the mixing is one that only counts up."""
    monkeypatch.setattr(dice, "mix", lambda words: words - dice.GOLDEN + np.uint64(1))
    assert faces(np.array([2**64 - 3], np.uint64)).tolist() == [1]


# Keys of bots.

SOME = np.arange(2000, dtype=np.uint64)


def test_keys_differ_by_seed_game_and_bot():
    asked = [(seed, bot) for seed, bot in product((0, 1, 2**64 - 1), ("mcts", "mcts:width=3", "m"))]
    keys = np.concatenate([bot_keys(seed, SOME, bot) for seed, bot in asked])
    assert len(np.unique(keys)) == len(keys)


def test_a_key_does_not_depend_on_the_games_asked_with_it():
    assert (bot_keys(5, SOME, "mcts")[100:] == bot_keys(5, SOME[100:], "mcts")).all()


def test_a_key_comes_from_blake2b():
    """Which cannot be run backwards: no bot finds the seed in its key."""
    text = blake2b(b"5 mcts:width=3 17", digest_size=8).digest()
    assert bot_keys(5, SOME[17:18], "mcts:width=3") == int.from_bytes(text, "little")


def test_seed_bot_and_game_do_not_run_into_each_other():
    """Seed 1 and bot "1 2" against seed 11 and the like."""
    spelled = [(1, "1 2"), (11, " 2"), (1, "1 "), (1, "1"), (11, "")]
    keys = [int(bot_keys(seed, SOME[:1], bot)[0]) for seed, bot in spelled]
    assert len(set(keys)) == len(keys)


def test_decision_keys_differ_by_game_turn_and_step():
    keys = bot_keys(5, SOME[:100], "mcts")
    asked = [(turn, step) for turn in range(1, 17) for step in range(4)]
    found = np.concatenate([keys, *(decision_keys(keys, turn, step) for turn, step in asked)])
    assert len(np.unique(found)) == len(found)


def test_decision_keys_are_those_of_each_game():
    keys = bot_keys(5, SOME[:100], "mcts")
    assert (decision_keys(keys[40:50], 3, 1) == decision_keys(keys, 3, 1)[40:50]).all()


@pytest.mark.parametrize("bit", range(0, 64, 7))
def test_every_bit_of_a_key_is_a_coin(bit):
    keys = decision_keys(bot_keys(5, GAMES[:4000], "mcts"), 1, 0)
    assert chi_square((keys >> np.uint64(bit) & np.uint64(1)).astype(np.int64), 2) < critical(1)
