"""Charts of made-up frames: each draws, shows what its frame says, and no text meets another."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from magsim.analysis.tallies import PARTS
from magsim.charts import (
    balance,
    comparison,
    experiment,
    play,
    powers,
    regret,
    ruins,
    scores,
    style,
)
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


@cache
def drawn(chart: str, made: Made) -> Figure:
    return CHARTS[chart](made)


def texts(figure: Figure) -> Iterator[Text]:
    """The texts that are seen."""
    yield from figure.texts
    for key in figure.legends:
        yield from key.get_texts()
    for axes in figure.axes:
        yield from axes.texts
        if not axes.axison:
            continue
        for axis in (axes.xaxis, axes.yaxis):
            if not axis.get_visible():
                continue
            yield axis.label
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                for label in (tick.label1, tick.label2):
                    if low <= tick.get_loc() <= high and label.get_visible():
                        yield label


def boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    with style.styled():
        figure.draw_without_rendering()
        renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
        return [
            (text.get_text(), text.get_window_extent(renderer).padded(-1.5))
            for text in texts(figure)
            if text.get_text()
        ]


@pytest.mark.parametrize(
    ("chart", "made"),
    [(chart, made) for made in (ONE, TRICKY) for chart in CHARTS]
    + [(chart, NORMAL) for chart in ("magdagdon", "variance", *POWERS)],
)
def test_no_text_meets_another_or_leaves_the_figure(chart: str, made: Made) -> None:
    figure = drawn(chart, made)
    found = boxes(figure)
    x0, y0, x1, y1 = np.array([box.extents for _, box in found]).T[:, :, None]
    meets = (x0 < x1.T) & (x1 > x0.T) & (y0 < y1.T) & (y1 > y0.T)
    meeting = [(found[i][0], found[j][0]) for i, j in np.argwhere(meets) if i < j]
    assert meeting == []
    whole = figure.bbox.padded(2)
    assert [t for t, b in found if not (whole.contains(*b.min) and whole.contains(*b.max))] == []


@pytest.mark.parametrize("chart", ["ruins_by_turn", "waterfall"])
def test_a_chart_saved_twice_is_the_same_to_the_byte(chart: str, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    files = style.save(drawn(chart, NORMAL), tmp_path, chart)
    again = style.save(CHARTS[chart](NORMAL), tmp_path / "again", chart)
    assert [file.name for file in files] == [f"{chart}.png", f"{chart}.svg"]
    for file, other in zip(files, again, strict=True):
        assert file.read_bytes() == other.read_bytes()


def _line(axes: Axes, k: int = 0) -> list[tuple[float, float]]:
    x, y = axes.lines[k].get_data()
    return list(zip(x, y, strict=True))


def test_lines_show_the_shares_of_the_frame() -> None:
    frame = NORMAL.rates("turn")
    axes = drawn("ruins_by_turn", NORMAL).axes[0]
    rows = frame.filter((pl.col("difficulty") == "survival") & (pl.col("bot") == "random"))
    assert _line(axes) == rows.select("turn", "share").rows()


def test_numbers_that_never_came_are_shown_as_none() -> None:
    frame = ONE.shares("turns").vstack(ONE.shares("turns").with_columns(turns=pl.lit(2, pl.Int64)))
    axes = play.turns_per_game(frame).axes[0]
    assert _line(axes) == [(0, 1.0), (1, 0.0), (2, 1.0)]


def test_bars_show_the_shares_of_the_frame() -> None:
    axes = drawn("dice_placed", NORMAL).axes[0]
    widths = [patch.get_width() for patch in axes.patches if isinstance(patch, Rectangle)]
    assert widths == pytest.approx([0.3, 0.3, 0.4] * 4)


def test_steps_show_all_games() -> None:
    axes = drawn("score_distributions", NORMAL).axes[0]
    step = axes.patches[0].get_data()  # type: ignore[attr-defined]
    assert sum(step.values) == pytest.approx(1)
    assert step.edges[0] <= NORMAL.scores["score"].min() < step.edges[1]


def test_a_waterfall_ends_where_the_strong_bot_stands() -> None:
    axes = drawn("waterfall", NORMAL).axes[0]
    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    panel = NORMAL.panels[0]
    assert bars[0].get_width() == panel.weak_mean
    assert bars[-2].get_x() + bars[-2].get_width() == pytest.approx(panel.strong_mean)
    assert bars[-1].get_width() == panel.strong_mean


def test_a_difference_and_its_intervals_stand_where_the_frame_says() -> None:
    frame = NORMAL.differences
    axes = drawn("forest", NORMAL).axes[0]
    first = frame.row(0, named=True)
    ends = [first["difference"] + side * first["half_width"] for side in (-1, 1)]
    assert list(axes.lines[1].get_data()[0]) == ends
    assert list(axes.lines[2].get_data()[0]) == [first["difference"]]


def test_the_matrix_gives_both_signs() -> None:
    found = {text.get_text() for text in texts(drawn("matrix", NORMAL))}
    first = NORMAL.differences["difference"][0]
    assert {f"{style.number(sign * first, 1, sign=True)}\n± 4.5" for sign in (1, -1)} <= found


def _across(line: Line2D) -> list[float]:
    return list(line.get_data()[0])


def _seen(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in texts(figure))


def test_the_published_rules_stand_where_they_belong() -> None:
    found = [
        [line for line in axes.lines if _across(line) == [5.0, 5.0]]
        for axes in drawn("along_axis", NORMAL).axes
    ]
    assert [len(lines) for lines in found] == [1, 0]
    assert "published rules" in _seen(drawn("along_axis", NORMAL))


@pytest.mark.parametrize("published", [{}, {"elsewhere": 5.0}])
def test_without_published_rules_none_are_told(published: dict[str, float]) -> None:
    figure = experiment.along_axis(NORMAL.along, "x", "x", "y", published)
    assert "published rules" not in _seen(figure)


def test_ends_of_intervals_come_before_half_widths() -> None:
    frame = NORMAL.along.with_columns(low=pl.col("mean") - 1, high=pl.col("mean") + 8)
    axes = experiment.along_axis(frame, "x", "x", "y").axes[0]
    band = axes.collections[0].get_paths()[0].get_extents()
    assert (band.y0, band.y1) == (-1, 89)
    frame = NORMAL.labels.with_columns(low=pl.col("mean") - 1, high=pl.col("mean") + 8)
    line = experiment.by_label(frame, "y").axes[0].lines[0]
    assert _across(line) == [-31, -22]


def test_one_game_has_no_percentiles() -> None:
    line, one = drawn("score_percentiles", ONE).axes[0].lines
    assert set(line.get_data()[1]) == {0.0}
    assert len(_across(one)) == 1
    assert "one game" in _seen(drawn("score_percentiles", ONE))
    assert "one game" not in _seen(drawn("score_percentiles", NORMAL))


def test_what_is_expected_too_much_is_above_zero() -> None:
    strip = drawn("calibration", NORMAL).axes[1]
    rows = NORMAL.calibration.filter(
        (pl.col("difficulty") == "survival") & (pl.col("bot") == "random") & (pl.col("games") > 9)
    )
    assert list(strip.lines[0].get_data()[1]) == (rows["estimate"] - rows["final"]).to_list()


def test_a_worth_without_interval_is_hollow() -> None:
    worth = NORMAL.worth.with_columns(half_width=pl.lit(None, pl.Float64))
    dots = [line for line in powers.power_worth(worth).axes[0].lines if line.get_marker() == "s"]
    assert dots
    assert {line.get_markerfacecolor() for line in dots} == {"white"}


def test_shares_in_bars_add_up() -> None:
    rows = [("survival", "greedy", k, 1, share) for k, share in enumerate((0.125, 0.1, 0.775))]
    frame = pl.DataFrame(rows, ["difficulty", "bot", "dice", "turns", "share"], orient="row")
    figures = {text.get_text() for text in play.dice_placed(frame).axes[0].texts}
    assert figures == {"12.5", "10.0", "77.5"}


def test_what_is_left_of_a_score_stands_where_the_frame_says() -> None:
    axes = drawn("luck_adjusted", NORMAL).axes[0]
    row = NORMAL.adjusted.row(0, named=True)
    assert _across(axes.lines[0]) == [row["start"]] * 2
    assert _across(axes.lines[2]) == [row["score"]]
    ends = [row["adjusted"] + side * row["half_width"] for side in (-1, 1)]
    assert (_across(axes.lines[3]), _across(axes.lines[4])) == (ends, [row["adjusted"]])


def test_grades_add_up_to_all_decisions() -> None:
    axes = drawn("grades", NORMAL).axes[0]
    widths = [patch.get_width() for patch in axes.patches if isinstance(patch, Rectangle)]
    assert widths[:4] == pytest.approx([0.5, 0.2, 0.1, 0.2])  # of the first bot, no blunders
    assert sum(widths) == pytest.approx(4)
    assert "90.0 ± 4.5" in _seen(drawn("grades", NORMAL))


def test_kinds_are_told_with_their_sum() -> None:
    assert {"0.0", "12.0"} <= set(_seen(drawn("regret_by_kind", NORMAL)).split("\n"))


def test_difficulties_without_powers_say_so() -> None:
    for chart in POWERS:
        for made in (NORMAL, ONE):
            assert powers.NOTHING in {text.get_text() for text in texts(drawn(chart, made))}


def test_without_estimates_a_chart_says_so() -> None:
    figure = play.calibration(NORMAL.calibration.clear())
    assert "No bot gives estimates." in {text.get_text() for text in texts(figure)}


def test_a_bot_looks_the_same_where_others_are_missing() -> None:
    whole = style.looks(NORMAL.summary)
    some = style.looks(NORMAL.summary.filter(pl.col("bot") == "greedy"))
    assert (some["greedy"].colour, some["greedy"].line) == (
        whole["greedy"].colour,
        whole["greedy"].line,
    )


def test_looks_differ() -> None:
    looks = [style.look(k) for k in range(28)]
    assert len({(one.colour, str(one.line)) for one in looks}) == 28


def test_names_wrap_without_loss() -> None:
    for name in LONG + ODD[:3]:
        lines = style.wrap(name, 1.2).split("\n")
        assert "".join(lines).replace(" ", "") == name.replace(" ", "")
        assert all(style.text_width(line) <= 1.2 for line in lines)


def test_signs_that_the_font_lacks_are_written_out() -> None:
    assert style.shown("机 $_&<") == "\\u673a $_&<"


@pytest.mark.parametrize(
    ("value", "half_width", "text"),
    [
        (12.345, 1.0, "12.3 ± 1.0"),
        (37.53, 0.11, "37.5 ± 0.1"),
        (37.534, 0.099, "37.53 ± 0.10"),
        (0.0, 0.0, "0.00 ± 0.00"),
        (-0.234, 0.004, "\N{MINUS SIGN}0.234 ± 0.004"),
        (1234.5, None, "1,234.5"),
        (None, None, "\N{EN DASH}"),
    ],
)
def test_figures_have_the_digits_their_intervals_allow(
    value: float | None, half_width: float | None, text: str
) -> None:
    assert style.plus_minus(value, half_width) == text


@pytest.mark.parametrize(
    ("counts", "text"),
    [([], ""), ([1], "1 game"), ([5, 5], "5 games each"), ([5, 1000], "5 to 1,000 games each")],
)
def test_samples_are_told(counts: list[int], text: str) -> None:
    assert style.sample(counts) == text
