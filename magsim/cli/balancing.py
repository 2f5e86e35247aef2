"""The command that weighs Powers, openings and rescues by perfect play: balance."""

from pathlib import Path

import click

from magsim.cli.common import leave, run_argument, threads_option
from magsim.cli.judging import solved_players


@click.command()
@run_argument
@click.option("--bot", metavar="SPEC", help="Bot of the run.  [default: all]")
@click.option("--difficulty", metavar="NAME", help="Difficulty of the run.  [default: all]")
@click.option(
    "--games",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Only the first so many games of each bot at each difficulty.",
)
@threads_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the page.  [default: balance/ in the run's folder]",
)
def balance(
    run: Path, bot: str | None, difficulty: str | None, games: int, jobs: int, out: Path | None
) -> None:
    """Weigh Powers, openings and rescues by perfect play, where the games of a RUN went.

    What a Power is worth and at what price, which turns in MAGDAGDON are worth one, and the value
    of every opening. Perfect play comes from `magsim solve`.
    """
    from magsim.balance.run import weigh_run
    from magsim.report import balance as report
    from magsim.report import tables
    from magsim.report.page import check_folder

    check_folder(out or run / report.FOLDER)
    plan, bots, solutions, missing = solved_players(run, bot, difficulty)
    try:
        found = report.balance(weigh_run(run, plan, solutions, bots, jobs, games), solutions)
        folder = report.write_page(run, found, missing, out)
    except KeyboardInterrupt:
        click.echo("\nStopped; there is nothing to resume.", err=True)
        leave()
    screen = tables.console()
    for table in report.closing_tables(found):
        screen.print(tables.from_page(table))
    click.echo(f"Report {folder / 'report.html'}", err=True)
