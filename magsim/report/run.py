"""The report of a run: all its sections in order."""

import dataclasses
import shlex
from pathlib import Path

from magsim.manifest import Plan
from magsim.regret import at_hand
from magsim.report import comparison, play, powers, ruins, scores
from magsim.report.findings import Findings, find
from magsim.report.page import Page, Section, check_folder, write
from magsim.report.words import counted
from magsim.rules import DIFFICULTIES, Rules
from magsim.variants import format_value

FOLDER = "report"
"""Where a run keeps its report."""


def published(rules: Rules) -> Rules | None:
    """The published difficulty that rules are a variant of; they are named after it."""
    return DIFFICULTIES.get(rules.name.partition("+")[0])


def changes(rules: Rules) -> dict[str, int | tuple[int, ...]]:
    """The values in which rules differ from the difficulty they are a variant of."""
    base = published(rules)
    names = [entry.name for entry in dataclasses.fields(Rules) if entry.name != "name"]
    return {
        name: getattr(rules, name)
        for name in names
        if base is None or getattr(rules, name) != getattr(base, name)
    }


def rules_in_words(plan: Plan) -> str:
    """The rules played at each difficulty, and what was changed."""
    told = []
    for rules in plan.rules:
        costs = ", ".join(map(str, rules.power_costs))
        powers = f"Powers at {costs} points" if costs else "no Powers"
        changed = "".join(
            f", {name} {format_value(value)}"
            for name, value in changes(rules).items()
            if name not in ("minimum", "power_costs")
        )
        told.append(f"{rules.name}: minimum {rules.minimum}, {powers}{changed}")
    return "; ".join(told)


def command(plan: Plan) -> str:
    """The tournament that plays the same again; none where one command cannot."""
    bases = [published(rules) for rules in plan.rules]
    changed = [changes(rules) for rules in plan.rules]
    if None in bases or any(found != changed[0] for found in changed):
        return ""
    words = ["magsim", "tournament", "--bots", ",".join(plan.bots), "--games", str(plan.games)]
    words += ["--difficulty", ",".join(base.name for base in bases if base)]
    for name, value in changed[0].items():
        words += ["--set", f"{name}={format_value(value)}"]
    return shlex.join([*words, "--seed", str(plan.seed)])


def missing(findings: Findings) -> str:
    """What of the plan has not been played, in a sentence; empty if all has."""
    plan = findings.plan
    played = {
        (row["difficulty"], row["bot"]): row["games"]
        for row in findings.summary.iter_rows(named=True)
    }
    told = [
        f"{bot} has {played.get((rules.name, bot), 0):,} games at {rules.name}"
        for rules in plan.rules
        for bot in plan.bots
        if played.get((rules.name, bot), 0) < plan.games
    ]
    return f" Unfinished: of {plan.games:,} games, {', '.join(told)}." if told else ""


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


def judged_sections(run: Path) -> list[Section]:
    """The sections on what perfect play says of a run; none where nothing of it was judged.

    Raises:
        MagsimError: if a part is damaged.
    """
    sums = at_hand.judged(run)
    if sums is None:
        return []
    from magsim.report import judged  # with all that perfect play needs

    found = judged.judged(sums)
    return [judged.luck(found), *([judged.differences(found)] if len(found.differences) else [])]


def report_run(run: Path, folder: Path | None = None) -> Path:
    """Write the report of a run; the folder it is in.

    Raises:
        MagsimError: if there is no run, nothing in it, or the folder cannot be written.
    """
    target = folder or run / FOLDER
    check_folder(target)
    findings = find(run)
    plan = findings.plan
    bots = f"{len(findings.bots)} bots ({', '.join(findings.bots)})"
    who = bots if len(findings.bots) > 1 else findings.bots[0]
    games = counted([row["games"] for row in findings.summary.iter_rows(named=True)])
    intro = (
        f"{games} of each of {who} at each difficulty, all on the same dice (seed {plan.seed})."
        if len(findings.bots) > 1
        else f"{games} of {who} at each difficulty (seed {plan.seed})."
    )
    intro += (
        f"{missing(findings)} Rules: {rules_in_words(plan)}. All intervals are 95 % intervals; "
        "± gives half of one."
    )
    title = f"magsim: {', '.join(findings.bots)}"
    every = *sections(findings), *judged_sections(run)
    write(Page(title, intro, command(plan), every), target)
    return target
