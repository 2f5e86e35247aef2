"""The Gymnasium environment: clean by Gymnasium, lawful by ``rules``, on a tournament's dice."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st
from policies import Chooser
from reachable import Drawn
from small_runs import make_run
from strategies import positions

from magsim import rules as law
from magsim.asking import Watch
from magsim.board import cell_values, format_board, parse_board, with_cell
from magsim.bot import Bot, Position
from magsim.decision import Decision, Place, Power, Ruin
from magsim.errors import MagsimError
from magsim.gym import ID
from magsim.gym.environment import Magdagdon, observation_space
from magsim.learning.actions import (
    ACTIONS,
    CONFIRM,
    RUIN_FIRST,
    Mask,
    Observation,
    Turn,
    action_mask,
    actions_of,
    observation,
)
from magsim.reading.replay import read_game
from magsim.rules import DIFFICULTIES, PEACEFUL, SURVIVAL, Rules

HARSH = {"minimum": 4, "power_costs": [5, 30], "max_difference": 2, "ruin_penalty": 20}
EVERY_RULES: list[dict[str, Any]] = [
    *({"difficulty": name} for name in DIFFICULTIES),
    {"difficulty": "nightmare", **HARSH},
]


class Wanderer(Bot):
    """Uses Powers of every kind as chance has it, mostly in MAGDAGDON; plays anything legal."""

    def decide(self, position: Position) -> Decision:
        lost = position.in_magdagdon()
        if position.powers_left and self.random.random() < (0.8 if lost else 0.2):
            return self.random.choice(position.powers())
        return self.random.choice(position.ruins() if lost else position.placements())


def make(**rules: Any) -> Magdagdon:
    return Magdagdon(**rules)


def sample(env: Magdagdon, mask: Mask) -> int:
    return int(env.action_space.sample(mask))  # type: ignore[attr-defined]  # Discrete takes one


def decoded(action: int, hand: list[int], staged: list[tuple[int, int]]) -> Decision | None:
    """What a small action decides, by the README; None for a die staged."""
    if action < 96:
        staged.append((action // 16 + 1, action % 16))
        return None
    if action < 108:
        return Power("raise" if action < 102 else "lower", ((action - 96) % 6 + 1,))
    if action < 123:
        return Power("reroll", tuple(die for k, die in enumerate(hand) if action - 107 >> k & 1))
    return Place(tuple(staged)) if action == 123 else Ruin(action - 124)


def dice_of(seen: Observation) -> list[int]:
    return [int(die) for die in seen["dice"] if die]


def text_of(seen: Observation) -> str:
    return "/".join("".join(".123456R"[value] for value in row) for row in seen["board"])


def judged(env: Magdagdon) -> int:
    """Play a random masked episode, every decision checked by the readable law; the score."""
    seen, info = env.reset()
    board, left, total, over, steps = 0, env.rules.powers, 0.0, False, 0
    hand, staged = dice_of(seen), list[tuple[int, int]]()
    while not over:
        assert info["action_mask"].any()
        action = sample(env, info["action_mask"])
        decision = decoded(action, hand, staged)
        seen, reward, over, truncated, info = env.step(action)
        assert info["allowed"]
        assert not truncated
        total += reward
        steps += 1
        if decision is None:
            assert seen["staged"].sum() == len(staged)
        else:
            match decision:
                case Place():
                    board = law.check_place(board, hand, decision, env.rules)
                case Ruin():
                    board = law.check_ruin(board, hand, decision, env.rules)
                case Power():
                    law.check_power(hand, left, decision)
                    left -= 1
            hand, staged = dice_of(seen), []
            assert text_of(seen) == format_board(board)
            assert seen["powers_left"] == left
        shown = law.stage(board, staged, env.rules)[0]
        assert total == seen["score"] == law.score(shown, env.rules, env.rules.powers - left).total
    assert law.is_over(board)
    assert not info["action_mask"].any()
    assert steps <= 41
    return int(total)


@pytest.mark.parametrize("rules", EVERY_RULES, ids=lambda rules: "+".join(map(str, rules.values())))
def test_a_thousand_random_episodes_are_confirmed_by_the_readable_law(
    rules: dict[str, Any],
) -> None:
    env = make(**rules)
    env.action_space.seed(3)
    env.reset(seed=3)
    assert len({judged(env) for _ in range(1000 // len(EVERY_RULES))}) > 50


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rules", EVERY_RULES, ids=lambda rules: "+".join(map(str, rules.values())))
def test_gymnasium_finds_nothing_to_complain_of(rules: dict[str, Any]) -> None:
    env = gymnasium.make(ID, render_mode="ansi", **rules)
    check_env(env.unwrapped)
    env.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A tournament's run of seed 1: games 0 to 9 of a bot at every difficulty."""
    watch = Watch(600)
    yield make_run(tmp_path_factory.mktemp("run") / "r", watch, {"w": 10}, bots={"w": Wanderer()})
    watch.close()


@pytest.mark.parametrize("rules", DIFFICULTIES.values(), ids=lambda rules: rules.name)
def test_a_recorded_game_is_replayed_to_its_score(run: Path, rules: Rules) -> None:
    env = gymnasium.make(ID, difficulty=rules.name)
    seen, info = env.reset(seed=1)
    used = set()
    for number in range(10):
        game = read_game(run, None, rules.name, number)
        assert (info["seed"], info["game"]) == (game.seed, number)
        total, over = 0.0, False
        for turn in game.turns:
            assert tuple(dice_of(seen)) == turn.start.dice
            position = turn.start
            for decision in (*(power for power, _ in turn.powers), turn.closing):
                used.add(str(decision)[0] if isinstance(decision, Power) else type(decision))
                for action in actions_of(decision, position):
                    assert info["action_mask"][action], f"{decision} at {position}"
                    seen, reward, over, _, info = env.step(np.int64(action))
                    total += reward
                dice = tuple(dice_of(seen))
                position = replace(position, dice=dice, powers_left=position.powers_left - 1)
            assert text_of(seen) == format_board(turn.board)
            assert total == seen["score"] == turn.score
        assert over
        assert total == game.result["score"]
        seen, info = env.reset()
    assert used >= ({Place, Ruin} | (set("+-r") if rules is PEACEFUL else set()))


@settings(max_examples=20)  # the readable law is slow on wide boards
@given(positions(), st.randoms(use_true_random=False))
def test_the_mask_is_what_the_readable_law_allows(position: Drawn, random: Random) -> None:
    turn = Turn(position)
    outcomes = law.outcomes(position.board, position.dice, position.rules)
    while True:
        mask = action_mask(turn)
        board, begun = turn.board, bool(turn.placements)
        for action in range(ACTIONS):
            staged = list(turn.placements)
            decision = decoded(action, list(position.dice), staged)
            if decision is None:
                die, cell = staged[-1]
                fits = cell in law.legal_cells(board, die, position.rules)
                goal = with_cell(board, cell, die) if fits else 0
                allowed = fits and any(with_all(goal, outcome) for outcome in outcomes)
                allowed = allowed and die in turn.dice
            elif isinstance(decision, Place):
                allowed = board in outcomes
            else:
                allowed = not begun and is_legal(position, decision) and is_plain(action, position)
            assert mask[action] == allowed, f"{action} at {position}, staged {turn.placements}"
        taken = turn.after(random.choice(np.flatnonzero(mask).tolist()))
        if not isinstance(taken, Turn):
            return
        turn = taken


def with_all(board: int, outcome: int) -> bool:
    """Whether an outcome has all that is on a board."""
    return all(
        value in (0, now) for value, now in zip(*map(cell_values, (board, outcome)), strict=True)
    )


def is_legal(position: Position, decision: Decision) -> bool:
    try:
        law.check(position.board, position.dice, position.powers_left, decision, position.rules)
    except law.IllegalDecision:
        return False
    return True


def is_plain(action: int, position: Position) -> bool:
    """Whether of several rerolls of the same values this is the one with the foremost dice."""
    if not 108 <= action < 123:
        return True
    chosen = [action - 107 >> k & 1 for k in range(4)]
    pairs = zip(position.dice, position.dice[1:], chosen, chosen[1:], strict=False)
    return not any(a == b and later > first for a, b, first, later in pairs)


@given(positions())
def test_what_is_seen_is_in_the_space(position: Drawn) -> None:
    assert observation(Turn(position)) in observation_space()


@pytest.mark.parametrize("sign", [1, -1])
def test_the_space_holds_the_farthest_scores(sign: int) -> None:
    board = parse_board("1234/2345/3456/4566") if sign > 0 else parse_board("/".join(["RRRR"] * 4))
    rules = Rules("far", 4, (1000,) * 9, 1000, 1000, 1000, 1000)
    left = rules.powers if sign > 0 else 0
    seen = observation(Turn(Position(board, (), left, rules)))
    assert abs(seen["score"]) > 6000
    assert seen in observation_space()


def test_an_action_that_is_not_allowed_changes_nothing() -> None:
    env = make(difficulty="peaceful")
    seen, info = env.reset(seed=5)
    while True:
        for action in np.flatnonzero(info["action_mask"] == 0):
            after, reward, over, _, told = env.step(action)
            assert (reward, over, told["allowed"]) == (0.0, False, False)
            assert (told["action_mask"] == info["action_mask"]).all()
            assert all((after[key] == seen[key]).all() for key in seen)
        seen, _, over, _, info = env.step(np.flatnonzero(info["action_mask"])[-1])
        if over:
            break
    assert env.step(CONFIRM)[1:3] == (0.0, True)


def test_what_was_handed_out_is_not_looked_at_again() -> None:
    env = make()
    _, info = env.reset(seed=5)
    info["action_mask"][:] = 1
    assert not env.step(RUIN_FIRST)[4]["allowed"]


def episode(env: gymnasium.Env[Any, Any], **reset: Any) -> list[str]:
    """All that is seen and told in a game of a fixed policy, then its score."""
    seen, info = env.reset(**reset)
    log, over, policy = [repr((seen, info))], False, Chooser()
    while not over:
        seen, reward, over, _, info = env.step(policy.act(seen, info["action_mask"]))
        log.append(repr((seen, reward, info)))
    return [*log, str(int(seen["score"][0]))]


def test_seeds_and_game_indices_repeat() -> None:
    env, other = make(), make()
    first, second = episode(env, seed=7), episode(env)
    assert first != second
    assert episode(other, seed=7, options={"game": 1})[1:] == second[1:]
    assert episode(other, options={"game": 0}) == first
    assert episode(other) == second
    assert make().reset()[1]["seed"] != make().reset()[1]["seed"]


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_vectors_of_environments_play_the_same_games(kind: str) -> None:
    seeds, policy = [3, 1, 2], Chooser()
    envs = gymnasium.make_vec(ID, len(seeds), kind, difficulty="nightmare")
    seen, info = envs.reset(seed=seeds)
    scores: list[list[str]] = [[] for _ in seeds]
    returns = np.zeros(len(seeds))
    while min(map(len, scores)) < 3:
        rows = [{key: part[row] for key, part in seen.items()} for row in range(len(seeds))]
        masks = info["action_mask"]  # empty in the step in which Gymnasium begins the next game
        actions = [
            policy.act(row, mask) if mask.any() else 0
            for row, mask in zip(rows, masks, strict=True)
        ]
        seen, rewards, over, _, info = envs.step(np.array(actions))
        returns += rewards
        for row in np.flatnonzero(over):
            scores[row].append(str(int(returns[row])))
            returns[row] = 0
    envs.close()
    alone = make(difficulty="nightmare")
    for seed, found in zip(seeds, scores, strict=True):
        for game, score in enumerate(found):
            assert episode(alone, seed=seed, options={"game": game})[-1] == score


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"difficulty": "survial"},
            "unknown difficulty 'survial'; did you mean 'survival'",
        ),
        ({"difficulty": ["survival"]}, "give a name or magsim.Rules"),
        ({"ruin_penalti": 20}, "did you mean 'ruin_penalty'"),
        ({"ruin_penalty": -1}, "ruin_penalty = -1 is to be a whole number from 0 to 1000"),
        ({"power_costs": 70}, "power_costs = 70 is to be a list"),
        ({"render_mode": "human"}, "render_mode 'human' is unknown .known: ansi"),
    ],
)
def test_wrong_arguments_are_said(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(MagsimError, match=words):
        make(**arguments)


def test_rules_are_varied_by_keyword() -> None:
    env = make(difficulty="survival", ruin_penalty=20, power_costs=(30, 60))
    assert env.rules == replace(
        SURVIVAL, name=env.rules.name, ruin_penalty=20, power_costs=(30, 60)
    )
    assert env.rules.name == "survival+ruin_penalty=20+power_costs=[30,60]"


@pytest.mark.parametrize(
    ("reset", "words"),
    [
        (
            {"seed": 2**64},
            "seed 18446744073709551616 is to be a whole number",
        ),
        ({"options": {"turn": 2}}, "unknown option 'turn' .known: game"),
        ({"options": {"game": -1}}, "game -1 is to be a whole number from 0"),
        ({"options": {"game": "first"}}, "game 'first' is to be a whole number"),
        ({"options": {"game": True}}, "game True is to be a whole number"),
    ],
)
def test_wrong_resets_are_said(reset: dict[str, Any], words: str) -> None:
    with pytest.raises(MagsimError, match=words):
        make().reset(**reset)


def test_steps_out_of_turn_are_said() -> None:
    env = make(render_mode="ansi")
    with pytest.raises(ResetNeeded, match="reset"):
        env.step(0)
    with pytest.raises(ResetNeeded, match="reset"):
        env.render()
    env.reset(seed=2**64 - 1)
    for action in (-1, ACTIONS, "confirm"):
        with pytest.raises(InvalidAction, match="from 0 to 139"):
            env.step(action)


def test_the_board_is_drawn_with_what_is_staged() -> None:
    env = make(render_mode="ansi")
    seen, _ = env.reset(seed=1)
    first, *rest = dice_of(seen)
    env.step(16 * (first - 1) + 5)
    shown = env.render()
    assert shown is not None
    drawn = shown.splitlines()
    assert drawn[2] == f"  2  .  [{first}]  .   ."
    assert drawn[-1].startswith(f"  dice {''.join(map(str, rest))}, 1 required, Powers 1, score")


def test_masks_are_told_by_the_name_that_others_ask_for() -> None:
    env = gymnasium.make(ID)
    _, info = env.reset(seed=1)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == np.bool_
    assert (masks == info["action_mask"]).all()


def test_arrays_come_in_the_order_of_the_space() -> None:
    assert list(make().reset(seed=1)[0]) == list(observation_space())


def test_nothing_but_the_environment_imports_gymnasium() -> None:
    script = (
        "import sys, magsim, magsim.cli, magsim.learning.policy, magsim.trials.match;"
        "assert 'gymnasium' not in sys.modules;"
        "sys.modules['gymnasium'] = None;"
        "import magsim.gym"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "ImportError: magsim.gym needs Gymnasium: pip install 'magsim[gym]'" in done.stderr


def test_the_environment_is_made_by_module_and_name() -> None:
    script = (
        "import gymnasium;"
        "env = gymnasium.make('magsim.gym:magsim/Magdagdon-v0', difficulty='peaceful');"
        "print(env.reset(seed=1)[1]['game'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "0\n"
