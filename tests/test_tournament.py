"""Tournaments through the command line: same bytes however they are run, faults, refusals."""

import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from magsim import records
from magsim.cli import main
from magsim.manifest import read_manifest

GUESSER = """
from magsim.bot import Bot, option

class Guesser(Bot):
    '''Picks a decision at random, in plain Python.'''
    wait: float = option(0.0, "seconds to think", minimum=0)

    def decide(self, position):
        import time
        time.sleep(self.wait)
        return self.random.choice(position.decisions())
"""


MAGSIM = Path(sys.executable).with_name("magsim")

pytestmark = pytest.mark.usefixtures("workers_stay")


def magsim(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def start(*words: object) -> subprocess.Popen[str]:
    command = [str(MAGSIM), *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def rows(run: Path, table: str) -> pl.DataFrame:
    return records.scan(run, table, read_manifest(run)).collect()


def parts(run: Path) -> list[Path]:
    return sorted(run.glob("*/*/*/*.parquet"))


def wait_for_parts(run: Path, process: subprocess.Popen[str], count: int) -> None:
    while len(parts(run)) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


@pytest.fixture(scope="module")
def guesser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bots") / "guesser.py"
    path.write_text(GUESSER)
    return path


@pytest.fixture(scope="module")
def arguments(guesser: Path) -> list[object]:
    return [
        "tournament",
        "--bots",
        f"random,greedy,mcts:weights=none,{guesser}",
        "--games",
        14,
        "--seed",
        7,
    ]


@pytest.fixture(scope="module")
def reference(arguments: list[object], tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "reference"
    done = magsim(*arguments, "--jobs", 1, "--chunk", 14, "--out", run)
    assert done.exit_code == 0, done.stderr
    return run


@pytest.mark.parametrize(("jobs", "chunk"), [(2, 5), (1, 7)])
def test_records_do_not_depend_on_jobs_or_chunks(
    arguments: list[object], reference: Path, tmp_path: Path, jobs: int, chunk: int
) -> None:
    run = tmp_path / "run"
    done = magsim(*arguments, "--jobs", jobs, "--chunk", chunk, "--out", run)
    assert done.exit_code == 0, done.stderr
    for table in records.TABLES:
        assert rows(run, table).equals(rows(reference, table), null_equal=True), table


def test_same_plan_gives_the_same_files_byte_for_byte(
    arguments: list[object], reference: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    magsim(*arguments, "--jobs", 2, "--chunk", 14, "--out", run)
    # A part's name ends in the digest of its bytes.
    here = [path.relative_to(run) for path in parts(run)]
    assert here == [path.relative_to(reference) for path in parts(reference)]


@pytest.fixture(scope="module")
def slow(guesser: Path) -> list[object]:
    words = ["tournament", "--bots", f"{guesser}:wait=0.01", "--difficulty", "survival"]
    return [*words, "--games", 24, "--chunk", 3, "--jobs", 2]


@pytest.fixture(scope="module")
def whole(slow: list[object], tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "whole"
    assert magsim(*slow, "--out", run).exit_code == 0
    return run


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_resumes_to_the_same_records(
    slow: list[object], whole: Path, tmp_path: Path, kind: signal.Signals
) -> None:
    stopped = tmp_path / "stopped"
    process = start(*slow, "--out", stopped)
    wait_for_parts(stopped, process, 4)
    os.kill(process.pid, kind)
    _, errors = process.communicate(timeout=20)
    kept = parts(stopped)
    assert 4 <= len(kept) < 16
    if kind != signal.SIGKILL:
        assert process.returncode == 130
        command = re.search(r"To go on: (.*magsim tournament .*)", errors)
        assert command, errors
        assert str(stopped) in command[1]
    resumed = magsim(*slow, "--out", stopped)
    assert resumed.exit_code == 0, resumed.stderr
    assert set(kept) <= set(parts(stopped))
    assert not list(stopped.glob("**/.*")), "nothing temporary is left"
    for table in records.TABLES:
        assert rows(stopped, table).equals(rows(whole, table), null_equal=True), table


def test_the_same_command_on_a_finished_run_says_complete(
    arguments: list[object], reference: Path
) -> None:
    before = {path: path.stat().st_mtime_ns for path in parts(reference)}
    done = magsim(*arguments, "--jobs", 2, "--chunk", 14, "--out", reference)
    assert done.exit_code == 0
    assert "complete" in done.stderr
    assert "Compiling" not in done.stderr
    assert {path: path.stat().st_mtime_ns for path in parts(reference)} == before


def test_the_default_folder_is_named_from_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["tournament", "--bots", "random", "--games", "2", "--difficulty", "nightmare"]
    first = magsim(*words)
    again = magsim(*words)
    other = magsim(*words, "--set", "ruin_penalty=20")
    folders = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert first.exit_code == again.exit_code == other.exit_code == 0
    assert len(folders) == 2
    assert all(name.startswith("random-nightmare") for name in folders)
    assert "complete" in again.stderr


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (["--seed", 8], "seed 7 there, 8 here"),
        (["--games", 25], "games 14 there, 25 here"),
        (["--chunk", 6], "chunk 14 there, 6 here"),
        (
            ["--bots", "random"],
            "bots random,greedy,mcts:weights=none,guesser.py there, random here",
        ),
        (["--difficulty", "survival"], "difficulties peaceful,nightmare only there"),
        (["--set", "two_pairs=21"], "peaceful+two_pairs=21"),
    ],
)
def test_another_configuration_in_a_folder_is_refused_by_name(
    arguments: list[object], reference: Path, change: list[object], named: str
) -> None:
    before = (reference / "manifest.json").read_bytes()
    done = magsim(*arguments, "--chunk", 14, "--out", reference, *change)
    assert done.exit_code == 2
    assert named in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert (reference / "manifest.json").read_bytes() == before


def test_a_changed_bot_file_is_another_configuration(guesser: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(guesser.read_text())
    words = ["tournament", "--bots", mine, "--games", 1, "--out", tmp_path / "run"]
    assert magsim(*words).exit_code == 0
    mine.write_text(guesser.read_text() + "\n# changed\n")
    done = magsim(*words)
    assert done.exit_code == 2
    assert "bot mine.py is sha256:" in done.stderr


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    done = magsim("tournament", "--bots", "random", "--games", 1, "--out", tmp_path)
    assert done.exit_code == 2
    assert "is no run" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = magsim(
        "tournament", "--bots", "random", "--games", 1, "--out", tmp_path / "file" / "run"
    )
    assert done.exit_code == 2
    assert done.stderr.startswith("magsim: ")
    assert "Traceback" not in done.stderr


def test_a_disk_that_refuses_loses_nothing(tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ["tournament", "--bots", "random", "--games", 300, "--chunk", 300, "--out", run]
    words += ["--difficulty", "survival"]

    def refuse_large_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    # The compiler's cache is filled first: it would be refused too.
    magsim("tournament", "--bots", "random", "--games", 1, "--out", tmp_path / "warm")
    line = [str(MAGSIM), *map(str, words)]
    done = subprocess.run(
        line, capture_output=True, text=True, check=False, preexec_fn=refuse_large_files
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "File too large" in done.stderr
    assert parts(run) == []
    assert magsim(*words).exit_code == 0


BAD_BOTS = {
    "raises": ("def decide(self, p): return [][1]", "raised IndexError"),
    "rubbish": ("def decide(self, p): return 'b2'", "answered 'b2': a decision is a Place"),
    "cheats": ("def decide(self, p): return Power('raise', p.dice[:1])", "none is left (R12)"),
    "ruins": (
        "def decide(self, p): return Ruin(max(c for c in range(16) if not p.board >> 4 * c & 15))",
        "which is illegal: the turn is not in MAGDAGDON (R19)",
    ),
    "sleeps": ("def decide(self, p):\n  while True: pass", "gave no answer within 1 s"),
    "exits": ("def decide(self, p): os._exit(0)", "took its process down"),
    "hangs": (
        "def decide_batch(self, ps): spin(1)",
        "gave no answer within 1 s and could not be interrupted",
    ),
}
PREAMBLE = """
import os
import numba
from magsim.bot import Bot
from magsim.decision import Place, Power, Ruin

@numba.njit
def spin(x):
    while x >= 0:
        x = x * 3 + 1 & 1023
    return x

class Bad(Bot):
    """


@pytest.mark.parametrize("limit", [60, 1])
def test_bots_at_fault_are_reported_and_the_others_play_on(tmp_path: Path, limit: int) -> None:
    """Those that answer too late, and those that end their process, play by a limit of 1 s."""
    wrong, sentences = [], {}
    for kind, (body, sentence) in BAD_BOTS.items():
        if ("raise" in sentence or "R1" in sentence or "b2" in sentence) == (limit == 60):
            wrong.append(tmp_path / f"{kind}.py")
            wrong[-1].write_text(PREAMBLE + body.replace("\n", "\n    ") + "\n")
            sentences[kind] = sentence
    run = tmp_path / "run"
    words = ["--games", 6, "--chunk", 3, "--difficulty", "nightmare", "--time-limit", limit]
    bots = ",".join(map(str, [*wrong, "random"]))
    done = magsim("tournament", "--bots", bots, *words, "--out", run)
    assert done.exit_code == 3, done.output
    assert "Traceback" not in done.stderr
    reports = done.stderr.splitlines()[-len(wrong) :]
    for kind, sentence in sentences.items():
        (report,) = (line for line in reports if f"bot {kind}.py (nightmare)" in line)
        assert sentence in report
        assert re.search(r"game \d+, turn \d, position [./R]{19} [1-6]{4} powers=0", report)
    assert rows(run, "games")["bot"].to_list() == ["random"] * 6
    assert "random" in done.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--bots", "gredy"], "unknown bot 'gredy'; did you mean 'greedy'?"),
        (["--bots", "mcts:iteratons=5"], "did you mean 'iterations'?"),
        (["--bots", "mcts:iterations=many"], "iterations=many is to be a whole number"),
        (["--bots", "random,random"], "named twice"),
        (["--bots", "no/such.py"], "there is no such file"),
        (["--bots", "random", "--games", "0"], "0 is not in the range"),
        (["--bots", "random", "--games", "-3"], "-3 is not in the range"),
        (["--bots", "random", "--jobs", "0"], "0 is not in the range"),
        (["--bots", "random", "--seed", "-1"], "-1 is not in the range"),
        (["--bots", "random", "--difficulty", "pieceful"], "did you mean 'peaceful'?"),
        (["--bots", "random", "--set", "minimum=9"], "whole number from 1 to 4"),
        (["--bots", "random", "--rules", "none.toml"], "cannot be read: No such file"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, words: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = magsim("tournament", *words)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_one_game_has_no_intervals_and_no_nan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = magsim("tournament", "--bots", "random,greedy", "--games", 1)
    assert done.exit_code == 0
    assert "±" not in done.stdout
    assert not re.search(r"\b(nan|inf|None)\b", done.stdout)


def test_variants_play_under_names_of_their_own(tmp_path: Path) -> None:
    harsh = tmp_path / "harsh.toml"
    harsh.write_text("ruin_penalty = 50\npower_costs = [1, 2, 3, 4, 5]\n")
    run = tmp_path / "run"
    words = ["--difficulty", "survival", "--rules", harsh, "--set", "minimum=1", "--games", 5]
    done = magsim("tournament", "--bots", "greedy", *words, "--out", run)
    assert done.exit_code == 0, done.stderr
    assert rows(run, "games")["difficulty"].unique().to_list() == ["survival+harsh+minimum=1"]
    assert read_manifest(run).rules[0].power_costs == (1, 2, 3, 4, 5)
    assert magsim("verify", run).exit_code == 0


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("import os; os._exit(0)", "takes its process down when it is imported"),
        ("while True: pass", "does not import within 1 s"),
        ("raise SystemExit", "does not import: SystemExit"),
        ("import nosuch", "No module named 'nosuch'"),
        ("class", "SyntaxError"),
    ],
)
def test_a_file_that_does_not_import_does_no_harm(
    tmp_path: Path, lines: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text(lines)
    limit = 1 if "within" in sentence else 60
    done = magsim("tournament", "--bots", "bad.py", "--time-limit", limit)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_bot_file_that_changes_during_the_run_is_noticed(
    slow: list[object], guesser: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(guesser.read_text())
    words = [*slow[:2], f"{mine}:wait=0.01", *slow[3:], "--out", tmp_path / "run"]
    process = start(*words)
    wait_for_parts(tmp_path / "run", process, 2)
    mine.write_text(guesser.read_text() + "\n# changed\n")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    resumed = magsim(*words)
    assert resumed.exit_code == 2
    assert "bot mine.py:wait=0.01 is sha256:" in resumed.stderr


def test_a_bot_that_does_not_repeat_itself_leaves_no_stale_turns(tmp_path: Path) -> None:
    words = ["tournament", "--bots", "random", "--games", 4, "--difficulty", "nightmare"]
    run = tmp_path / "run"
    assert magsim(*words, "--out", run).exit_code == 0
    turns, games = (next(run.glob(f"{table}/*/*/*.parquet")) for table in records.TABLES)
    games.unlink()
    content = turns.read_bytes()
    turns.unlink()
    other = turns.with_name(f"{turns.name.split('.')[0]}.{'0' * 16}.parquet")
    other.write_bytes(content)
    damaged = magsim(*words, "--out", run)
    assert damaged.exit_code == 2  # a name that does not vouch for the bytes
    other.unlink()
    assert magsim(*words, "--out", run).exit_code == 0
    assert magsim("verify", run).exit_code == 0


def test_strangers_among_the_records_are_refused(tmp_path: Path) -> None:
    words = ["tournament", "--bots", "random", "--games", 4, "--difficulty", "nightmare"]
    run = tmp_path / "run[1]"
    assert magsim(*words, "--out", run).exit_code == 0
    assert magsim("verify", run).exit_code == 0
    stranger = run / "games" / "difficulty=foo" / "bot=random" / "000000000-000000003.0.parquet"
    stranger.parent.mkdir(parents=True)
    stranger.write_bytes(next(run.glob("games/*/*/*.parquet")).read_bytes())
    for again in (magsim(*words, "--out", run), magsim("verify", run)):
        assert again.exit_code == 2
        assert "difficulty=foo" in again.stderr
        assert "Traceback" not in again.stderr


def test_a_short_time_limit_is_one_for_a_decision_not_for_a_batch(tmp_path: Path) -> None:
    slowly = tmp_path / "slowly.py"
    slowly.write_text(
        "import time\n"
        "from magsim_bots.random import Random\n"
        "class Slowly(Random):\n"
        "    def decide_batch(self, positions):\n"
        "        time.sleep(0.02 * len(positions) ** 2)\n"
        "        return super().decide_batch(positions)\n"
    )
    words = ["--games", 8, "--difficulty", "nightmare", "--time-limit", 1, "--jobs", 1]
    done = magsim("tournament", "--bots", slowly, *words, "--out", tmp_path / "run")
    assert done.exit_code == 0, done.stderr


def test_a_bot_that_changes_the_rules_it_sees_changes_no_score(tmp_path: Path) -> None:
    cheat = tmp_path / "cheat.py"
    cheat.write_text(
        "from magsim_bots.random import Random\n"
        "class Cheat(Random):\n"
        "    def decide_batch(self, positions):\n"
        "        object.__setattr__(positions.rules, 'straight', 1000)\n"
        "        return super().decide_batch(positions)\n"
    )
    words = ["--games", 30, "--difficulty", "peaceful", "--out", tmp_path / "run"]
    assert magsim("tournament", "--bots", cheat, *words).exit_code == 0
    assert magsim("verify", tmp_path / "run").exit_code == 0
