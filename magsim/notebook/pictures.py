"""Boards and games as SVG, in one string: no scripts, no names, nothing from elsewhere.

Every picture brings its own paper, so that it can be read on light and on dark pages; a RUIN is
crossed out and a new die framed, so that it can be read without colours.
"""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from magsim.board import COLUMNS, EMPTY, ROWS, RUIN, cell_value

CELL = 30
"""Pixels of a cell's side, as are all lengths here."""
_EDGE = 18
_SIDE = _EDGE + len(COLUMNS) * CELL
_PAPER, _FREE, _TAKEN, _NEW = "#ffffff", "#f4f2ec", "#e3ddcf", "#cfe6d3"
_LINE, _INK, _FAINT = "#8a8577", "#1d1c1a", "#5f5b52"
_RUINED, _CROSS = "#4a3a36", "#f0c9b8"
_FRAMES = "#17643a", "#8fd3a8"
"""Around a new number, and around a new RUIN."""
_LINE_HEIGHT = 16
_TILE_WIDTH, _GAP, _TILES = 190, 10, 4
"""A game's turns stand in rows of so many tiles."""


class Tile(NamedTuple):
    """A board to be drawn with words: a heading over it and lines under it.

    What is not on the board ``before`` is new.
    """

    heading: str
    board: int
    before: int
    lines: Sequence[str]


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 12,
    bold: bool = False,
    middle: bool = False,
    ink: str = _INK,
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    anchor = ' text-anchor="middle"' if middle else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{ink}"{weight}{anchor}>'
        f"{escape(text)}</text>"
    )


def _rectangle(x: float, y: float, side: float, fill: str, line: str, width: float) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{side:g}" height="{side:g}" fill="{fill}" '
        f'stroke="{line}" stroke-width="{width:g}"/>'
    )


def _cell(x: int, y: int, value: int, new: bool) -> list[str]:
    taken = _NEW if new else _TAKEN
    fill = {EMPTY: _FREE, RUIN: _RUINED}.get(value, taken)
    drawn = [_rectangle(x, y, CELL, fill, _LINE, 1)]
    if value == RUIN:
        low, high = 7, CELL - 7
        drawn.append(
            f'<path d="M{x + low} {y + low}L{x + high} {y + high}M{x + low} {y + high}'
            f'L{x + high} {y + low}" stroke="{_CROSS}" stroke-width="4"/>'
        )
    elif value != EMPTY:
        middle = x + CELL / 2, y + CELL / 2 + 6
        drawn.append(_text(*middle, str(value), size=17, bold=new, middle=True))
    if new:
        drawn.append(_rectangle(x + 2, y + 2, CELL - 4, "none", _FRAMES[value == RUIN], 2.5))
    return drawn


def _board(x: int, y: int, board: int, before: int) -> list[str]:
    drawn = []
    for number in range(len(ROWS)):
        middle = CELL * number + CELL // 2
        drawn.append(_text(x + _EDGE + middle, y + 13, "abcd"[number], middle=True, ink=_FAINT))
        drawn.append(_text(x + 8, y + _EDGE + middle + 4, str(number + 1), middle=True, ink=_FAINT))
    for row, cells in enumerate(ROWS):
        for column, cell in enumerate(cells):
            value = cell_value(board, cell)
            new = value != cell_value(before, cell)
            drawn += _cell(x + _EDGE + CELL * column, y + _EDGE + CELL * row, value, new)
    return drawn


def _picture(width: int, height: int, title: str, drawn: Sequence[str], told: str = "") -> str:
    """The whole picture; ``told`` is what it says to those who do not see it, after its title."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}" style="max-width:100%" '
            'font-family="sans-serif">',
            f"<title>{escape(title)}</title>",
            *([f"<desc>{escape(told)}</desc>"] if told else []),
            f'<rect width="{width}" height="{height}" rx="6" fill="{_PAPER}"/>',
            *drawn,
            "</svg>",
        ]
    )


def board_picture(board: int, title: str) -> str:
    """A board alone, with its letters and numbers."""
    side = _SIDE + 2 * _GAP
    return _picture(side, side, title, _board(_GAP // 2, _GAP // 2, board, board))


def _tile(x: int, y: int, tile: Tile) -> list[str]:
    below = y + _SIDE + 2 * _LINE_HEIGHT
    return [
        _text(x, y + 12, tile.heading, bold=True),
        *_board(x, y + _LINE_HEIGHT, tile.board, tile.before),
        *(_text(x, below + _LINE_HEIGHT * k, line) for k, line in enumerate(tile.lines)),
    ]


def game_picture(title: str, tiles: Sequence[Tile], closing: Sequence[str]) -> str:
    """A game: its title, a tile a turn, and closing lines."""
    drawn = [_text(_GAP, _GAP + 13, title, size=14, bold=True)]
    y = 2 * _GAP + _LINE_HEIGHT
    for start in range(0, len(tiles), _TILES):
        row = tiles[start : start + _TILES]
        for column, tile in enumerate(row):
            drawn += _tile(_GAP + column * _TILE_WIDTH, y, tile)
        most = max(len(tile.lines) for tile in row)
        y += _SIDE + _LINE_HEIGHT * (most + 1) + 2 * _GAP
    drawn += [_text(_GAP, y + 12 + _LINE_HEIGHT * k, line) for k, line in enumerate(closing)]
    # A closing line is as wide as its letters; so many pixels hold one of them.
    widest = max((len(line) for line in (title, *closing)), default=0) * 8
    width = 2 * _GAP + max(min(_TILES, len(tiles)) * _TILE_WIDTH, widest)
    told = ". ".join([*(f"{tile.heading}: {', '.join(tile.lines)}" for tile in tiles), *closing])
    return _picture(width, y + _GAP + _LINE_HEIGHT * len(closing), title, drawn, told)
