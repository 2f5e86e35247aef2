"""Sections about Powers: which, when, what for, and at what price."""

from magsim.analysis import estimates
from magsim.charts import powers as charts
from magsim.report.common import (
    PLAYER,
    each_difficulty,
    rate_table,
    rows_of,
    show_interval,
    show_share,
    show_text,
    show_whole,
    table_of,
)
from magsim.report.findings import Findings
from magsim.report.page import Section
from magsim.report.words import interval, number, percent, small_interval


def powers_by_kind(findings: Findings) -> Section:
    """Which Powers are used, when and what for."""
    kinds = estimates.powers_by_kind(findings.tallies)
    by_turn = estimates.powers_by_turn(findings.tallies)

    def say(difficulty: str, best: str) -> str:
        rows = rows_of(kinds, difficulty, best)
        uses = sum(row["uses"] for row in rows)
        if not uses:
            return f"{best} uses no Power"
        parts = ", ".join(f"{row['kind']} {percent(row['uses'] / uses, 0)}" for row in rows)
        rescuing = percent(sum(row["rescuing"] for row in rows) / uses, 0)
        turn = max(rows_of(by_turn, difficulty, best), key=lambda row: row["count"])["turn"]
        return (
            f"of the {number(uses / rows[0]['games'], 2)} Powers {best} uses a game ({parts}), "
            f"{rescuing} fall in turns that got out of MAGDAGDON; turn {turn} sees a Power "
            "most often"
        )

    tables = (
        table_of(
            "Uses of Powers, by kind",
            kinds,
            PLAYER
            | {
                "kind": show_text("kind"),
                "uses": show_whole("uses"),
                "per game": lambda row: small_interval(row["per_game"], row["half_width"]),
                "improving": show_whole("improving"),
                "rescuing": show_whole("rescuing"),
                "in vain": show_whole("in_vain"),
                "cost of one": lambda row: number(row["cost"]),
            },
            words=3,
        ),
        rate_table("Turns with a Power used", by_turn, "turn", "with a Power"),
    )
    drawn = {
        "powers_by_kind": charts.powers_by_kind(kinds),
        "powers_by_turn": charts.powers_by_turn(by_turn),
    }
    note = (
        " A use is improving in a turn that never was in MAGDAGDON, rescuing in one that got out "
        "of it, in vain in one that ended with a RUIN."
    )
    return Section("Powers by kind and turn", each_difficulty(findings, say) + note, drawn, tables)


def powers_used(findings: Findings) -> Section:
    """How many Powers a game uses, and what was scored beside what was paid."""
    frame = estimates.powers_used(findings.tallies)
    worth = estimates.power_worth(findings.tallies)

    def say(difficulty: str, best: str) -> str:
        if not findings.has_powers(difficulty):
            return "there are no Powers"
        rows = rows_of(frame, difficulty, best)
        none = next((row for row in rows if row["used"] == 0), None)
        told = f"{best} uses no Power in {show_share(none) if none else '0.0 %'} of its games"
        seen = [row for row in rows_of(worth, difficulty, best) if row["difference"] is not None]
        for row in sorted(seen, key=lambda row: -row["games"])[:1]:
            difference = interval(row["difference"], row["half_width"], sign=True)
            told += (
                f"; its games with a {row['kind']}, paid with {number(row['cost'])} points a use, "
                f"score {difference} points against those without a Power"
            )
        return told

    tables = (
        table_of(
            "Games by Powers used",
            frame,
            PLAYER
            | {
                "used": show_whole("used"),
                "games": show_whole("games"),
                "share": show_share,
                "paid": lambda row: number(row["cost"]),
                "mean score": lambda row: number(row["score"]),
                "against none": show_interval("difference", sign=True),
            },
        ),
        table_of(
            "Scores with a Power against games without any",
            worth,
            PLAYER
            | {
                "kind": show_text("kind"),
                "games": show_whole("games"),
                "games without": show_whole("without"),
                "cost of one": lambda row: number(row["cost"]),
                "score difference": show_interval("difference", sign=True),
            },
            words=3,
        ),
    )
    drawn = {"powers_used": charts.powers_used(frame), "power_worth": charts.power_worth(worth)}
    note = (
        " Games that need a Power are other games than those that need none: such a difference is "
        "what was seen together, not what the Power did."
    )
    title = "What Powers cost and what was scored"
    return Section(title, each_difficulty(findings, say) + note, drawn, tables)
