"""The law of MAGDAGDON in plain Python, rule by rule (R1-R26), for reading and for judging.

It is slow and says why. ``engine`` is the same law, compiled; neither may know the other, so that
tests and ``magsim verify`` hold two independent readings against each other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from magsim.board import (
    CELL_NAMES,
    EMPTY,
    LINES,
    NEIGHBOURS,
    RUIN,
    SIDES,
    cell_value,
    cell_values,
    empty_cells,
    format_dice,
    is_number,
    with_cell,
)
from magsim.decision import Decision, Place, Power, Ruin


@dataclass(frozen=True, slots=True)
class Rules:
    """Every value of the rules that may be varied; the defaults are the published ones.

    ``power_costs`` lists, in points, what the 1st, 2nd, ... Power used costs (R6); its length is
    the number of Powers. ``minimum`` is in dice, the penalty and the bonuses are in points.
    """

    name: str
    minimum: int
    power_costs: tuple[int, ...]
    ruin_penalty: int = 15
    straight: int = 60
    four: int = 40
    two_pairs: int = 20
    max_difference: int = 1

    @property
    def powers(self) -> int:
        """How many Powers a game starts with."""
        return len(self.power_costs)

    def power_cost(self, used: int) -> int | None:
        """What the next Power costs when so many have been used, None if none is left (R16)."""
        return self.power_costs[used] if used < self.powers else None

    @property
    def bonuses(self) -> dict[str, int]:
        """What each bonus of a line is worth, in points (R22)."""
        return {"straight": self.straight, "four": self.four, "two_pairs": self.two_pairs}


PEACEFUL = Rules("peaceful", minimum=2, power_costs=(10, 20, 40))
SURVIVAL = Rules("survival", minimum=2, power_costs=(70,))
NIGHTMARE = Rules("nightmare", minimum=3, power_costs=())
DIFFICULTIES = {rules.name: rules for rules in (PEACEFUL, SURVIVAL, NIGHTMARE)}


@dataclass(frozen=True, slots=True)
class Score:
    """A score by its parts (R21-R25): ``base``, costs and ``total`` in points, the rest counts."""

    base: int
    straights: int
    fours: int
    two_pairs: int
    bonuses: int
    ruins: int
    ruin_cost: int
    power_cost: int
    total: int


class IllegalDecision(ValueError):
    """A decision breaks a rule; the message names the rule."""


class TooFewDice(IllegalDecision):
    """Fewer dice are placed than the turn requires (R5)."""


class IllegalCell(IllegalDecision):
    """A die cannot be staged where it is wanted, in any order (R8-R11)."""


class NoPowerLeft(IllegalDecision):
    """All Powers have been used (R12)."""


class NoSuchDie(IllegalDecision):
    """The dice do not hold the die that is asked for (R4, R13, R14)."""


class BeyondTheDie(IllegalDecision):
    """A Power would lower a 1 or raise a 6 (R13)."""


class CellNotEmpty(IllegalDecision):
    """A RUIN is wanted on a cell that is not empty (R18)."""


class NotInMagdagdon(IllegalDecision):
    """A RUIN is accepted while a legal way exists (R19)."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a die cannot be staged on a cell: ``reason`` is ruin, taken, apart or differs.

    ``cells`` are those of the numbers next to it that differ too much (R10), none otherwise: it is
    a RUIN (R11), it holds a number, or no number is next to it (R9).
    """

    reason: str
    cells: tuple[int, ...] = ()


def is_over(board: int) -> bool:
    """Whether no cell is empty (R26)."""
    return not empty_cells(board)


def required_minimum(board: int, rules: Rules) -> int:
    """How many dice this turn asks for (R5), given the board at its start."""
    return min(rules.minimum, len(empty_cells(board)))


def _numbered(values: Sequence[int], cell: int) -> list[int]:
    """The cells orthogonally next to ``cell`` that hold numbers."""
    return [next_to for next_to in NEIGHBOURS[cell] if is_number(values[next_to])]


def _fits(values: Sequence[int], die: int, cell: int, rules: Rules) -> bool:
    """Whether a die has a number next to it, and differs little enough from each (R9, R10)."""
    numbers = [values[next_to] for next_to in _numbered(values, cell)]
    return bool(numbers) and all(abs(die - number) <= rules.max_difference for number in numbers)


def legal_cells(board: int, die: int, rules: Rules) -> tuple[int, ...]:
    """The cells on which ``die`` may be staged now, ascending (R8-R11)."""
    values = cell_values(board)
    empty = empty_cells(board)
    if not any(map(is_number, values)):
        return empty
    return tuple(cell for cell in empty if _fits(values, die, cell, rules))


def is_legal_cell(board: int, die: int, cell: int, rules: Rules) -> bool:
    """Whether ``die`` may be staged on ``cell`` now (R8-R11)."""
    return cell in legal_cells(board, die, rules)


def obstacle(board: int, die: int, cell: int, rules: Rules) -> Obstacle | None:
    """Why ``die`` cannot be staged on ``cell`` now; None if it can (R8-R11)."""
    if is_legal_cell(board, die, cell, rules):
        return None
    values = cell_values(board)
    if values[cell] != EMPTY:
        return Obstacle("ruin" if values[cell] == RUIN else "taken")
    numbered = _numbered(values, cell)
    if not numbered:
        return Obstacle("apart")
    far = (next_to for next_to in numbered if abs(die - values[next_to]) > rules.max_difference)
    return Obstacle("differs", tuple(far))


def stage(
    board: int, placements: Sequence[tuple[int, int]], rules: Rules
) -> tuple[int, list[tuple[int, int]], list[tuple[int, int]]]:
    """Stage (die, cell) pairs, each as soon as it is legal (R4, R8-R11).

    On a board without numbers the first one leads. Returned are the board then, the pairs in the
    order in which they were staged, and those that never became legal.
    """
    staged, waiting = [], list(placements)
    while legal := [step for step in waiting if is_legal_cell(board, *step, rules)]:
        die, cell = legal[0]
        board = with_cell(board, cell, die)
        staged.append(legal[0])
        waiting.remove(legal[0])
    return board, staged, waiting


def _stagings(
    board: int, hand: tuple[int, ...], rules: Rules
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Every way to stage one die of the hand: the board then, and the dice still in hand."""
    for die in sorted(set(hand)):
        rest = list(hand)
        rest.remove(die)
        for cell in legal_cells(board, die, rules):
            yield with_cell(board, cell, die), tuple(rest)


def outcomes(board: int, dice: Sequence[int], rules: Rules) -> set[int]:
    """The distinct boards that a legal final placement of this turn can leave (R4, R5).

    Empty exactly in MAGDAGDON, for a board that is not full.
    """
    required = max(required_minimum(board, rules), 1)
    found: set[int] = set()
    layer = {(board, tuple(sorted(dice)))}
    for placed in range(1, len(dice) + 1):
        layer = {staged for state in layer for staged in _stagings(*state, rules)}
        if placed >= required:
            found |= {staged for staged, _ in layer}
    return found


def in_magdagdon(board: int, dice: Sequence[int], rules: Rules) -> bool:
    """Whether no order of staging places the required minimum (R17)."""
    required = required_minimum(board, rules)
    waiting = [(board, tuple(sorted(dice)))]
    tried = set(waiting)
    while waiting and required:
        for state in _stagings(*waiting.pop(), rules):
            if len(dice) - len(state[1]) == required:
                return False
            if state not in tried:
                tried.add(state)
                waiting.append(state)
    return required > 0


def check_place(board: int, dice: Sequence[int], decision: Place, rules: Rules) -> int:
    """The outcome of a placement of dice, in any order (R4, R5, R8-R11).

    Raises:
        IllegalDecision: if it is not legal.
    """
    required = required_minimum(board, rules)
    if len(decision.placements) < required:
        raise TooFewDice(f"places {len(decision.placements)} dice, {required} required (R5)")
    hand = list(dice)
    for die, _ in decision.placements:
        if die not in hand:
            raise NoSuchDie(f"places a {die} that is not among {format_dice(dice)} (R4)")
        hand.remove(die)
    outcome, _, left_over = stage(board, decision.placements, rules)
    for die, cell in left_over:
        raise IllegalCell(f"{die} on {CELL_NAMES[cell]} is not legal in any order (R8-R11)")
    return outcome


def check_power(dice: Sequence[int], powers_left: int, decision: Power) -> None:
    """Check a Power against the dice and the uses left (R12-R14).

    Raises:
        IllegalDecision: if it is not legal.
    """
    if powers_left < 1:
        raise NoPowerLeft("uses a Power, none is left (R12)")
    hand = list(dice)
    for die in decision.dice:
        if die not in hand:
            raise NoSuchDie(f"there is no such die among {format_dice(dice)} (R13, R14)")
        hand.remove(die)
    if decision.kind == "reroll":
        if not decision.dice:
            raise IllegalDecision("rerolls no die (R14)")
        return
    if decision.kind not in ("raise", "lower"):
        raise IllegalDecision("is no Power (R13, R14)")
    if len(decision.dice) != 1:
        raise IllegalDecision("raises or lowers exactly one die (R13)")
    if decision.dice[0] == (SIDES if decision.kind == "raise" else 1):
        raise BeyondTheDie("no die goes below 1 or above 6 (R13)")


def check_ruin(board: int, dice: Sequence[int], decision: Ruin, rules: Rules) -> int:
    """The board after accepting MAGDAGDON (R18, R19).

    Raises:
        IllegalDecision: if it is not legal.
    """
    if cell_value(board, decision.cell) != EMPTY:
        raise CellNotEmpty(f"{CELL_NAMES[decision.cell]} is not empty (R18)")
    if not in_magdagdon(board, dice, rules):
        raise NotInMagdagdon("the turn is not in MAGDAGDON (R19)")
    return with_cell(board, decision.cell, RUIN)


def check(
    board: int, dice: Sequence[int], powers_left: int, decision: Decision, rules: Rules
) -> None:
    """Check any decision.

    Raises:
        IllegalDecision: if it is not legal; the message names the rule.
    """
    match decision:
        case Place():
            check_place(board, dice, decision, rules)
        case Power():
            check_power(dice, powers_left, decision)
        case Ruin():
            check_ruin(board, dice, decision, rules)


def power_dice(dice: Sequence[int], decision: Power, rolled: Sequence[int] = ()) -> tuple[int, ...]:
    """The dice, ascending, after a legal Power; ``rolled`` are the new values of a reroll."""
    hand = list(dice)
    for die in decision.dice:
        hand.remove(die)
    if decision.kind == "reroll":
        return tuple(sorted([*hand, *rolled]))
    return tuple(sorted([*hand, decision.dice[0] + (1 if decision.kind == "raise" else -1)]))


def line_bonus(line: Sequence[int]) -> str | None:
    """The bonus of four cells in a line: straight, four, two_pairs or None (R22, R23)."""
    if not all(is_number(value) for value in line):
        return None
    steps = {after - before for before, after in pairwise(line)}
    if steps in ({1}, {-1}):
        return "straight"
    if len(set(line)) == 1:
        return "four"
    if len(set(line)) == 2 and line.count(line[0]) == 2:
        return "two_pairs"
    return None


def _fillings(board: int, rules: Rules) -> list[tuple[int, ...]]:
    """What each cell may come to hold: what it holds, or the dice that the numbers there allow.

    None where no number can come to: an empty cell is reached from a number by way of empty cells
    that some die fits (R9-R11). While no number is on the board, all are reached (R8).
    """
    values = cell_values(board)
    fits: list[tuple[int, ...]] = [(value,) for value in values]
    waiting = []
    for cell in empty_cells(board):
        numbers = [values[next_to] for next_to in _numbered(values, cell)]
        dice = range(1, SIDES + 1)
        fits[cell] = tuple(
            die for die in dice if all(abs(die - n) <= rules.max_difference for n in numbers)
        )
        if numbers or not any(map(is_number, values)):
            waiting.append(cell)
    reached: set[int] = set()
    while waiting:
        cell = waiting.pop()
        if cell not in reached and fits[cell]:
            reached.add(cell)
            waiting += [next_to for next_to in NEIGHBOURS[cell] if values[next_to] == EMPTY]
    return [
        dice if value != EMPTY or cell in reached else ()
        for cell, (value, dice) in enumerate(zip(values, fits, strict=True))
    ]


def bonuses_within_reach(board: int, line: Sequence[int], rules: Rules) -> tuple[str, ...]:
    """The bonuses that a line can still earn or has earned, the dearest first (R22, R23).

    Judged by the numbers and RUINs that are there (R9-R11); whether the dice will ever come is
    another matter.
    """
    fillings = _fillings(board, rules)
    choices = [fillings[cell] for cell in line]
    found = {
        line_bonus(filled)
        for filled in product(*choices)
        if all(abs(after - before) <= rules.max_difference for before, after in pairwise(filled))
    }
    worth = rules.bonuses
    return tuple(sorted((name for name in worth if name in found), key=lambda name: -worth[name]))


def score(board: int, rules: Rules, powers_used: int = 0) -> Score:
    """The score of a board by parts, finished or not (R21-R25)."""
    values = cell_values(board)
    lines = [[values[cell] for cell in line] for line in LINES]
    base = sum(value for line in lines for value in line if is_number(value))
    bonuses = [line_bonus(line) for line in lines]
    straights, fours, two_pairs = map(bonuses.count, ("straight", "four", "two_pairs"))
    bonus = rules.straight * straights + rules.four * fours + rules.two_pairs * two_pairs
    ruins = values.count(RUIN)
    ruin_cost = rules.ruin_penalty * ruins
    power_cost = sum(rules.power_costs[:powers_used])
    total = base + bonus - ruin_cost - power_cost
    return Score(base, straights, fours, two_pairs, bonus, ruins, ruin_cost, power_cost, total)
