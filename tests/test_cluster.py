"""A real cluster on this machine: a scheduler and workers, each a process of its own."""

import re
import shutil
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from clusters import Local, end, finish, start, until

import magsim
from magsim import worker
from magsim.cli import main
from magsim.cluster import driver, remote
from magsim.crew import UnderWay
from magsim.rules import SURVIVAL
from magsim.worker import Chunk, Done, Kernels

SLOW = """
import time

from magsim.bot import Bot, Position
from magsim.decision import Decision


class Slow(Bot):
    def decide(self, position: Position) -> Decision:
        time.sleep(0.004)
        return (position.ruins() or position.placements())[0]
"""
CRASHING = """
import os

from magsim.bot import Bot, Position
from magsim.decision import Decision


class Crashing(Bot):
    def decide(self, position: Position) -> Decision:
        os._exit(1)
"""
KILLING = CRASHING.replace("os._exit(1)", "os.kill(os.getppid(), 9)")
LEARNING = """
from magsim.bot import Bot


class Learning(Bot):
    def train(self, rules, seed, games, told):
        for _ in range(games):
            told(1)
        return f"{rules.name} {seed} {games}".encode()
"""


@pytest.fixture
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    """A cluster without workers."""
    cluster = Local(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    """A cluster of two workers."""
    cluster = Local(tmp_path_factory.mktemp("cluster"))
    cluster.add_worker()
    cluster.add_worker()
    yield cluster
    cluster.stop()


def parts(run: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run)): path.read_bytes() for path in run.rglob("*.parquet")}


TOURNAMENT = ["tournament", "--difficulty", "survival", "--chunk", "10"]


def test_a_cluster_plays_the_same_bytes_and_progress_is_right(pair: Local, tmp_path: Path) -> None:
    words = ["tournament", "--bots", "random,greedy", "--games", "50", "--chunk", "20"]
    _, err = finish(start(tmp_path, pair, *words, "--out", "far"))
    finish(start(tmp_path, None, *words, "--out", "near"))
    assert parts(tmp_path / "far") == parts(tmp_path / "near")
    assert len(parts(tmp_path / "far")) == 2 * 3 * 3 * 2
    assert "| 300/300 [" in err


def test_a_worker_killed_in_mid_run_costs_no_games(empty: Local, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    doomed = empty.add_worker()
    empty.add_worker()
    words = [*TOURNAMENT, "--bots", "slow.py", "--games", "50"]
    going = start(tmp_path, empty, *words, "--out", "far")
    until(lambda: parts(tmp_path / "far"))
    end(doomed)
    _, err = finish(going)
    assert "| 50/50 [" in err
    finish(start(tmp_path, None, *words, "--out", "near"))
    assert parts(tmp_path / "far") == parts(tmp_path / "near")


def test_a_lost_scheduler_is_told_with_the_command_that_goes_on(
    empty: Local, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    empty.add_worker()
    words = [*TOURNAMENT, "--bots", "slow.py", "--games", "100", "--out", "run"]
    going = start(tmp_path, empty, *words)
    until(lambda: parts(tmp_path / "run"))
    end(empty.scheduler)
    _, err = finish(going, code=2)
    said = err.rpartition("\r")[2].strip().splitlines()
    assert len(said[-1:]) == 1
    assert re.search(
        rf"magsim: the scheduler at {empty.address} is lost; all finished games are kept\. "
        r"To go on: .*tournament .*--backend dask --scheduler tcp.*$",
        said[-1],
    )
    assert "Traceback" not in err
    kept = parts(tmp_path / "run")
    finish(start(tmp_path, None, *words))
    assert kept.items() < parts(tmp_path / "run").items()


def test_bots_at_fault_are_told_and_the_workers_go_on(pair: Local, tmp_path: Path) -> None:
    (tmp_path / "crashing.py").write_text(CRASHING)
    words = [*TOURNAMENT, "--bots", "crashing.py,random", "--games", "30", "--out", "run"]
    _, err = finish(start(tmp_path, pair, *words), code=3)
    assert re.search(r"bot crashing.py \(survival\) took its process down; game \d+, turn 1", err)
    played = {path.split("/")[2] for path in parts(tmp_path / "run")}
    assert played == {"bot=random"}
    hangs = SLOW.replace("time.sleep(0.004)", "time.sleep(60)")
    (tmp_path / "hanging.py").write_text(hangs)
    words = [*TOURNAMENT, "--bots", "hanging.py", "--games", "1", "--time-limit", "0.5"]
    _, err = finish(start(tmp_path, pair, *words, "--out", "late"), code=3)
    assert "bot hanging.py (survival) gave no answer within 0.5 s; game 0, turn 1" in err


def refusal(tmp_path: Path, cluster: Local, **env: str) -> str:
    """What is said where the workers are not fit to play."""
    words = [*TOURNAMENT, "--bots", env.pop("bots", "random"), "--games", "10", "--out", "run"]
    _, err = finish(start(tmp_path, cluster, *words, **env), code=2)
    assert "Traceback" not in err
    assert not (tmp_path / "run" / "games").exists()
    return err


def test_a_worker_without_magsim_is_named(empty: Local, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['magsim'] = None\n")
    empty.add_worker(PYTHONPATH=str(tmp_path))
    err = refusal(tmp_path / "..", empty)
    assert re.search(r"worker tcp://127\.0\.0\.1:\d+ is not fit to play: .*magsim", err)


def test_a_worker_without_magsim_that_joins_late_costs_nothing(
    empty: Local, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import sys\nsys.modules['magsim'] = None\n"
    )
    empty.add_worker()
    words = [*TOURNAMENT, "--bots", "slow.py", "--games", "200", "--out", "run"]
    going = start(tmp_path, empty, *words)
    until(lambda: parts(tmp_path / "run"))
    late = empty.add_worker(PYTHONPATH=str(tmp_path / "site"))
    until(lambda: late.poll() is not None)  # dask ends it where a task cannot be read
    assert going.poll() is None
    _, err = finish(going)
    assert "| 200/200 [" in err


def test_games_that_end_every_worker_are_told(empty: Local, tmp_path: Path) -> None:
    (tmp_path / "killing.py").write_text(KILLING)
    for _ in range(4):
        empty.add_worker(TMPDIR=str(tmp_path))
    words = [*TOURNAMENT, "--bots", "killing.py", "--games", "1", "--out", "run"]
    _, err = finish(start(tmp_path, empty, *words), code=2)
    assert re.search(
        r"magsim: 4 workers ended, one after the other, with the same games; the last one was "
        r"tcp://\S+, and its log may say why, .* To go on: .*tournament .*--backend dask",
        err,
    )
    assert "Traceback" not in err
    until(lambda: not list(tmp_path.glob("magsim-*")))


def test_a_worker_of_another_version_is_named(empty: Local, tmp_path: Path) -> None:
    source = Path(magsim.__file__).parent
    shutil.copytree(source, tmp_path / "other" / "magsim")
    init = tmp_path / "other" / "magsim" / "__init__.py"
    init.write_text(init.read_text().replace(magsim.__version__, "9.9.9"))
    empty.add_worker(PYTHONPATH=str(tmp_path / "other"))
    err = refusal(tmp_path, empty)
    assert re.search(r"worker tcp://127\.0\.0\.1:\d+ is not fit to play: magsim is 9\.9\.9", err)
    assert magsim.__version__ in err


def test_a_worker_without_the_bot_is_named(pair: Local, tmp_path: Path) -> None:
    info = tmp_path / "site" / "magsim_sage-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: magsim-sage\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[magsim.bots]\nsage = magsim_sage:Slow\n")
    (info.parent / "magsim_sage.py").write_text(SLOW)
    err = refusal(tmp_path, pair, bots="sage", PYTHONPATH=str(info.parent))
    assert re.search(r"worker tcp://\S+ is not fit to play: bot sage is not there: unknown", err)


def test_bots_learn_on_a_cluster_what_they_learn_here(pair: Local, tmp_path: Path) -> None:
    (tmp_path / "learning.py").write_text(LEARNING)
    words = ["train", "learning.py", "--games", "50", "--seed", "7"]
    _, err = finish(start(tmp_path, pair, *words, "--out", "far"))
    finish(start(tmp_path, None, *words, "--out", "near"))
    files = [path.name for path in sorted((tmp_path / "near").iterdir())]
    assert files == ["nightmare.npz", "peaceful.npz", "survival.npz"]
    for name in files:
        assert (tmp_path / "far" / name).read_bytes() == (tmp_path / "near" / name).read_bytes()
    assert "| 150/150 [" in err


def test_experiments_are_played_on_a_cluster(pair: Local, tmp_path: Path) -> None:
    (tmp_path / "dear.toml").write_text(
        'question = "How much does the RUIN penalty weigh?"\nbots = ["random", "greedy"]\n'
        'games = 20\ndifficulty = "survival"\n[grid]\nruin_penalty = [0, 15]\n'
        '[verdict]\nkind = "effect"\nmeasure = "score"\n'
    )
    out, _ = finish(start(tmp_path, pair, "experiment", "dear.toml", "--out", "far"))
    assert "ruin_penalty" in out
    assert len(parts(tmp_path / "far")) == 2 * 2 * 2


def test_a_worker_that_goes_on_plays_the_bot_as_it_is_now(pair: Local, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import sys\nsys.path.insert(0, __file__.rpartition('/')[0])\nimport beside_slow\n"
        + SLOW.replace("[0]", "[beside_slow.WHICH]").replace("0.004", "0")
    )
    words = [*TOURNAMENT, "--bots", "slow.py", "--games", "20", "--out"]
    found = []
    for which in (0, -1):
        (tmp_path / "beside_slow.py").write_text(f"WHICH = {which}  # {which * 1000}\n")
        finish(start(tmp_path, pair, *words, f"far{which}"))
        finish(start(tmp_path, None, *words, f"near{which}"))
        found.append(parts(tmp_path / f"far{which}"))
        assert found[-1] == parts(tmp_path / f"near{which}")
    assert found[0] != found[1]


def test_a_bot_that_hangs_on_a_worker_only_is_told(empty: Local, tmp_path: Path) -> None:
    (tmp_path / "hanging.py").write_text(
        "import os, time\nif 'FAR' in os.environ:\n    time.sleep(1000)\n" + SLOW
    )
    empty.add_worker(FAR="1")
    words = [*TOURNAMENT, "--bots", "hanging.py", "--games", "1", "--time-limit", "1"]
    _, err = finish(start(tmp_path, empty, *words), code=2)
    assert re.search(r"worker tcp\S+ is not fit to play: .* does not import within 1 s", err)


def test_a_worker_lost_while_it_is_examined_is_passed_over(empty: Local, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import os, pathlib, time\nif 'MARK' in os.environ:\n"
        "    pathlib.Path(os.environ['MARK']).touch()\n    time.sleep(8)\n" + SLOW
    )
    mark = tmp_path / "mark"
    doomed = empty.add_worker(MARK=str(mark))
    empty.add_worker()
    words = [*TOURNAMENT, "--bots", "slow.py", "--games", "10", "--out", "run"]
    going = start(tmp_path, empty, *words)
    until(mark.exists)
    end(doomed)
    finish(going)


def test_a_compiled_bot_that_takes_its_process_down_is_told_with_its_position(
    pair: Local, tmp_path: Path
) -> None:
    (tmp_path / "crashing.py").write_text(
        CRASHING.replace("(Bot):", "(Bot):\n    compiled = True\n")
    )
    words = [*TOURNAMENT, "--bots", "crashing.py", "--games", "5", "--out", "run"]
    _, err = finish(start(tmp_path, pair, *words), code=3)
    assert "took its process down; game 0, turn 1, position ..../..../..../...." in err


def test_a_stop_ends_what_workers_are_at_and_leaves_nothing(empty: Local, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW.replace("0.004", "0.05"))
    space = tmp_path / "space"
    space.mkdir()
    playing = empty.add_worker(TMPDIR=str(space))
    words = ["tournament", "--difficulty", "survival", "--bots", "slow.py", "--games", "300"]
    going = start(tmp_path, empty, *words, "--chunk", "300", "--out", "run")
    until(lambda: list(space.glob("magsim-*/asked-*")))
    going.send_signal(signal.SIGINT)
    _, err = finish(going, code=130)
    assert "Stopped; all finished games are kept. To go on:" in err
    assert "--backend dask" in err
    assert not list((tmp_path / "run").glob("**/.*"))
    until(lambda: not list(space.glob("magsim-*")))
    short = [*TOURNAMENT, "--bots", "random", "--games", "10", "--out", "short"]
    finish(start(tmp_path, empty, *short))
    until(lambda: list(space.glob("magsim-*")))
    playing.kill()
    until(lambda: not list(space.glob("magsim-*")))


@pytest.mark.parametrize("cache", ["/proc/none", "ours"])
def test_where_no_cache_can_be_kept_each_compiles_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: str
) -> None:
    compiled: list[str | None] = []
    folder = tmp_path / cache  # an absolute path stays as it is
    monkeypatch.setattr(worker, "marker", lambda name, _: folder / f"{name}.compiled")
    monkeypatch.setattr(worker, "warm_up", lambda source, _: compiled.append(source))
    for _ in range(2):
        remote._compile(Kernels("bot", "1", "source", SURVIVAL))
    assert compiled == ["source"] * (2 if cache == "/proc/none" else 1)


def test_what_cannot_be_reached_is_told(
    empty: Local, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(driver, "_WAIT", 0.5)

    def told(*words: str) -> str:
        result = CliRunner().invoke(main, ["tournament", "--bots", "random", *words])
        assert result.exit_code == 2
        assert not list(tmp_path.iterdir())
        return result.output

    assert "--scheduler x: it is for --backend dask" in told("--scheduler", "x")
    assert "name its scheduler" in told("--backend", "dask")
    far = told("--backend", "dask", "--scheduler", "tcp://127.0.0.1:1")
    assert "--scheduler 'tcp://127.0.0.1:1': no scheduler answers there" in far
    assert "it has no workers" in told("--backend", "dask", "--scheduler", empty.address)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        port = deaf.getsockname()[1]
        silent = told("--backend", "dask", "--scheduler", f"tcp://127.0.0.1:{port}")
    assert "nothing was heard within 0.5 s" in silent
    for wrong in ("here", "tcp://", "http://127.0.0.1:1", "tcp://127.0.0.1:x", "tls://127.0.0.1:1"):
        said = told("--backend", "dask", "--scheduler", wrong)
        assert f"--scheduler {wrong!r}: no scheduler answers there" in said
        assert "tcp://host:8786" in said


def test_no_more_is_handed_out_than_there_is_room_for() -> None:
    chunks = (Chunk("bot", "bot", "", "", SURVIVAL, 1, k, 1, 1.0) for k in range(100))
    first, unwanted, finished = next(chunks), {7, 8}, 0
    rounds = []
    while first:
        under_way = UnderWay(first, chunks, lambda c: c.first not in unwanted, lambda n: n < 6)
        handed = list(under_way)
        assert len(under_way.chunks) <= 6
        rounds.append(len(handed))
        for chunk in handed:
            under_way.back(Done(chunk))
            finished += 1
        assert not under_way.chunks
        first = next(chunks, None)
    assert finished == 98
    assert set(rounds[:-1]) == {6}
