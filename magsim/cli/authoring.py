"""Commands for authors of bots: new-bot, check-bot."""

from importlib.resources import files
from pathlib import Path

import click

from magsim.cli.common import INTERRUPTED, rules_options, seed_option, time_limit_option
from magsim.errors import BotFault, MagsimError


@click.command("new-bot")
@click.argument("path", type=click.Path(path_type=Path))
def new_bot(path: Path) -> None:
    """Write a working bot to PATH, to be changed into a better one."""
    if path.suffix != ".py":
        raise MagsimError(f"{path}: the file of a bot ends in .py")
    text = files("magsim.trials").joinpath("my_bot.py").read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace("my_bot.py", path.name))
    except FileExistsError:
        raise MagsimError(f"{path} exists; choose another name") from None
    except OSError as error:
        raise MagsimError(f"{path} cannot be written: {error.strerror or error}") from error
    click.echo(f"Wrote {path}. Next: magsim check-bot {path}")


@click.command("check-bot")
@click.argument("spec")
@rules_options
@click.option(
    "--games",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="Games at each difficulty.",
)
@seed_option
@time_limit_option
@click.pass_context
def check_bot(
    ctx: click.Context,
    spec: str,
    difficulty: str,
    rules_file: Path | None,
    settings: tuple[str, ...],
    games: int,
    seed: int,
    time_limit: float,
) -> None:
    """Check whether the bot of SPEC is fit to play: one line a check.

    The exit code is 0 if it is, 3 if not.
    """
    from magsim.trials.checkup import Checkup, checks
    from magsim.variants import choose_rules

    rules = tuple(choose_rules(difficulty, rules_file, settings))
    failed = []
    try:
        for name, finding in checks(Checkup(spec, rules, seed, games, time_limit)):
            mark = "ok  " if finding.passed else "FAIL"
            click.echo(f"{mark}  {name:<20}  {finding.text}")
            failed += [] if finding.passed else [name]
    except KeyboardInterrupt:
        click.echo("\nStopped.", err=True)
        ctx.exit(INTERRUPTED)
    if failed:
        raise BotFault(f"bot {spec} is not fit to play: {', '.join(failed)}")
