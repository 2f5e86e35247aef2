"""Commands that play and judge: tournament, verify, bots."""

import signal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from magsim.cli.common import (
    INTERRUPTED,
    backend_options,
    connect,
    jobs_option,
    rules_options,
    run_argument,
    run_folder_option,
    same_command,
    seed_option,
    time_limit_option,
)
from magsim.cli.judging import print_luck
from magsim.cli.reporting import check_report, write_report
from magsim.errors import BotFault, Lost, MagsimError

if TYPE_CHECKING:
    from collections.abc import Callable

    from magsim.crew import Crew
    from magsim.entrants import Entrant
    from magsim.manifest import Plan
    from magsim.registry import Option

    Prepared = tuple[Path, Plan, list[Entrant], Crew]

_KEPT = "all finished games are kept. To go on:"


@click.command()
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
@rules_options
@seed_option
@jobs_option
@backend_options
@run_folder_option
@click.option(
    "--chunk",
    type=click.IntRange(1, 1_000_000),
    help="Games per part.  [default: 1000, fewer in a small run]",
)
@time_limit_option
@click.option("--report", is_flag=True, help="Write charts and a report when all is played.")
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
    backend: str,
    scheduler: str | None,
    out: Path | None,
    chunk: int | None,
    time_limit: float,
    report: bool,
) -> None:
    """Play many games of several bots on the same dice, and record every turn.

    The same command resumes a run that was stopped.
    """
    from magsim import tournament as tournaments
    from magsim.crew import Processes
    from magsim.entrants import enter
    from magsim.manifest import default_folder
    from magsim.variants import choose_rules

    def prepare() -> "Prepared":
        rules = choose_rules(difficulty, rules_file, settings)
        entrants = enter(bots, time_limit)
        plan = tournaments.make_plan(entrants, rules, games, seed, chunk)
        run = out or default_folder(plan)
        if report:
            check_report(run, None)
        crew = connect(ctx, backend, scheduler, time_limit) or Processes(jobs)
        tournaments.open_run(run, plan)
        return run, plan, entrants, crew

    def conclude(run: Path) -> None:
        print_tables(run)
        print_luck(run, jobs)
        if report:
            write_report(run, None, jobs)

    play_run(ctx, prepare, time_limit, conclude)


def play_run(
    ctx: click.Context,
    prepare: "Callable[[], Prepared]",
    time_limit: float,
    conclude: "Callable[[Path], object]",
) -> None:
    """Prepare a run, play what is missing of it, then conclude from what is there.

    Raises:
        MagsimError: if something of the run is not right.
        BotFault: if a bot was stopped, after the conclusion.
    """
    from magsim import tournament as tournaments

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        run, plan, entrants, crew = prepare()
        click.echo(f"Run {run}", err=True)
        report = tournaments.play(run, plan, entrants, crew, time_limit)
        if not report.played and not report.faults:
            click.echo(f"Run {run} is complete; nothing was left to play.", err=True)
        if report.played or report.before:
            try:
                conclude(run)
            except MagsimError as error:
                if not report.faults:
                    raise
                click.echo(f"magsim: {error}", err=True)
    except KeyboardInterrupt:
        click.echo(f"\nStopped; {_KEPT} {same_command(ctx)}", err=True)
        ctx.exit(INTERRUPTED)
    except Lost as error:
        raise Lost(f"{error}; {_KEPT} {same_command(ctx)}") from error
    if report.faults:
        raise BotFault("\nmagsim: ".join(report.faults.values()))


def print_tables(run: Path) -> None:
    """Print the closing tables of a run."""
    from magsim.analysis import games, pairs
    from magsim.report import tables

    out = tables.console()
    for table in tables.summary_tables(games.summary(run)):
        out.print(table)
    differences = pairs.paired_differences(run)
    if len(differences):
        out.print(tables.difference_table(differences))


@click.command()
@run_argument
@click.option(
    "--sample", type=click.IntRange(1), help="Replay only so many games, drawn by the run's seed."
)
@jobs_option
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


@click.command()
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
        if bot.strength:
            click.echo(f"    strength: {bot.strength:g} points, its mean score in SURVIVAL")
        for entry in registry.options_of(bot):
            click.echo(_option_line(entry))
