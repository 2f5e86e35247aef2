"""A policy over small actions, for tests of environments and of bots."""

import numpy as np

from magsim.learning.actions import Mask, Observation
from magsim.learning.policy import PolicyBot


class Chooser(PolicyBot):
    """A policy that is a function of what is seen, and that uses Powers and accepts RUINs."""

    def act(self, observation: Observation, mask: Mask) -> int:
        seen = sum(int(observation[key].sum()) * k for k, key in enumerate(sorted(observation)))
        allowed = np.flatnonzero(mask)
        return int(allowed[seen * 7919 % len(allowed)])
