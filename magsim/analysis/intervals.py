"""Intervals in plain arithmetic, from sums: means, shares, ratios, quantiles, jackknife.

All are 95 % intervals unless told. Sums are whole numbers where the records are, so that an
estimate does not depend on the order in which parts are read.

Sources: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7 (Student's t); Wilson,
JASA 22 (1927) (shares); Cochran, Sampling Techniques, 1977, chapter 6 (ratios over clusters);
Efron and Tibshirani, An Introduction to the Bootstrap, 1993 (percentiles).
"""

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
RESAMPLES = 1000
BEYOND = 10
"""Values expected beyond a quantile for the bootstrap to hold what it promises."""
_EXACT_DF = 300

Interval = tuple[float | None, float | None]
"""Lower and upper end; None where there is too little to say."""


def t_distribution(t: float, df: int) -> float:
    """Student's distribution function for whole ``df`` >= 1, a finite sum (A&S 26.7.3, 26.7.4)."""
    angle = math.atan2(t, math.sqrt(df))
    cosine, sine = math.cos(angle), math.sin(angle)
    total, term = 0.0, cosine if df % 2 else 1.0
    for k in range(2 + df % 2, df + 1, 2):
        total += term
        term *= cosine * cosine * (k - 1) / k
    if df % 2:
        return 0.5 + (angle + sine * total) / math.pi
    return 0.5 + sine * total / 2


@cache
def t_quantile(df: int, level: float = LEVEL) -> float:
    """What Student's t with ``df`` >= 1 degrees of freedom stays within, at a two-sided level.

    By bisection of the distribution, or for many degrees by its expansion in 1/df (A&S 26.7.5).
    """
    share = (1 + level) / 2
    if df <= _EXACT_DF:
        low, high = 0.0, 1.0
        while t_distribution(high, df) < share:
            high *= 2
        while high - low > 1e-12 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if t_distribution(middle, df) < share else (low, middle)
        return (low + high) / 2
    z = NormalDist().inv_cdf(share)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / df + second / df**2 + third / df**3


def half_width(deviation: float | None, n: int, level: float = LEVEL) -> float | None:
    """Half the width of the interval of a mean of ``n`` values; None where n < 2."""
    if n < 2 or deviation is None:
        return None
    return t_quantile(n - 1, level) * deviation / math.sqrt(n)


def digits_for(half_width: float | None, least: int) -> int:
    """Digits with which a value and its half width are written: as many as show it, up to four."""
    if half_width is None or half_width >= 0.1:
        return least
    digits = 2
    while digits < 4 and 0 < half_width < 0.5 * 10**-digits:
        digits += 1
    return digits


class Mean(NamedTuple):
    """A mean of ``n`` values with the half width of its interval (None where n < 2)."""

    n: int
    mean: float | None
    half_width: float | None
    deviation: float | None


def mean_of_sums(n: int, total: float, squares: float, level: float = LEVEL) -> Mean:
    """The mean of ``n`` values from their sum and the sum of their squares."""
    if n == 0:
        return Mean(0, None, None, None)
    mean = total / n
    if n == 1:
        return Mean(1, mean, None, None)
    # Whole sums stay whole up to the division, lest large values cancel their small spread.
    deviation = math.sqrt(max(0, n * squares - total * total) / (n * (n - 1)))
    return Mean(n, mean, half_width(deviation, n, level), deviation)


def difference_of_means(one: Mean, other: Mean) -> tuple[float | None, float | None]:
    """Mean of ``one`` minus mean of ``other``, independent of each other, and its half width.

    Welch's degrees of freedom, rounded down.
    """
    if one.mean is None or other.mean is None:
        return None, None
    difference = one.mean - other.mean
    if one.deviation is None or other.deviation is None:
        return difference, None
    errors = [mean.deviation**2 / mean.n for mean in (one, other) if mean.deviation is not None]
    total = sum(errors)
    if total == 0:
        return difference, 0.0
    weights = sum(e * e / (m.n - 1) for e, m in zip(errors, (one, other), strict=True))
    df = max(1, math.floor(total * total / weights))
    return difference, t_quantile(df) * math.sqrt(total)


def share_interval(count: int, n: int) -> Interval:
    """Wilson's interval of a share ``count`` / ``n`` of independent yes-or-no values."""
    if n == 0:
        return None, None
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    share, spread = count / n, z * z / n
    middle = (share + spread / 2) / (1 + spread)
    width = z / (1 + spread) * math.sqrt(share * (1 - share) / n + spread / (4 * n))
    low = 0.0 if count == 0 else max(0.0, middle - width)
    high = 1.0 if count == n else min(1.0, middle + width)
    return low, high


def ratio_of_sums(
    n: int, y: float, x: float, yy: float, xy: float, xx: float
) -> tuple[float | None, float | None]:
    """A ratio of two totals over ``n`` games, sum of y by sum of x, and its half width.

    The games are independent of each other; what happens within a game is not (Cochran 6.4).
    """
    if x == 0:
        return None, None
    ratio = y / x
    if n < 2:
        return ratio, None
    residual = max(0, yy * x * x - 2 * xy * x * y + xx * y * y) / (x * x * (n - 1))
    return ratio, t_quantile(n - 1) * math.sqrt(n * residual) / abs(x)


def quantile(values: Sequence[int], counts: Sequence[int], share: float) -> float:
    """A quantile of values given ascending with their counts, linear between order statistics."""
    total = np.cumsum(np.asarray(counts, np.int64))
    place = share * (int(total[-1]) - 1)
    low, high = math.floor(place), math.ceil(place)
    first, second = (int(np.searchsorted(total, k, side="right")) for k in (low, high))
    return values[first] + (place - low) * (values[second] - values[first])


def quantile_intervals(
    values: Sequence[int], counts: Sequence[int], shares: Sequence[float]
) -> list[Interval]:
    """Bootstrap percentile intervals of quantiles of independent values given with their counts.

    Resampling n values with replacement is one multinomial draw of the counts. The draws are
    seeded: the same counts have the same intervals. Where fewer than ``BEYOND`` values are expected
    beyond a quantile, the bootstrap cannot tell, and there is none.
    """
    n = int(sum(counts))
    if n < 2:
        return [(None, None)] * len(shares)
    random = np.random.Generator(np.random.PCG64(20_240_607))
    table: NDArray[np.int64] = np.asarray(values, np.int64)
    drawn = np.cumsum(random.multinomial(n, np.asarray(counts) / n, size=RESAMPLES), axis=1)
    found: list[Interval] = []
    for share in shares:
        if round(min(share, 1 - share) * n, 6) < BEYOND:  # 1 - 0.9 is a little less than 0.1
            found.append((None, None))
            continue
        place = share * (n - 1)
        low, high = math.floor(place), math.ceil(place)
        first, second = (table[(drawn > k).argmax(axis=1)] for k in (low, high))
        resampled = np.sort(first + (place - low) * (second - first))
        tail = (1 - LEVEL) / 2
        ends = np.quantile(resampled, [tail, 1 - tail])
        found.append((float(ends[0]), float(ends[1])))
    return found


def jackknife_half_width(estimates: Sequence[float]) -> float | None:
    """The half width of an interval from estimates that each leave out one of k equal groups."""
    k = len(estimates)
    if k < 2:
        return None
    middle = math.fsum(estimates) / k
    variance = (k - 1) / k * math.fsum((estimate - middle) ** 2 for estimate in estimates)
    return t_quantile(k - 1) * math.sqrt(variance)
