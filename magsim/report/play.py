"""Sections about play: turns, dice, options, and what bots expected."""

from magsim.analysis import estimates
from magsim.analysis.options import SAMPLE
from magsim.charts import play as charts
from magsim.report.common import (
    PLAYER,
    each_difficulty,
    lower,
    quantity,
    row_of,
    rows_of,
    show_interval,
    show_share,
    show_whole,
    table_of,
)
from magsim.report.findings import Findings
from magsim.report.page import Section
from magsim.report.words import interval, number, percent, small_interval


def turns_and_dice(findings: Findings) -> Section:
    """How long games are, and how many dice a turn places."""
    turns = estimates.turns_per_game(findings.tallies)
    placed = estimates.dice_placed(findings.tallies)
    dice = estimates.dice_per_turn(findings.tallies)
    means = quantity(findings, "turns")

    def say(difficulty: str, best: str) -> str:
        length, per_turn = row_of(means, difficulty, best), row_of(dice, difficulty, best)
        return (
            f"{best} needs {small_interval(length['mean'], length['half_width'])} turns a game and "
            f"places {small_interval(per_turn['dice'], per_turn['half_width'])} dice a turn"
        )

    tables = (
        table_of(
            "Games by turns",
            turns,
            PLAYER
            | {"turns": show_whole("turns"), "games": show_whole("games"), "share": show_share},
        ),
        table_of(
            "Turns by dice placed",
            placed,
            PLAYER
            | {
                "dice": show_whole("dice"),
                "turns": show_whole("turns"),
                "share": lambda row: percent(row["share"]),
            },
        ),
    )
    drawn = {
        "turns_per_game": charts.turns_per_game(turns),
        "dice_placed": charts.dice_placed(placed),
    }
    note = " A turn that ends with a RUIN places none."
    return Section("Turns and dice", each_difficulty(findings, say) + note, drawn, tables)


def options(findings: Findings) -> Section:
    """How much there is to choose from."""
    frame = findings.options

    def say(difficulty: str, best: str) -> str:
        rows = rows_of(frame, difficulty, best)
        first, most = rows[0], max(rows, key=lambda row: row["options"])
        told = f"{best} has {interval(first['options'], first['half_width'])} options in turn 1"
        if most is first:
            return f"{told}, its most, up to {first['most']:,}"
        return (
            f"{told} and most in turn {most['turn']}, "
            f"{interval(most['options'], most['half_width'])}, up to {most['most']:,}"
        )

    table = table_of(
        "Options at the first decision of a turn",
        frame,
        PLAYER
        | {
            "turn": show_whole("turn"),
            "turns": show_whole("turns"),
            "options": show_interval("options"),
            "fewest": show_whole("fewest"),
            "most": show_whole("most"),
        },
    )
    note = f" Counted in the first {SAMPLE} games of each bot, or all where there are fewer."
    return Section(
        "Options per decision",
        each_difficulty(findings, say) + note,
        {"options": charts.options_per_decision(frame)},
        (table,),
    )


def calibration(findings: Findings) -> Section:
    """Whether what bots expect is what comes."""
    frame = estimates.calibration(findings.tallies)
    whole = estimates.calibration_in_all(findings.tallies)

    def say(difficulty: str, best: str) -> str:
        for row in rows_of(whole, difficulty, best):
            word = "too much" if row["bias"] > 0 else "too little"
            bias = interval(abs(row["bias"]), row["half_width"])
            error = number(row["error"])
            return f"{best} expects {bias} points {word}, its error is {error} (root mean square)"
        return f"{best} gives no estimates"

    caption = f"Over all turns: {lower(each_difficulty(findings, say))}"
    columns = {
        "turns": show_whole("turns"),
        "estimate": lambda row: number(row["estimate"]),
        "came": lambda row: number(row["final"]),
        "estimate - came": show_interval("bias", sign=True),
    }
    tables = (
        table_of(
            "Estimates against final scores, points",
            whole,
            PLAYER | columns | {"error": lambda row: number(row["error"])},
        ),
        table_of("By the estimate", frame, PLAYER | {"from": show_whole("bin")} | columns),
    )
    chart = charts.calibration(frame)
    return Section("Estimates against what came", caption, {"calibration": chart}, tables)
