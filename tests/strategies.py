"""Hypothesis strategies: any board, rules with varied values, and positions that games reach."""

import dataclasses
from functools import cache
from random import Random

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from reachable import Drawn, random_position

from magsim.board import CELLS, DICE, RUIN, SIDES, empty_cells, pack_cells
from magsim.decision import LOWER, RAISE, REROLL, Place, Power, Ruin, pack_power
from magsim.rules import DIFFICULTIES, Rules

dice = st.integers(1, SIDES)
cells = st.integers(0, CELLS - 1)
rolls = st.lists(dice, min_size=DICE, max_size=DICE).map(lambda roll: tuple(sorted(roll)))
boards = st.lists(st.integers(0, RUIN), min_size=CELLS, max_size=CELLS).map(pack_cells)
"""Any board at all, reachable or not."""
words = st.integers(-(2**63), 2**63 - 1)
"""Any 64 bits, as compiled code reads them."""
points = st.integers(0, 100)

decisions = st.one_of(
    st.lists(st.tuples(dice, cells), min_size=1, max_size=DICE).map(tuple).map(Place),
    st.builds(Power, st.sampled_from(["raise", "lower"]), dice.map(lambda die: (die,))),
    st.lists(dice, min_size=1, max_size=DICE).map(
        lambda dice: Power("reroll", tuple(sorted(dice)))
    ),
    cells.map(Ruin),
)
"""Any decision with a text notation, legal somewhere or not."""

rules = st.one_of(
    st.sampled_from([*DIFFICULTIES.values()]),
    st.builds(
        Rules,
        name=st.just("drawn"),
        minimum=st.integers(1, DICE),
        power_costs=st.lists(points, max_size=4).map(tuple),
        ruin_penalty=points,
        straight=points,
        four=points,
        two_pairs=points,
        max_difference=st.integers(0, SIDES - 1),
    ),
)


@cache
def position_pool() -> list[Drawn]:
    """Positions of 500 random games, those with the most empty cells first.

    They are drawn from a pool because each takes a game by the slow law.
    """
    pool = [random_position(Random(game)) for game in range(500)]
    return sorted(pool, key=lambda position: -len(empty_cells(position.board)))


@st.composite
def positions(draw: DrawFn, published: bool = False) -> Drawn:
    """A position that a game reaches, under a published difficulty or any rules, with any roll."""
    pool = [p for p in position_pool() if p.rules in DIFFICULTIES.values() or not published]
    return dataclasses.replace(draw(st.sampled_from(pool)), dice=draw(rolls))


any_power = st.builds(pack_power, st.sampled_from([RAISE, LOWER, REROLL]), st.integers(0, 15))


@st.composite
def corrupted(draw: DrawFn, packed: int) -> int:
    """A packed decision with a few of its cells changed, as compiled code reads it."""
    for _ in range(draw(st.integers(1, 2))):
        packed ^= draw(st.integers(1, 15)) << 4 * draw(cells)
    return packed - 2**64 if packed >= 2**63 else packed
