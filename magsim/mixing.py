"""One mixing function for all counter-based randomness: of the dice, and of bots' own streams.

It is SplitMix64's finaliser (Steele, Lea, Flood: "Fast splittable pseudorandom number generators",
OOPSLA 2014), written so that it serves arrays as it stands and single words once compiled.
"""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix(words: Words) -> Words:
    """SplitMix64's finaliser, a bijection of 64-bit words in which every bit depends on all."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
