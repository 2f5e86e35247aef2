"""Rankings of decisions for explanations: what a bot's own measure says of each that it weighs.

Nothing here is asked in games, so it is plain Python over the kernels that the bots decide by.
Worths are in a bot's own unit, times ``THROWS`` so that expectations over throws stay whole.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from magsim.board import DICE, SIDES
from magsim.bot import Position
from magsim.decision import Decision, unpack_decision
from magsim.engine import HAND_INDEX, HAND_SIZE, power_dice
from magsim_bots.random import MAX_POWERS, distinct_powers
from magsim_bots.turn import THROWS

Option = tuple[int, int]
"""The worth of a decision, and the decision packed."""


def power_options(dice: tuple[int, ...], cost: int, fewer: NDArray[np.int64]) -> list[Option]:
    """Every distinct Power on a roll, in the order in which ``turn.best_power`` tries them.

    ``fewer`` and ``cost`` are as there.
    """
    hand = HAND_INDEX[dice]
    found = np.empty(MAX_POWERS, np.int64)
    options = []
    for packed in found[: distinct_powers(hand, found)]:
        kept = power_dice(hand, packed)
        throws = THROWS // SIDES ** (DICE - int(HAND_SIZE[kept]))
        options.append((int(fewer[kept]) * throws - cost * THROWS, int(packed)))
    return options


def ranked(
    options: Iterable[Option], position: Position, count: int, estimate: Callable[[int], float]
) -> list[Decision]:
    """The ``count`` best options as decisions; equals stay as they were."""
    best = sorted(options, key=lambda option: -option[0])[:count]
    return [decision_of(packed, position, estimate(worth)) for worth, packed in best]


def decision_of(packed: int, position: Position, estimate: float) -> Decision:
    """A packed decision of a position with its estimate in points."""
    return replace(unpack_decision(packed, position.board, position.dice), estimate=estimate)


def paid(position: Position) -> int:
    """What the Powers used so far have cost, in points."""
    rules = position.rules
    return sum(rules.power_costs[: rules.powers - position.powers_left])
