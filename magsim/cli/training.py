"""Commands that teach bots: train."""

import os
import signal
from pathlib import Path

import click

from magsim.cli.common import INTERRUPTED, rules_options, seed_option
from magsim.errors import MagsimError


@click.command()
@click.argument("spec", metavar="BOT")
@rules_options
@click.option(
    "--games",
    type=click.IntRange(1, 2**32 - 1),
    default=250_000,
    show_default=True,
    help="Games to learn from.",
)
@seed_option
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="File of what is learned; with several difficulties a folder of files.",
)
@click.pass_context
def train(
    ctx: click.Context,
    spec: str,
    difficulty: str,
    rules_file: Path | None,
    settings: tuple[str, ...],
    games: int,
    seed: int,
    out: Path,
) -> None:
    """Teach BOT from nothing, by playing against the dice; the same seed teaches it the same."""
    from tqdm import tqdm

    from magsim.registry import check_learner, learn, load_bot
    from magsim.variants import choose_rules

    bot, every = load_bot(spec), choose_rules(difficulty, rules_file, settings)
    files = [out / f"{rules.name}.npz" if len(every) > 1 else out for rules in every]
    check_learner(bot)
    for file in files:
        _check(file)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for rules, file in zip(every, files, strict=True):
        try:
            with tqdm(total=games, desc=rules.name, unit=" games", dynamic_ncols=True) as bar:
                content = learn(bot, rules, seed, games, bar.update)
        except KeyboardInterrupt:
            click.echo(f"\nStopped; of {rules.name} nothing is kept.", err=True)
            ctx.exit(INTERRUPTED)
        _write(file, content)
        click.echo(f"Wrote {file}")


def _check(file: Path) -> None:
    """See before anything is learned that a file can be written.

    Raises:
        MagsimError: if it is there already, or cannot be.
    """
    if os.path.lexists(file):
        raise MagsimError(f"{file} is there already; move it away, or name another file")
    folder = next(folder for folder in file.absolute().parents if folder.exists())
    if not folder.is_dir():
        raise MagsimError(f"{file} cannot be written: {folder} is no folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise MagsimError(f"{file} cannot be written: {folder} allows it not")


def _write(file: Path, content: bytes) -> None:
    """Write a new file, whole or not at all.

    Raises:
        MagsimError: if it cannot be written.
    """
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        os.link(temporary, file)
    except OSError as error:
        raise MagsimError(f"{file} cannot be written: {error.strerror or error}") from error
    finally:
        if temporary.exists():
            temporary.unlink()
