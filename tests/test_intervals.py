"""Quantiles of Student's t and intervals of means."""

import math

import pytest

from magsim.analysis.intervals import half_width, t_quantile

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
    assert half_width(10.0, 2) == pytest.approx(12.706 * 10 / math.sqrt(2))
    assert half_width(10.0, 11) == pytest.approx(2.228 * 10 / math.sqrt(11))
    assert half_width(10.0, 10_000) == pytest.approx(0.1960, abs=1e-4)
    assert half_width(0.0, 5) == 0.0


@pytest.mark.parametrize(
    ("deviation", "n"), [(None, 1), (10.0, 1), (None, 0), (10.0, 0), (None, 5)]
)
def test_one_game_gives_no_interval(deviation, n):
    assert half_width(deviation, n) is None
