"""Figures by hand: rows as dicts, loops and textbook formulas; nothing of ``magsim.analysis``.

With the bots of a small run in which everything happens: each kind of Power, several of them in a
turn, rescues and failed ones, estimates that are sane and estimates that are silly.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import small_runs

from magsim import records
from magsim.asking import Watch
from magsim.bot import Bot, Position
from magsim.decision import Decision, Power, Ruin
from magsim.manifest import read_manifest

Row = dict[str, Any]
Player = tuple[str, str]

SILLY = (None, -37.25, 1e9, 0.1, 200.5, -1e9, -0.3, 133.0)


class Tinker(Bot):
    """Uses Powers at any time, on anything, and expects nonsense."""

    def decide(self, position: Position) -> Decision:
        expected = self.random.choice(SILLY)
        met = position.in_magdagdon()
        if position.powers_left and self.random.random() < (0.8 if met else 0.15):
            power = self.random.choice(position.powers())
            return Power(power.kind, power.dice, expected)
        if met:
            return Ruin(self.random.choice(position.ruins()).cell, expected)
        return position.placement(self.random.choice(position.outcomes()))


class Careful(Bot):
    """Takes the best score now, keeps its Powers for MAGDAGDON, and expects something sane."""

    def decide(self, position: Position) -> Decision:
        if position.in_magdagdon():
            if position.powers_left:
                return Power("reroll", position.dice)
            return Ruin(position.ruins()[-1].cell, 60.5)
        best = max(position.outcomes(), key=position.score)
        place = position.placement(best)
        return type(place)(place.placements, position.score(best) + 30)


class Plain(Bot):
    """Takes the first outcome, uses no Power and expects nothing."""

    def decide(self, position: Position) -> Decision:
        outcomes = position.outcomes()
        return position.placement(min(outcomes)) if outcomes else position.ruins()[0]


BOTS: dict[str, Bot] = {"plain": Plain(), "tinker": Tinker(), "careful": Careful()}
GAMES = {"plain": 20, "tinker": 30, "careful": 30}


def make_run(
    folder: Path,
    games: dict[str, int] | None = None,
    bots: dict[str, Bot] | None = None,
    chunk: int = 10,
    **options: Any,
) -> Path:
    watch = Watch(600)
    plays = {"bots": bots or BOTS, "chunk": chunk, **options}
    try:
        return small_runs.make_run(folder, watch, games or GAMES, **plays)
    finally:
        watch.close()


def shared_run(factory: pytest.TempPathFactory) -> Path:
    """The run of ``BOTS`` that several modules of tests look at; made once."""
    run = factory.getbasetemp() / "by_hand" / "run"
    return run if run.exists() else make_run(run)


class Records:
    """The rows of a run's two tables as dicts, and the players in the order of the plan."""

    def __init__(self, run: Path) -> None:
        self.plan = read_manifest(run)
        self.turns: dict[Player, list[Row]] = {}
        self.games: dict[Player, list[Row]] = {}
        for table, found in (("turns", self.turns), ("games", self.games)):
            for row in records.scan(run, table, self.plan).collect().to_dicts():
                found.setdefault((row["difficulty"], row["bot"]), []).append(row)
        self.rules = {rules.name: rules for rules in self.plan.rules}
        for player, turns in self.turns.items():
            board = ""
            for turn in turns:
                turn["before"] = board if turn["turn"] > 1 else "..../..../..../...."
                board = turn["board"]
            for game in self.games[player]:
                game["used"] = game["raises"] + game["lowers"] + game["rerolls"]
                rules = self.rules[player[0]]
                game["straight_points"] = game["straights"] * rules.straight
                game["four_points"] = game["fours"] * rules.four
                game["two_pairs_points"] = game["two_pairs"] * rules.two_pairs
                game["ruin_points"] = -game["ruin_cost"]
                game["power_points"] = -game["power_cost"]

    @property
    def players(self) -> list[Player]:
        return list(self.games)

    def column(self, player: Player, name: str) -> dict[int, int]:
        """A value of each game by game index."""
        return {game["game"]: game[name] for game in self.games[player]}

    def by_game(self, player: Player) -> dict[int, list[Row]]:
        """The turns of each game."""
        found: dict[int, list[Row]] = {}
        for turn in self.turns[player]:
            found.setdefault(turn["game"], []).append(turn)
        return found


def powers_of(turn: Row) -> list[str]:
    return turn["powers"].split("; ") if turn["powers"] else []


def kind_of(power: str) -> str:
    return {"+": "raise", "-": "lower", "r": "reroll"}[power[0]]


def dice_of(turn: Row) -> int:
    return len(turn["placements"].split()) if turn["placements"] else 0


def inside(t: float, df: int, steps: int = 400) -> float:
    """How much of Student's density lies between -t and t, by Simpson's rule.

    With t = sqrt(df) tan(u) the density is a power of a cosine.
    """
    top = math.atan(t / math.sqrt(df))
    constant = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi)
    width = top / steps
    weights = (1, *(4 if k % 2 else 2 for k in range(1, steps)), 1)
    area = math.fsum(w * math.cos(k * width) ** (df - 1) for k, w in enumerate(weights))
    return 2 * constant * area * width / 3


@cache
def t_value(df: int, level: float = 0.95) -> float:
    """Student's quantile by bisection of that area."""
    low, high = 0.0, 2.0
    while inside(high, df) < level:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle, df) < level else (low, middle)
    return (low + high) / 2


def mean_and_width(
    values: Iterable[float], level: float = 0.95
) -> tuple[float | None, float | None]:
    values = list(values)
    if not values:
        return None, None
    if len(values) == 1:
        return values[0], None
    width = t_value(len(values) - 1, level) * statistics.stdev(values) / math.sqrt(len(values))
    return statistics.mean(values), width


def welch(one: Sequence[float], other: Sequence[float]) -> tuple[float | None, float | None]:
    """Difference of two means and its half width; degrees of freedom rounded down."""
    if not one or not other:
        return None, None
    difference = statistics.mean(one) - statistics.mean(other)
    if min(len(one), len(other)) < 2:
        return difference, None
    a, b = statistics.variance(one) / len(one), statistics.variance(other) / len(other)
    if a + b == 0:
        return difference, 0.0
    df = (a + b) ** 2 / (a**2 / (len(one) - 1) + b**2 / (len(other) - 1))
    return difference, t_value(math.floor(df)) * math.sqrt(a + b)


def wilson(count: int, n: int) -> tuple[float, float]:
    """The two shares p with (count/n - p)^2 = z^2 p (1 - p) / n."""
    z2 = 1.959963984540054**2
    a, b, c = 1 + z2 / n, -(2 * count / n + z2 / n), (count / n) ** 2
    root = math.sqrt(max(0.0, b * b - 4 * a * c))
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def ratio_and_width(ys: Sequence[float], xs: Sequence[float]) -> tuple[float | None, float | None]:
    """A ratio of totals over games and its half width, residual by residual, exactly."""
    top, bottom = sum(map(Fraction, ys)), sum(map(Fraction, xs))
    if not bottom:
        return None, None
    ratio, n = top / bottom, len(ys)
    if n < 2:
        return float(ratio), None
    squares = sum((Fraction(y) - ratio * Fraction(x)) ** 2 for y, x in zip(ys, xs, strict=True))
    error = math.sqrt(squares / (n * (n - 1))) / float(bottom / n)
    return float(ratio), t_value(n - 1) * error


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def close(found: object, expected: object) -> bool:
    """Whether figures agree; None only with None."""
    if isinstance(found, float | int) and isinstance(expected, float | int):
        return math.isclose(found, expected, rel_tol=1e-7, abs_tol=1e-9)
    return found == expected


def assert_rows(found: Iterable[Sequence[object]], expected: Iterable[Sequence[object]]) -> None:
    """Assert that rows agree one by one, figures up to rounding."""
    found, expected = list(found), list(expected)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        agree = len(one) == len(other) and all(map(close, one, other))
        assert agree, f"{one}\nis not\n{other}"


def plus_minus(value: float | None, width: float | None, sign: bool = False, least: int = 1) -> str:
    """A value and half its interval as reports write them: so many digits that the half shows."""
    digits = least
    if width is not None and width < 0.1:
        shows = [d for d in (2, 3, 4) if width == 0 or round(width * 10**d + 1e-9) > 0]
        digits = shows[0] if shows else 4
    text = "–" if value is None else f"{value:,.{digits}f}"
    if text.startswith("-") and not text.strip("-0."):
        text = text[1:]
    plus = "+" if sign and value is not None and text[0] != "-" else ""
    return f"{plus}{text}" + ("" if width is None else f" ± {width:,.{digits}f}")


def share_of(count: int, n: int) -> str:
    """A share in percent with the ends of its interval as reports write them."""
    low, high = wilson(count, n)
    return f"{100 * count / n:.1f} % ({100 * low:.1f} to {abs(100 * high):.1f})"
