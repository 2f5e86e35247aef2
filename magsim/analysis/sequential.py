"""When to stop: sequential procedures for the mean of paired differences, looked at as they come.

``Until`` goes on until the interval of the mean is as narrow as wanted. When to stop depends on the
spread of the differences alone, so that the interval at the end keeps its level as it gets narrower
(Chow and Robbins, "On the asymptotic theory of fixed-width sequential confidence intervals for the
mean", Annals of Mathematical Statistics 36, 1965).

``Sprt`` is the sequential probability ratio test of two means (Wald, "Sequential tests of
statistical hypotheses", Annals of Mathematical Statistics 16, 1945) with the spread estimated from
the same differences (Cox, "Large sample sequential tests for composite hypotheses", Sankhya A 25,
1963).

Both hold for many differences; therefore none stops before ``FIRST`` games.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from magsim.analysis.intervals import Mean

FIRST = 500
"""Games before the first look."""
STEP = 250
"""Looks are at whole multiples of so many games."""
GROWTH = 1.1
"""Each look has so many times the games of the one before, at least."""
ERROR = 0.05
"""The chance of either wrong answer of ``Sprt``."""
BOUND = math.log((1 - ERROR) / ERROR)


def looks(most: int) -> Iterator[int]:
    """The games at each look, ``most`` at the last."""
    games = FIRST
    while games < most:
        yield games
        grown = math.ceil(games * GROWTH / STEP) * STEP
        games = max(games + STEP, grown)
    yield most


@dataclass(frozen=True, slots=True)
class Until:
    """Stop when the interval of the mean is at most ``half_width`` points to either side."""

    half_width: float

    def is_enough(self, mean: Mean) -> bool:
        """Whether to stop."""
        return mean.half_width is not None and mean.half_width <= self.half_width

    def state(self, mean: Mean) -> str:  # noqa: ARG002 - the mean says so by itself
        """How far it is, in words."""
        return f"until ± {self.half_width:g}"


@dataclass(frozen=True, slots=True)
class Sprt:
    """Stop when the mean is told to be ``low`` or ``high`` points rather than the other."""

    low: float
    high: float

    def ratio(self, mean: Mean) -> float:
        """The logarithm of the likelihood ratio of ``high`` against ``low``."""
        if mean.mean is None or mean.deviation is None:
            return 0.0
        lead = mean.mean - (self.low + self.high) / 2
        if mean.deviation == 0:
            return math.copysign(math.inf, lead) if lead else 0.0
        return mean.n * (self.high - self.low) * lead / mean.deviation**2

    def is_enough(self, mean: Mean) -> bool:
        """Whether to stop."""
        return abs(self.ratio(mean)) >= BOUND

    def state(self, mean: Mean) -> str:
        """How far it is, in words."""
        return f"log-likelihood ratio {self.ratio(mean):+.2f} of ± {BOUND:.2f}"


Rule = Until | Sprt
