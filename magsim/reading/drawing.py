"""Recorded games on a terminal: boards drawn, turns told, scores taken apart.

Colour only repeats what signs already say, so that piped output loses nothing.
"""

from collections.abc import Iterator
from itertools import zip_longest

from rich.console import Console
from rich.text import Text

from magsim.board import ROWS, RUIN, SYMBOLS, cell_value, format_board, format_dice
from magsim.decision import Decision, Ruin, pack_decision
from magsim.reading.explain import Explanation
from magsim.reading.replay import Game, Turn

_LABEL = 11
_BOARD = 22
"""Columns: the width of labels, and where they begin beside a board."""
_INDENT = "  "
_MAGDAGDON = {
    "no": "no",
    "rescued": "came, rescued by a Power",
    "accepted": "came, accepted",
}


def console() -> Console:
    """A console on standard output that colours only what it is told to, and never breaks lines."""
    return Console(highlight=False, soft_wrap=True)


def board_lines(board: int, before: int) -> list[Text]:
    """The board under its letters, beside its numbers; what was not there before in brackets."""
    lines = [Text("     " + "   ".join("abcd"))]
    for number, row in enumerate(ROWS, 1):
        line = Text(f"  {number} ")
        for cell in row:
            value = cell_value(board, cell)
            new = value != cell_value(before, cell)
            style = "bold red" if value == RUIN else "bold green" if new else ""
            line.append(f"[{SYMBOLS[value]}]" if new else f" {SYMBOLS[value]} ", style)
            line.append(" ")
        lines.append(line)
    return lines


def _points(value: float) -> str:
    return f"{value:.1f}"


def _decision(decision: Decision) -> str:
    return f"RUIN on {str(decision)[-2:]}" if isinstance(decision, Ruin) else str(decision)


def _facts(turn: Turn) -> Iterator[tuple[str, str]]:
    """What is told of a turn, each with its label."""
    yield "roll", format_dice(turn.start.dice)
    if turn.powers:
        yield "Powers", ", ".join(f"{power} → {format_dice(hand)}" for power, hand in turn.powers)
    yield "MAGDAGDON", _MAGDAGDON[turn.magdagdon]
    yield "decision", _decision(turn.closing)
    yield "board", format_board(turn.board)
    yield "score", f"{turn.score} ({turn.change:+})"
    if turn.estimate is not None:
        yield "estimate", _points(turn.estimate)


def turn_lines(turn: Turn) -> Iterator[Text]:
    """A turn: its board to the left, what happened to the right."""
    left = board_lines(turn.board, turn.start.board)
    yield Text(f"Turn {turn.number}", "bold")
    for drawn, fact in zip_longest(left, _facts(turn)):
        line = drawn or Text()
        if fact is not None:
            label, words = fact
            line.pad_right(max(0, _BOARD - len(line)))
            line.append(f"{label:<{_LABEL}}", "dim")
            line.append(words)
        line.rstrip()
        yield line


def score_lines(game: Game) -> Iterator[Text]:
    """The final score by its parts."""
    row, rules = game.result, game.rules
    used = [
        f"{row[column]} {name}"
        for column, name in (("raises", "raise"), ("lowers", "lower"), ("rerolls", "reroll"))
        if row[column]
    ]
    yield Text("Final score", "bold")
    for label, points, how in (
        ("base", row["base"], "every number twice"),
        ("straights", rules.straight * row["straights"], f"{row['straights']} × {rules.straight}"),
        ("fours", rules.four * row["fours"], f"{row['fours']} × {rules.four}"),
        (
            "two pairs",
            rules.two_pairs * row["two_pairs"],
            f"{row['two_pairs']} × {rules.two_pairs}",
        ),
        ("RUINs", -row["ruin_cost"], f"{row['ruins']} × {rules.ruin_penalty}"),
        ("Powers", -row["power_cost"], ", ".join(used) or "none used"),
    ):
        yield Text(f"{_INDENT}{label:<{_LABEL}}{points:>5}   {how}")
    yield Text(f"{_INDENT}{'score':<{_LABEL}}{row['score']:>5}", "bold")


def game_lines(game: Game) -> Iterator[Text]:
    """A whole game, from its first roll to its score."""
    yield Text(f"Game {game.index} of {game.bot} at {game.rules.name}, seed {game.seed}")
    for turn in game.turns:
        yield Text()
        yield from turn_lines(turn)
    yield Text()
    yield from score_lines(game)


def explanation_lines(bot: str, explained: Explanation, turn: Turn) -> Iterator[Text]:
    """What a bot would decide at the start of a turn, its options, and which of them was played."""
    decision, options = explained.decision, explained.options
    expects = "" if decision.estimate is None else f", estimate {_points(decision.estimate)}"
    yield Text(f"{bot} would decide: {_decision(decision)}{expects}")
    if not options:
        yield Text(f"{bot} ranks no options.")
        return
    yield Text(
        "Every option, with the final score to expect of it under perfect play, exactly:"
        if explained.exact
        else "Its best options, with what it expects of each:"
    )
    width = max(len(_decision(option)) for option in options)
    board, dice = turn.start.board, turn.start.dice
    played = pack_decision(turn.first_decision, board, dice)
    places = len(str(len(options)))
    for place, option in enumerate(options, 1):
        estimate = "–" if option.estimate is None else _points(option.estimate)
        line = Text(f"{_INDENT}{place:>{places}}  {_decision(option):<{width}}  {estimate:>7}")
        if pack_decision(option, board, dice) == played:
            line.append("   played in the run")
        yield line
