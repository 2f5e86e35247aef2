"""Commands that judge recorded games by perfect play: regret."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from magsim.cli.common import INTERRUPTED, jobs_option, run_argument, same_command
from magsim.errors import MagsimError

if TYPE_CHECKING:
    from magsim.manifest import Plan
    from magsim.regret.worst import Worst
    from magsim.report.judged import Judged
    from magsim.solver.perfect import Perfect

SHOWN = 4
"""So many sentences tell what is left out."""


@click.command()
@run_argument
@click.option("--bot", metavar="SPEC", help="Bot of the run.  [default: all]")
@click.option("--difficulty", metavar="NAME", help="Difficulty of the run.  [default: all]")
@click.option("--games", type=click.IntRange(1), help="Only the first so many games of each bot.")
@click.option(
    "--worst",
    type=click.IntRange(0, 1000),
    default=5,
    show_default=True,
    help="How many of the worst decisions to list, of each bot at each difficulty.",
)
@jobs_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the page.  [default: regret/ in the run's folder]",
)
@click.pass_context
def regret(
    ctx: click.Context,
    run: Path,
    bot: str | None,
    difficulty: str | None,
    games: int | None,
    worst: int,
    jobs: int,
    out: Path | None,
) -> None:
    """Judge every decision of a RUN by perfect play: what it cost, and what the dice gave.

    What was judged is kept in the run's folder. Perfect play comes from `magsim solve`.
    """
    from magsim.regret.run import judge_run
    from magsim.regret.sums import sum_up
    from magsim.regret.worst import look_up
    from magsim.report.judged import judged
    from magsim.report.page import check_folder
    from magsim.report.regret import FOLDER, write_page

    check_folder(out or run / FOLDER)
    plan, bots, solutions, missing = solved_players(run, bot, difficulty)
    try:
        judge_run(run, plan, solutions, bots, jobs, games)
        sums = sum_up(run, plan, solutions, bots, most=games, worst=worst)
        found, listed = judged(sums), look_up(run, solutions, sums.worst)
        folder = write_page(run, found, listed, missing, out)
    except KeyboardInterrupt:
        click.echo(f"\nStopped; what was judged is kept. To go on: {same_command(ctx)}", err=True)
        ctx.exit(INTERRUPTED)
    print_judged(found, listed)
    click.echo(f"Report {folder / 'report.html'}", err=True)


def solved_players(
    run: Path, bot: str | None, difficulty: str | None
) -> "tuple[Plan, list[str], dict[str, Perfect], list[str]]":
    """What a run has of a bot and a difficulty, or of all: its plan, bots, and perfect play.

    Perfect play is by name of the rules; what is left out is told at once, and comes last.

    Raises:
        MagsimError: if the run has none of these, or none of the rules are solved.
    """
    from magsim.manifest import read_manifest
    from magsim.reading.replay import chosen
    from magsim.regret.run import solved

    plan = read_manifest(run)
    bots = list(plan.bots) if bot is None else [chosen("bot", bot, list(plan.bots))]
    known = {rules.name: rules for rules in plan.rules}
    names = list(known) if difficulty is None else [chosen("difficulty", difficulty, list(known))]
    solutions, missing = solved(known[name] for name in names)
    if len(missing) > SHOWN:
        more = f"{len(missing) - SHOWN + 1} more difficulties are not solved here"
        missing = [*missing[: SHOWN - 1], more]
    if not solutions:
        raise MagsimError("; ".join(missing))
    for sentence in missing:
        click.echo(f"Left out: {sentence}.", err=True)
    return plan, bots, solutions, missing


def print_judged(found: "Judged", worst: "Sequence[Worst]") -> None:
    """Print what was judged of a run."""
    from magsim.charts.regret import KIND_NAMES
    from magsim.report import tables

    out = tables.console()
    out.print(tables.luck_table(found.adjusted))
    out.print(tables.accuracy_table(found.accuracy))
    out.print(tables.kind_table(found.kinds, KIND_NAMES))
    if len(found.differences):
        out.print(tables.luck_difference_table(found.differences))
    for table in tables.worst_tables(worst):
        out.print(table)


def print_luck(run: Path, jobs: int) -> None:
    """Judge the first games of a run and print luck-adjusted scores, where its rules are solved.

    Raises:
        MagsimError: if a part is damaged, or a game does not come to its score.
    """
    from magsim.regret import at_hand

    at_hand.judge_first(run, jobs)
    sums = at_hand.judged(run)
    if sums is None:
        return
    from magsim.regret import estimates
    from magsim.report import tables

    out = tables.console()
    out.print(tables.luck_table(estimates.luck_adjusted(sums)))
    differences = estimates.differences(sums)
    if len(differences):
        out.print(tables.luck_difference_table(differences))
