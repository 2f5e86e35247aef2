"""The bot that plays perfectly, reading every decision from a solution: see ``magsim solve``."""

from magsim.board import CELLS
from magsim.bot import Answers, Bot, Position, Positions
from magsim.decision import Decision
from magsim.rules import Rules
from magsim.solver.library import needed_perfect
from magsim_bots.exact import decide, rank, read_ahead, reliance


class Optimal(Bot):
    """Decides for the greatest expected final score that there is; needs `magsim solve` first.

    Of equal decisions it takes the first placement, or RUIN, that it comes to, and a Power only
    where it is worth strictly more.
    """

    compiled = True
    exact = True

    def relies_on(self, rules: Rules) -> str:
        """The solution of the rules, from the empty board on, and what reads it."""
        return reliance(rules, CELLS)

    def prepare(self, rules: Rules) -> None:
        """Read the solution ahead."""
        read_ahead(needed_perfect(rules))

    def decide_batch(self, positions: Positions) -> Answers:
        """The decisions, each with the expected final score."""
        return decide(positions, CELLS)

    def rank(self, position: Position, key: int, count: int) -> list[Decision]:  # noqa: ARG002 - no chance here
        """Every legal decision, with the final score that perfect play expects after it."""
        return rank(position, CELLS)[:count]
