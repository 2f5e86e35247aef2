"""Sections about decisions judged against perfect play: luck, losses, and the worst decisions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from magsim.charts import regret as charts
from magsim.charts.comparison import forest
from magsim.manifest import Plan
from magsim.regret import estimates
from magsim.regret.sums import GRADES, HALF, Sums
from magsim.regret.worst import Worst
from magsim.report.common import (
    PLAYER,
    Row,
    Show,
    lower,
    row_of,
    rows_of,
    show_interval,
    show_whole,
    table_of,
)
from magsim.report.comparison import differences_table
from magsim.report.page import Section, Table
from magsim.report.tables import times
from magsim.report.words import (
    capital,
    interval,
    listed,
    number,
    percent,
    percent_interval,
)


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found of the judged games of a run: tables of ``regret.estimates``."""

    plan: Plan
    adjusted: pl.DataFrame
    differences: pl.DataFrame
    accuracy: pl.DataFrame
    kinds: pl.DataFrame
    turns: pl.DataFrame
    sizes: pl.DataFrame

    @property
    def difficulties(self) -> list[str]:
        """The names of difficulties with judged games, in the order of the plan."""
        return [str(name) for name in self.adjusted["difficulty"].unique(maintain_order=True)]

    @property
    def bots(self) -> list[str]:
        """The bots with judged games, in the order of the plan."""
        found = set(self.adjusted["bot"])
        return [bot for bot in self.plan.bots if bot in found]

    def ranked(self, difficulty: str) -> list[str]:
        """The bots at a difficulty, the one that loses least first."""
        rows = self.adjusted.filter(difficulty=difficulty).sort("regret", maintain_order=True)
        return [str(bot) for bot in rows["bot"]]

    def each(self, say: Callable[[str, str], str]) -> str:
        """Something said of the best bot at each difficulty, as one sentence."""
        told = [f"at {name}, {say(name, self.ranked(name)[0])}" for name in self.difficulties]
        return f"{capital(listed(told))}."


def judged(sums: Sums) -> Judged:
    """All estimates of sums."""
    return Judged(
        sums.plan,
        estimates.luck_adjusted(sums),
        estimates.differences(sums),
        estimates.accuracy(sums),
        estimates.by_kind(sums),
        estimates.by_turn(sums),
        estimates.by_size(sums),
    )


def luck(found: Judged) -> Section:
    """Mean scores with the luck of the dice taken out."""

    def say(difficulty: str, best: str) -> str:
        row = row_of(found.adjusted, difficulty, best)
        gain = ""
        if row["gain"] is not None:
            gain = f"; the mean score would take {number(row['gain'])} times as many games"
        return (
            f"perfect play expects {number(row['start'], 2)} points a game and {best} comes to "
            f"{interval(row['adjusted'], row['half_width'])}{gain}"
        )

    columns: dict[str, Show] = {
        "games": show_whole("games"),
        "mean score": show_interval("score", "score_half_width"),
        "luck": show_interval("luck", "luck_half_width", sign=True),
        "perfect play": lambda row: number(row["start"], 4),
        "lost": lambda row: number(row["regret"], 2),
        "luck-adjusted": show_interval("adjusted"),
        "gain": lambda row: times(row["gain"]),
    }
    table = table_of("Luck-adjusted scores, points a game", found.adjusted, PLAYER | columns)
    drawn = {"luck": charts.luck_adjusted(found.adjusted)}
    note = (
        " What a roll changes in what perfect play expects is luck; a score is what perfect play "
        "expects of a game, plus luck, minus what the decisions lose. Luck is 0 on average, so "
        "that what is left without it has the mean of the score, and varies less."
    )
    return Section("Luck and skill against perfect play", found.each(say) + note, drawn, (table,))


def differences(found: Judged) -> Section:
    """How far bots are ahead of each other with the luck of the dice taken out."""
    told = []
    for difficulty in found.difficulties:
        ranked = found.ranked(difficulty)[:2]
        for row in found.differences.iter_rows(named=True):
            if row["difficulty"] == difficulty and {row["bot"], row["other"]} == set(ranked):
                ahead = row["difference"] if row["bot"] == ranked[0] else -row["difference"]
                gain = ""
                if row["gain"] is not None:
                    gain = f"; with the luck, it takes {number(row['gain'])} times as many games"
                told.append(
                    f"at {difficulty}, {ranked[0]} is {interval(ahead, row['half_width'])} points "
                    f"ahead of {ranked[1]}{gain}"
                )
    title = "Bots against each other, luck-adjusted"
    chart = forest(found.differences, f"{title}, on the same dice", "luck-adjusted score")
    table = differences_table(
        found.differences, "Luck-adjusted paired differences on the same dice, points", "gain"
    )
    text = f"{capital(listed(told))}." if told else "The two that lose least share no game."
    return Section(title, text, {"luck_differences": chart}, (table,))


def grades(found: Judged) -> Section:
    """How good decisions are."""

    def say(difficulty: str, best: str) -> str:
        row = row_of(found.accuracy, difficulty, best)
        accuracy = percent_interval(row["accuracy"], row["accuracy_half_width"])
        return (
            f"{best} has an error rate of {interval(row['loss'], row['loss_half_width'])} points a "
            f"decision and an accuracy of {accuracy}; {percent(row['best'])} of its decisions are "
            f"as good as the best, {percent(row['mistakes'])} mistakes and "
            f"{percent(row['blunders'])} blunders"
        )

    def share(name: str) -> Show:
        return lambda row: percent_interval(row[name], row[f"{name}_half_width"])

    columns = {
        "decisions": show_whole("decisions"),
        "error rate, points": show_interval("loss", "loss_half_width"),
        "accuracy": share("accuracy"),
        **{name: share(name) for name in ("best", *GRADES)},
    }
    limits = ", ".join(f"{name} from {limit:g}" for name, limit in GRADES.items())
    note = (
        f" Points lost make {limits} points on. The accuracy of a decision is {HALF:g} / "
        f"({HALF:g} + points lost); that of a bot is the mean over its decisions."
    )
    drawn = {"grades": charts.grades(found.accuracy), "sizes": charts.by_size(found.sizes)}
    sizes = {
        "points lost": lambda row: f"{row['least']:g} or more",
        "decisions": show_whole("decisions"),
        "share": lambda row: percent(row["share"], 2),
    }
    tables = (
        table_of("Decisions against perfect play", found.accuracy, PLAYER | columns),
        table_of("Decisions by what they lose", found.sizes, PLAYER | sizes),
    )
    return Section("How good decisions are", found.each(say) + note, drawn, tables)


def kinds(found: Judged) -> Section:
    """By what kind of decision points are lost."""

    def say(difficulty: str, best: str) -> str:
        rows = rows_of(found.kinds, difficulty, best)
        most = max(rows, key=lambda row: row["loss"])
        if not most["loss"]:
            return f"{best} loses nothing"
        name = charts.KIND_NAMES[most["kind"]]
        return f"{best} loses most by {name}, {interval(most['loss'], most['half_width'])} a game"

    columns: dict[str, Show] = {
        "kind": lambda row: charts.KIND_NAMES[row["kind"]],
        "decisions": show_whole("decisions"),
        "not the best": show_whole("lossy"),
        "points lost by each of these": lambda row: number(row["each"]),
        "points lost a game": show_interval("loss"),
    }
    note = (
        " A placement or a RUIN where a Power would have been best is a Power not used; a Power "
        "where something else, or another Power, would have been best is a Power used."
    )
    table = table_of("Points lost by kind", found.kinds, PLAYER | columns, words=3)
    drawn = {"kinds": charts.by_kind(found.kinds)}
    text = f"Points: {lower(found.each(say))}{note}"
    return Section("What is lost by which kind of decision", text, drawn, (table,))


def turns(found: Judged) -> Section:
    """In which turns points are lost."""

    def say(difficulty: str, best: str) -> str:
        rows = rows_of(found.turns, difficulty, best)
        total = sum(_lost(row) for row in rows)
        most = max(rows, key=_lost)
        if not total:
            return f"{best} loses nothing"
        share = percent(_lost(most) / total, 0)
        return (
            f"{best} loses most in turn {most['turn']}, {share} of all, "
            f"{interval(most['loss'], most['half_width'])} points each time"
        )

    columns = {
        "turn": show_whole("turn"),
        "turns": show_whole("turns"),
        "points lost in each": show_interval("loss"),
    }
    table = table_of("Points lost by turn", found.turns, PLAYER | columns)
    drawn = {"turns": charts.by_turn(found.turns)}
    return Section("When points are lost", found.each(say), drawn, (table,))


def _lost(row: Row) -> float:
    """The points lost in all turns of a row."""
    loss: float = row["turns"] * row["loss"]
    return loss


def worst(found: Judged, decisions: Sequence[Worst]) -> Section:
    """The decisions that lost most."""
    first: dict[str, Worst] = {}
    for one in decisions:
        if one.bot == found.ranked(one.difficulty)[0]:
            first.setdefault(one.difficulty, one)
    told = [
        f"at {name}, {one.bot} decides {one.made} in turn {one.turn} of game {one.game:,} "
        f"({one.position}) and loses {number(one.regret)} points; best is {one.best}"
        for name, one in first.items()
    ]
    rows = [
        [
            one.difficulty,
            one.bot,
            str(one.position),
            str(one.made),
            str(one.best),
            f"{one.game:,}",
            str(one.turn),
            number(one.made.estimate),
            number(one.best.estimate),
            number(one.regret),
        ]
        for one in decisions
    ]
    head = ["difficulty", "bot", "position", "decided", "best", "game", "turn", "worth"]
    title = "The worst decisions; what they and the best are worth, in points"
    table = Table(title, [*head, "best worth", "lost"], rows, words=5)
    text = "`magsim replay` shows each of them by its game and turn."
    text = f"{capital(listed(told))}. {text}" if told else text
    return Section("The worst decisions", text, {}, (table,))
