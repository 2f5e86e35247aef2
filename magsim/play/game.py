"""A game as a person plays it: dice staged, taken back and confirmed, Powers used, RUINs accepted.

It keeps what has happened and asks ``rules`` about everything that may happen. The dice are those
of game index 0 of a seed, as a tournament of that seed rolls them.
"""

from collections.abc import Sequence

import numpy as np

from magsim import dice
from magsim import rules as law
from magsim.board import CELL_NAMES, EMPTY_BOARD, format_dice, with_cell
from magsim.decision import Place, Power, Ruin
from magsim.play.steps import Step
from magsim.rules import Rules, Score

GAME_INDEX = 0

Placement = tuple[int, int]
"""A die and a cell."""


class DieIsStaged(law.IllegalDecision):
    """A Power or a placement wants a die that is staged and must be taken back first (R15)."""


class Game:
    """A game of one seed and difficulty, from its first roll to its end.

    ``board`` is packed and holds what is permanent, ``hand`` the four dice as they are, ascending,
    ``staged`` the (die, cell) pairs in the order of staging; ``turn`` counts from 1. Nothing that
    it holds is changed in place: a shallow copy goes its own way.
    """

    def __init__(self, seed: int, rules: Rules) -> None:
        self.seed = seed
        self.rules = rules
        self.board = EMPTY_BOARD
        self.turn = 1
        self.powers_used = 0
        self.staged: tuple[Placement, ...] = ()
        self.steps: tuple[Step, ...] = ()
        self.hand = self._roll()
        self._rerolls = 0

    def _drawn(self, stream: int) -> list[int]:
        games = np.array([GAME_INDEX], np.uint64)
        return [int(die) for die in dice.dice(self.seed, games, self.turn, stream)[0]]

    def _roll(self) -> tuple[int, ...]:
        return tuple(sorted(self._drawn(dice.ROLL_STREAM)))

    @property
    def over(self) -> bool:
        """Whether the game has ended (R26)."""
        return law.is_over(self.board)

    @property
    def powers_left(self) -> int:
        """How many Powers are left."""
        return self.rules.powers - self.powers_used

    @property
    def power_cost(self) -> int | None:
        """What the next Power costs in points, None if none is left (R16)."""
        return self.rules.power_cost(self.powers_used)

    @property
    def required(self) -> int:
        """How many dice must be staged before the turn can be confirmed (R5)."""
        return law.required_minimum(self.board, self.rules)

    @property
    def available(self) -> tuple[int, ...]:
        """The dice that are not staged, ascending."""
        hand = list(self.hand)
        for die, _ in self.staged:
            hand.remove(die)
        return tuple(hand)

    @property
    def staged_board(self) -> int:
        """The board with the staged dice on it."""
        board = self.board
        for die, cell in self.staged:
            board = with_cell(board, cell, die)
        return board

    @property
    def in_magdagdon(self) -> bool:
        """Whether the dice as they are allow no legal way (R17)."""
        return law.in_magdagdon(self.board, self.hand, self.rules)

    @property
    def score(self) -> Score:
        """The score so far by parts, staged dice counted."""
        return law.score(self.staged_board, self.rules, self.powers_used)

    @property
    def stuck(self) -> bool:
        """Whether no available die has a legal cell, as things are staged."""
        return not any(map(self.legal_cells, self.available))

    def legal_cells(self, die: int) -> tuple[int, ...]:
        """The cells on which a die may be staged now."""
        return law.legal_cells(self.staged_board, die, self.rules)

    def obstacle(self, die: int, cell: int) -> law.Obstacle | None:
        """Why a die cannot be staged on a cell now; None if it can."""
        return law.obstacle(self.staged_board, die, cell, self.rules)

    def misfit(self, placements: Sequence[Placement]) -> tuple[int, int, law.Obstacle] | None:
        """The first die that cannot be staged in any order, its cell, and why; None if all can."""
        board, _, left_over = law.stage(self.staged_board, placements, self.rules)
        for die, cell in left_over:
            obstacle = law.obstacle(board, die, cell, self.rules)
            assert obstacle is not None
            return die, cell, obstacle
        return None

    def stage(self, placements: Sequence[Placement]) -> None:
        """Stage dice that are available, in whatever order is legal; all of them or none.

        Raises:
            IllegalDecision: if a die is not available, or cannot go where it is wanted.
        """
        self.require([die for die, _ in placements])
        _, staged, left_over = law.stage(self.staged_board, placements, self.rules)
        for die, cell in left_over:
            raise law.IllegalCell(f"{die} on {CELL_NAMES[cell]} is not legal (R8-R11)")
        self.staged += tuple(staged)

    def require(self, wanted: Sequence[int]) -> None:
        """Check that dice are available.

        Raises:
            DieIsStaged: if the dice would do with those that are staged (R15).
            NoSuchDie: if they would not even then.
        """
        for die in wanted:
            if wanted.count(die) > self.hand.count(die):
                raise law.NoSuchDie(f"there is no such die among {format_dice(self.hand)} (R4)")
            if wanted.count(die) > self.available.count(die):
                raise DieIsStaged(f"the {die} is staged; take it back first (R15)")

    def take_back(self, cell: int) -> tuple[Placement, ...]:
        """Take back the die staged on a cell, and those that lean on it; all that came back.

        Raises:
            KeyError: if no die is staged there.
        """
        if cell not in (taken for _, taken in self.staged):
            raise KeyError(cell)
        rest = [placement for placement in self.staged if placement[1] != cell]
        _, kept, _ = law.stage(self.board, rest, self.rules)
        back = tuple(placement for placement in self.staged if placement not in kept)
        self.staged = tuple(kept)
        return back

    def take_back_all(self) -> tuple[Placement, ...]:
        """Take back every staged die; those that were staged."""
        back, self.staged = self.staged, ()
        return back

    def use(self, power: Power) -> None:
        """Use a Power on available dice; a reroll draws from its own stream (R12-R16).

        Raises:
            IllegalDecision: if none is left, or the dice do not allow it.
        """
        if self.powers_left:
            self.require(power.dice)
        law.check_power(self.available, self.powers_left, power)
        rolled: list[int] = []
        if power.kind == "reroll":
            self._rerolls += 1
            rolled = self._drawn(dice.ROLL_STREAM + self._rerolls)[: len(power.dice)]
        self._note(power)
        self.hand = law.power_dice(self.hand, power, rolled)
        self.powers_used += 1

    def confirm(self) -> None:
        """Make the staged dice permanent, and roll again (R4).

        Raises:
            IllegalDecision: if fewer than required are staged.
        """
        place = Place(self.staged)
        self._close(place, law.check_place(self.board, self.hand, place, self.rules))

    def accept(self, cell: int) -> None:
        """Accept MAGDAGDON, let a cell become a RUIN, and roll again (R18).

        Raises:
            IllegalDecision: if the turn is not in MAGDAGDON, or the cell is not empty.
        """
        ruin = Ruin(cell)
        self._close(ruin, law.check_ruin(self.board, self.hand, ruin, self.rules))

    def _note(self, decision: Place | Power | Ruin) -> None:
        self.steps += (Step(self.turn, self.board, self.hand, self.powers_left, decision),)

    def _close(self, decision: Place | Ruin, board: int) -> None:
        self._note(decision)
        self.board = board
        self.staged = ()
        if not self.over:
            self.turn += 1
            self._rerolls = 0
            self.hand = self._roll()
