"""What the commands share: errors as one sentence, the command as it was given, common options."""

import errno
import math
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from magsim.errors import MagsimError

if TYPE_CHECKING:
    from magsim.cluster.driver import Cluster

INTERRUPTED = 130

Command = Callable[..., Any]


class Group(click.Group):
    """Turns our errors into one sentence and an exit code, whatever command they come from."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; its error, or Ctrl-C, is told in a sentence."""
        try:
            return super().invoke(ctx)
        except MagsimError as error:
            click.echo(f"magsim: {error}", err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("\nStopped.", err=True)
            ctx.exit(INTERRUPTED)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            click.echo("magsim: the output cannot be written: no space is left", err=True)
            ctx.exit(MagsimError.exit_code)


def _program() -> list[str]:
    """How this program was started: by its name if that finds it, else by its path."""
    path = Path(sys.argv[0])
    if path.name == "__main__.py":
        return [sys.executable, "-m", "magsim"]
    found = shutil.which(path.name)
    return [path.name if found and Path(found).samefile(path) else str(path)]


def same_command(ctx: click.Context) -> str:
    """The command as it was given, ready to be pasted."""
    words = [*_program(), *ctx.command_path.split()[1:]]
    for parameter in ctx.command.params:
        name = parameter.name or ""
        if ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = ctx.params[name]
        if isinstance(parameter, click.Option) and parameter.is_flag:
            words.append(parameter.opts[0])
            continue
        for item in value if isinstance(value, tuple) else (value,):
            words += (
                [parameter.opts[0], str(item)]
                if parameter.param_type_name == "option"
                else [str(item)]
            )
    return shlex.join(words)


def leave() -> NoReturn:
    """End at once: a kernel at work in a thread knows no interruption and would be waited for."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)


class Seconds(click.FloatRange):
    """A time that is a number; a range by itself lets ``nan`` pass."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number of seconds of a text."""
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            self.fail("nan is not a number of seconds.", param, ctx)
        return seconds


def _jobs_option(what: str) -> Callable[[Command], Command]:
    return click.option(
        "--jobs",
        type=click.IntRange(1, 1024),
        default=os.cpu_count() or 1,
        show_default="all processors",
        help=f"{what}.",
    )


jobs_option = _jobs_option("Worker processes")
threads_option = _jobs_option("Threads")
_BACKEND_OPTIONS = (
    click.option(
        "--backend",
        type=click.Choice(["processes", "dask"]),
        default="processes",
        show_default=True,
        help="Who does the work: processes here, or the workers of a dask cluster.",
    ),
    click.option(
        "--scheduler",
        envvar="DASK_SCHEDULER_ADDRESS",
        metavar="ADDRESS",
        help="Scheduler of the cluster, such as tcp://host:8786.",
    ),
)


def backend_options(command: Command) -> Command:
    """Options that choose who does the work: ``backend`` and ``scheduler``."""
    return _with_options(command, _BACKEND_OPTIONS)


def _with_options(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def connect(
    ctx: click.Context, backend: str, scheduler: str | None, time_limit: float
) -> "Cluster | None":
    """The cluster that the options ask for, if they do; see ``Cluster``.

    Raises:
        MagsimError: if they do not go together, or the cluster is not there.
    """
    if backend == "processes":
        if ctx.get_parameter_source("scheduler") is ParameterSource.COMMANDLINE:
            raise MagsimError(f"--scheduler {scheduler}: it is for --backend dask")
        return None
    if not scheduler:
        raise MagsimError("--backend dask: name its scheduler, as in --scheduler tcp://host:8786")
    from magsim.cluster.driver import Cluster

    return Cluster(scheduler, time_limit)


seed_option = click.option(
    "--seed",
    type=click.IntRange(0, 2**64 - 1),
    default=1,
    show_default=True,
    help="Seed of all dice.",
)
run_folder_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the run.  [default: results/ and a name from the configuration]",
)
time_limit_option = click.option(
    "--time-limit",
    type=Seconds(0.1, 86_400),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="Longest time for one decision.",
)
_RULES_OPTIONS = (
    click.option(
        "--difficulty",
        default="all",
        show_default=True,
        help="peaceful, survival, nightmare, several joined by commas, or all.",
    ),
    click.option(
        "--rules",
        "rules_file",
        type=click.Path(path_type=Path),
        help="TOML file of changed rule values.",
    ),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help="Change one rule value, as in ruin_penalty=20.",
    ),
)


def rules_options(command: Command) -> Command:
    """Options that choose rules: ``difficulty``, ``rules_file`` and ``settings``."""
    return _with_options(command, _RULES_OPTIONS)


run_argument = click.argument("run", type=click.Path(path_type=Path))
