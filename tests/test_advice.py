"""What a bot says to a player: hints, its own game on the same dice, what decisions cost."""

import os
import signal
import threading
import time
from hashlib import blake2b
from itertools import product
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from magsim import registry
from magsim.asking import Watch
from magsim.board import EMPTY_BOARD, SYMBOLS, cell_values, empty_cells, parse_board
from magsim.bot import Bot, Position
from magsim.cli import main
from magsim.decision import Decision, Place, Power, Ruin, pack_decision, parse_decision
from magsim.entrants import Entrant
from magsim.errors import BotFault, MagsimError
from magsim.play.advice import Regret, hint, regrets, rival_game
from magsim.play.steps import Step
from magsim.pool import stop_workers
from magsim.reading.explain import Inquiry, explain
from magsim.reading.replay import Game, read_game
from magsim.rules import PEACEFUL, SURVIVAL, Rules

SECONDS = 60.0
BOARD = parse_board("..../.34./..R./....")
DICE = (1, 2, 4, 4)

# Estimates by a formula, and decisions of every kind by a draw that only the position decides.
FORMULA = """
from magsim.board import cell_values, empty_cells
from magsim.bot import Bot
from magsim.decision import Power, Ruin
from dataclasses import replace

class Formula(Bot):
    def decide(self, position):
        numbers = enumerate(cell_values(position.board), 1)
        estimate = sum(cell * value for cell, value in numbers)
        estimate += position.dice[0] * position.dice[2]
        decision = self.choose(position, (position.board + sum(position.dice)) % 1009)
        return replace(decision, estimate=estimate - 8 * position.powers_left ** 2)

    def choose(self, position, draw):
        low, high = position.dice[0], position.dice[-1]
        if position.powers_left and draw % 2:
            if draw % 3 == 0 and low < 6:
                return Power("raise", (low,))
            if draw % 3 == 1 and high > 1:
                return Power("lower", (high,))
            return Power("reroll", position.dice[: 1 + draw % 4])
        outcomes = position.outcomes()
        if outcomes:
            return position.placement(outcomes[draw % len(outcomes)])
        return Ruin(empty_cells(position.board)[-1])
"""
# Says as its estimate who it is: its process, or its first random number.
TELLING = """
import os
from dataclasses import replace
from magsim.bot import Bot, option

class Telling(Bot):
    process: bool = option(False, "whether it tells the process")

    def decide(self, position):
        told = os.getpid() if self.process else self.random.random()
        return replace((position.decisions())[-1], estimate=told)
"""
LEAVING = """
import os
from magsim.bot import Bot

class Leaving(Bot):
    def decide(self, position):
        os._exit(0)
"""
RAISING = """
from magsim.bot import Bot

class Raising(Bot):
    def decide(self, position):
        raise RuntimeError("no idea")
"""
SLEEPING = """
import os, pathlib, time
from magsim.bot import Bot

class Sleeping(Bot):
    def decide(self, position):
        place = pathlib.Path(__file__).with_name("process")
        place.with_suffix(".new").write_text(str(os.getpid()))
        place.with_suffix(".new").rename(place)
        time.sleep(60)
"""


@pytest.fixture(scope="module", autouse=True)
def _no_process_left() -> object:
    yield
    stop_workers()


def entrant(spec: str) -> Entrant:
    return Entrant(registry.load_bot(spec), registry.worker_spec(spec), "")


def written(folder: Path, code: str, options: str = "") -> Entrant:
    path = folder / "some.py"
    path.write_text(code)
    return entrant(f"{path}{options}")


def ask(bot: Entrant, powers_left: int = 1, turn: int = 3) -> Decision:
    return hint(BOARD, DICE, powers_left, SURVIVAL, turn, bot, SECONDS, 1).decision


def steps_of(game: Game) -> list[Step]:
    steps = []
    for turn in game.turns:
        dice, left = turn.start.dice, turn.start.powers_left
        for power, after in turn.powers:
            steps.append(Step(turn.number, turn.start.board, dice, left, power))
            dice, left = after, left - 1
        steps.append(Step(turn.number, turn.start.board, dice, left, turn.closing))
    return steps


# Hints.


def test_a_hint_is_the_bots_explanation_under_a_key_of_the_position_alone(watch: Watch) -> None:
    text = b"..../.34./..R./.... 1244 powers=1"
    key = int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
    bot = entrant("mcts:iterations=8")
    position = Position(BOARD, DICE, 1, SURVIVAL)
    expected = explain(Inquiry(0, 3, position, key), bot.bot, watch, 2)
    assert len(expected.options) == 2
    for dice in (DICE, DICE[::-1]):
        assert hint(BOARD, dice, 1, SURVIVAL, 3, bot, SECONDS, 2) == expected


def test_chance_in_a_hint_hangs_on_the_position_not_on_the_turn_or_how_often_it_is_asked(
    tmp_path: Path,
) -> None:
    bot = written(tmp_path, TELLING)
    told = [ask(bot).estimate, ask(bot).estimate, ask(bot, turn=9).estimate]
    assert told == told[:1] * 3
    assert told[0] != ask(bot, powers_left=0).estimate


def test_one_process_gives_all_hints(tmp_path: Path) -> None:
    bot = written(tmp_path, TELLING, ":process=true")
    processes = {ask(bot).estimate for _ in range(4)}
    assert len(processes) == 1
    assert os.getpid() not in processes


def test_after_a_bot_that_took_its_process_down_others_still_give_hints(tmp_path: Path) -> None:
    with pytest.raises(BotFault) as caught:
        ask(written(tmp_path, LEAVING))
    assert str(caught.value) == (
        "bot some.py (survival) took its process down; "
        "game 0, turn 3, position ..../.34./..R./.... 1244 powers=1"
    )
    with pytest.raises(BotFault, match="raised RuntimeError: no idea; game 0, turn 3"):
        ask(written(tmp_path, RAISING))
    assert ask(entrant("random"))


def test_ctrl_c_ends_the_process_that_was_asked(tmp_path: Path) -> None:
    bot = written(tmp_path, SLEEPING)
    asked = tmp_path / "process"

    def interrupt() -> None:
        while not asked.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt, daemon=True).start()
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            ask(bot)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - started < 20
    with pytest.raises(ProcessLookupError):
        os.kill(int(asked.read_text()), 0)


# The rival.


@pytest.fixture(scope="module")
def tournament(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("tournament") / "run"
    words = ["tournament", "--bots", "random,lookahead", "--games", "1", "--seed", "97"]
    result = CliRunner().invoke(main, [*words, "--out", str(run)])
    assert result.exit_code == 0, result.output
    return run


@pytest.mark.parametrize(("name", "law"), [("random", PEACEFUL), ("lookahead", SURVIVAL)])
def test_the_rival_plays_the_game_that_a_tournament_records(
    tournament: Path, name: str, law: Rules
) -> None:
    recorded = read_game(tournament, name, law.name, 0)
    assert rival_game(entrant(name), law, 97, SECONDS) == recorded


def test_who_has_met_the_dice_gives_no_hints(tmp_path: Path) -> None:
    bot = written(tmp_path, TELLING, ":process=true")
    played = {turn.estimate for turn in rival_game(bot, SURVIVAL, 5, SECONDS).turns}
    assert len(played) == 1
    assert ask(bot).estimate not in played


def test_a_rival_at_fault_is_named(tmp_path: Path) -> None:
    with pytest.raises(BotFault, match=r"bot some\.py \(survival\) took its process.*turn 1"):
        rival_game(written(tmp_path, LEAVING), SURVIVAL, 5, SECONDS)


# The post-mortem.


def formula(board: int, dice: tuple[int, ...], powers_left: int) -> int:
    low, _, third, _ = sorted(dice)
    worth = sum(cell * value for cell, value in enumerate(cell_values(board), 1))
    return worth + low * third - 8 * powers_left**2


def final_score(board: int, law: Rules, powers_left: int) -> int:
    """By the rules as they are told: lines of text, looked at one by one."""
    rows = ["".join(SYMBOLS[v] for v in cell_values(board)[k : k + 4]) for k in range(0, 16, 4)]
    points = 0
    for line in (*rows, *map("".join, zip(*rows, strict=True))):
        points += sum(int(sign) for sign in line if sign != "R")
        if line in "123456" or line in "654321":
            points += 60
        elif line == line[0] * 4 and "R" not in line:
            points += 40
        elif sorted(map(line.count, line)) == [2, 2, 2, 2] and "R" not in line:
            points += 20
    ruins = sum(row.count("R") for row in rows)
    return points - 15 * ruins - sum(law.power_costs[: law.powers - powers_left])


def expected_value(step: Step, decision: Decision, law: Rules) -> float:
    """The mean of the formula over every throw of every die, one by one."""
    left = step.powers_left
    if isinstance(decision, Place | Ruin):
        after = pack_decision(decision, step.board, step.dice)
        if not empty_cells(after):
            return final_score(after, law, left)
        throws = list(product(range(1, 7), repeat=4))
        return sum(formula(after, dice, left) for dice in throws) / len(throws)
    kept = list(step.dice)
    for die in decision.dice:
        kept.remove(die)
    shift = {"raise": 1, "lower": -1}.get(decision.kind)
    if shift is not None:
        return formula(step.board, (*kept, decision.dice[0] + shift), left - 1)
    throws = list(product(range(1, 7), repeat=len(decision.dice)))
    return sum(formula(step.board, (*kept, *t), left - 1) for t in throws) / len(throws)


def random_steps(law: Rules, seed: int) -> list[Step]:
    """A game of decisions drawn at random, Powers more often than not while there are any."""
    rng = Random(seed)
    board, left, turn, steps = EMPTY_BOARD, law.powers, 1, []
    while empty_cells(board):
        dice = tuple(sorted(rng.choices(range(1, 7), k=4)))
        position = Position(board, dice, left, law)
        options = position.powers() if left and rng.random() < 0.6 else []
        decision = rng.choice(options or [*position.placements(), *position.ruins()])
        steps.append(Step(turn, board, dice, left, decision))
        if isinstance(decision, Power):
            left -= 1
            continue
        board, turn = position.after(decision), turn + 1
    return steps


def kind(decision: Decision) -> str:
    return decision.kind if isinstance(decision, Power) else type(decision).__name__


def expected_regrets(law: Rules, steps: list[Step], bot: Bot) -> list[Regret]:
    found = []
    for step in steps:
        position = Position(step.board, step.dice, step.powers_left, law)
        better = bot.decide(position)
        if len({pack_decision(d, step.board, step.dice) for d in (step.decision, better)}) == 2:
            value, best = (expected_value(step, d, law) for d in (step.decision, better))
            found += [Regret(step, better, value, best)] * (best > value)
    return sorted(found, key=lambda regret: -regret.cost)


def ends(regret: Regret) -> bool:
    step, better = regret.step, regret.better
    return isinstance(better, Place | Ruin) and not empty_cells(
        pack_decision(better, step.board, step.dice)
    )


def test_regrets_are_the_means_of_estimates_over_all_throws(tmp_path: Path) -> None:
    bot = written(tmp_path, FORMULA)
    strict = Rules("strict", 4, (10, 20, 40))
    all_expected: list[Regret] = []
    for law, seed in ((PEACEFUL, 0), (strict, 3), (strict, 6)):
        steps = random_steps(law, seed)
        expected = expected_regrets(law, steps, bot.bot)
        found = regrets(law, steps, bot, SECONDS)
        assert [(r.step, r.better) for r in found] == [(r.step, r.better) for r in expected]
        for regret, wanted in zip(found, expected, strict=True):
            values = wanted.value, wanted.better_value
            assert (regret.value, regret.better_value) == pytest.approx(values), regret.step
        assert len(found) < len(steps)
        all_expected += expected
    kinds = {"Place", "Ruin", "raise", "lower", "reroll"}
    assert {kind(regret.step.decision) for regret in all_expected} == kinds
    assert {kind(regret.better) for regret in all_expected} == kinds
    assert any(map(ends, all_expected))


def test_the_same_hand_gets_the_same_chance_whatever_was_decided(tmp_path: Path) -> None:
    # Its estimates are chance alone: no placement can be better than another, before the last.
    steps = [Step(1, BOARD, DICE, 1, parse_decision(text)) for text in ("4b1 4c1", "4d2 4d1")]
    bot = written(tmp_path, TELLING.replace("decisions()", "placements() or position.ruins()"))
    decided = [bot.bot.decide(Position(s.board, s.dice, 1, SURVIVAL)) for s in steps]
    assert all(d != step.decision for d, step in zip(decided, steps, strict=True))
    assert regrets(SURVIVAL, steps, bot, SECONDS) == []


def test_a_bot_regrets_none_of_its_own_decisions(tournament: Path) -> None:
    # lookahead decides without chance.
    game = read_game(tournament, "lookahead", "peaceful", 0)
    other = read_game(tournament, "random", "peaceful", 0)
    bot = entrant("lookahead")
    assert regrets(PEACEFUL, steps_of(game), bot, SECONDS) == []
    found = regrets(PEACEFUL, steps_of(other), bot, SECONDS)
    assert sum(regret.cost for regret in found) > 50
    assert [regret.cost for regret in found] == sorted((r.cost for r in found), reverse=True)


def test_equal_dice_are_one_decision(tmp_path: Path) -> None:
    # Of two fours a bot may raise the one or the other.
    step = Step(3, BOARD, DICE, 1, Power("raise", (4,)))
    code = """
import numpy as np
from magsim.bot import Answers, Bot
from magsim.decision import RAISE, pack_power

class Second(Bot):
    def decide_batch(self, positions):
        return Answers(np.full(len(positions), pack_power(RAISE, 8)), np.zeros(len(positions)))
"""
    assert regrets(SURVIVAL, [step], written(tmp_path, code), SECONDS) == []


def test_who_gives_no_estimates_is_no_judge() -> None:
    steps = [Step(1, EMPTY_BOARD, DICE, 1, parse_decision("1d4 2c4"))]
    with pytest.raises(MagsimError, match=r"^bot random gives no estimates, ") as caught:
        regrets(SURVIVAL, steps, entrant("random"), SECONDS)
    assert caught.value.exit_code == 2


def test_a_judge_at_fault_is_named(tmp_path: Path) -> None:
    steps = [Step(5, BOARD, DICE, 1, parse_decision("4b1 4c1"))]
    with pytest.raises(BotFault, match="raised RuntimeError: no idea; game 0, turn 5, position"):
        regrets(SURVIVAL, steps, written(tmp_path, RAISING), SECONDS)


def test_the_cost_is_what_the_better_decision_gains() -> None:
    step = Step(1, EMPTY_BOARD, DICE, 1, parse_decision("1d4 2c4"))
    assert Regret(step, Ruin(3), 10.5, 12.0).cost == 1.5


# Who gives hints.


def test_bots_says_how_strong_each_is() -> None:
    strengths, name = {}, ""
    for line in CliRunner().invoke(main, ["bots"]).output.splitlines():
        if not line.startswith(" "):
            name = line.split()[0]
        elif line.startswith("    strength: "):
            strengths[name] = float(line.split()[1])
    ladder = ("random", "greedy", "lookahead", "ntuple", "mcts")
    assert sorted(strengths.keys() & set(ladder), key=lambda bot: strengths[bot]) == [*ladder]


def test_the_strength_of_another_decide_is_not_inherited() -> None:
    class Strong(Bot):
        strength = 300.0

        def decide(self, position: Position) -> Decision:
            return position.decisions()[0]

    class Renamed(Strong):
        pass

    class Other(Strong):
        def decide(self, position: Position) -> Decision:
            return position.decisions()[-1]

    assert (Strong.strength, Renamed.strength, Other.strength) == (300.0, 300.0, 0.0)
