"""What is at stake: the levels of Powers that are solved side by side, and the unit of values."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS, LINES, SIDES
from magsim.errors import MagsimError
from magsim.rules import Rules

_RANGE = 2**31
FORBIDDEN = np.int32(-_RANGE)
"""The value of what is against the rules, until dice are placed on top of it."""


class Stakes(NamedTuple):
    """Rules that differ only in their Powers, as levels of Powers left; costs in 1/scale points."""

    minimum: int
    scale: int
    """How many units make a point."""
    ruin: int
    allowed: int
    """Values below this one are ``FORBIDDEN`` with dice placed on top."""
    base: NDArray[np.int64]
    """``[level]``: the level that using a Power leads to, -1 if none is left; shape (levels,)."""
    cost: NDArray[np.int64]
    """``[level]``: what that Power costs; shape (levels,)."""


def levels_of(rules: Sequence[Rules]) -> list[tuple[int, ...]]:
    """The levels of Powers left in any of the rules, each by the costs of the Powers still to use.

    No other fact of the Powers matters to the future, so that rules share what levels they can.
    """
    found = {costs[k:] for costs in (r.power_costs for r in rules) for k in range(len(costs) + 1)}
    return sorted(found, key=lambda costs: (len(costs), costs))


def _scale(rules: Rules) -> int:
    """The greatest power of two with which no value, and nothing forbidden, leaves its range."""
    bonus = max(rules.bonuses.values())
    gain = 2 * SIDES * CELLS + bonus * len(LINES)
    loss = rules.ruin_penalty * CELLS  # Powers need never be used
    on_top = 3 * (2 * SIDES + 2 * bonus)  # three dice, the most placed on what is forbidden
    return 1 << (_RANGE // (max(gain, loss + on_top) + 2)).bit_length() - 1


def stakes_of(rules: Sequence[Rules]) -> Stakes:
    """Rules as the kernels take them.

    Raises:
        MagsimError: if they differ in more than names and costs of Powers.
    """
    first = rules[0]
    for other in rules[1:]:
        if replace(other, name=first.name, power_costs=first.power_costs) != first:
            raise MagsimError(
                f"{first.name} and {other.name} cannot be solved together: "
                "only the costs of Powers may differ"
            )
    levels, scale = levels_of(rules), _scale(first)
    return Stakes(
        first.minimum,
        scale,
        first.ruin_penalty * scale,
        -(first.ruin_penalty * CELLS + 1) * scale,
        np.array([levels.index(costs[1:]) if costs else -1 for costs in levels]),
        np.array([costs[0] * scale if costs else 0 for costs in levels]),
    )
