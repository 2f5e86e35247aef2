"""The command line: parse, call one function, print.

Nothing heavy is imported before a command runs.
"""

import math
import os
import shlex
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from magsim import __version__
from magsim.errors import BotFault, MagsimError

if TYPE_CHECKING:
    from magsim.registry import Option

INTERRUPTED = 130


class _Group(click.Group):
    """Turns our errors into one sentence and an exit code, whatever command they come from."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except MagsimError as error:
            click.echo(f"magsim: {error}", err=True)
            ctx.exit(error.exit_code)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="magsim")
def main() -> None:
    """Simulate MAGDAGDON, Cubiri's solitaire dice game, and measure bots that play it."""


def _program() -> list[str]:
    """How this program was started: by its name if that finds it, else by its path."""
    path = Path(sys.argv[0])
    if path.name == "__main__.py":
        return [sys.executable, "-m", "magsim"]
    found = shutil.which(path.name)
    return [path.name if found and Path(found).samefile(path) else str(path)]


def _same_command(ctx: click.Context) -> str:
    """The command as it was given, ready to be pasted."""
    words = [*_program(), *ctx.command_path.split()[1:]]
    for parameter in ctx.command.params:
        name = parameter.name or ""
        if ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = ctx.params[name]
        for item in value if isinstance(value, tuple) else (value,):
            words += (
                [parameter.opts[0], str(item)]
                if parameter.param_type_name == "option"
                else [str(item)]
            )
    return shlex.join(words)


class _Seconds(click.FloatRange):
    """A time that is a number; a range by itself lets ``nan`` pass."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            self.fail("nan is not a number of seconds.", param, ctx)
        return seconds


_jobs = click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    default=os.cpu_count() or 1,
    show_default="all processors",
    help="Worker processes.",
)


@main.command()
@click.option(
    "--bots", required=True, metavar="SPEC,SPEC,…", help="Bot specs, or paths of bot files."
)
@click.option(
    "--games",
    type=click.IntRange(1, 2**32 - 1),
    default=1000,
    show_default=True,
    help="Games of each bot at each difficulty.",
)
@click.option(
    "--difficulty",
    default="all",
    show_default=True,
    help="peaceful, survival, nightmare, several joined by commas, or all.",
)
@click.option(
    "--rules",
    "rules_file",
    type=click.Path(path_type=Path),
    help="TOML file of changed rule values.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change one rule value, as in ruin_penalty=20.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**64 - 1),
    default=1,
    show_default=True,
    help="Seed of all dice.",
)
@_jobs
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the run.  [default: results/ and a name from the configuration]",
)
@click.option(
    "--chunk",
    type=click.IntRange(1, 1_000_000),
    help="Games per part.  [default: 1000, fewer in a small run]",
)
@click.option(
    "--time-limit",
    type=_Seconds(0.1, 86_400),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="Longest time for one decision.",
)
@click.pass_context
def tournament(
    ctx: click.Context,
    bots: str,
    games: int,
    difficulty: str,
    rules_file: Path | None,
    settings: tuple[str, ...],
    seed: int,
    jobs: int,
    out: Path | None,
    chunk: int | None,
    time_limit: float,
) -> None:
    """Play many games of several bots on the same dice, and record every turn.

    The same command resumes a run that was stopped.
    """
    from magsim import tournament as tournaments
    from magsim.manifest import default_folder
    from magsim.variants import choose_rules

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        rules = choose_rules(difficulty, rules_file, settings)
        entrants = tournaments.enter(bots, time_limit)
        plan = tournaments.make_plan(entrants, rules, games, seed, chunk)
        run = out or default_folder(plan)
        tournaments.open_run(run, plan)
        click.echo(f"Run {run}", err=True)
        report = tournaments.play(run, plan, entrants, jobs, time_limit)
    except KeyboardInterrupt:
        kept = "Stopped; all finished games are kept. To go on:"
        click.echo(f"\n{kept} {_same_command(ctx)}", err=True)
        ctx.exit(INTERRUPTED)
    if not report.played and not report.faults:
        click.echo(f"Run {run} is complete; nothing was left to play.", err=True)
    if report.played or report.before:
        _print_tables(run)
    if report.faults:
        raise BotFault("\nmagsim: ".join(report.faults.values()))


def _print_tables(run: Path) -> None:
    from magsim import analysis, tables

    out = tables.console()
    for table in tables.summary_tables(analysis.summary(run)):
        out.print(table)
    differences = analysis.paired_differences(run)
    if len(differences):
        out.print(tables.difference_table(differences))


@main.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--sample", type=click.IntRange(1), help="Replay only so many games, drawn by the run's seed."
)
@_jobs
@click.pass_context
def verify(ctx: click.Context, run: Path, sample: int | None, jobs: int) -> None:
    """Re-judge a recorded RUN by the readable rules, with the dice drawn anew."""
    from magsim.verify import verify_run

    try:
        verdict = verify_run(run, sample, jobs)
    except KeyboardInterrupt:
        click.echo("\nStopped; a verification has nothing to resume.", err=True)
        ctx.exit(INTERRUPTED)
    if verdict.problems:
        more = len(verdict.problems) - 1
        also = (
            f" (and {more} more: {verdict.problems[1]}{', …' if more > 1 else ''})" if more else ""
        )
        raise MagsimError(f"run {run} is not right: {verdict.problems[0]}{also}")
    click.echo(
        f"{run}: all parts are whole; "
        f"{verdict.games:,} games, {verdict.turns:,} turns agree with the rules."
    )


def _option_line(entry: "Option") -> str:
    return f"    {entry.name}={entry.default}  {entry.help} ({entry.allowed()})"


@main.command()
def bots() -> None:
    """List the installed bots with their options."""
    from magsim import registry

    for name in registry.installed():
        try:
            bot = registry.installed_class(name)
        except MagsimError as error:
            click.echo(f"{name}  not usable: {error}")
            continue
        first_line = (bot.__doc__ or "").strip().splitlines()[0:1]
        click.echo(f"{name}  {''.join(first_line)}")
        for entry in registry.options_of(bot):
            click.echo(_option_line(entry))
