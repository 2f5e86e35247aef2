"""Where things stand on a figure: a sheet filled from the top, in inches.

No layout is searched for: every text is measured first, then everything gets its place. A sheet has
a title, a line on the sample, one legend, a body, and a note. The body is a grid of panels, rows of
a table with charts in them, or a free canvas.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.patches
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text

from magsim.charts.style import GREY, LIGHT, SMALL, TITLE, Look, shown, text_width, wrap

WIDTH, MARGIN = 10.0, 0.2
"""Inches: of every figure, and on its edges."""
LINE = 0.165
"""Inches: the height of a line of normal text."""

PANEL_GAP, GAP = 0.3, 0.25
"""Inches: between panels, between the columns of a table."""
PALE = "#F6F6F6"

Entry = tuple[Artist, str]


def line_entries(looks: Mapping[str, Look]) -> list[Entry]:
    """A legend of lines with markers."""
    return [
        (Line2D([], [], color=one.colour, linestyle=one.line, marker=one.marker), name)
        for name, one in looks.items()
    ]


def dot_entries(looks: Mapping[str, Look]) -> list[Entry]:
    """A legend of markers alone."""
    return [
        (Line2D([], [], color=one.colour, linestyle="", marker=one.marker), name)
        for name, one in looks.items()
    ]


def patch_entries(looks: Mapping[str, Look]) -> list[Entry]:
    """A legend of filled parts."""
    return [
        (
            matplotlib.patches.Patch(
                facecolor=one.colour, hatch=one.hatch, edgecolor="white", linewidth=0.5
            ),
            name,
        )
        for name, one in looks.items()
    ]


class Sheet:
    """A figure with its title, sample, legend and note, and a body that is still empty.

    Places in the body are inches from its upper left corner, the left edge of the figure.
    """

    def __init__(
        self,
        title: str,
        body: float,
        *,
        sample: str = "",
        legend: Sequence[Entry] = (),
        note: str = "",
    ) -> None:
        self.figure = Figure(figsize=(WIDTH, 1))
        FigureCanvasAgg(self.figure)
        inner = WIDTH - 2 * MARGIN
        title, note = wrap(title, inner, TITLE, "bold"), wrap(note, inner, SMALL) if note else ""
        y = MARGIN
        under_title = y + 0.24 * (title.count("\n") + 1)
        under_sample = under_title + (LINE + 0.03 if sample else 0)
        key, tall = _legend(self.figure, legend)
        self.top = under_sample + (tall + 0.08 if legend else 0) + 0.1
        lines = note.count("\n") + 1 if note else 0
        self.height = self.top + body + 0.14 * lines + (0.12 if note else 0) + 0.12
        self.figure.set_size_inches(WIDTH, self.height)
        self._write(MARGIN, y, title, fontsize=TITLE, fontweight="bold")
        self._write(MARGIN, under_title + 0.02, sample, color=GREY)
        self._write(MARGIN, self.top + body + 0.1, note, fontsize=SMALL, color=GREY)
        if key:
            place = (MARGIN / WIDTH, 1 - (under_sample + 0.06) / self.height)
            key.set_bbox_to_anchor(place, transform=self.figure.transFigure)

    def _write(self, left: float, top: float, text: str, **looks: Any) -> None:
        if text:
            looks = {"va": "top", "ha": "left", "linespacing": 1.15} | looks
            self.figure.text(left / WIDTH, 1 - top / self.height, text).set(**looks)

    def text(self, left: float, top: float, text: str, **looks: Any) -> None:
        """Write into the body; texts are taken as they are."""
        self._write(left, self.top + top, text, **looks)

    def axes(self, left: float, top: float, width: float, height: float, **shared: Any) -> Axes:
        """Axes in the body."""
        bottom = self.height - self.top - top - height
        place = (
            left / WIDTH,
            bottom / self.height,
            width / WIDTH,
            height / self.height,
        )
        return self.figure.add_axes(place, **shared)

    def canvas(self, height: float) -> Axes:
        """Bare axes over the body, in inches from its upper left corner."""
        axes = self.axes(0, 0, WIDTH, height)
        axes.set(xlim=(0, WIDTH), ylim=(height, 0))
        axes.set_axis_off()
        return axes


def _legend(figure: Figure, entries: Sequence[Entry]) -> tuple[Legend | None, float]:
    """The legend in as many columns as fit, and its height."""
    if not entries:
        return None, 0.0
    widest = 2.55 if len(entries) > 3 else 4.2
    labels = [wrap(label, widest) for _, label in entries]
    widest = max(text_width(line) for label in labels for line in label.split("\n"))
    columns = max(1, min(len(labels), int((WIDTH - 2 * MARGIN) / (widest + 0.62))))
    key = figure.legend(
        [handle for handle, _ in entries],
        [f"entry {k}" for k in range(len(entries))],
        ncols=columns,
        loc="upper left",
        frameon=False,
        borderpad=0,
        borderaxespad=0,
        handlelength=3,
        columnspacing=1.5,
        labelspacing=0.35,
    )
    # Set one by one, because a label that begins with "_" would leave the legend.
    for text, label in zip(key.get_texts(), labels, strict=True):
        text.set_text(label)
    extent = key.get_window_extent(FigureCanvasAgg(figure).get_renderer())  # type: ignore[no-untyped-call]  # in matplotlib
    return key, extent.height / figure.dpi


@dataclass(frozen=True, slots=True)
class Panel:
    """Axes for one difficulty, and a strip above them if one was asked for."""

    axes: Axes
    strip: Axes | None


def panels(
    title: str,
    names: Sequence[str],
    *,
    x_label: str,
    y_label: str,
    height: float = 2.3,
    strip: float = 0.0,
    left: float = 0.8,
    figures: float = 0.0,
    **sheet: Any,
) -> tuple[Figure, dict[str, Panel]]:
    """A figure of panels with common axes, one for each name, in up to three columns.

    ``left`` inches are kept free for tick labels, ``figures`` inches at the right of each panel.
    """
    columns = {1: 1, 2: 2, 4: 2}.get(len(names), 3)
    step = (WIDTH - left - MARGIN + PANEL_GAP) / columns
    width = step - PANEL_GAP - figures
    titles = [wrap(name, step - PANEL_GAP, 9.5, "bold") for name in names]
    lines = [text.count("\n") + 1 if text else 0 for text in titles]
    tops, y = [], 0.0
    for k in range(0, len(names), columns):
        y += LINE * 1.1 * max(lines[k : k + columns]) + 0.06
        tops.append(y)
        y += strip + height + 0.5
    page = Sheet(title, y, **sheet)
    found: dict[str, Panel] = {}
    first: Panel | None = None
    for k, name in enumerate(names):
        x, y = left + k % columns * step, tops[k // columns]
        page.text(x, y - 0.1, titles[k], fontsize=9.5, weight="bold", va="baseline")
        shared = {"sharex": first.axes, "sharey": first.axes} if first else {}
        axes = page.axes(x, y + strip, width, height, **shared)
        above = _strip(page, axes, (x, y, width, strip - 0.06), first) if strip else None
        if k % columns:
            axes.tick_params(labelleft=False)
        else:
            axes.set_ylabel(y_label)
        if k + columns >= len(names):
            axes.set_xlabel(x_label)
        found[name] = Panel(axes, above)
        first = first or found[name]
    return page.figure, found


def _strip(
    sheet: Sheet, axes: Axes, place: tuple[float, float, float, float], first: Panel | None
) -> Axes:
    strip = sheet.axes(*place, sharex=axes, sharey=first.strip if first else None)
    strip.tick_params(labelbottom=False, bottom=False, labelleft=False)
    strip.set_facecolor(PALE)
    strip.grid(False, axis="y")
    for spine in strip.spines.values():
        spine.set_visible(False)
    return strip


class Rows:
    """The lines of a table with charts in its columns: groups with a heading, labels within.

    Within the columns, y is in inches down from their top: ``y`` gives it for each group and label.
    ``remarks`` stand beside the headings of their groups, in words; ``figures`` inches at the right
    of each column are kept free for figures.
    """

    def __init__(
        self,
        groups: Mapping[str, Sequence[str]],
        columns: Mapping[str, str],
        *,
        remarks: Mapping[str, str] | None = None,
        step: float = 0.23,
        widest: float = 2.7,
        figures: float = 0.0,
    ) -> None:
        """``columns`` maps titles to what their axes count."""
        self.remarks = dict(remarks or {})
        self.columns = dict(columns)
        self.figures = figures
        self.y: dict[tuple[str, str], float] = {}
        self._texts: list[tuple[float, str, str]] = []
        self._rows = 0.0
        for group, labels in groups.items():
            if group:
                heading = wrap(group, widest, 9, "bold")
                self._add(heading, LINE * (heading.count("\n") + 1) + 0.08, group)
            for label in labels:
                text = wrap(label, widest, 8)
                self._add(text, max(step, 0.14 * (text.count("\n") + 1) + 0.07), "")
                self.y[group, label] = self._texts[-1][0]
            self._rows += 0.1
        bold = {True: (9, "bold"), False: (8, "normal")}
        widths = [
            text_width(line, *bold[bool(group)])
            for _, text, group in self._texts
            for line in text.split("\n")
        ]
        self._left = MARGIN + max(widths, default=0.0) + 0.15
        self.width = (WIDTH - MARGIN - self._left) / len(columns) - figures
        self.width -= GAP * (len(columns) - 1) / len(columns)
        self._titles = [wrap(title, self.width + figures, 9, "bold") for title in columns]
        self._ticks_above = self._rows > 5
        lines = max(title.count("\n") + 1 if title else 0 for title in self._titles)
        self._head = LINE * lines + 0.05 + (0.2 if self._ticks_above else 0)
        self.height = self._head + self._rows + 0.45

    def _add(self, text: str, tall: float, group: str) -> None:
        self._texts.append((self._rows + tall / 2, text, group))
        self._rows += tall

    def draw(self, sheet: Sheet, top: float = 0.0, share_x: bool = True) -> list[Axes]:
        """The axes of the columns."""
        for y, text, group in self._texts:
            bold: dict[str, Any] = {"fontsize": 9, "weight": "bold"} if group else {"fontsize": 8}
            sheet.text(MARGIN, top + self._head + y, text, va="center_baseline", **bold)
        found: list[Axes] = []
        for k, (title, x_label) in enumerate(zip(self._titles, self.columns.values(), strict=True)):
            left = self._left + k * (self.width + self.figures + GAP)
            shared = found[0] if found and share_x else None
            axes = sheet.axes(left, top + self._head, self.width, self._rows, sharex=shared)
            axes.set_ylim(self._rows, 0)
            axes.set_xlabel(shown(x_label))
            across = axes.get_yaxis_transform()
            axes.hlines([*self.y.values()], 0, 1, color=LIGHT, lw=0.6, zorder=0.5, transform=across)
            axes.yaxis.set_visible(False)
            axes.tick_params(labeltop=self._ticks_above)
            axes.spines["left"].set_visible(False)
            y = top + LINE * (title.count("\n") + 1) - 0.06
            sheet.text(left, y, title, va="baseline", fontsize=9, weight="bold")
            found.append(axes)
        for y, _, group in self._texts:
            if group in self.remarks:
                say(found[0], self.remarks[group], y)
        return found


def write_figure(axes: Axes, y: float, text: str) -> None:
    """A figure at the right of a row."""
    across = axes.get_yaxis_transform()
    axes.text(1.03, y, text, fontsize=7, va="center_baseline", transform=across)


def say(axes: Axes, words: str, y: float | None = None) -> Text:
    """Words where there is nothing to draw: in the middle, or at the left of a line."""
    looks: dict[str, Any] = {"color": GREY, "style": "italic", "va": "center_baseline"}
    if y is None:
        return axes.text(0.5, 0.5, words, ha="center", transform=axes.transAxes, **looks)
    return axes.text(0.01, y, words, ha="left", transform=axes.get_yaxis_transform(), **looks)


def in_words(title: str, words: str) -> Figure:
    """A figure that says in words why there is nothing to draw."""
    sheet = Sheet(title, 0.5)
    sheet.text(MARGIN, 0.1, words, color=GREY, style="italic", fontsize=10)
    return sheet.figure


def light_line(axes: Axes, x: float) -> None:
    """A thin upright line, as at zero."""
    axes.axvline(x, color=GREY, linewidth=0.8, zorder=0.9)
