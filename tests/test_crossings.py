"""Where series of means with intervals cross zero."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from magsim.experiments.verdicts import Crossing, crossing


def test_falling_series_cross_where_lines_do() -> None:
    assert crossing([0, 10, 20], [4, 2, -2], [1, 1, 1]) == Crossing("at", 15, 12.5, 17.5)
    assert crossing([0, 10], [1, -3], [0, 0]) == Crossing("at", 2.5, 2.5, 2.5)


def test_rising_series_cross_where_lines_do() -> None:
    assert crossing([0, 10, 20], [-4, -2, 2], [1, 1, 1]) == Crossing("at", 15, 12.5, 17.5)


def test_series_that_never_cross_stay_on_a_side() -> None:
    assert crossing([0, 10, 20], [3, 2, 1], [9, 9, 9]) == Crossing("above")
    assert crossing([0, 10, 20], [-1, -2, -1], [0, 0, 0]) == Crossing("below")
    assert crossing([5], [1], [0]) == Crossing("above")


@pytest.mark.parametrize("sign", [1, -1])
def test_series_that_touch_zero_at_a_point_cross_there(sign: int) -> None:
    def at(*means: float) -> Crossing:
        return crossing([0, 10, 20], [sign * mean for mean in means], [0, 0, 0])

    assert at(0, 1, 2) == Crossing("at", 0, 0, 0)
    assert at(2, 0, -1) == Crossing("at", 10, 10, 10)
    assert at(2, 0, 1) == Crossing("at", 10, 10, 10)
    assert at(2, 1, 0) == Crossing("at", 20, 20, 20)
    assert crossing([7], [0], [1]) == Crossing("at", 7, 7, 7)


def test_intervals_end_where_the_points_end() -> None:
    assert crossing([0, 10], [1, -1], [3, 3]) == Crossing("at", 5, 0, 10)
    assert crossing([0, 10], [-1, 1], [3, 0]) == Crossing("at", 5, 0, pytest.approx(8))


def test_intervals_reach_back_over_a_wide_point() -> None:
    # Zero lies within the intervals at 0 and from 10 on, though the lower ends cross between.
    found = crossing([0, 10, 20], [0.5, 0.2, -0.5], [1, 0.1, 0.1])
    assert (found.low, found.high) == (0, pytest.approx(10 + 10 * 0.3 / 0.7))


def test_points_without_intervals_leave_none() -> None:
    assert crossing([0, 10], [1, -1], [None, 1]) == Crossing("at", 5)
    assert crossing([0, 10], [1, 1], [None, None]) == Crossing("above")


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 9)), min_size=2, max_size=6))
def test_crossings_lie_within_their_intervals_and_the_points(series: list[tuple[int, int]]) -> None:
    means, widths = [mean for mean, _ in series], [width for _, width in series]
    xs = [10 * k for k in range(len(series))]
    found = crossing(xs, means, widths)
    if min(means) > 0 or max(means) < 0:
        assert found == Crossing("above" if means[0] > 0 else "below")
    else:
        assert 0 <= found.low <= found.at <= found.high <= xs[-1]
        mirrored = crossing(xs, [-mean for mean in means], widths)
        assert mirrored == pytest.approx(found)
