"""The command line: parse, call one function, print.

Nothing heavy is imported before a command runs.
"""

import click

from magsim import __version__
from magsim.cli.asking import experiment
from magsim.cli.authoring import check_bot, new_bot
from magsim.cli.balancing import balance
from magsim.cli.common import Group
from magsim.cli.judging import regret
from magsim.cli.matching import match
from magsim.cli.playing import bots, tournament, verify
from magsim.cli.prompt import play, scores
from magsim.cli.reading import query, replay, schema
from magsim.cli.reporting import report
from magsim.cli.solving import solve
from magsim.cli.training import train


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="magsim")
def main() -> None:
    """Simulate MAGDAGDON, Cubiri's solitaire dice game, and measure bots that play it."""


for command in (
    tournament,
    match,
    report,
    solve,
    regret,
    balance,
    experiment,
    verify,
    query,
    replay,
    play,
    scores,
    schema,
    bots,
    new_bot,
    check_bot,
    train,
):
    main.add_command(command)
