"""A small agent that learns MAGDAGDON in its Gymnasium environment, by the action mask.

    pip install 'magsim[gym]'
    python experiments/masked_agent.py

A table says what a row or column is worth, by its four cells; an action is worth what the lines are
worth after it, and what its kind adds. SARSA(0.5) learns the final score, exploring less and less.

Measured: 36.0 points a game before, 229.2 after 3,000 episodes, in the first 200 games of seed 2 in
SURVIVAL (14 s in all, one core). On the same dice `random` has 29.4, `greedy` 155.8.
"""

import sys

import gymnasium
import numpy as np

import magsim.gym

KIND = np.repeat(range(5), [96, 12, 15, 1, 16])  # stage, raise or lower, reroll, confirm, RUIN
CHANGE = np.zeros((140, 16), int)  # what each action adds to the board: a die, a RUIN, or nothing
CHANGE[range(96), np.tile(range(16), 6)] = np.repeat(range(1, 7), 16)
CHANGE[range(124, 140), range(16)] = 7
DIGITS = 8 ** np.arange(4)
env = gymnasium.make(magsim.gym.ID, difficulty="survival")
chance, worth, adds = np.random.default_rng(0), np.zeros(8**4), np.zeros(5)


def play(seed, explore):
    """Play a game, the next one or the first of a seed; learn the more, the more is explored."""
    (seen, info), over, trace = env.reset(seed=seed), False, []
    while not over:
        actions = np.flatnonzero(info["action_mask"])
        boards = seen["board"] + CHANGE[actions].reshape(-1, 4, 4)
        lines = np.concatenate([boards @ DIGITS, DIGITS @ boards], axis=1)
        values = worth[lines].sum(axis=1) + adds[KIND[actions]]
        k = chance.integers(len(actions)) if chance.random() < explore else values.argmax()
        trace.append((lines[k], KIND[actions[k]], values[k]))
        seen, _, over, _, info = env.step(actions[k])
    score = target = seen["score"].item()
    for lines, kind, value in reversed(trace):
        np.add.at(worth, lines, explore / 4 * (target - value))
        adds[kind] += explore / 40 * (target - value)
        target = (target + value) / 2
    return score


def mean_score():
    """The mean score of the first 200 games of seed 2, nothing explored and nothing learned."""
    return np.mean([play(None if game else 2, explore=0) for game in range(200)])


if __name__ == "__main__":
    episodes = int(sys.argv[1]) if sys.argv[1:] else 3000
    print(f"before: {mean_score():.1f} points a game")
    for episode in range(episodes):
        play(None if episode else 1, explore=0.1 * (1 - episode / episodes))
    print(f"after {episodes} episodes: {mean_score():.1f} points a game")
