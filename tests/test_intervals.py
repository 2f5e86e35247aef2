"""Intervals against textbook formulas, numeric integration and seeded simulations."""

import math
import statistics
from collections import Counter
from random import Random

import by_hand
import numpy as np
import pytest
from by_hand import t_value
from hypothesis import given, settings
from hypothesis import strategies as st

from magsim.analysis.intervals import (
    Mean,
    difference_of_means,
    half_width,
    jackknife_half_width,
    mean_of_sums,
    quantile,
    quantile_intervals,
    ratio_of_sums,
    share_interval,
    t_quantile,
)

# Abramowitz and Stegun, Handbook of Mathematical Functions, table 26.10, column 0.95.
TABLE = {
    1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262,
    10: 2.228, 11: 2.201, 12: 2.179, 13: 2.160, 14: 2.145, 15: 2.131, 16: 2.120, 17: 2.110,
    18: 2.101, 19: 2.093, 20: 2.086, 21: 2.080, 22: 2.074, 23: 2.069, 24: 2.064, 25: 2.060,
    26: 2.056, 27: 2.052, 28: 2.048, 29: 2.045, 30: 2.042, 40: 2.021, 60: 2.000, 120: 1.980,
}  # fmt: skip


@pytest.mark.parametrize(("df", "quantile"), TABLE.items())
def test_quantiles_are_those_of_the_table_to_three_decimals(df, quantile):
    assert round(t_quantile(df), 3) == quantile


def t_distribution(t: float, df: int) -> float:
    """Student's distribution for whole ``df``: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = math.atan2(t, math.sqrt(df))
    total, term = 0.0, math.cos(angle) if df % 2 else 1.0
    for k in range(2 + df % 2, df + 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (k - 1) / k
    if df % 2:
        return 0.5 + (angle + math.sin(angle) * total) / math.pi
    return 0.5 + math.sin(angle) * total / 2


@pytest.mark.parametrize("df", [*range(1, 60), 75, 100, 999, 20_000])
def test_quantiles_leave_2_5_percent_above_them(df):
    quantile = t_quantile(df)
    assert t_distribution(quantile - 0.0006, df) < 0.975 < t_distribution(quantile + 0.0006, df)


def test_quantiles_fall_towards_the_normal_one():
    quantiles = [t_quantile(df) for df in range(1, 500)]
    assert quantiles == sorted(quantiles, reverse=True)
    assert t_quantile(10**9) == pytest.approx(1.959964, abs=1e-6)


def test_half_a_width_is_the_quantile_times_the_error_of_the_mean():
    assert half_width(10.0, 2) == pytest.approx(12.706205 * 10 / math.sqrt(2))
    assert half_width(10.0, 11) == pytest.approx(2.228139 * 10 / math.sqrt(11))
    assert half_width(10.0, 10_000) == pytest.approx(0.1960, abs=1e-4)
    assert half_width(0.0, 5) == 0.0


@pytest.mark.parametrize(
    ("deviation", "n"), [(None, 1), (10.0, 1), (None, 0), (10.0, 0), (None, 5)]
)
def test_one_game_gives_no_interval(deviation, n):
    assert half_width(deviation, n) is None


@pytest.mark.parametrize("df", [1, 2, 3, 5, 19, 299, 300, 301, 2_000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.9995])
def test_quantiles_at_any_level_hold_that_much_of_the_density(df, level):
    assert t_quantile(df, level) == pytest.approx(t_value(df, level), rel=1e-6)


def test_quantiles_grow_with_the_level():
    quantiles = [t_quantile(12, level) for level in (0.1, 0.5, 0.9, 0.95, 0.99, 1 - 1e-6)]
    assert quantiles == sorted(quantiles)


def of_values(values: list[int], level: float = 0.95) -> Mean:
    return mean_of_sums(len(values), sum(values), sum(value**2 for value in values), level)


numbers = st.lists(st.integers(-300, 300), min_size=2, max_size=30)


@settings(max_examples=40)
@given(numbers, st.sampled_from([0.95, 0.99]))
def test_means_of_sums_are_those_of_the_values(values, level):
    found = of_values(values, level)
    mean, width = by_hand.mean_and_width(values, level)
    assert found.n == len(values)
    assert found[1:] == pytest.approx((mean, width, statistics.stdev(values)), rel=1e-7, abs=1e-9)


def test_means_of_none_and_of_one():
    assert of_values([]) == (0, None, None, None)
    assert of_values([7]) == (1, 7.0, None, None)


def test_equal_values_have_no_width_however_large():
    for value in (0, 7, 10**9, 256 * 10**9 + 1):
        assert of_values([value] * 11)[1:] == (value, 0.0, 0.0)


def test_a_small_spread_of_large_values_is_not_lost():
    values = [256 * 10**9 + k for k in (0, 1, 2, 3)]
    assert of_values(values).deviation == pytest.approx(statistics.stdev([0, 1, 2, 3]))


@settings(max_examples=40)
@given(numbers, numbers)
def test_differences_of_means_are_those_of_welch(one, other):
    found = difference_of_means(of_values(one), of_values(other))
    assert found == pytest.approx(by_hand.welch(one, other), rel=1e-7, abs=1e-9)


def test_differences_of_welch_by_the_book():
    # Squared errors 9/10 and 36/6; df = 6.9^2 / (0.9^2/9 + 6^2/5) = 6.5, so t = 2.447 of 6.
    one, other = Mean(10, 5.0, None, 3.0), Mean(6, 2.0, None, 6.0)
    assert difference_of_means(one, other) == pytest.approx(
        (3.0, 2.4469 * math.sqrt(6.9)), rel=1e-4
    )


def test_differences_need_two_values_on_each_side():
    many, one, none = of_values([1, 2, 4]), of_values([5]), of_values([])
    assert difference_of_means(many, one) == (pytest.approx(7 / 3 - 5), None)
    assert difference_of_means(one, one) == (0.0, None)
    assert difference_of_means(many, none) == difference_of_means(none, many) == (None, None)
    assert difference_of_means(of_values([3, 3]), of_values([1, 1])) == (2.0, 0.0)


def test_welch_is_smith_where_one_side_does_not_vary():
    difference, width = difference_of_means(of_values([1, 2, 3, 4]), of_values([5, 5, 5]))
    assert (difference, width) == pytest.approx(
        (-2.5, half_width(statistics.stdev([1, 2, 3, 4]), 4))
    )


@settings(max_examples=40)
@given(st.integers(1, 400), st.data())
def test_ends_of_a_share_solve_its_quadratic_equation(n, data):
    count = data.draw(st.integers(0, n))
    low, high = share_interval(count, n)
    assert 0 <= low <= count / n <= high <= 1
    for end in (low, high):
        assert (count / n - end) ** 2 == pytest.approx(1.959964**2 * end * (1 - end) / n, abs=1e-7)


def test_shares_of_none_of_all_and_of_nothing():
    z2 = 1.959964**2
    assert share_interval(0, 0) == (None, None)
    for n in (1, 2, 10, 1000):
        assert share_interval(0, n) == (0.0, pytest.approx(z2 / (n + z2)))
        assert share_interval(n, n) == (pytest.approx(n / (n + z2)), 1.0)


def test_shares_mirror_each_other():
    for count in range(21):
        low, high = share_interval(count, 20)
        assert share_interval(20 - count, 20) == pytest.approx((1 - high, 1 - low))


def of_pairs(ys: list[int], xs: list[int]) -> tuple[float | None, float | None]:
    products = (
        sum(a * b for a, b in zip(*two, strict=True)) for two in ((ys, ys), (ys, xs), (xs, xs))
    )
    return ratio_of_sums(len(ys), sum(ys), sum(xs), *products)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 20)), max_size=30))
def test_ratios_are_those_of_residuals(pairs):
    ys, xs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    by_hand.assert_rows([of_pairs(ys, xs)], [by_hand.ratio_and_width(ys, xs)])


def test_ratios_of_nothing_and_of_one_game():
    assert of_pairs([], []) == of_pairs([3], [0]) == of_pairs([0, 0], [0, 0]) == (None, None)
    assert of_pairs([3], [4]) == (0.75, None)


def test_ratios_of_large_values_keep_their_width():
    ys = [7 * (256 * 10**9 - k) for k in (3, 10, 4, 25, 8)]
    xs = [7] * 5
    assert of_pairs(ys, xs) == pytest.approx(by_hand.ratio_and_width(ys, xs), rel=1e-9)


def test_intervals_of_ratios_hold_the_truth_in_95_percent():
    random = Random(1)
    held = 0
    for _ in range(1000):
        xs = [random.randint(4, 12) for _ in range(60)]
        ys = []
        for x in xs:
            bad = random.random() < 0.5  # some games go wrong as a whole
            ys.append(sum(random.random() < (0.3 if bad else 0.1) for _ in range(x)))
        ratio, width = of_pairs(ys, xs)
        held += abs(ratio - 0.2) <= width
    assert 930 <= held <= 965


counted = st.dictionaries(st.integers(-50, 300), st.integers(1, 9), min_size=1, max_size=12)


@settings(max_examples=40)
@given(counted, st.sampled_from([0.0, 0.01, 0.05, 0.25, 0.5, 0.9, 0.99, 1.0]))
def test_quantiles_of_counts_are_those_of_the_values(counts, share):
    values, games = zip(*sorted(counts.items()), strict=True)
    expected = np.quantile(np.repeat(values, games), share)
    assert quantile(values, games, share) == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_quantiles_of_one_and_of_two_values():
    assert [quantile([7], [1], share) for share in (0.01, 0.5, 0.99)] == [7, 7, 7]
    assert quantile([3, 9], [1, 1], 0.5) == 6
    assert quantile([3, 9], [1, 1], 0.25) == 4.5
    assert quantile([3], [2], 0.25) == 3


def counts_of(values: list[int]) -> tuple[list[int], list[int]]:
    counts = Counter(values)
    return sorted(counts), [counts[value] for value in sorted(counts)]


SHARES = (0.05, 0.5, 0.95)


def test_intervals_of_quantiles_hold_them_and_shrink():
    random = Random(2)
    wide = None
    for n in (300, 3000, 30_000):
        counts = counts_of([round(random.gauss(1500, 300)) for _ in range(n)])
        found = quantile_intervals(*counts, SHARES)
        assert found == quantile_intervals(*counts, SHARES)
        for share, (low, high) in zip(SHARES, found, strict=True):
            assert counts[0][0] <= low <= quantile(*counts, share) <= high <= counts[0][-1]
        widths = [high - low for low, high in found]
        assert wide is None or all(
            2 * now < before for now, before in zip(widths, wide, strict=True)
        )
        wide = widths


def test_intervals_of_quantiles_need_ten_values_on_either_side():
    assert quantile_intervals([7], [1], SHARES) == [(None, None)] * 3
    assert quantile_intervals([7], [20], SHARES) == [(None, None), (7.0, 7.0), (None, None)]
    assert quantile_intervals([7], [200], SHARES) == [(7.0, 7.0)] * 3
    assert quantile_intervals([3, 9], [1, 1], [0.5]) == [(None, None)]
    assert quantile_intervals([3, 9], [4, 16], [0.5]) == [(9.0, 9.0)]


@pytest.mark.parametrize("percent", [1, 5, 10, 25, 50, 75, 90, 95, 99])
def test_as_many_values_are_enough_for_a_quantile_as_for_its_mirror(percent):
    enough = math.ceil(1000 / min(percent, 100 - percent))
    for n, known in ((enough - 1, False), (enough, True)):
        ((low, high),) = quantile_intervals([7], [n], [percent / 100])
        assert (low is not None, high is not None) == (known, known)


def test_intervals_of_quantiles_are_those_of_resampled_values():
    random = Random(3)
    values = [random.randint(50, 250) for _ in range(250)]
    resampled = [np.quantile(random.choices(values, k=250), SHARES) for _ in range(1500)]
    ends = np.quantile(resampled, [0.025, 0.975], axis=0).T
    found = quantile_intervals(*counts_of(values), SHARES)
    assert np.abs(np.array(found) - ends).max() < 6


def test_intervals_of_medians_hold_the_truth_in_95_percent():
    random = Random(4)
    held = 0
    for _ in range(200):
        values = [int(random.expovariate(1 / 1000)) for _ in range(50)]
        ((low, high),) = quantile_intervals(*counts_of(values), [0.5])
        held += low <= 1000 * math.log(2) <= high
    assert 0.91 <= held / 200 <= 0.98


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 200), min_size=3, max_size=3), min_size=2, max_size=12))
def test_the_jackknife_of_a_mean_is_the_error_of_the_mean_of_groups(groups):
    everything = [value for group in groups for value in group]
    left_out = [(sum(everything) - sum(group)) / (len(everything) - len(group)) for group in groups]
    means = [statistics.mean(group) for group in groups]
    expected = by_hand.mean_and_width(means)[1]
    assert jackknife_half_width(left_out) == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_the_jackknife_needs_two_groups():
    assert jackknife_half_width([]) is None
    assert jackknife_half_width([0.5]) is None
    assert jackknife_half_width([0.5, 0.5]) == 0.0
