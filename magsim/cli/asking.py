"""The command that plays and answers a balancing question: experiment."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from magsim.cli.common import backend_options, connect, jobs_option, time_limit_option
from magsim.cli.playing import play_run
from magsim.cli.reporting import check_report, write_report

if TYPE_CHECKING:
    from magsim.cli.playing import Prepared


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--bots", metavar="SPEC,SPEC,…", help="Other bots than the file names.")
@click.option("--games", type=click.IntRange(1, 2**32 - 1), help="Other than the file says.")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Other than the file says.")
@jobs_option
@backend_options
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the run.  [default: results/ and a name from the file]",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help="Folder of the report.  [default: report/ in the run's folder]",
)
@time_limit_option
@click.pass_context
def experiment(
    ctx: click.Context,
    file: Path,
    bots: str | None,
    games: int | None,
    seed: int | None,
    jobs: int,
    backend: str,
    scheduler: str | None,
    out: Path | None,
    report: Path | None,
    time_limit: float,
) -> None:
    """Answer the question of FILE.toml: play its bots at every point of its grid, and report.

    The same command resumes an experiment that was stopped.
    """
    from magsim import tournament as tournaments
    from magsim.crew import Processes
    from magsim.entrants import enter
    from magsim.experiments import question as questions
    from magsim.manifest import default_folder

    def prepare() -> "Prepared":
        question = questions.read_question(file)
        entrants = enter(question.bots if bots is None else bots, time_limit)
        plan = tournaments.make_plan(
            entrants,
            question.rules,
            question.games if games is None else games,
            question.seed if seed is None else seed,
            None,
        )
        run = out or default_folder(plan, question.name)
        check_report(run, report)
        crew = connect(ctx, backend, scheduler, time_limit) or Processes(jobs)
        tournaments.open_run(run, plan)
        questions.keep(file, run)
        return run, plan, entrants, crew

    play_run(ctx, prepare, time_limit, lambda run: write_report(run, report, jobs))
