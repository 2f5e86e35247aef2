"""Bots in any language: a whole game by the example, and every way to speak badly."""

import shlex
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from magsim.cli import main
from magsim.errors import MagsimError
from magsim.registry import fingerprint, load_bot

pytestmark = pytest.mark.usefixtures("workers_stay")

ENGINE = Path(__file__).parent.parent / "bots" / "engine.pl"

LOOP = """
import json, os, sys, time
count = 0
for line in sys.stdin:
    asked = json.loads(line)
    if "rules" in asked:
        print({hello}, flush=True)
        continue
    count += 1
    {answer}
"""
HELLO = "json.dumps({'magsim': 1})"
RANDOM = "print(json.dumps({'id': asked['id'], 'decision': %s}), flush=True)"

BAD = {
    "another protocol": ("json.dumps({'magsim': 9})", "pass", "does not speak protocol 1"),
    "no JSON": (HELLO, "print('hello there', flush=True)", "which is no JSON"),
    "no object": (HELLO, "print('[1]', flush=True)", "which is no JSON object"),
    "no decision": (HELLO, "print(json.dumps({'id': asked['id']}), flush=True)", "no text"),
    "no notation": (HELLO, RANDOM % "'d4 to e5'", "write a placement as"),
    "an illegal decision": (HELLO, RANDOM % "'ruin a1'", "which is illegal"),
    "a die that is not there": (HELLO, RANDOM % "'7a1 7b1'", "7"),
    "another question": (
        HELLO,
        "print(json.dumps({'id': 0, 'decision': 'ruin a1'}), flush=True)",
        "answered question 0 when it was asked 1",
    ),
    "an estimate that is no number": (
        HELLO,
        "print(json.dumps({'id': asked['id'], 'decision': 'ruin a1', 'estimate': 'high'}),"
        " flush=True)",
        "which is no number",
    ),
    "an error": (
        HELLO,
        "print(json.dumps({'error': 'no idea'}), flush=True)",
        "gave up: 'no idea'",
    ),
    "an end": (HELLO, "print('out of luck', file=sys.stderr); sys.exit(3)", "(out of luck)"),
    "a kill": (HELLO, "os.kill(os.getpid(), 9)", "ended with signal 9"),
    "half a line": (HELLO, "print('{', end='', flush=True); os._exit(0)", "ended with exit code 0"),
    "a long line": (HELLO, "print('x' * 100_000, flush=True)", "a line of more than 65536 bytes"),
    "no answer": (HELLO, "time.sleep(60)", "gave no answer within 0.5 s"),
}


def engine(folder: Path, hello: str, answer: str) -> str:
    path = folder / "engine.py"
    path.write_text(LOOP.format(hello=hello, answer=answer), encoding="utf-8")
    return f"cmd:{shlex.join([sys.executable, str(path)])}"


def play(spec: str, run: Path, *words: str) -> Result:
    options = ["--games", "2", "--difficulty", "survival", "--jobs", "1", "--out", str(run)]
    return CliRunner().invoke(main, ["tournament", "--bots", spec, *options, *words])


@pytest.mark.skipif(shutil.which("perl") is None, reason="the example is in Perl")
def test_the_example_plays_and_is_verified(tmp_path: Path) -> None:
    spec = f"cmd:{ENGINE}"
    played = play(spec, tmp_path / "run", "--time-limit", "20")
    assert played.exit_code == 0, played.output
    assert CliRunner().invoke(main, ["verify", str(tmp_path / "run")]).exit_code == 0
    checked = CliRunner().invoke(main, ["check-bot", spec, "--games", "1"])
    assert checked.exit_code == 0, checked.output


@pytest.mark.parametrize("name", BAD)
def test_whatever_a_program_does_wrong_is_reported(name: str, tmp_path: Path) -> None:
    hello, answer, said = BAD[name]
    spec = engine(tmp_path, hello, answer)
    result = play(spec, tmp_path / "run", "--time-limit", "0.5")
    assert result.exit_code == 3
    assert said in result.output
    assert "game 0, turn 1, position" in result.output


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(MagsimError, match=r"there is no program './nothing'"):
        load_bot("cmd:./nothing --level 3")
    with pytest.raises(MagsimError, match="write the program after cmd:"):
        load_bot("cmd:")
    with pytest.raises(MagsimError, match="cannot be told apart"):
        load_bot("cmd:./a 'b")


def test_a_changed_program_is_another_one(tmp_path: Path) -> None:
    spec = engine(tmp_path, HELLO, "pass")
    before = fingerprint(spec)
    assert fingerprint(engine(tmp_path, HELLO, "pass")) == before
    assert fingerprint(engine(tmp_path, HELLO, "pass  # better")) != before
