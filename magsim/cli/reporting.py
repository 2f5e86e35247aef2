"""The command that shows what a run says: report."""

from pathlib import Path

import click

from magsim.cli.common import INTERRUPTED, jobs_option, run_argument, same_command


@click.command()
@run_argument
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the report.  [default: report/ in the run's folder]",
)
@jobs_option
@click.pass_context
def report(ctx: click.Context, run: Path, out: Path | None, jobs: int) -> None:
    """Write charts, report.html and report.md of a RUN, or of an experiment.

    Where the rules of a RUN are solved, its first games are judged by perfect play before.
    """
    try:
        write_report(run, out, jobs)
    except KeyboardInterrupt:
        click.echo(f"\nStopped; what was judged is kept. To go on: {same_command(ctx)}", err=True)
        ctx.exit(INTERRUPTED)


def check_report(run: Path, out: Path | None) -> None:
    """Check, before anything is played, that the report of a run may be written.

    Raises:
        MagsimError: if its folder holds something that is no report.
    """
    from magsim.report.page import check_folder
    from magsim.report.run import FOLDER

    check_folder(out or run / FOLDER)


def write_report(run: Path, out: Path | None, jobs: int) -> None:
    """Write the report of a run or an experiment and say where; print an experiment's verdict.

    Where the rules of a run are solved, its first games are judged for it, by so many ``jobs``.

    Raises:
        MagsimError: if there is no run, nothing in it, or the folder cannot be written.
    """
    from magsim.experiments.report import is_experiment, report_experiment
    from magsim.regret.at_hand import judge_first
    from magsim.report.run import report_run

    if is_experiment(run):
        folder, verdict = report_experiment(run, out)
        click.echo(verdict)
    else:
        check_report(run, out)
        judge_first(run, jobs)
        folder = report_run(run, out)
    click.echo(f"Report {folder / 'report.html'}", err=True)
