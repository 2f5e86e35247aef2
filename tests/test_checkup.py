"""check-bot: bots of ours pass every check, each bad one is caught by the check meant for it."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from magsim.cli import main
from magsim.rules import SURVIVAL
from magsim.trials.checkup import Checkup, checks, run_check
from magsim.worker import warm_up

pytestmark = pytest.mark.usefixtures("workers_stay")

HEAD = """
import os, random, sys, time
import numpy as np
from magsim import dice, engine
from magsim.bot import Answers, Bot, option
from magsim.decision import Place, Power, Ruin

def first(position):
    return (position.ruins() or position.placements())[0]
"""
PLAIN = """
class Bad(Bot):
    def decide(self, position):
"""
BATCH = """
class Bad(Bot):
    def decide_batch(self, positions):
        packed = [self.pick(positions.position(k)) for k in range(len(positions))]
"""
PICK = """
    def pick(self, position):
        decision = first(position)
        return position.after(decision)
"""

BAD = {
    "a placement on a cell that is taken": (
        "legal",
        "a RUIN goes on an empty cell",
        PLAIN + "        return Ruin(0) if position.board & 15 else first(position)",
    ),
    "a placement that is illegal": (
        "legal",
        "which is illegal",
        PLAIN + "        return Place(((position.dice[0], 0), (position.dice[1], 15)))",
    ),
    "an exception": (
        "legal",
        "raised ZeroDivisionError",
        PLAIN + "        return first(position) if position.board == 0 else 1 / 0",
    ),
    "no decision": ("legal", "answered None", PLAIN + "        pass"),
    "an estimate beyond reason": (
        "legal",
        "an estimate is a score",
        PLAIN + "        found = position.placements()\n"
        "        return Place(found[0].placements, estimate=1e12) if found else first(position)",
    ),
    "a long sleep": ("legal", "gave no answer within", PLAIN + "        time.sleep(60)"),
    "chance of its own": (
        "repeatable",
        "when it was played again",
        PLAIN + "        return random.choice(position.ruins() or position.placements())",
    ),
    "the clock": (
        "repeatable",
        "when it was played again",
        PLAIN + "        found = position.ruins() or position.placements()\n"
        "        return found[time.perf_counter_ns() // 1000 % len(found)]",
    ),
    "a count of decisions": (
        "stateless",
        "in another order",
        PLAIN + "        self.count = getattr(self, 'count', 0) + 1\n"
        "        found = position.ruins() or position.placements()\n"
        "        return found[self.count % len(found)]",
    ),
    "boards changed in place": (
        "keeps positions",
        "it changed boards",
        BATCH + "        positions.boards[:] = 1\n"
        "        return Answers(np.array(packed, np.int64))\n" + PICK,
    ),
    "rules changed in place": (
        "keeps positions",
        "it changed the rules",
        PLAIN + "        object.__setattr__(position.rules, 'ruin_penalty', 0)\n"
        "        return first(position)",
    ),
    "dice to come, by the simulator's seed": (
        "no peeking",
        "dice that are not thrown yet",
        PLAIN
        + "        frame, found = sys._getframe(), position.ruins() or position.placements()\n"
        "        while not hasattr(frame.f_locals.get('self'), '_seed'):\n"
        "            frame = frame.f_back\n"
        "        table = frame.f_locals['self']\n"
        "        game = table._games[:1].astype(np.uint64)\n"
        "        roll = dice.rolls(table._seed, game, 1 + frame.f_locals['turn'])\n"
        "        return found[int(roll.sum()) % len(found)]",
    ),
    "another decision in a batch": (
        "forms agree",
        "in a batch",
        BATCH + "        if len(positions) > 20:\n"
        "            one = positions.position(0)\n"
        "            packed[0] = one.after((one.ruins() or one.placements())[-1])\n"
        "        return Answers(np.array(packed, np.int64))\n" + PICK,
    ),
    "another decision by rank()": (
        "forms agree",
        "by rank()",
        PLAIN + "        return first(position)\n"
        "    def rank(self, position, key, count):\n"
        "        return [(position.ruins() or position.placements())[-1]]",
    ),
    "a default that is not allowed": (
        "options",
        "is not a whole number from 1 to 3",
        "class Bad(Bot):\n"
        "    depth: int = option(9, 'how deep', minimum=1, maximum=3)\n"
        "    def decide(self, position):\n        return first(position)",
    ),
    "an option that fails at its limit": (
        "options",
        "raised ZeroDivisionError",
        "class Bad(Bot):\n"
        "    depth: int = option(2, 'how deep', minimum=0, maximum=3)\n"
        "    def decide(self, position):\n        1 / self.depth\n        return first(position)",
    ),
    "chatter": (
        "quiet",
        "it prints",
        PLAIN + "        print('hm')\n        return first(position)",
    ),
    "a function of magsim replaced": (
        "leaves magsim alone",
        "it changed magsim.dice.rolls",
        "whole = dice.rolls\n" + PLAIN + "        dice.rolls = lambda *words: whole(*words)\n"
        "        return first(position)",
    ),
    "memory kept": (
        "memory",
        "MiB more",
        PLAIN + "        self.kept = [*getattr(self, 'kept', []), np.ones(1 << 20)]\n"
        "        return first(position)",
    ),
    "the end of its process": ("legal", "took its process down", PLAIN + "        os._exit(7)"),
    "a file that is no Python": ("loads", "does not import", "class Bad(Bot)"),
}
APART = ("a function of magsim replaced", "the end of its process", "rules changed in place")
"""Bad bots that are not to be met in the process of the tests."""


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """The simulator compiles before a time limit holds."""
    warm_up(None, SURVIVAL)


def bad_bot(folder: Path, text: str) -> str:
    path = folder / "bad.py"
    path.write_text(HEAD + text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", [name for name in BAD if name not in APART])
def test_each_bad_bot_is_caught_by_the_check_meant_for_it(name: str, tmp_path: Path) -> None:
    check, said, text = BAD[name]
    checkup = Checkup(bad_bot(tmp_path, text), (SURVIVAL,), 1, 3, time_limit=1.0)
    finding = run_check(checkup, check)
    assert not finding.passed
    assert said in finding.text


@pytest.mark.parametrize("name", APART)
def test_bad_bots_that_do_harm_are_caught_from_another_process(name: str, tmp_path: Path) -> None:
    check, said, text = BAD[name]
    checkup = Checkup(bad_bot(tmp_path, text), (SURVIVAL,), 1, 3, time_limit=20.0)
    found = {at: finding for at, finding in checks(checkup) if not finding.passed}
    assert said in found[check].text


@pytest.mark.parametrize("spec", ["random", "greedy", "lookahead", "mcts", "ntuple"])
def test_bots_of_ours_pass(spec: str) -> None:
    checkup = Checkup(spec, (SURVIVAL,), 1, 3)
    failed = [finding.text for _, finding in checks(checkup) if not finding.passed]
    assert failed == []


def test_the_bot_that_new_bot_writes_passes(tmp_path: Path) -> None:
    """And the exit code says so."""
    path = tmp_path / "mine.py"
    assert CliRunner().invoke(main, ["new-bot", str(path)]).exit_code == 0
    words = ["check-bot", str(path), "--games", "2", "--difficulty", "survival"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert "FAIL" not in result.output
    assert result.output.count("ok") >= 12


def test_a_bad_bot_is_told_by_the_exit_code(tmp_path: Path) -> None:
    path = bad_bot(tmp_path, BAD["an exception"][2])
    result = CliRunner().invoke(main, ["check-bot", path, "--games", "2"])
    assert result.exit_code == 3
    assert "FAIL  legal" in result.output
    assert "is not fit to play: legal" in result.output


@pytest.mark.parametrize("spec", ["nobot", "nowhere.py", "cmd:./nothing", "greedy:depth=3"])
def test_a_bot_that_is_not_there_is_bad_input(spec: str) -> None:
    result = CliRunner().invoke(main, ["check-bot", spec])
    assert result.exit_code == 2
    assert "FAIL" not in result.output


def test_a_file_that_does_not_import_fails_to_load(tmp_path: Path) -> None:
    path = bad_bot(tmp_path, BAD["a file that is no Python"][2])
    result = CliRunner().invoke(main, ["check-bot", path])
    assert (result.exit_code, "FAIL  loads" in result.output) == (3, True)


def test_new_bot_writes_over_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("precious", encoding="utf-8")
    result = CliRunner().invoke(main, ["new-bot", str(path)])
    assert result.exit_code == 2
    assert "exists" in result.output
    assert path.read_text(encoding="utf-8") == "precious"
