"""Tables of reports as they ought to be, and reports without their charts."""

import statistics
from collections.abc import Sequence

import pytest
from by_hand import Records
from matplotlib.figure import Figure

from magsim.charts import comparison, play, powers, ruins, scores
from magsim.report.page import Table

NAMES = {
    "base": "numbers",
    "straight_points": "STRAIGHTs",
    "four_points": "FOURs OF A KIND",
    "two_pairs_points": "TWO PAIRS",
    "ruin_points": "RUINs",
    "power_points": "Powers",
}


def without_charts(patch: pytest.MonkeyPatch) -> None:
    """Let charts be empty: they are drawn elsewhere."""
    for module in (comparison, play, powers, ruins, scores):
        for name in [name for name in vars(module) if name[0].islower()]:
            if getattr(vars(module)[name], "__module__", "") == module.__name__:
                patch.setattr(module, name, lambda *_: Figure())


def ranked(recorded: Records, difficulty: str) -> list[str]:
    means = {
        bot: statistics.mean(recorded.column((difficulty, bot), "score").values())
        for bot in recorded.plan.bots
    }
    return sorted(means, key=lambda bot: -means[bot])


def assert_table(table: Table, expected: Sequence[Sequence[str]]) -> None:
    assert len(table.head) == len(table.rows[0])
    assert [list(row) for row in table.rows] == [list(row) for row in expected]
