"""The one style of all charts: type, colours, line styles, names, numbers, and how files are saved.

Colours are those of Okabe and Ito, told apart by the colour-blind; line styles, markers and hatches
vary with them, so that a chart can also be read in black and white.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib.style
import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from magsim.analysis.intervals import digits_for

FONT = "DejaVu Sans"
"""Comes with matplotlib, so that a chart is the same on every machine."""
SIZE, SMALL, TITLE = 8.5, 7.0, 13.0
INK, GREY, LIGHT = "#222222", "#5F5F5F", "#DDDDDD"
BLUE, ORANGE, GREEN, VERMILLION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PINK, BLACK = "#56B4E9", "#CC79A7", "#444444"

STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": SIZE,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 150,
    "figure.facecolor": "white",
    "font.family": [FONT],
    "font.size": SIZE,
    "grid.color": LIGHT,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "savefig.dpi": 150,
    "svg.fonttype": "path",
    "svg.hashsalt": "magsim",
    "text.color": INK,
    "text.hinting": "no_hinting",
    "text.parse_math": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.size": 3,
    "ytick.left": False,
}

COLOURS = (BLUE, ORANGE, GREEN, VERMILLION, SKY, PINK, BLACK)
LINES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))
MARKERS = "os^DvPX<>*h"
HATCHES = ("", "////", "xxxx", "\\\\\\\\", "----", "||||", "++++")

Floats = NDArray[np.float64]
P = ParamSpec("P")


@contextmanager
def styled() -> Iterator[None]:
    """Draw in this style, whatever settings the user has."""
    with matplotlib.style.context(["default", STYLE]):
        yield


def chart(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """A chart: a function that draws its figure in this style."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with styled():
            return draw(*args, **kwargs)

    return drawn


@dataclass(frozen=True, slots=True)
class Look:
    """How one of several things is told from the others; ``band`` is how solid its bands are."""

    colour: str
    line: Any
    marker: str
    hatch: str
    band: float = 0.18


def look(k: int) -> Look:
    """The look of the k-th bot; no two of the first 28 have both colour and line in common."""
    return Look(
        COLOURS[k % len(COLOURS)],
        LINES[k % len(LINES)],
        MARKERS[k % len(MARKERS)],
        HATCHES[k % len(HATCHES)],
    )


def planned(frame: pl.DataFrame, column: str) -> list[str]:
    """The names of the plan that a column may hold, else those it holds, as they come."""
    kind = frame.schema[column]
    if isinstance(kind, pl.Enum):
        return [str(name) for name in kind.categories]
    return [str(name) for name in frame[column].unique(maintain_order=True)]


def names(frame: pl.DataFrame, column: str) -> list[str]:
    """The different names in a column, in the order of the plan, else as they come."""
    found = set(frame[column].cast(pl.String))
    return [name for name in planned(frame, column) if name in found]


def looks(frame: pl.DataFrame, column: str = "bot") -> dict[str, Look]:
    """The look of each name in a column; a bot of a plan looks the same in all its charts."""
    found = set(names(frame, column))
    # Bands lie on each other: of many, each is drawn fainter.
    band = min(0.18, 0.7 / max(1, len(found)))
    every = enumerate(planned(frame, column))
    return {name: replace(look(k), band=band) for k, name in every if name in found}


def values(frame: pl.DataFrame, column: str) -> Floats:
    """A column as floats, null as NaN."""
    found: Floats = frame[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return found


@cache
def _glyphs() -> frozenset[int]:
    return frozenset(get_font(findfont(FontProperties(family=FONT))).get_charmap())


def shown(text: str) -> str:
    r"""A text with every character that the font lacks written out, as in ``\u4e2d``."""
    return "".join(
        sign if sign.isprintable() and ord(sign) in _glyphs() else ascii(sign)[1:-1]
        for sign in text
    )


@cache
def text_width(text: str, size: float = SIZE, weight: str = "normal") -> float:
    """The width of one line of text, in inches."""
    font = FontProperties(family=FONT, size=size, weight=weight)
    width: float = text_to_path.get_text_width_height_descent(text, font, False)[0]
    return width / 72


def wrap(text: str, width: float, size: float = SIZE, weight: str = "normal") -> str:
    """A text in lines of at most ``width`` inches, broken at a space, ``:``, ``=``, or anywhere."""
    lines = [""]
    for piece in _pieces(shown(text), width, size, weight, " :=,+_-"):
        if lines[-1] and text_width(lines[-1] + piece.rstrip(), size, weight) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _pieces(text: str, width: float, size: float, weight: str, signs: str) -> list[str]:
    """The parts that a text may be broken into, with the mildest breaks that will do."""
    if text_width(text.rstrip(), size, weight) <= width:
        return [text]
    if not signs:
        return list(text)
    return [
        piece
        for part in re.split(f"(?<={re.escape(signs[0])})", text)
        if part
        for piece in _pieces(part, width, size, weight, signs[1:])
    ]


def number(value: float, digits: int = 1, sign: bool = False) -> str:
    """A number in words of one kind: thousands apart, a true minus, no sign on zero."""
    if round(value, digits) == 0:
        value, sign = 0.0, False
    text = f"{value:{'+' if sign else ''},.{digits}f}"
    return text.replace("-", "\N{MINUS SIGN}")


def plus_minus(
    value: float | None, half_width: float | None, sign: bool = False, digits: int = 1
) -> str:
    """A value with half of its interval, or alone where that is not known.

    Digits are those of the reports' tables and captions: more than told where it takes them to
    show the half width.
    """
    if value is None:
        return "\N{EN DASH}"
    digits = digits_for(half_width, digits)
    text = number(value, digits, sign)
    return text if half_width is None else f"{text} ± {number(half_width, digits)}"


def percent(share: float) -> str:
    """A share in percent with one digit, as in the reports' tables, without the sign."""
    return number(100 * share)


def as_points() -> FuncFormatter:
    """Tick labels that are plain numbers."""
    return FuncFormatter(lambda value, _: f"{value:,.10g}".replace("-", "\N{MINUS SIGN}"))


def as_percent() -> FuncFormatter:
    """Tick labels for shares, in percent without the sign."""
    return FuncFormatter(lambda value, _: f"{100 * value:.6g}".replace("-", "\N{MINUS SIGN}"))


def sample(counts: Iterable[int], noun: str = "games") -> str:
    """How much something rests on, as in ``10,000 games each``; the range where it differs."""
    each = list(counts)
    found = sorted(set(each))
    if not found:
        return ""
    if found == [1]:
        noun = noun.removesuffix("s")
    several = "" if len(each) == 1 else " each"
    if len(found) == 1:
        return f"{found[0]:,} {noun}{several}"
    return f"{found[0]:,} to {found[-1]:,} {noun}{several}"


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as ``name.png`` and ``name.svg``; the same figure gives the same bytes."""
    png, svg = folder / f"{name}.png", folder / f"{name}.svg"
    with styled():
        figure.savefig(png, metadata={"Software": None}, pil_kwargs={"compress_level": 4})
        figure.savefig(svg, metadata={"Date": None, "Creator": None})
    return [png, svg]
