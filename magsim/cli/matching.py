"""Commands that compare two bots: match."""

import signal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from magsim.cli.common import (
    INTERRUPTED,
    jobs_option,
    rules_options,
    run_folder_option,
    same_command,
    seed_option,
    time_limit_option,
)
from magsim.errors import MagsimError

if TYPE_CHECKING:
    from magsim.analysis.sequential import Rule
    from magsim.trials.match import Look


@click.command()
@click.argument("one", metavar="A")
@click.argument("other", metavar="B")
@rules_options
@click.option(
    "--until",
    type=click.FloatRange(0, min_open=True),
    metavar="POINTS",
    help="Stop when the 95 % interval of the difference is as narrow as ± POINTS.  [default: 1]",
)
@click.option(
    "--sprt",
    type=(float, float),
    metavar="D0 D1",
    help="Stop when B is told to be D1 points ahead rather than D0, or the other way.",
)
@click.option(
    "--most",
    type=click.IntRange(1, 10**9),
    default=1_000_000,
    show_default=True,
    help="Games of each bot at most.",
)
@seed_option
@jobs_option
@run_folder_option
@time_limit_option
@click.pass_context
def match(
    ctx: click.Context,
    one: str,
    other: str,
    difficulty: str,
    rules_file: Path | None,
    settings: tuple[str, ...],
    until: float | None,
    sprt: tuple[float, float] | None,
    most: int,
    seed: int,
    jobs: int,
    out: Path | None,
    time_limit: float,
) -> None:
    """Play bots A and B on the same dice until it is known how far B is ahead.

    Luck is taken out where perfect play is solved. The same command resumes a match that was
    stopped.
    """
    from magsim.entrants import enter_one
    from magsim.trials.match import Match, default_folder
    from magsim.variants import choose_rules

    rule = _rule(until, sprt)
    every = choose_rules(difficulty, rules_file, settings)
    if out and len(every) > 1:
        raise MagsimError(f"--out {out}: a folder is for one difficulty; name it with --difficulty")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for rules in every:
            pair = enter_one("A", one, time_limit, rules), enter_one("B", other, time_limit, rules)
            run = out or default_folder(pair, rules, seed)
            click.echo(f"Run {run}", err=True)
            for look in Match(run, pair, rules, seed).play(rule, most, jobs, time_limit):
                names = pair[0].bot.spec, pair[1].bot.spec
                if look.is_last:
                    click.echo(_verdict(rule, look, names, rules.name))
                else:
                    click.echo(f"{_state(look)}, {rule.state(look.ahead)}", err=True)
    except KeyboardInterrupt:
        kept = "Stopped; all finished games are kept. To go on:"
        click.echo(f"\n{kept} {same_command(ctx)}", err=True)
        ctx.exit(INTERRUPTED)


def _rule(until: float | None, sprt: tuple[float, float] | None) -> "Rule":
    """When to stop.

    Raises:
        MagsimError: if the options leave it open.
    """
    from magsim.analysis.sequential import Sprt, Until

    if sprt is None:
        return Until(1.0 if until is None else until)
    if until is not None:
        raise MagsimError("--until and --sprt: a match is stopped by one of them")
    low, high = sprt
    if not low < high:
        raise MagsimError(f"--sprt {low:g} {high:g}: the second number is to be the greater one")
    return Sprt(low, high)


def _points(look: "Look") -> str:
    """How far B is ahead, with its interval."""
    from magsim.report.words import interval

    return interval(look.ahead.mean, look.ahead.half_width, sign=True)


def _state(look: "Look") -> str:
    return f"{look.ahead.n:,} games: B - A {_points(look)}"


def _verdict(rule: "Rule", look: "Look", names: tuple[str, str], difficulty: str) -> str:
    """What came out, in a sentence that can be quoted."""
    from magsim.analysis.sequential import ERROR, Sprt
    from magsim.report.words import interval

    one, other = names
    luck = ", luck taken out" if look.adjusted else ""
    games = f"{look.ahead.n:,} paired games{luck}"
    if isinstance(rule, Sprt):
        ratio = rule.ratio(look.ahead)
        told = f"{rule.state(look.ahead)}, errors of {ERROR:.0%}"
        if not rule.is_enough(look.ahead):
            return f"{difficulty}: undecided after {games} ({told}; B - A {_points(look)})"
        better = rule.high if ratio > 0 else rule.low
        against = rule.low if ratio > 0 else rule.high
        return (
            f"{difficulty}: {other} has a lead of {better:g} points over {one} rather than "
            f"{against:g} ({games}; {told}; B - A {_points(look)})"
        )
    enough = "" if rule.is_enough(look.ahead) else ", not as narrow as wanted"
    mean = look.ahead.mean or 0.0
    side = "behind" if mean < 0 else "ahead of"
    lead = interval(abs(mean), look.ahead.half_width)
    return (
        f"{difficulty}: {other} is {side} {one} by {lead} points (95 % interval{enough}, {games})"
    )
