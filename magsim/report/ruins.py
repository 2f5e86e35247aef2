"""Sections about RUINs and MAGDAGDON."""

from magsim.analysis import estimates
from magsim.charts import ruins as charts
from magsim.report.common import (
    COMMON,
    FEW,
    PLAYER,
    Row,
    common_rows,
    each_difficulty,
    quantity,
    rate_table,
    row_of,
    rows_of,
    show_share,
    show_small_mean,
    show_text,
    show_whole,
    table_of,
)
from magsim.report.findings import Findings
from magsim.report.page import Section
from magsim.report.words import number, percent, percent_interval, small_interval


def ruins_per_game(findings: Findings) -> Section:
    """How many RUINs a game has."""
    frame = estimates.ruins_per_game(findings.tallies)
    means = quantity(findings, "ruins")

    def say(difficulty: str, best: str) -> str:
        row = row_of(means, difficulty, best)
        none = next((r for r in rows_of(frame, difficulty, best) if r["ruins"] == 0), None)
        without = show_share(none) if none else "none"
        made = small_interval(row["mean"], row["half_width"])
        return f"{best} makes {made} RUINs a game, and {without} of its games have none"

    tables = (
        table_of(
            "RUINs per game",
            means,
            PLAYER | {"games": show_whole("games"), "RUINs": show_small_mean},
        ),
        table_of(
            "Games by RUINs",
            frame,
            PLAYER
            | {"RUINs": show_whole("ruins"), "games": show_whole("games"), "share": show_share},
        ),
    )
    chart = charts.ruins_per_game(frame, means)
    return Section(
        "RUINs per game", each_difficulty(findings, say), {"ruins_per_game": chart}, tables
    )


def ruins_by_turn(findings: Findings) -> Section:
    """When RUINs come, by turn and by empty cells."""
    by_turn = estimates.ruins_by_turn(findings.tallies)
    by_empty = estimates.ruins_by_empty(findings.tallies)

    def say(difficulty: str, best: str) -> str:
        turns = common_rows(findings, rows_of(by_turn, difficulty, best), difficulty, best)
        cells = common_rows(findings, rows_of(by_empty, difficulty, best), difficulty, best)
        turn = max(turns, key=lambda row: row["share"])
        empty = max(cells, key=lambda row: row["share"])
        return (
            f"{best} ends turn {turn['turn']} with a RUIN most often, in {show_share(turn)} of the "
            f"games that come to it, and a turn that begins with {empty['empty']} empty cells, in "
            f"{show_share(empty)} of such turns"
        )

    tables = (
        rate_table("Turns that end with a RUIN, by turn", by_turn, "turn", "RUINs"),
        rate_table("Turns that end with a RUIN, by empty cells", by_empty, "empty", "RUINs"),
    )
    drawn = {
        "ruins_by_turn": charts.ruins_by_turn(by_turn),
        "ruins_by_empty": charts.ruins_by_empty(by_empty),
    }
    note = f" Turns that {percent(COMMON, 0)} of games and {FEW} games come to are compared."
    return Section("When RUINs come", each_difficulty(findings, say) + note, drawn, tables)


def ruin_map(findings: Findings) -> Section:
    """Where RUINs fall."""
    frame = estimates.ruin_map(findings.tallies)

    def say(difficulty: str, best: str) -> str:
        rows = rows_of(frame, difficulty, best)
        most = max(rows, key=lambda row: row["count"])
        if not most["count"]:
            return f"{best} makes no RUIN"
        fewest = min(row["count"] for row in rows)
        least = [row for row in rows if row["count"] == fewest]
        more = len(least) - 1
        others = f" and {more} other{'s' if more > 1 else ''}" if more else ""
        return (
            f"{best} makes a RUIN of {most['cell']} most often, in {show_share(most)} of its "
            f"games, and of {least[0]['cell']}{others} least, in {show_share(least[0])}"
        )

    table = table_of(
        "Games in which a cell became a RUIN",
        frame,
        PLAYER | {"cell": show_text("cell"), "games": show_whole("count"), "share": show_share},
        words=3,
    )
    return Section(
        "Where RUINs fall",
        each_difficulty(findings, say),
        {"ruin_map": charts.ruin_map(frame)},
        (table,),
    )


def magdagdon(findings: Findings) -> Section:
    """How often MAGDAGDON comes and how often a Power rescues."""
    frame = findings.magdagdon

    def say(difficulty: str, best: str) -> str:
        row = row_of(frame, difficulty, best)
        met = percent_interval(row["share"], row["half_width"])
        told = f"{best} is in MAGDAGDON in {met} of its turns"
        if not row["met"]:
            return told
        if not findings.has_powers(difficulty):
            return f"{told}, without Powers to rescue it"
        rescued = percent_interval(row["rescued_share"], row["rescued_half_width"])
        return f"{told}, and a Power rescues {rescued} of these"

    def rescued(row: Row) -> str:
        if not findings.has_powers(row["difficulty"]):
            return number(None)
        return percent_interval(row["rescued_share"], row["rescued_half_width"])

    table = table_of(
        "Turns in MAGDAGDON",
        frame,
        PLAYER
        | {
            "turns": show_whole("turns"),
            "in MAGDAGDON": show_whole("met"),
            "share": lambda row: percent_interval(row["share"], row["half_width"]),
            "rescued": show_whole("rescued"),
            "share rescued": rescued,
        },
    )
    return Section(
        "MAGDAGDON",
        each_difficulty(findings, say),
        {"magdagdon": charts.magdagdon(frame)},
        (table,),
    )
