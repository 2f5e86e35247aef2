"""Where lines come from: a terminal with history and completion, or a pipe."""

import sys
from collections.abc import Callable

from magsim.board import CELL_NAMES, empty_cells
from magsim.play.commands import WORDS, words_of
from magsim.play.game import Game

PROMPT = "> "

Completer = Callable[[str, str], list[str]]
"""The words that may stand where one is begun, from what is before it in the line."""


def completions(game: Game, before: str, begun: str) -> list[str]:
    """The words that may follow ``before`` and begin with ``begun``, each with a space."""
    words = words_of(before).split()
    return [word + " " for word in _next_words(game, words) if word.startswith(begun.lower())]


def _next_words(game: Game, words: list[str]) -> list[str]:
    dice = list(dict.fromkeys(map(str, game.available)))
    if not words:
        return [*dice, *(f"+{die}" for die in dice), *(f"-{die}" for die in dice), *WORDS]
    match words[0]:
        case "undo":
            return [*(CELL_NAMES[cell] for _, cell in game.staged), "all"]
        case "reroll":
            return [*dice, "all"]
        case "raise" | "lower":
            return dice
        case "ruin":
            return [CELL_NAMES[cell] for cell in empty_cells(game.board)]
        case "why":
            return [*dice, *(CELL_NAMES[cell] for cell in empty_cells(game.staged_board))]
    if words[-1] in dice:
        return [CELL_NAMES[cell] for cell in game.legal_cells(int(words[-1]))]
    return [*dice, "done"] if words[-1] in CELL_NAMES else []


def terminal_reader(completer: Completer) -> Callable[[], str]:
    """Lines from a terminal, with readline's history and completion where Python has it."""
    try:
        import readline
    except ImportError:
        return _read_terminal

    def complete(begun: str, number: int) -> str | None:
        before = readline.get_line_buffer()[: readline.get_begidx()]
        found = completer(before, begun)
        return found[number] if number < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" ,;")
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
    return _read_terminal


def _read_terminal() -> str:
    try:
        return input(PROMPT)
    except OSError:  # the terminal has gone
        raise EOFError from None


def pipe_reader() -> Callable[[], str]:
    """Lines from a pipe or a file, repeated where they are answered."""

    def read() -> str:
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        print(f"{PROMPT}{line.rstrip()}", flush=True)
        return line

    return read
