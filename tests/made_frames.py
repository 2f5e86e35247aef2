"""Made-up frames for charts, as the analysis gives them, and every chart of them."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from magsim.analysis.tallies import PARTS
from magsim.charts import balance, comparison, experiment, play, powers, regret, ruins, scores
from magsim.regret.judging import KINDS
from magsim.regret.sums import STEPS

CELLS = [f"{column}{row}" for row in range(1, 5) for column in "abcd"]
SHAPES = ["XX../XX../..../....", "X.../X.../..../....", "R.../..../..../...."]


class Made:
    """Frames as the analysis gives them; of one game where ``games`` is 1, hence without widths."""

    def __init__(self, difficulties: Sequence[str], bots: Sequence[str], games: int) -> None:
        self.difficulties, self.bots, self.games = difficulties, bots, games
        self.wide = None if games == 1 else 4.5
        self.ends = (None, None) if games == 1 else (0.2, 0.6)

    def table(self, columns: str, rows: Callable[[str, int], Iterator[tuple[Any, ...]]]) -> Any:
        found = [
            (difficulty, bot, *row)
            for difficulty in self.difficulties
            for k, bot in enumerate(self.bots)
            for row in rows(difficulty, k)
        ]
        keys = {"difficulty": pl.Enum(self.difficulties), "bot": pl.Enum(self.bots)}
        frame = pl.DataFrame(found, schema=["difficulty", "bot", *columns.split()], orient="row")
        return frame.cast(keys)  # type: ignore[arg-type]

    @property
    def summary(self) -> pl.DataFrame:
        games, wide = self.games, self.wide
        return self.table(
            "games mean half_width", lambda _, k: iter([(games, 50.0 * k - 30, wide)])
        )

    @property
    def scores(self) -> pl.DataFrame:
        steps = range(1 if self.games == 1 else 9)
        return self.table(
            "score n", lambda _, k: iter([(50 * k + 15 * s - 90, self.games) for s in steps])
        )

    @property
    def percentiles(self) -> pl.DataFrame:
        return self.table(
            "percentile score low high",
            lambda _, k: iter(
                [
                    (p, 40.0 * k + p * (self.games > 1), *self.ends)
                    for p in (1, 5, 10, 50, 90, 95, 99)
                ]
            ),
        )

    def shares(self, key: str, last: int = 4) -> pl.DataFrame:
        values = range(1 if self.games == 1 else last)
        share = 1 / len(values)
        return self.table(
            f"{key} games share low high",
            lambda _, __: iter([(v, self.games, share, *self.ends) for v in values]),
        )

    def rates(self, key: str) -> pl.DataFrame:
        def rows(difficulty: str, k: int) -> Iterator[tuple[Any, ...]]:
            for v in range(1, 9):
                none = difficulty == "nightmare" and key == "powered"
                share = 0.0 if none else (v + k) % 7 / 8
                turns = max(1, self.games // v**2)
                yield v, turns, int(share * turns), share, *self.ends

        return self.table(f"{key.replace('powered', 'turn')} turns count share low high", rows)

    @property
    def means(self) -> pl.DataFrame:
        return self.table(
            "quantity games mean half_width",
            lambda _, k: iter([("ruins", self.games, 0.3 * k, self.wide and self.wide / 50)]),
        )

    @property
    def map(self) -> pl.DataFrame:
        return self.table(
            "cell games share",
            lambda _, k: iter([(c, self.games, (j + k) % 12 / 13) for j, c in enumerate(CELLS)]),
        )

    @property
    def magdagdon(self) -> pl.DataFrame:
        columns = "games met share half_width rescued rescued_share rescued_half_width"
        wide = self.wide and self.wide / 100

        def rows(difficulty: str, k: int) -> Iterator[tuple[Any, ...]]:
            if difficulty == "nightmare":
                yield self.games, 2, 0.4, wide, 0, 0.0, 0.0
            else:
                met = 0 if k == 0 else 5
                yield self.games, met, met / 20, wide, met, 0.5 if met else None, wide

        return self.table(columns, rows)

    @property
    def kinds(self) -> pl.DataFrame:
        columns = "kind games uses per_game half_width improving rescuing in_vain cost"

        def rows(difficulty: str, k: int) -> Iterator[tuple[Any, ...]]:
            for kind in powers.KINDS:
                uses = 0 if difficulty == "nightmare" else 6 + k
                each = uses / self.games
                yield kind, self.games, uses, each, self.wide, uses // 2, uses - uses // 2, 0, 10.0

        return self.table(columns, rows)

    @property
    def used(self) -> pl.DataFrame:
        def rows(difficulty: str, _: int) -> Iterator[tuple[Any, ...]]:
            if difficulty == "nightmare" or self.games == 1:
                yield 0, self.games, 1.0, *self.ends
            else:
                yield from [(0, 1, 0.4, 0.3, 0.5), (1, 1, 0.59, 0.5, 0.6), (3, 1, 0.01, 0.0, 0.1)]

        return self.table("used games share low high", rows)

    @property
    def worth(self) -> pl.DataFrame:
        def rows(difficulty: str, k: int) -> Iterator[tuple[Any, ...]]:
            if difficulty != "nightmare":
                difference = None if k == 0 else -20.0 * k
                wide = None if k == 0 or self.wide is None else 900.0 * (k == 1) + 5
                yield "raise", 5, 0 if k == 0 else 3, 10.0, difference, wide

        frame = self.table("kind games without cost difference half_width", rows)
        return frame.cast(dict.fromkeys(("cost", "difference", "half_width"), pl.Float64))

    @property
    def placed(self) -> pl.DataFrame:
        return self.table(
            "dice turns share", lambda _, __: iter([(0, 3, 0.3), (2, 3, 0.3), (4, 4, 0.4)])
        )

    @property
    def options(self) -> pl.DataFrame:
        return self.table(
            "turn turns options half_width fewest most",
            lambda _, k: iter([(t, 30 // t, 90.0 / t + k, self.wide, 1, 99) for t in range(1, 8)]),
        )

    @property
    def calibration(self) -> pl.DataFrame:
        return self.table(
            "bin games turns estimate final half_width",
            lambda _, k: iter(
                [(20 * b, 9 * b, 9 * b, 20.0 * b, 21.0 * b + k, self.wide) for b in range(1, 6)]
            ),
        )

    @property
    def differences(self) -> pl.DataFrame:
        rows = [
            (difficulty, bot, other, self.games, 20.0 * (len(bot) - 9), self.wide, self.wide)
            for difficulty in self.difficulties
            for other, bot in combinations(self.bots, 2)
        ]
        keys = {"difficulty": pl.Enum(self.difficulties)}
        keys |= dict.fromkeys(("bot", "other"), pl.Enum(self.bots))
        floats = dict.fromkeys(("difference", "half_width", "simultaneous"), pl.Float64)
        return pl.DataFrame(rows, schema={**keys, "games": pl.Int64, **floats}, orient="row")

    @property
    def variance(self) -> pl.DataFrame:
        rows = [
            (difficulty, source, self.games, len(self.bots), share, *self.ends)
            for difficulty in self.difficulties
            for source, share in (("bot", 0.9), ("dice", 0.0), ("rest", 0.1))
            if len(self.bots) > 1
        ]
        columns = ["difficulty", "source", "games", "bots", "share", "low", "high"]
        return pl.DataFrame(rows, schema=columns, orient="row")

    @property
    def panels(self) -> list[comparison.Panel]:
        gains = [30.0, 200.0, -10.0, 0.0, -45.0, -20.0]
        parts = pl.DataFrame(
            [(part, self.games, gain, self.wide) for part, gain in zip(PARTS, gains, strict=True)],
            schema=["part", "games", "difference", "half_width"],
            orient="row",
        )
        weak = self.bots[0] if len(self.bots) > 1 else None
        start = -25.0 if weak else 0.0
        return [
            comparison.Panel(difficulty, parts, weak, self.bots[-1], start, start + sum(gains))
            for difficulty in self.difficulties
        ]

    @property
    def along(self) -> pl.DataFrame:
        frame = self.table(
            "x mean half_width",
            lambda _, k: iter([(float(x), 9.0 * x + k, self.wide) for x in (0, 5, 9)]),
        )
        return frame.rename({"bot": "series"})

    @property
    def labels(self) -> pl.DataFrame:
        return self.summary.with_columns(label=pl.col("difficulty").cast(pl.String) + " &c.")

    @property
    def adjusted(self) -> pl.DataFrame:
        return self.table(
            "games score score_half_width start adjusted half_width",
            lambda _, k: iter([(self.games, 20.0 * k, self.wide, 97.5, 20.0 * k - 3, self.wide)]),
        )

    @property
    def accuracy(self) -> pl.DataFrame:
        wide = self.wide and self.wide / 100
        return self.table(
            "decisions best inaccuracies mistakes blunders accuracy accuracy_half_width",
            lambda _, k: iter([(9 * self.games, 0.5, 0.1, 0.2, 0.01 * k, 0.9, wide)]),
        )

    @property
    def losses(self) -> pl.DataFrame:
        return self.table(
            "kind games loss half_width",
            lambda _, k: iter([(kind, self.games, 3.0 * k, self.wide) for kind in KINDS]),
        )

    @property
    def lost(self) -> pl.DataFrame:
        return self.table(
            "turn turns loss half_width",
            lambda _, k: iter([(t, 40 // t, 9.0 / t + k, self.wide) for t in range(1, 8)]),
        )

    @property
    def sizes(self) -> pl.DataFrame:
        return self.table(
            "least decisions share",
            lambda _, k: iter([(s, 9 - j, (9 - j) / (12 + k)) for j, s in enumerate(STEPS[:9])]),
        )

    def power_worth(self, key: str) -> pl.DataFrame:
        def rows(_: str, k: int) -> Iterator[tuple[Any, ...]]:
            for left in (1, 2, 3):
                for v in range(1, 9):
                    yield left, v, 400 // v**2, 90.0 / left / v + k, self.wide

        return self.table(f"powers {key} turns worth half_width", rows)

    @property
    def prices(self) -> pl.DataFrame:
        return self.table(
            "empty turns p10 p50 p90",
            lambda _, k: iter([(v, 9 * v, -5.0, 30.0 * k, 120.0 + v) for v in range(1, 17)]),
        )

    @property
    def price_curve(self) -> pl.DataFrame:
        def rows(_: str, k: int) -> Iterator[tuple[Any, ...]]:
            for left in (1, 2):
                for price in range(0, 200, 10):
                    yield left, price, 90, 1 / (1 + price / 40 / left + k)

        return self.table("powers price turns share", rows)

    @property
    def rescued(self) -> pl.DataFrame:
        def rows(_: str, k: int) -> Iterator[tuple[Any, ...]]:
            for left in (1, 2):
                for empty in (4, 5, 6):
                    yield left, empty, 9 * empty, (empty + k) % 7 / 7, *self.ends

        return self.table("powers empty turns share low high", rows)

    @property
    def timed(self) -> pl.DataFrame:
        return self.summary.with_columns(ms=0.004 * 2.3 ** pl.int_range(pl.len()))

    @property
    def best_openings(self) -> pl.DataFrame:
        return self.openings.select("shape", best="share", loss=pl.lit(12.345))

    @property
    def costs(self) -> dict[str, list[int]]:
        return {name: [40, 70, 400] for name in self.difficulties}

    @property
    def openings(self) -> pl.DataFrame:
        rows = [(shape, 0.2, *self.ends) for shape in SHAPES * 5]
        return pl.DataFrame(rows, schema=["shape", "share", "low", "high"], orient="row")


CHARTS: dict[str, Callable[[Made], Figure]] = {
    "score_distributions": lambda made: scores.score_distributions(made.scores, made.summary),
    "score_percentiles": lambda made: scores.score_percentiles(made.percentiles),
    "ruins_per_game": lambda made: ruins.ruins_per_game(made.shares("ruins"), made.means),
    "ruins_by_turn": lambda made: ruins.ruins_by_turn(made.rates("turn")),
    "ruins_by_empty": lambda made: ruins.ruins_by_empty(made.rates("empty")),
    "ruin_map": lambda made: ruins.ruin_map(made.map),
    "magdagdon": lambda made: ruins.magdagdon(made.magdagdon),
    "powers_by_kind": lambda made: powers.powers_by_kind(made.kinds),
    "powers_by_turn": lambda made: powers.powers_by_turn(made.rates("powered")),
    "powers_used": lambda made: powers.powers_used(made.used),
    "power_worth": lambda made: powers.power_worth(made.worth),
    "turns_per_game": lambda made: play.turns_per_game(made.shares("turns")),
    "dice_placed": lambda made: play.dice_placed(made.placed),
    "options": lambda made: play.options_per_decision(made.options),
    "calibration": lambda made: play.calibration(made.calibration),
    "forest": lambda made: comparison.forest(made.differences),
    "matrix": lambda made: comparison.matrix(made.differences, made.bots),
    "waterfall": lambda made: comparison.waterfall(made.panels),
    "variance": lambda made: comparison.variance(made.variance),
    "along_axis": lambda made: experiment.along_axis(
        made.along, "x_y", "x, points", "y", {made.difficulties[0]: 5.0}
    ),
    "by_label": lambda made: experiment.by_label(made.labels, "mean score, points"),
    "ladder": lambda made: experiment.ladder(made.summary),
    "openings": lambda made: experiment.openings(made.openings),
    "by_time": lambda made: experiment.by_time(made.timed, "mean score, points"),
    "luck_adjusted": lambda made: regret.luck_adjusted(made.adjusted),
    "regret_by_turn": lambda made: regret.by_turn(made.lost),
    "regret_by_kind": lambda made: regret.by_kind(made.losses),
    "regret_by_size": lambda made: regret.by_size(made.sizes),
    "worth_by_empty": lambda made: balance.worth(made.power_worth("empty"), "empty"),
    "worth_by_turn": lambda made: balance.worth(made.power_worth("turn"), "turn"),
    "prices": lambda made: balance.prices(made.prices, made.costs),
    "price_curve": lambda made: balance.price_curve(made.price_curve, made.costs),
    "rescues": lambda made: balance.rescues(made.rescued),
    "best_openings": lambda made: balance.openings(made.best_openings, made.difficulties[0]),
    "grades": lambda made: regret.grades(made.accuracy),
}

LONG = [f"mcts:iterations={k}00:seed=123456789:width=12" for k in range(8)]
ODD = ["_private", "$x^2$ & <b>", "a_name_of_forty_letters_without_a_break__", "机器人\u200b"]
NORMAL = Made(["survival", "nightmare"], ["random", "greedy"], 1000)
ONE = Made(["nightmare"], ["greedy"], 1)
POWERS = ("powers_by_kind", "powers_by_turn", "powers_used", "power_worth")
TRICKY = Made(["survival+ruin_penalty=20+power_costs=10,20,40"], LONG + ODD, 40)
