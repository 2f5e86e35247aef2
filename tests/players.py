"""Scripted players of the prompt: the commands of a whole game, found by the readable rules."""

from collections.abc import Iterable
from io import StringIO
from random import Random

from rich.console import Console

from magsim import rules as law
from magsim.board import CELL_NAMES, cell_value, empty_cells
from magsim.decision import Place, Power
from magsim.play.game import Game
from magsim.play.language import Phrase, Tongue
from magsim.play.saves import Sitting
from magsim.play.screen import Screen
from magsim.play.session import Advisor, Prompt, Session
from magsim.rules import Rules


def _placement(game: Game, outcome: int) -> str:
    cells = [cell for cell in empty_cells(game.board) if cell_value(outcome, cell)]
    return " ".join(f"{cell_value(outcome, cell)}{CELL_NAMES[cell]}" for cell in cells)


def _power(game: Game, chance: Random) -> Power:
    raisable = [die for die in game.hand if die < 6]
    lowerable = [die for die in game.hand if die > 1]
    kind = chance.choice(["reroll", *["raise"] * bool(raisable), *["lower"] * bool(lowerable)])
    if kind == "reroll":
        return Power(kind, tuple(sorted(chance.sample(game.hand, chance.randint(1, 4)))))
    return Power(kind, (chance.choice(raisable if kind == "raise" else lowerable),))


def script(seed: int, rules: Rules, player: int = 0) -> tuple[list[str], Game]:
    """The commands that one random player gives in a game, and the game at its end."""
    chance, game, lines = Random(player), Game(seed, rules), []
    while not game.over:
        if game.powers_left and chance.random() < (0.9 if game.in_magdagdon else 0.1):
            power = _power(game, chance)
            game.use(power)
            lines.append(str(power))
        elif game.in_magdagdon:
            cell = chance.choice(empty_cells(game.board))
            game.accept(cell)
            lines.append(f"ruin {CELL_NAMES[cell]}")
        else:
            outcomes = sorted(law.outcomes(game.board, game.hand, rules))
            best = max(
                chance.sample(outcomes, min(20, len(outcomes))),
                key=lambda board: law.score(board, rules).total,
            )
            text = _placement(game, best)
            lines += [text, "done"] if chance.random() < 0.5 else [f"{text} done"]
            game.stage([(int(word[0]), CELL_NAMES.index(word[1:])) for word in text.split()])
            game.confirm()
    return lines, game


def one_by_one(game: Game) -> list[str]:
    """The commands that led to where a game is, every die in a line of its own."""
    lines: list[str] = []
    for step in game.steps:
        if isinstance(step.decision, Place):
            lines += [f"{die}{CELL_NAMES[cell]}" for die, cell in step.decision.placements]
            lines.append("done")
        else:
            lines.append(str(step.decision))
    return lines


def no_advice(_game: Game, _count: int) -> list[Phrase]:
    return []


def seat(
    sitting: Sitting,
    lines: Iterable[str],
    plain: bool = True,
    language: str = "en",
    advise: Advisor = no_advice,
) -> tuple[Session, StringIO]:
    """A session that is fed these lines, to be run in this process, and what it shows."""
    tongue, shown, feed = Tongue(language), StringIO(), iter(lines)
    out = Console(
        file=shown,
        force_terminal=not plain,
        color_system=None,
        highlight=False,
        soft_wrap=True,
        emoji=False,
        markup=False,
    )

    def read() -> str:
        for line in feed:
            return line
        raise EOFError

    def rival(_game: Game) -> None:
        return None

    return Session(sitting, Prompt(tongue, Screen(tongue, out, plain), read, advise, rival)), shown
