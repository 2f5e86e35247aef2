"""The command that computes perfect play: solve."""

import signal
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import click

from magsim.board import CELLS
from magsim.cli.common import leave, rules_options, same_command, threads_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from magsim.rules import Rules
    from magsim.solver.solutions import Solution

_BAR = "{desc:16}{percentage:3.0f}% |{bar}| {elapsed}, {remaining} left"


class _Bars:
    """A bar on standard error for each stage, with the time that is left."""

    def __init__(self) -> None:
        from tqdm import tqdm

        self._make = tqdm
        self._bar = tqdm(disable=True)

    def __enter__(self) -> "_Bars":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.close()

    def begin(self, title: str, total: int, done: int) -> None:
        """The next stage: so much in all, of which so much was done before."""
        self._bar.close()
        self._bar = self._make(
            desc=title,
            total=total,
            initial=done,
            bar_format=_BAR,
            smoothing=0.05,
            dynamic_ncols=True,
        )

    def more(self, amount: int) -> None:
        """So much more of the stage is done."""
        self._bar.update(amount)


@click.command()
@rules_options
@click.option(
    "--max-empty",
    type=click.IntRange(1, CELLS),
    default=CELLS,
    help="Solve only boards with so many empty cells or fewer.  [default: all boards]",
)
@threads_option
@click.pass_context
def solve(
    ctx: click.Context,
    difficulty: str,
    max_empty: int,
    rules_file: Path | None,
    settings: tuple[str, ...],
    jobs: int,
) -> None:
    """Compute perfect play exactly, and keep what every board is worth.

    The same command goes on with what was stopped. The folder MAGSIM_SOLUTIONS, or one of the
    user's cache, holds the solutions.
    """
    from magsim.solver import files
    from magsim.solver.solutions import crew, families, solve_rules
    from magsim.variants import choose_rules

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        chosen = families(choose_rules(difficulty, rules_file, settings))
        with files.locked(files.root()):
            for rules in chosen:
                with crew(jobs) as threads, _Bars() as bars:
                    solution, was_there = solve_rules(rules, max_empty, threads, bars)
                _print_solution(rules, solution, was_there)
    except KeyboardInterrupt:
        kept = "Stopped; all finished layers are kept. To go on:"
        click.echo(f"\n{kept} {same_command(ctx)}", err=True)
        leave()


def _print_solution(rules: "Sequence[Rules]", solution: "Solution", was_there: bool) -> None:
    if was_there:
        names = ", ".join(one.name for one in rules)
        click.echo(
            f"{names}: the solution was there; all its parts are as they were written.", err=True
        )
    for one in rules:
        reach = f"boards with up to {solution.most_empty} empty cells are solved"
        if solution.most_empty == CELLS:
            score = solution.start_value(one)
            reach = f"perfect play expects a score of {score:.4f} with all its Powers"
        click.echo(f"{one.name}: {reach}; {solution.count:,} classes in {solution.values.path}")
