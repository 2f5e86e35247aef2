"""Boards that games reach, by random play under the readable law; their images; their texts.

No compiled code has a part in it, so that what the engine is tested on does not depend on it. The
randomness is any ``random.Random``: a seeded one in scripts, one of Hypothesis's in strategies.
"""

from collections.abc import Iterable, Sequence
from random import Random

from magsim import rules as law
from magsim.board import (
    CELLS,
    DICE,
    RUIN,
    SIDES,
    SIZE,
    cell_values,
    empty_cells,
    format_board,
    is_number,
    pack_cells,
    with_cell,
)
from magsim.bot import Position, rule_values
from magsim.decision import Decision, unpack_decision
from magsim.engine import HAND_INDEX, RuleValues
from magsim.rules import Rules


class Drawn(Position):
    """A position that shows itself in text notation when a test fails on it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{self} under {self.rules}>"

    @property
    def hand(self) -> int:
        return HAND_INDEX[self.dice]

    @property
    def values(self) -> RuleValues:
        return rule_values(self.rules)

    def illegality(self, packed: int) -> str | None:
        """What the readable law says against a packed decision; None if it is legal."""
        try:
            decision: Decision = unpack_decision(packed, self.board, self.dice)
            law.check(self.board, self.dice, self.powers_left, decision, self.rules)
        except ValueError as error:
            return str(error)
        return None


def random_roll(random: Random) -> tuple[int, ...]:
    return tuple(sorted(random.randint(1, SIDES) for _ in range(DICE)))


def _staged(board: int, dice: Sequence[int], wanted: int, rules: Rules, random: Random) -> int:
    """The board after staging up to ``wanted`` dice, each anywhere legal; fewer where stuck."""
    hand = list(dice)
    while len(dice) - len(hand) < wanted:
        kinds = sorted(set(hand))
        steps = [(die, cell) for die in kinds for cell in law.legal_cells(board, die, rules)]
        if not steps:
            break
        die, cell = random.choice(steps)
        board = with_cell(board, cell, die)
        hand.remove(die)
    return board


def random_turn(board: int, dice: Sequence[int], rules: Rules, random: Random) -> int:
    """The board after a turn: some legal placement, or in MAGDAGDON a RUIN on some empty cell."""
    empty = empty_cells(board)
    required = law.required_minimum(board, rules)
    wanted = random.randint(required, min(len(dice), len(empty)))
    for _ in range(3):  # by luck, which is soon tried,
        staged = _staged(board, dice, wanted, rules, random)
        if len(empty) - len(empty_cells(staged)) >= required:
            return staged
    lawful = sorted(law.outcomes(board, dice, rules))  # else by looking at all there is
    return random.choice(lawful) if lawful else with_cell(board, random.choice(empty), RUIN)


def random_board(rules: Rules, random: Random, most_empty: int) -> int:
    """A board that play reaches, at the start of the first turn with at most so many cells empty.

    Where a turn leaps from more than that to a full board, the board before this turn.
    """
    board = 0
    while len(empty_cells(board)) > most_empty:
        after = random_turn(board, random_roll(random), rules, random)
        if law.is_over(after):
            break
        board = after
    return board


def random_rules(random: Random) -> Rules:
    """One of the published difficulties, or any minimum with any difference."""
    if random.random() < 0.5:
        return random.choice(list(law.DIFFICULTIES.values()))
    return Rules(
        "drawn",
        minimum=random.randint(1, DICE),
        power_costs=(5,) * random.randint(0, 3),
        max_difference=random.randint(0, SIDES - 1),
    )


def random_position(random: Random) -> Drawn:
    """A position of a game under random rules; any fill level is as likely as another."""
    rules = random_rules(random)
    board = random_board(rules, random, most_empty=random.randint(1, CELLS))
    return Drawn(board, random_roll(random), random.randint(0, rules.powers), rules)


def images(board: int) -> list[int]:
    """The eight images of a board under turns and reflections of the square, itself first."""
    values = cell_values(board)
    found = []
    for _ in range(4):
        found.append(pack_cells(values))
        transposed = [values[SIZE * column + row] for row in range(SIZE) for column in range(SIZE)]
        found.append(pack_cells(transposed))
        values = [value for row in range(SIZE) for value in transposed[SIZE * row :][:SIZE][::-1]]
    return found


def mirrored(board: int) -> int:
    """The board with every number v exchanged for 7 - v."""
    return pack_cells(SIDES + 1 - v if is_number(v) else v for v in cell_values(board))


def texts(boards: Iterable[int]) -> list[str]:
    return sorted(format_board(int(board)) for board in boards)


def differences(found: Iterable[int], lawful: Iterable[int]) -> tuple[list[str], list[str]]:
    """The boards in text that were found against the law, and the lawful ones not found."""
    found, lawful = set(found), set(lawful)
    return texts(found - lawful), texts(lawful - found)


def cells_of(mask: int) -> tuple[int, ...]:
    """The cells of a mask, ascending."""
    return tuple(cell for cell in range(CELLS) if mask >> cell & 1)
