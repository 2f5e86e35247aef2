"""Commands for a person: play at the prompt, and the high scores."""

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

import click

from magsim.cli.common import INTERRUPTED, time_limit_option
from magsim.errors import MagsimError
from magsim.play import ENGLISH, LANGUAGES
from magsim.rules import DIFFICULTIES

if TYPE_CHECKING:
    from magsim.play.language import Tongue

difficulty_option = click.option(
    "--difficulty", type=click.Choice([*DIFFICULTIES], case_sensitive=False), help="Difficulty."
)
language_option = click.option(
    "--lang",
    type=click.Choice(LANGUAGES),
    help="Language of the game.  [default: that of the locale]",
)


def _tongue(lang: str | None) -> "Tongue":
    """The language that is asked for; English where the output has no letters for it.

    Raises:
        MagsimError: if there is no output.
    """
    from magsim.play.language import Tongue, preferred, speakable

    if sys.stdout is None:
        raise MagsimError("there is no standard output to show anything on")
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="magsim.plainer")
    code = lang or preferred()
    return Tongue(code if speakable(code, sys.stdout.encoding) else ENGLISH)


@click.command()
@difficulty_option
@click.option(
    "--seed",
    type=click.IntRange(0, 2**64 - 1),
    help="Seed of all dice, to repeat or share a game.  [default: drawn, told at the end]",
)
@click.option("--resume", is_flag=True, help="Go on with the game played last.")
@click.option("--against", metavar="SPEC", help="A bot that plays the same dice beside you.")
@click.option(
    "--advisor",
    metavar="SPEC",
    help="The bot that gives hints and looks back.  [default: the strongest that is ready to play]",
)
@click.option(
    "--no-review",
    is_flag=True,
    help="Do not name the decisions that cost most, after the game.",
)
@click.option(
    "--runs",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder of runs that the score is compared with.",
)
@click.option("--plain", is_flag=True, help="Line by line, as through a pipe.")
@language_option
@time_limit_option
@click.pass_context
def play(
    ctx: click.Context,
    difficulty: str | None,
    seed: int | None,
    resume: bool,
    against: str | None,
    advisor: str | None,
    no_review: bool,
    runs: Path,
    plain: bool,
    lang: str | None,
    time_limit: float,
) -> None:
    """Play MAGDAGDON at the prompt; `help` there lists the commands.

    The game is saved after every command. Without a terminal, commands are read line by line.
    """
    from magsim.play.counsel import Counsel
    from magsim.play.host import Host
    from magsim.play.screen import Screen, console

    if resume and (seed is not None or against is not None):
        given = "--seed" if seed is not None else "--against"
        raise MagsimError(f"--resume goes on with a saved game as it began: leave {given} out")
    if sys.stdin is None:
        raise MagsimError("there is no standard input to read commands from")
    tongue = _tongue(lang)
    at_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    screen = Screen(tongue, console(), plain or not at_terminal)
    counsel = Counsel(advisor, time_limit, tongue, screen.tell)
    host = Host(tongue, screen, counsel, runs, not no_review, time_limit)
    try:
        if resume:
            host.resume(difficulty)
        elif rules := DIFFICULTIES[difficulty] if difficulty else host.ask_difficulty():
            host.begin(rules, seed, against)
    except KeyboardInterrupt:  # whatever there was to say has been said, in the player's language
        ctx.exit(INTERRUPTED)


@click.command()
@difficulty_option
@click.option(
    "--top",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="How many scores of each difficulty.",
)
@language_option
def scores(difficulty: str | None, top: int, lang: str | None) -> None:
    """Show your high scores at each difficulty."""
    from magsim.play import hall
    from magsim.play.screen import Screen, console

    tongue = _tongue(lang)
    screen = Screen(tongue, console(), plain=True)
    for name in [difficulty] if difficulty else DIFFICULTIES:
        hall.show(name, top, tongue, screen)
