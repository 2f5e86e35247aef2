"""The environment: games from tournaments' dice, a small action a step.

It rolls, applies decisions and counts rewards. What small actions are and which are allowed is for
``learning.actions``, what they do for ``rules`` and ``engine``.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import InvalidAction, ResetNeeded
from numpy.typing import NDArray

from magsim import dice
from magsim import rules as law
from magsim.board import CELLS, DICE, EMPTY_BOARD, LINES, RUIN, SIDES, SIZE, format_dice
from magsim.bot import Position
from magsim.decision import Power
from magsim.errors import MagsimError
from magsim.learning.actions import ACTIONS, Observation, Turn, action_mask, observation
from magsim.variants import MAX_POINTS, MAX_POWERS, rules_of, whole_number

SEEDS = 2**64
GAMES = 2**32

_LEAST = -MAX_POINTS * (CELLS + MAX_POWERS)
_MOST = 2 * SIDES * CELLS + MAX_POINTS * len(LINES)
"""Scores in points that no rule variant goes beyond."""


def observation_space() -> spaces.Dict:
    """The space of ``learning.actions.observation``, the same for all rules."""
    return spaces.Dict(
        {
            "board": spaces.Box(0, RUIN, (SIZE, SIZE), np.int8),
            "dice": spaces.Box(0, SIDES, (DICE,), np.int8),
            "powers_left": spaces.Box(0, MAX_POWERS, (1,), np.int8),
            "required": spaces.Box(0, DICE, (1,), np.int8),
            "score": spaces.Box(_LEAST, _MOST, (1,), np.int32),
            "staged": spaces.MultiBinary((SIZE, SIZE)),
        }
    )


def _game_index(options: Mapping[str, Any]) -> int | None:
    """The game index that options of ``reset`` name, if any.

    Raises:
        MagsimError: if they hold anything else.
    """
    for key in options:
        if key != "game":
            raise MagsimError(f"reset: unknown option {key!r} (known: game)")
    if "game" not in options:
        return None
    return whole_number("reset: game", options["game"], 0, GAMES - 1)


class Magdagdon(gymnasium.Env[dict[str, Any], np.int64]):
    """MAGDAGDON, a small action a step, on the dice of a tournament.

    Actions: ``Discrete(140)``, numbered in ``magsim.learning.actions``. ``info["action_mask"]`` of
    ``reset`` and ``step`` says which are allowed, int8 (140,); there is always one before the end.
    Any other changes nothing, is rewarded with 0, and has ``info["allowed"]`` False.

    Observations: a dict of arrays, described at ``magsim.learning.actions.observation``.

    Rewards: the change of the score so far in points, staged dice counted, so that an episode's
    return is its final score.

    End: terminated when no cell is empty (R26). ``gymnasium.make`` truncates after 1,000 steps,
    which only who ignores the mask can reach.

    Dice: ``reset(seed=S)`` begins game index 0 of a tournament of seed S, each ``reset()`` the next
    one, ``reset(options={"game": G})`` game index G; ``info`` of ``reset`` names ``seed`` and
    ``game``. Never given a seed, it draws one.

    Args:
        difficulty: ``peaceful``, ``survival`` or ``nightmare``.
        render_mode: ``ansi``, or None.
        values: rule values by name, as of ``magsim tournament --set``: ``ruin_penalty=20``.

    Raises:
        MagsimError: if one of them is unknown or not allowed.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012 - as Env declares it

    def __init__(
        self, difficulty: str = "survival", render_mode: str | None = None, **values: object
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise MagsimError(f"render_mode {render_mode!r} is unknown (known: ansi)")
        self.rules = rules_of(difficulty, values, f"difficulty {difficulty!r}")
        self.render_mode = render_mode
        self.observation_space = observation_space()
        self.action_space = spaces.Discrete(ACTIONS)
        self._seed: int | None = None
        self._game = 0
        self._number = 0
        self._rerolls = 0
        self._begun: Turn | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game, and roll.

        Raises:
            MagsimError: if the seed is too large, or ``options`` are not understood.
        """
        super().reset(seed=seed)
        if seed is not None:
            whole_number("reset: seed", seed, 0, SEEDS - 1)
        game = _game_index(options or {})
        if seed is not None or self._seed is None:
            drawn = self.np_random.integers(SEEDS, dtype=np.uint64) if seed is None else seed
            self._seed, self._game = int(drawn), -1
        self._game = self._game + 1 if game is None else game
        self._number = 0
        self._roll(EMPTY_BOARD, self.rules.powers)
        seen, info = self._shown()
        return seen, info | {"seed": np.uint64(self._seed), "game": self._game}

    def step(
        self, action: int | np.integer[Any]
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take a small action; one that is not allowed changes nothing.

        Raises:
            InvalidAction: if there is no such action.
        """
        if not self.action_space.contains(action):
            raise InvalidAction(f"step: {action!r} is to be a whole number from 0 to {ACTIONS - 1}")
        before = self._turn
        allowed = bool(self._mask[action])
        if allowed:
            self._take(before, int(action))
        seen, info = self._shown()
        reward = float(self._turn.score - before.score)
        over = law.is_over(self._turn.position.board)
        return seen, reward, over, False, info | {"allowed": allowed}

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are allowed now, bool (140,), under the name that MaskablePPO asks for."""
        return action_mask(self._turn).astype(np.bool_)

    def render(self) -> str | None:
        """The turn under way in text: the board, staged dice in brackets, and what is at hand."""
        from magsim.reading.drawing import board_lines

        if self.render_mode is None:
            return None
        turn = self._turn
        lines = [line.plain.rstrip() for line in board_lines(turn.board, turn.position.board)]
        facts = f"dice {format_dice(turn.dice) or 'none'}, {turn.required} required"
        powers = f"Powers {turn.position.powers_left}, score {turn.score}"
        return "\n".join([*lines, "", f"  {facts}, {powers}"])

    @property
    def _turn(self) -> Turn:
        if self._begun is None:
            raise ResetNeeded("reset() begins a game; it comes before step() and render()")
        return self._begun

    def _shown(self) -> tuple[Observation, dict[str, Any]]:
        self._mask = action_mask(self._turn)
        return observation(self._turn), {"action_mask": self._mask.copy()}

    def _drawn(self, stream: int) -> list[int]:
        assert self._seed is not None
        games = np.array([self._game], np.uint64)
        return [int(die) for die in dice.dice(self._seed, games, self._number, stream)[0]]

    def _roll(self, board: int, powers_left: int) -> None:
        """Begin the next turn (R3), or end the game (R26)."""
        self._number += 1
        self._rerolls = 0
        rolled = () if law.is_over(board) else sorted(self._drawn(dice.ROLL_STREAM))
        self._begun = Turn(Position(board, tuple(rolled), powers_left, self.rules))

    def _take(self, turn: Turn, action: int) -> None:
        position, taken = turn.position, turn.after(action)
        if isinstance(taken, Turn):
            self._begun = taken
        elif isinstance(taken, Power):
            rolled: list[int] = []
            if taken.kind == "reroll":
                self._rerolls += 1
                rolled = self._drawn(dice.ROLL_STREAM + self._rerolls)[: len(taken.dice)]
            hand = law.power_dice(position.dice, taken, rolled)
            left = position.powers_left - 1
            self._begun = Turn(replace(position, dice=hand, powers_left=left))
        else:
            self._roll(position.after(taken), position.powers_left)
