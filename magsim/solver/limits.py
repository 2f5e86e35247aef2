"""Limits: above which worth of a roll no Power can pay, so that Powers need not be weighed.

To weigh the Powers of a position takes all placements of all rolls. While a class is solved, what
each of its rolls is worth without a Power and after the best one lies side by side; of the rolls
for which a Power pays, the one that is worth most without it sets the limit.

Limits are kept in a byte: whole points, rounded up, above ``_BELOW`` points less than a reroll of
all four dice is worth, which is known from the values. Where that is too little, there is no limit.
"""

import numpy as np
from numpy.typing import NDArray

from magsim.compiled import lean_kernel
from magsim.solver.classes import Classes, Masks, find
from magsim.solver.stakes import Stakes
from magsim.solver.work import Values

Limits = NDArray[np.uint8]
"""``[class, level]``, like values; 0 at levels without Powers."""
NO_LIMITS: Limits = np.empty((0, 1), np.uint8)

LIMITED = 7
"""Classes with so many empty cells have limits; with fewer, Powers are soon weighed."""
_BELOW, _NO_LIMIT = 100, 255


@lean_kernel
def limit_some(
    first: int, count: int, stakes: Stakes, paid: Values, values: Values, limits: Limits
) -> None:
    """Fill the limits of up to 8 classes, whose values are known; ``paid`` is that of ``Work``."""
    for level in range(len(stakes.base)):
        for lane in range(count):
            above = 0
            if stakes.base[level] >= 0:
                reroll = values[first + lane, stakes.base[level]] - stakes.cost[level]
                above = _BELOW - (reroll - paid[level, lane]) // stakes.scale
            limits[first + lane, level] = min(max(above, 0), _NO_LIMIT)


@lean_kernel
def may_pay(
    worth: int,
    word: int,
    mask: int,
    level: int,
    stakes: Stakes,
    masks: Masks,
    classes: Classes,
    values: Values,
    limits: Limits,
) -> bool:
    """Whether some Power may be worth as much as a roll is without one, on a class (its word).

    Where it has no limit, any may. ``classes`` and their ``values`` begin with those with limits.
    """
    if stakes.base[level] < 0:
        return False
    found = find(word, mask, masks, classes) if len(limits) else -1
    if not 0 <= found < len(limits) or limits[found, level] == _NO_LIMIT:
        return True
    reroll = values[found, stakes.base[level]] - stakes.cost[level]
    return bool(worth <= reroll + (np.int64(limits[found, level]) - _BELOW) * stakes.scale)
