"""Compiling what most tests need, once and two at a time, before several test processes begin."""

import subprocess
import sys

BOTS = """
from magsim import worker
from magsim.registry import load_bot
from magsim.rules import SURVIVAL

for source in (None, "greedy", "lookahead", "mcts"):
    worker.warm_up(source, SURVIVAL)
load_bot("ntuple").train(SURVIVAL, 1, 20, lambda games: None)
"""
SOLVER = """
from magsim.solver.warming import compile_kernels

compile_kernels()
"""


def compile_before() -> None:
    """Compile in two processes; what goes wrong there is for the tests to find."""
    started = [subprocess.Popen([sys.executable, "-c", program]) for program in (BOTS, SOLVER)]
    for process in started:
        process.wait()
