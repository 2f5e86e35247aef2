"""A recorded game, found in its run and read back turn by turn.

Only the part that holds the game is opened. The records are taken at their word here; it is
``verify`` that judges them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from magsim import dice, records
from magsim import rules as law
from magsim.board import CELL_NAMES, EMPTY_BOARD, format_dice, parse_board, parse_dice
from magsim.bot import Position
from magsim.decision import Decision, Power, Ruin, parse_decision
from magsim.errors import MagsimError
from magsim.manifest import Plan, read_manifest
from magsim.rules import Rules

Row = dict[str, Any]
Dice = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """One recorded turn: the position it began in, what was decided, and what came of it.

    ``powers`` holds each Power used with the dice after it; ``closing`` is the placement or the
    RUIN; ``magdagdon`` is no, rescued or accepted; ``score`` is in points, Powers paid so far, as
    is ``change``, what the turn added to it.
    """

    number: int
    start: Position
    powers: tuple[tuple[Power, Dice], ...]
    closing: Decision
    magdagdon: str
    board: int
    score: int
    change: int
    estimate: float | None

    @property
    def first_decision(self) -> Decision:
        """What was decided on the roll."""
        return self.powers[0][0] if self.powers else self.closing


@dataclass(frozen=True, slots=True)
class Game:
    """A recorded game: where it stands, its turns, and its row of the table ``games``."""

    seed: int
    rules: Rules
    bot: str
    index: int
    turns: tuple[Turn, ...]
    result: Row

    def turn(self, number: int) -> Turn:
        """One of the turns, counted from 1.

        Raises:
            MagsimError: if there is none of that number.
        """
        if not 1 <= number <= len(self.turns):
            raise MagsimError(f"turn {number}: game {self.index} has turns 1 to {len(self.turns)}")
        return self.turns[number - 1]


def read_game(run: Path, bot: str | None, difficulty: str | None, game: int) -> Game:
    """A recorded game of a run; ``bot`` and ``difficulty`` may be None where there is only one.

    Raises:
        MagsimError: if a name or the game index is not in the run, the game has not been played
            yet, or its part is damaged.
    """
    plan = read_manifest(run)
    spec = chosen("bot", bot, list(plan.bots))
    name = chosen("difficulty", difficulty, [rules.name for rules in plan.rules])
    rules = next(rules for rules in plan.rules if rules.name == name)
    if not 0 <= game < plan.games:
        raise MagsimError(f"game {game}: the run has games 0 to {plan.games - 1}")
    rows = _rows(run, plan, rules, spec, game)
    try:
        turns = read_turns(rows["turns"], rules, plan.seed, game)
    except (ValueError, IndexError, law.IllegalDecision) as error:
        raise MagsimError(
            f"game {game} of {spec} ({name}): its records make no sense ({error}); "
            f"magsim verify {run} says more"
        ) from error
    return Game(plan.seed, rules, spec, game, tuple(turns), rows["games"][0])


def chosen(what: str, wanted: str | None, known: Sequence[str], how: str = "one by --{}") -> str:
    """The wanted name, or the only one there is; ``how`` one is chosen of several.

    Raises:
        MagsimError: if it is not known, or None and there are several.
    """
    names = ", ".join(known)
    if wanted is None:
        if len(known) > 1:
            raise MagsimError(f"which {what}? The run has {names}: choose {how.format(what)}")
        return known[0]
    if wanted in known:
        return wanted
    near = get_close_matches(str(wanted), known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise MagsimError(f"{what} {wanted!r} is not in the run{hint} (it has: {names})")


def _rows(run: Path, plan: Plan, rules: Rules, bot: str, game: int) -> dict[str, list[Row]]:
    """The rows of a game in both tables.

    Raises:
        MagsimError: if it has not been played yet, or its part is damaged.
    """
    first = game // plan.chunk * plan.chunk
    key = first, min(first + plan.chunk, plan.games) - 1
    found: dict[str, list[Row]] = {}
    for table in records.TABLES:
        part = records.parts(run, table, rules.name, bot).get(key)
        if part is None:
            raise MagsimError(
                f"game {game} of {bot} ({rules.name}) has not been played yet; "
                "the tournament's own command plays on"
            )
        records.check_part(part)
        found[table] = records.read_part(part, table, game).to_dicts()
        if not found[table]:
            raise MagsimError(f"{part} does not hold game {game}")
    return found


def read_turns(rows: Iterable[Row], rules: Rules, seed: int, game: int) -> list[Turn]:
    """The turns of a game, read from its rows of the table ``turns``.

    Raises:
        ValueError: if a text is no notation, or the dice are not those of the seed.
    """
    turns = []
    board, score = EMPTY_BOARD, 0
    for row in rows:
        start = Position(board, parse_dice(row["roll"]), row["powers_left"], rules)
        ruin, placed = row["ruin"], row["placements"]
        closing = parse_decision(placed) if ruin is None else Ruin(CELL_NAMES.index(ruin))
        board = parse_board(row["board"])
        turns.append(
            Turn(
                number=row["turn"],
                start=start,
                powers=_powers(row, start.dice, seed, game),
                closing=closing,
                magdagdon=row["magdagdon"],
                board=board,
                score=row["score"],
                change=row["score"] - score,
                estimate=row["estimate"],
            )
        )
        score = row["score"]
    return turns


def _powers(row: Row, hand: Dice, seed: int, game: int) -> tuple[tuple[Power, Dice], ...]:
    """The Powers of a turn, each with the dice after it; rerolls are drawn anew from the seed.

    Raises:
        ValueError: if this does not lead to the recorded dice.
    """
    steps: list[tuple[Power, Dice]] = []
    rerolls = 0
    for text in row["powers"].split("; ") if row["powers"] else ():
        power = parse_decision(text)
        if not isinstance(power, Power):
            raise ValueError(f"{text!r} is no Power")
        drawn: list[int] = []
        if power.kind == "reroll":
            rerolls += 1
            rolled = dice.dice(seed, np.array([game], np.uint64), row["turn"], rerolls)[0]
            drawn = [int(die) for die in rolled[: len(power.dice)]]
        hand = law.power_dice(hand, power, drawn)
        steps.append((power, hand))
    if format_dice(hand) != row["dice"]:
        raise ValueError(f"turn {row['turn']}: the dice are {row['dice']}, not {format_dice(hand)}")
    return tuple(steps)
