"""Charts of made-up frames: each draws, shows what its frame says, and no text meets another."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from made_frames import CHARTS, LONG, NORMAL, ODD, ONE, POWERS, TRICKY, Made
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from magsim.charts import experiment, play, powers, style


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
