"""Policies over small actions as bots."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from policies import Chooser

from magsim.asking import Watch
from magsim.board import pack_cells
from magsim.errors import BotFault
from magsim.gym.environment import Magdagdon
from magsim.learning.actions import (
    ACTIONS,
    CONFIRM,
    RUIN_FIRST,
    Mask,
    Observation,
)
from magsim.learning.policy import PolicyBot
from magsim.registry import load_bot
from magsim.rules import DIFFICULTIES, PEACEFUL, SURVIVAL, Rules
from magsim.simulate import play_games


@pytest.mark.parametrize("rules", DIFFICULTIES.values(), ids=lambda rules: rules.name)
def test_a_policy_as_a_bot_plays_what_it_plays_in_the_environment(
    rules: Rules, watch: Watch
) -> None:
    played = play_games(Chooser(), rules, 9, 20, 10, watch)
    env, policy = Magdagdon(difficulty=rules.name), Chooser()
    env.reset(seed=9)
    used = 0
    for game in range(20, 30):
        turns = played.turns.board[played.turns.game == game].tolist()
        seen, info = env.reset(options={"game": game})
        over, boards, score = False, [], 0.0
        while not over:
            action = policy.act(seen, info["action_mask"])
            seen, reward, over, _, info = env.step(action)
            score += reward
            used += 96 <= action < CONFIRM
            if action >= CONFIRM:
                boards.append(pack_cells(seen["board"].ravel().tolist()))
        assert boards == turns
        assert score == played.turns.score[played.turns.game == game][-1]
    assert used == played.games.powers.sum()
    assert used or not rules.powers


@pytest.mark.parametrize("action", [RUIN_FIRST, -1, ACTIONS])
def test_a_policy_that_ignores_the_mask_is_a_fault_of_its_bot(action: int, watch: Watch) -> None:
    class Blind(PolicyBot):
        def act(self, observation: Observation, mask: Mask) -> int:  # noqa: ARG002 - it is blind
            mask[:] = 1
            return action

    with pytest.raises(BotFault, match=f"small action {action} is not allowed here"):
        play_games(Blind(), SURVIVAL, 1, 0, 1, watch)


def test_the_policy_of_the_readme_plays(tmp_path: Path, watch: Watch) -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(from pathlib.*?)```", readme, re.DOTALL)
    (tmp_path / "trained.py").write_text(block, encoding="utf-8")
    np.save(tmp_path / "layer.npy", np.random.default_rng(1).normal(size=(ACTIONS, 39)))
    played = play_games(load_bot(str(tmp_path / "trained.py")), PEACEFUL, 1, 0, 5, watch)
    assert len(played.games.game) == 5


def test_the_example_learns() -> None:
    path = Path(__file__).parent.parent / "experiments" / "masked_agent.py"
    words = [sys.executable, "-W", "error", str(path), "150"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    before, after = (float(word) for word in re.findall(r": (-?[\d.]+) points a game", done.stdout))
    assert after > before + 20
