"""Players compared on the same dice: paired differences, what pairing gains, luck and skill.

A player is a bot at some rules. Chunk by chunk the scores of all players are laid side by side, and
only sums and sums of products are kept; they are whole numbers, hence exact.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from magsim import records
from magsim.analysis.intervals import (
    LEVEL,
    Interval,
    Mean,
    jackknife_half_width,
    mean_of_sums,
)
from magsim.analysis.tallies import BATCH, PARTS, part_columns
from magsim.errors import MagsimError
from magsim.manifest import Plan, read_manifest
from magsim.rules import Rules

GROUPS = 20
"""Groups of games, by game index, that the jackknife leaves out in turn."""

SOURCES = ("bot", "dice", "rest")

Ints = NDArray[np.int64]


class Player(NamedTuple):
    """A bot at some rules."""

    rules: Rules
    bot: str


@dataclass(frozen=True, slots=True)
class Moments:
    """Sums over the games that both of two players played, for P players.

    Shapes (P, P) with a leading axis of groups of games: ``games`` counts them, ``sums[g, i, j]``
    adds the values of player i over the games that i and j have in common, ``products[g, i, j]``
    the products of both, ``squares[g, i, j]`` the squares of player i.
    """

    players: tuple[Player, ...]
    games: Ints
    sums: Ints
    squares: Ints
    products: Ints

    def difference(self, i: int, j: int, level: float = LEVEL) -> Mean:
        """Value of player i minus player j, game by game."""
        n = int(self.games[:, i, j].sum())
        total = int(self.sums[:, i, j].sum()) - int(self.sums[:, j, i].sum())
        squares = int(self.squares[:, i, j].sum()) + int(self.squares[:, j, i].sum())
        return mean_of_sums(n, total, squares - 2 * int(self.products[:, i, j].sum()), level)

    def mean(self, i: int, j: int | None = None) -> Mean:
        """The value of player i over all its games, or over those that player j played too."""
        j = i if j is None else j
        n, total = int(self.games[:, i, j].sum()), int(self.sums[:, i, j].sum())
        return mean_of_sums(n, total, int(self.squares[:, i, j].sum()))

    def of(self, chosen: Sequence[int]) -> "Moments":
        """The moments of some of the players."""
        at = np.ix_(range(len(self.games)), chosen, chosen)
        arrays = (self.games, self.sums, self.squares, self.products)
        return Moments(tuple(self.players[k] for k in chosen), *(array[at] for array in arrays))

    def contrast(self, weights: Sequence[int]) -> Mean:
        """A weighted sum of all players' values, game by game, over the games that all played."""
        w = np.array(weights, dtype=object)
        total = squares = 0
        for group in range(len(self.games)):
            total += int(w @ np.diagonal(self.sums[group]).astype(object))
            squares += int(w @ self.products[group].astype(object) @ w)
        return mean_of_sums(int(self.games[:, 0, 0].sum()), total, squares)


def gather(
    run: Path,
    plan: Plan,
    players: Sequence[Player],
    values: Sequence[Mapping[str, pl.Expr]] | None = None,
    common: bool = False,
    groups: int = GROUPS,
) -> dict[str, Moments]:
    """The moments of whole-number values of games: of the score, or of those of each player.

    ``values`` has, for each player, expressions over ``games`` by the same names.

    With ``common``, only over games that all the players played. Games are grouped by game index
    modulo ``groups``.

    Raises:
        MagsimError: if a part cannot be read.
    """
    wanted = [{"score": pl.col("score")}] * len(players) if values is None else values
    shape = (groups, len(players), len(players))
    moments = {
        name: Moments(tuple(players), *(np.zeros(shape, np.int64) for _ in range(4)))
        for name in wanted[0]
    }
    found = [records.parts(run, "games", player.rules.name, player.bot) for player in players]
    for here, keys in _shared_chunks(plan, found):
        if common and len(here) < len(players):
            continue
        tables = [_read([found[k][key] for key in keys], wanted[k]) for k in here]
        group = tables[0]["game"].to_numpy() % groups
        for name in wanted[0]:
            _add(moments[name], np.stack([table[name].to_numpy() for table in tables]), group, here)
    return moments


def _shared_chunks(
    plan: Plan, found: list[dict[tuple[int, int], Path]]
) -> Iterator[tuple[list[int], list[tuple[int, int]]]]:
    """Which players have which chunks, a few thousand games at a time."""
    shared: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for first, count in plan.chunks():
        key = (first, first + count - 1)
        here = tuple(k for k in range(len(found)) if key in found[k])
        if here:
            shared.setdefault(here, []).append(key)
    size = max(1, BATCH // plan.chunk)
    for players, keys in shared.items():
        for start in range(0, len(keys), size):
            yield list(players), keys[start : start + size]


def _read(parts: list[Path], values: Mapping[str, pl.Expr]) -> pl.DataFrame:
    whole = {name: value.cast(pl.Int64) for name, value in values.items()}
    try:
        return records.scan_parts(parts).select("game", **whole).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise MagsimError(f"{parts[0]} or a part after it cannot be read: {reason}") from error


def _add(moments: Moments, values: Ints, group: Ints, here: list[int]) -> None:
    rows, columns = np.ix_(here, here)
    for g in range(len(moments.games)):
        some = values[:, group == g]
        moments.games[g, rows, columns] += some.shape[1]
        moments.sums[g, rows, columns] += some.sum(axis=1)[:, None]
        moments.squares[g, rows, columns] += (some * some).sum(axis=1)[:, None]
        moments.products[g, rows, columns] += some @ some.T


def score_moments(run: Path) -> list[Moments]:
    """The moments of the scores of all bots, for each difficulty of a run."""
    plan = read_manifest(run)
    return [
        gather(run, plan, [Player(rules, bot) for bot in plan.bots])["score"]
        for rules in plan.rules
    ]


def part_moments(run: Path) -> list[dict[str, Moments]]:
    """The moments of the score and its ``PARTS`` of all bots, for each difficulty of a run."""
    plan = read_manifest(run)
    return [
        gather(
            run,
            plan,
            [Player(rules, bot) for bot in plan.bots],
            [{"score": pl.col("score"), **part_columns(rules)}] * len(plan.bots),
        )
        for rules in plan.rules
    ]


DIFFERENCES: dict[str, type[pl.DataType]] = {
    "games": pl.Int64,
    "difference": pl.Float64,
    "half_width": pl.Float64,
    "simultaneous": pl.Float64,
    "gain": pl.Float64,
}


def differences(plan: Plan, moments: Sequence[Moments]) -> pl.DataFrame:
    """A row for each difficulty and pair of bots: how far one is ahead of another on the same dice.

    Columns: difficulty, bot, other (the earlier of the two in the plan), games (that both played),
    difference (mean score of ``bot`` minus ``other``, game by game), half_width (of its 95 %
    interval, null for one game), simultaneous (half width with which *all* intervals of the table
    hold with 95 %, by Bonferroni), gain (of pairing: variance of the difference between games with
    dice of their own, by that seen; so many times as many games would it take without the same
    dice; null where it is not defined).
    """
    rows = []
    pairs = len(plan.rules) * len(plan.bots) * (len(plan.bots) - 1) // 2
    level = 1 - (1 - LEVEL) / max(1, pairs)
    for at in moments:
        for j, i in combinations(range(len(at.players)), 2):
            plain = at.difference(i, j)
            if plain.n == 0:
                continue
            wide = at.difference(i, j, level)
            gain = _gain(at, i, j, plain)
            names = at.players[i].rules.name, at.players[i].bot, at.players[j].bot
            rows.append((*names, plain.n, plain.mean, plain.half_width, wide.half_width, gain))
    bots = pl.Enum(list(plan.bots))
    keys = {"difficulty": pl.Enum([r.name for r in plan.rules]), "bot": bots, "other": bots}
    return pl.DataFrame(rows, schema={**keys, **DIFFERENCES}, orient="row")


def _gain(moments: Moments, i: int, j: int, difference: Mean) -> float | None:
    apart = 0.0
    for one, other in ((i, j), (j, i)):
        n = int(moments.games[:, one, other].sum())
        total = int(moments.sums[:, one, other].sum())
        deviation = mean_of_sums(n, total, int(moments.squares[:, one, other].sum())).deviation
        apart += (deviation or 0.0) ** 2
    if not difference.deviation or not apart:
        return None
    return float(apart / difference.deviation**2)


def paired_differences(run: Path) -> pl.DataFrame:
    """``differences`` of a run.

    Raises:
        MagsimError: if there is no run, or a part cannot be read.
    """
    return differences(read_manifest(run), score_moments(run))


def variance_shares(run: Path, moments: Sequence[Moments]) -> pl.DataFrame:
    """How much of the variance of scores is the choice of bot, the dice, and the rest.

    Takes ``score_moments``. Columns: difficulty, source (``bot``, ``dice``, ``rest``), games (that
    all bots played), bots, variance (points squared; never below 0), share (of the sum of the
    three), low, high (its 95 % interval by the jackknife over groups of games, null where there are
    fewer than 2 games a group). Bots without games are left out; a row only where two bots or more
    played two games or more.

    The layout is games x bots without replication: *dice* is the variance of what a game index
    gives to every bot alike, *rest* what it gives to one bot and not to another. Components are
    the usual unbiased ones of that layout (Searle, Casella, McCulloch, Variance Components, 1992,
    4.7), with bots as fixed.
    """
    plan = read_manifest(run)
    rows: list[tuple[object, ...]] = []
    for rules, all_games in zip(plan.rules, moments, strict=True):
        playing = [k for k in range(len(all_games.players)) if all_games.games[:, k, k].any()]
        at = all_games.of(playing)
        players = at.players
        if len(players) < 2:
            continue
        if (at.games != at.games[:, :1, :1]).any():
            at = gather(run, plan, players, common=True)["score"]
        games = int(at.games[:, 0, 0].sum())
        if games < 2:
            continue
        whole = _components(at, np.ones(GROUPS, bool))
        shares = _shares(whole)
        used = np.flatnonzero(at.games[:, 0, 0])
        left_out = []
        if games >= 2 * len(used):
            for group in used:
                kept = np.ones(GROUPS, bool)
                kept[group] = False
                if at.games[kept, 0, 0].sum() >= 2:
                    left_out.append(_shares(_components(at, kept)))
        for k, source in enumerate(SOURCES):
            low, high = _jackknife(shares[k], [some[k] for some in left_out])
            rows.append((rules.name, source, games, len(players), whole[k], shares[k], low, high))
    keys = {"difficulty": pl.Enum([r.name for r in plan.rules]), "source": pl.Enum(SOURCES)}
    counts = {"games": pl.Int64, "bots": pl.Int64}
    figures = dict.fromkeys(("variance", "share", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema={**keys, **counts, **figures}, orient="row")


def _components(moments: Moments, kept: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Variance of bot, dice and rest, from the groups that are kept."""
    n = int(moments.games[kept, 0, 0].sum())
    bots = len(moments.players)
    by_bot = np.diagonal(moments.sums[kept].sum(axis=0)).astype(float)
    products = moments.products[kept].sum(axis=0).astype(float)
    correction = by_bot.sum() ** 2 / (n * bots)
    all_squares = float(np.trace(products)) - correction
    bot_squares = float((by_bot**2).sum()) / n - correction
    dice_squares = float(products.sum()) / bots - correction
    rest = max(0.0, (all_squares - bot_squares - dice_squares) / ((n - 1) * (bots - 1)))
    dice = max(0.0, (dice_squares / (n - 1) - rest) / bots)
    bot = max(0.0, (bot_squares / (bots - 1) - rest) / n)
    return bot, dice, rest


def _shares(components: tuple[float, float, float]) -> tuple[float, ...]:
    total = sum(components)
    return tuple(part / total if total else 0.0 for part in components)


def _jackknife(share: float, left_out: Sequence[float]) -> Interval:
    width = jackknife_half_width(left_out)
    return (None, None) if width is None else (max(0.0, share - width), min(1.0, share + width))


def waterfall(moments: Mapping[str, Moments], weak: int, strong: int) -> pl.DataFrame:
    """By how much each part of the score differs between two bots on the same dice.

    Takes one of ``part_moments`` and the places of the two bots in it. Columns: part (of
    ``tallies.PARTS``), games, difference (strong minus weak, points a game), half_width.
    """
    means = {part: moments[part].difference(strong, weak) for part in PARTS}
    rows = [(part, mean.n, mean.mean, mean.half_width) for part, mean in means.items()]
    schema = {"part": pl.String, "games": pl.Int64} | dict.fromkeys(
        ("difference", "half_width"), pl.Float64
    )
    return pl.DataFrame(rows, schema=schema, orient="row")
