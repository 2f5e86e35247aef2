"""Bots that decide by a policy over small actions, as learners make them."""

from magsim.bot import Bot, Position
from magsim.decision import Decision
from magsim.learning.actions import Mask, Observation, Turn, action_mask, observation


class PolicyBot(Bot):
    """The base of bots that play by a policy. Subclass it, and write ``act``.

    A decision is walked to in small actions, with the observations and masks that the Gymnasium
    environment gives; what was learned there plays here without a change.
    """

    def act(self, observation: Observation, mask: Mask) -> int:
        """The number of an allowed small action; arrays as in ``magsim.learning.actions``."""
        raise NotImplementedError(f"{type(self).__name__} has no act()")

    def decide(self, position: Position) -> Decision:
        """The first decision that the policy's small actions make.

        Raises:
            ValueError: if it takes an action that is not allowed.
        """
        turn = Turn(position)
        while True:
            mask = action_mask(turn)
            action = self.act(observation(turn), mask.copy())
            if not (0 <= action < len(mask) and mask[action]):
                raise ValueError(f"small action {action} is not allowed here")
            taken = turn.after(int(action))
            if not isinstance(taken, Turn):
                return taken
            turn = taken
