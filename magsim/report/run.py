"""The report of a run: all its sections in order."""

import shlex
from pathlib import Path

from magsim.analysis.tallies import Tallies
from magsim.manifest import Plan
from magsim.report import comparison, play, powers, ruins, scores
from magsim.report.findings import Findings, find
from magsim.report.page import Page, Section, check_folder, write
from magsim.report.words import counted

FOLDER = "report"
"""Where a run keeps its report."""


def rules_in_words(plan: Plan) -> str:
    """The rules played at each difficulty, in figures."""
    told = []
    for rules in plan.rules:
        costs = ", ".join(map(str, rules.power_costs)) or "none"
        told.append(f"{rules.name}: Powers at {costs}; minimum {rules.minimum}")
    return ". ".join(told)


def command(plan: Plan) -> str:
    """The tournament that plays the same again, where the rules are published ones."""
    bots = shlex.quote(",".join(plan.bots))
    difficulties = ",".join(rules.name for rules in plan.rules)
    return (
        f"magsim tournament --bots {bots} --games {plan.games} --difficulty {difficulties} "
        f"--seed {plan.seed}"
    )


def games_in_words(tallies: Tallies) -> str:
    """How many games were recorded of each bot at each difficulty."""
    return counted([row["n"] for row in tallies["parts"].iter_rows(named=True)])


def sections(findings: Findings) -> list[Section]:
    """All sections that this run has something to say in."""
    found = [
        scores.distributions(findings),
        scores.percentiles(findings),
        scores.points(findings),
        ruins.ruins_per_game(findings),
        ruins.ruins_by_turn(findings),
        ruins.ruin_map(findings),
        ruins.magdagdon(findings),
        powers.powers_by_kind(findings),
        powers.powers_used(findings),
        play.turns_and_dice(findings),
        play.options(findings),
        play.calibration(findings),
    ]
    if len(findings.differences):
        found.append(comparison.differences(findings))
    if len(findings.variance):
        found.append(comparison.variance(findings))
    return found


def report_run(run: Path, folder: Path | None = None) -> Path:
    """Write the report of a run; the folder it is in.

    Raises:
        MagsimError: if there is no run, nothing in it, or the folder cannot be written.
    """
    target = folder or run / FOLDER
    check_folder(target)
    findings = find(run)
    plan = findings.plan
    intro = (
        f"{games_in_words(findings.tallies)} games of each bot at each difficulty, all on the same "
        f"dice (seed {plan.seed}), in {len(plan.bots)} bots: {', '.join(plan.bots)}. "
        f"{rules_in_words(plan)}. All intervals are 95 % intervals; ± gives half of one."
    )
    title = f"magsim: {', '.join(findings.bots)}"
    write(Page(title, intro, command(plan), tuple(sections(findings))), target)
    return target
