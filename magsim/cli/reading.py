"""Commands that read a run: schema, query, replay."""

import sys
from pathlib import Path

import click

from magsim.cli.common import run_argument, time_limit_option
from magsim.errors import MagsimError

FORMATS = ("table", "csv", "json")


@click.command()
def schema() -> None:
    """List the columns of the tables turns and games, with type and meaning."""
    from magsim.reading.schema import schema_lines

    for line in schema_lines():
        click.echo(line)


@click.command()
@run_argument
@click.argument("sql", metavar="SQL")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default=FORMATS[0],
    show_default=True,
    help="A table of the first rows, or all rows as CSV or as JSON, an object a line.",
)
def query(run: Path, sql: str, form: str) -> None:
    """Answer a SELECT over the tables turns and games of a RUN, and over nothing else.

    The SQL is that of polars; `magsim schema` lists the columns.
    """
    from magsim.reading import query as queries

    question = queries.Question(run, sql)
    if form != "table":
        question.write(form, sys.stdout.buffer)
        return
    rows = question.first(queries.SHOWN + 1)
    queries.print_table(rows.head(queries.SHOWN))
    if len(rows) > queries.SHOWN:
        click.echo(
            f"These are the first {queries.SHOWN} rows; there are more: "
            "--format csv or json gives all of them.",
            err=True,
        )


@click.command()
@run_argument
@click.option("--bot", metavar="SPEC", help="Bot of the run.  [default: the only one]")
@click.option("--difficulty", metavar="NAME", help="Difficulty.  [default: the only one]")
@click.option("--game", type=int, required=True, help="Game index, from 0.")
@click.option("--turn", type=int, help="Show this turn only, counted from 1.")
@click.option(
    "--explain",
    metavar="SPEC",
    help="With --turn: what this bot would decide there, and its best options (all if exact).",
)
@time_limit_option
def replay(
    run: Path,
    bot: str | None,
    difficulty: str | None,
    game: int,
    turn: int | None,
    explain: str | None,
    time_limit: float,
) -> None:
    """Show a recorded game of a RUN turn by turn."""
    from magsim.reading import drawing
    from magsim.reading.replay import read_game

    if explain is not None and turn is None:
        raise MagsimError("--explain looks at one turn: say which by --turn")
    played = read_game(run, bot, difficulty, game)
    out = drawing.console()
    if turn is None:
        for line in drawing.game_lines(played):
            out.print(line)
        return
    chosen = played.turn(turn)
    entrant = None
    if explain is not None:
        from magsim.entrants import enter_one

        entrant = enter_one("--explain", explain, time_limit, played.rules)
    for line in drawing.turn_lines(chosen):
        out.print(line)
    if entrant is not None:
        from magsim.pool import stop_workers
        from magsim.reading.explain import explain_apart, inquiry

        about = inquiry(played, turn, entrant.bot.spec)
        try:
            explained = explain_apart(about, entrant.bot, entrant.source, time_limit)
        finally:
            stop_workers()
        out.print()
        for line in drawing.explanation_lines(entrant.bot.spec, explained, chosen):
            out.print(line)
