"""The screen: board, dice, Powers, score and what each line can still earn, in 80 by 24.

Colour only repeats what signs say: ``[3]`` is staged, ``(3)`` marks the legal cells of the chosen
die, a plain number is permanent.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from magsim import rules as law
from magsim.board import (
    CELL_NAMES,
    COLUMNS,
    EMPTY,
    ROWS,
    RUIN,
    SIZE,
    cell_value,
    format_board,
)
from magsim.decision import Place
from magsim.play.game import Game
from magsim.play.language import Phrase, Tongue, wrapped
from magsim.rules import Score

_STYLES = ("", "cyan", "green", "yellow", "magenta", "bright_blue", "bright_red", "red")
_STAGED = "bold reverse"
_GAP = "   "
WIDTH = 80
_ROOM = 5
"""Lines for messages under the board, so that screen and prompt are no higher than 24."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """What a board is drawn with: its three kinds of rules, its bars, and a RUIN."""

    top: str
    middle: str
    bottom: str
    bar: str
    ruin: str


def _rule(left: str, dash: str, cross: str, right: str) -> str:
    return left + cross.join([dash * 5] * SIZE) + right


_DRAWN = _Frame(
    _rule("┌", "─", "┬", "┐"), _rule("├", "─", "┼", "┤"), _rule("└", "─", "┴", "┘"), "│", "▒▒R▒▒"
)
_PLUS = _rule("+", "-", "+", "+")
_TYPED = _Frame(_PLUS, _PLUS, _PLUS, "|", "##R##")


def console() -> Console:
    """A console on standard output that colours and breaks only what it is told to."""
    return Console(highlight=False, soft_wrap=True, emoji=False, markup=False)


def bonus_phrase(name: str, points: int, tongue: Tongue) -> Phrase:
    """A line's bonus and its points, in a word."""
    match name:
        case "straight":
            return tongue.say("straight {points}", points=points)
        case "four":
            return tongue.say("four {points}", points=points)
        case _:
            return tongue.say("pairs {points}", points=points)


def line_name(number: int, tongue: Tongue) -> Phrase:
    """The name of one of ``board.LINES``."""
    if number < SIZE:
        return tongue.say("row {name}", name="1234"[number])
    return tongue.say("column {name}", name="abcd"[number - SIZE])


def line_phrase(game: Game, line: tuple[int, ...], tongue: Tongue) -> Phrase:
    """What a line has earned, or can still earn."""
    board, worth = game.staged_board, game.rules.bonuses
    values = [cell_value(board, cell) for cell in line]
    names = law.bonuses_within_reach(board, line, game.rules)
    if not names and RUIN in values:
        return tongue.say("RUIN, no bonus")
    if not names:
        return tongue.say("no bonus any more") if EMPTY in values else tongue.say("no bonus")
    if EMPTY not in values:
        return Phrase("✓ " + bonus_phrase(names[0], worth[names[0]], tongue))
    return tongue.join([bonus_phrase(name, worth[name], tongue) for name in names])


def score_phrase(score: Score, tongue: Tongue) -> Phrase:
    """A score and its parts in a line."""
    return tongue.say(
        "Score {total}: base {base}, bonuses {bonuses}, RUINs {ruins}, Powers {powers}",
        total=score.total,
        base=score.base,
        bonuses=score.bonuses,
        ruins=-score.ruin_cost,
        powers=-score.power_cost,
    )


def board_lines(
    board: int, staged: Iterable[int] = (), marked: Iterable[int] = (), die: int = 0, *, typed: bool
) -> Iterator[Text]:
    """The board under its letters, beside its numbers; every line is equally wide.

    ``staged`` are the cells of staged dice, ``marked`` the legal cells of the chosen ``die``.
    """
    frame = _TYPED if typed else _DRAWN
    width = len(frame.top)
    yield Text(" " * 3 + "".join(f"{letter:^6}" for letter in "abcd").ljust(width))
    yield Text(" " * 3 + frame.top)
    for number, row in enumerate(ROWS, 1):
        line = Text(f" {number} {frame.bar}")
        for cell in row:
            value = cell_value(board, cell)
            if value == RUIN:
                line.append(frame.ruin, _STYLES[RUIN])
            elif cell in staged:
                line.append(f" [{value}] ", f"{_STYLES[value]} {_STAGED}")
            elif value != EMPTY:
                line.append(f"{value:^5}", f"bold {_STYLES[value]}")
            elif cell in marked:
                line.append(f" ({die}) ", _STYLES[die])
            else:
                line.append(" " * 5)
            line.append(frame.bar)
        yield line
        yield Text(" " * 3 + (frame.bottom if number == SIZE else frame.middle))


class Screen:
    """Shows games and sentences: a screen at a time, or, if ``plain``, line by line."""

    def __init__(self, tongue: Tongue, out: Console, plain: bool) -> None:
        self._tongue = tongue
        self._out = out
        self._plain = plain
        self._typed = not out.encoding.lower().startswith("utf")

    @property
    def plain(self) -> bool:
        """Whether it shows line by line."""
        return self._plain

    def tell(self, *phrases: str) -> None:
        """Sentences, each on lines of its own."""
        for phrase in phrases:
            if self._plain:
                self._out.print(self._tongue.line(phrase))
                continue
            for line in wrapped(phrase, WIDTH - 1):
                self._out.print(self._tongue.line(line))

    def rows(self, rows: Iterable[tuple[str, Phrase]]) -> None:
        """Notation and what it means, a row each; what is too long goes on under its own column."""
        rows = list(rows)
        width = max(len(notation) for notation, _ in rows) + len(_GAP)
        for notation, meaning in rows:
            room = len(meaning) if self._plain else WIDTH - 1 - width
            first, *more = wrapped(meaning, room)
            gap = " " * (width - len(notation))
            self._out.print(self._tongue.line(self._tongue.notation(notation) + gap + first))
            for line in more:
                self._out.print(self._tongue.line(" " * width + line))

    def page(self, phrases: Iterable[str]) -> None:
        """Sentences on a screen of their own."""
        if not self._plain:
            self._out.clear()
        self.tell(*phrases)

    def tell_way_back(self) -> None:
        """Under a page, how the board is seen again."""
        if not self._plain:
            self.tell(self._tongue.say("{key} brings back the board.", key="Enter"))

    def show(
        self,
        game: Game,
        title: Phrase,
        chosen: int | None,
        messages: list[Phrase],
        changed: bool = True,
    ) -> None:
        """The game as it stands, and what there is to say.

        Line by line, only what is said where nothing has ``changed``. What does not fit under the
        board is said on a page of its own.
        """
        if self._plain:
            state = [title, *self._plain_state(game, chosen)] if changed else []
            self.tell(*messages, *state)
            return
        if sum(len(wrapped(message, WIDTH - 1)) for message in messages) > _ROOM:
            self.page(messages)
            self.tell_way_back()
            return
        self._out.clear()
        self.tell(title)
        self._out.print()
        self.draw(game, chosen)
        self._out.print()
        self.tell(self._dice(game), self._task(game), score_phrase(game.score, self._tongue))
        if messages:
            self._out.print()
            self.tell(*messages)

    def draw(self, game: Game, chosen: int | None = None) -> None:
        """The board, and beside it what each line has earned or can still earn."""
        staged = [cell for _, cell in game.staged]
        marked = game.legal_cells(chosen) if chosen else ()
        left = board_lines(game.staged_board, staged, marked, chosen or 0, typed=self._typed)
        right = [
            Phrase(""),
            self._tongue.say("can still earn, or has earned (✓):"),
            *self.lines(game),
        ]
        for drawn, phrase in zip_longest(left, right, fillvalue=None):
            line = self._left_to_right(drawn or Text())
            if phrase:
                line.append(_GAP + self._tongue.line(phrase))
            self._out.print(line)

    def boards(self, captions: list[str], boards: list[int]) -> None:
        """Finished boards side by side, each under its caption."""
        if self._plain:
            for caption, board in zip(captions, boards, strict=True):
                self.tell(Phrase(f"{caption}: {self._tongue.notation(format_board(board))}"))
            return
        width = len(_DRAWN.top)
        heads = [
            (caption if len(caption) <= width else f"{caption[: width - 1]}…").ljust(width)
            for caption in captions
        ]
        indent = " " * 3
        self._out.print(self._left_to_right(Text(indent + (indent + _GAP).join(heads).rstrip())))
        for drawn in zip(*(board_lines(board, typed=self._typed) for board in boards), strict=True):
            self._out.print(self._left_to_right(Text(_GAP).join(drawn)))

    def _left_to_right(self, drawn: Text) -> Text:
        """A line of a board, isolated after its first cell, a blank (see ``Tongue.line``)."""
        before, after = self._tongue.notation("|").split("|")
        return Text.assemble(drawn[:1], before, drawn[1:], after)

    def lines(self, game: Game) -> list[Phrase]:
        """Every row and column with what it has earned or can still earn."""
        names = [line_name(number, self._tongue) for number in range(2 * SIZE)]
        width = max(map(len, names))
        lines = [
            Phrase(name + " " * (width - len(name)) + "  " + line_phrase(game, line, self._tongue))
            for name, line in zip(names, ROWS + COLUMNS, strict=True)
        ]
        width = max(map(cell_len, lines))
        return [Phrase(line + " " * (width - cell_len(line))) for line in lines]

    def _dice(self, game: Game) -> Phrase:
        dice = [str(die) for die in game.available]
        if not self._plain:
            dice += [f"[{die}]" for die, _ in game.staged]
        left = game.powers_left
        if not left:
            powers = self._tongue.say("no Power left")
        else:
            powers = self._tongue.count(
                "{n} Power left, the next costs {cost}",
                "{n} Powers left, the next costs {cost}",
                left,
                cost=game.power_cost,
            )
        return self._tongue.say("Dice {dice}; {powers}", dice=" ".join(dice) or "-", powers=powers)

    def _task(self, game: Game) -> Phrase:
        """What the turn asks for."""
        say = self._tongue.say
        if game.in_magdagdon:
            if not game.powers_left:
                return say(
                    "MAGDAGDON! No way to place enough dice: accept a RUIN ({ruin}).",
                    ruin="ruin c3",
                )
            return say(
                "MAGDAGDON! No way to place enough dice: use a Power, or accept a RUIN ({ruin}).",
                ruin="ruin c3",
            )
        missing = game.required - len(game.staged)
        if missing > 0 and game.stuck:
            return say("Nothing else fits now; {undo} takes staged dice back.", undo="undo")
        if missing > 0:
            return self._tongue.count(
                "{n} more die must be staged.", "{n} more dice must be staged.", missing
            )
        return say("Enough dice are staged; {done} confirms.", done="done")

    def _plain_state(self, game: Game, chosen: int | None) -> Iterator[Phrase]:
        say = self._tongue.say
        yield say("Board {board}", board=format_board(game.board))
        if game.staged:
            yield say("Staged {placements}", placements=Place(game.staged))
        yield self._dice(game)
        if chosen:
            cells = " ".join(CELL_NAMES[cell] for cell in game.legal_cells(chosen))
            yield say("The {die} may go on: {cells}", die=chosen, cells=cells or "-")
        yield self._task(game)
        yield score_phrase(game.score, self._tongue)
