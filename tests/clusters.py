"""A real cluster on this machine, every part of it a process of its own, and commands on it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


class Local:
    """A scheduler and its workers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(file))
        until(file.exists)
        self.address = str(json.loads(file.read_text())["address"])

    def _start(self, *words: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        here = ["--host", "127.0.0.1", "--no-dashboard"]
        with (self._folder / f"{len(self._processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *words, *here],
                cwd=self._folder,
                env=os.environ | {"TMPDIR": str(self._folder)} | (env or {}),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def add_worker(self, **env: str) -> subprocess.Popen[bytes]:
        """One more worker, of one thread."""
        words = ["worker", self.address, "--nthreads", "1", "--no-nanny"]
        space = ["--local-directory", str(self._folder)]
        return self._start(*words, *space, env=env)

    def stop(self) -> None:
        for process in self._processes:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def until(holds: Callable[[], object], seconds: float = 60) -> None:
    """Wait until something holds."""
    last = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < last, "it never came"
        time.sleep(0.05)


def start(folder: Path, cluster: Local | None, *words: str, **env: str) -> subprocess.Popen[str]:
    """A command of magsim in a folder, on a cluster or on this machine."""
    on = ["--backend", "dask", "--scheduler", cluster.address] if cluster else []
    return subprocess.Popen(
        [sys.executable, "-m", "magsim", *words, *on],
        cwd=folder,
        env=os.environ | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], code: int = 0) -> tuple[str, str]:
    """What a command printed, after its exit with a code."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, err
    return out, err
