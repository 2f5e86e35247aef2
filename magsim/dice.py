"""Every die as a function of (seed, game index, turn, stream, k); keys of bots' own streams.

No state is kept, so that the roll of a turn is the same for every bot and every difficulty, and a
reroll never shifts a later turn. The simulator and ``verify`` use it; bots and the engine never do.

Dice come from the mixing function of ``mixing``, chained over the arguments. Bots' keys come from
BLAKE2b, which cannot be run backwards. (Bots run in the same process: who tries seeds one by one
against a key, or walks the interpreter's stack, is not stopped here.)
"""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from magsim.board import DICE, SIDES
from magsim.mixing import GOLDEN, Words, mix

ROLL_STREAM = 0

_UNBIASED = np.uint64(2**64 // SIDES * SIDES)


def _chain(words: Words, index: Words) -> Words:
    return mix(words + GOLDEN * (index + np.uint64(1)))


def faces(words: Words) -> NDArray[np.uint8]:
    """The die of each word, 1-6, exactly uniform: words past the last multiple of 6 are redrawn."""
    words = words.copy()
    while (biased := words >= _UNBIASED).any():
        words[biased] = mix(words[biased] + GOLDEN)
    return (words % np.uint64(SIDES)).astype(np.uint8) + np.uint8(1)


def dice(seed: int, games: Words, turn: int, stream: int) -> NDArray[np.uint8]:
    """The dice of one turn and stream, unsorted, for each game index; shape (len(games), 4).

    ``turn`` counts from 1. Stream ``ROLL_STREAM`` is the roll; the r-th reroll of a turn (r from 1)
    takes as many dice as it rerolls, from the left, of stream r.
    """
    words = _chain(mix(np.array([seed], np.uint64)), np.asarray(games, np.uint64))
    for index in (turn, stream):
        words = _chain(words, np.array([index], np.uint64))
    return faces(_chain(words[:, None], np.arange(DICE, dtype=np.uint64)[None, :]))


def rolls(seed: int, games: Words, turn: int) -> NDArray[np.uint8]:
    """The roll of ``turn`` for each game index, each ascending; shape (len(games), 4)."""
    return np.sort(dice(seed, games, turn, ROLL_STREAM), axis=1)


def bot_keys(seed: int, games: Words, bot: str) -> Words:
    """A key per game for the own randomness of the bot with this canonical spec."""
    start = blake2b(f"{seed} {bot} ".encode(), digest_size=8)
    keys = np.empty(len(games), np.uint64)
    for row, game in enumerate(games):
        state = start.copy()
        state.update(b"%d" % game)
        keys[row] = int.from_bytes(state.digest(), "little")
    return keys


def decision_keys(keys: Words, turn: int, step: int) -> Words:
    """The keys of the ``step``-th decision (from 0) of ``turn``, one for each game's key."""
    return _chain(_chain(keys, np.array([turn], np.uint64)), np.array([step], np.uint64))
