"""Commands that teach bots: train."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from magsim.cli.common import (
    INTERRUPTED,
    backend_options,
    connect,
    rules_options,
    same_command,
    seed_option,
)
from magsim.errors import Lost, MagsimError

if TYPE_CHECKING:
    from magsim.cluster.driver import Cluster
    from magsim.rules import Rules

_IMPORT_SECONDS = 20.0
"""Longest time for a bot to be imported on a cluster."""


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
@backend_options
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
    backend: str,
    scheduler: str | None,
    out: Path,
) -> None:
    """Teach BOT from nothing, by playing against the dice; the same seed teaches it the same.

    On a cluster it learns several difficulties at a time.
    """
    from tqdm import tqdm

    from magsim.registry import check_learner, load_bot
    from magsim.variants import choose_rules

    every = choose_rules(difficulty, rules_file, settings)
    files = {rules.name: out / f"{rules.name}.npz" if len(every) > 1 else out for rules in every}
    check_learner(load_bot(spec))
    for file in files.values():
        _check(file)
    cluster = connect(ctx, backend, scheduler, _IMPORT_SECONDS)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    done: dict[str, int] = {}
    try:
        with tqdm(total=games * len(every), unit=" games", dynamic_ncols=True) as bar:

            def told(name: str, so_far: int) -> None:
                done[name] = so_far
                bar.update(sum(done.values()) - bar.n)

            for name, content in _learned(cluster, spec, every, seed, games, told):
                told(name, games)
                _write(files[name], content)
                bar.write(f"Wrote {files.pop(name)}")
    except KeyboardInterrupt:
        click.echo(f"\nStopped; of {', '.join(files)} nothing is kept.", err=True)
        ctx.exit(INTERRUPTED)
    except Lost as error:
        left = ", ".join(files)
        again = f"of {left} nothing is kept. To begin again: {same_command(ctx)}"
        raise Lost(f"{error}; {again}") from error


def _learned(
    cluster: "Cluster | None",
    spec: str,
    every: "list[Rules]",
    seed: int,
    games: int,
    told: Callable[[str, int], object],
) -> "Iterator[tuple[str, bytes]]":
    """The names of rules with what a bot learned of them, one after another or on a cluster."""
    from magsim.entrants import Entrant
    from magsim.registry import fingerprint, learn, load_bot, worker_spec

    bot = load_bot(spec)
    if cluster:
        entrant = Entrant(bot, worker_spec(spec), fingerprint(spec))
        try:
            yield from cluster.learn(entrant, every, seed, games, told)
        finally:
            cluster.stop()
        return
    for rules in every:
        so_far = 0

        def more(count: int, rules: "Rules" = rules) -> None:
            nonlocal so_far
            so_far += count
            told(rules.name, so_far)

        yield rules.name, learn(bot, rules, seed, games, more)


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
