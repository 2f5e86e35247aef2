"""Many games in lockstep: roll, ask the bot for a batch of decisions, referee, apply, record.

All games of a chunk are at the same turn. The result is plain arrays, a row a turn and a row a
game; what becomes of them is for ``records``. Every decision is checked before it counts.
"""

from dataclasses import dataclass, fields, replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from magsim import dice, engine
from magsim.asking import Watch
from magsim.board import DICE, EMPTY_BOARD
from magsim.bot import Bot, Position, Positions, make_rule_values
from magsim.compiled import kernel
from magsim.decision import POWER_KINDS, REROLL, Decision, Place, Power
from magsim.engine import Boards, RuleValues
from magsim.referee import Referee
from magsim.rules import Rules

Ints = NDArray[np.int64]

PLACED, RESCUED, ACCEPTED = 0, 1, 2
"""How a turn met MAGDAGDON: never, rescued by a Power, accepted."""


@dataclass(frozen=True, slots=True)
class Turns:
    """One row a turn, by game and turn. Shapes (n,) unless said; hands as in ``engine``."""

    game: Ints
    turn: Ints
    powers_left: Ints
    """Before the turn."""
    roll: Ints
    powers: Ints
    """(n, Powers): the Powers used in order, ``kind << 8 | hand of the dice``, then -1."""
    hand: Ints
    """The dice after all Powers."""
    cells: Ints
    """(n, 4): the cells of the placement, in an order of staging, then -1."""
    magdagdon: Ints
    """PLACED, RESCUED or ACCEPTED."""
    ruin: Ints
    """The cell that became a RUIN, or -1."""
    board: Boards
    """After the turn."""
    score: Ints
    """After the turn, Powers paid, in points."""
    estimate: NDArray[np.float32]
    """The bot's own estimate of the final score at its last decision of the turn, or NaN."""


@dataclass(frozen=True, slots=True)
class Games:
    """One row a game, by game. Shapes (n,); ``parts`` (n, 5) as in ``engine.score_parts``."""

    game: Ints
    turns: Ints
    powers: Ints
    """(n, 3): raises, lowers, rerolls used."""
    parts: Ints
    board: Boards


@dataclass(frozen=True, slots=True)
class Played:
    """What was played, and at what cost: ``seconds`` spent in the bot for ``decisions``."""

    turns: Turns
    games: Games
    decisions: int
    seconds: float


@kernel
def _hand_indices(rolled: NDArray[np.uint8]) -> Ints:
    """The hands of dice, shape (n, 4)."""
    hands = np.zeros(len(rolled), np.int64)
    for row in range(len(rolled)):
        for die in rolled[row]:
            hands[row] = engine.HAND_ADD[hands[row], die]
    return hands


@kernel
def _magdagdon(boards: Boards, hands: Ints, values: RuleValues) -> NDArray[np.bool_]:
    found = np.empty(len(boards), np.bool_)
    for row in range(len(boards)):
        found[row] = engine.in_magdagdon(boards[row], hands[row], values)
    return found


@kernel
def _apply_powers(hands: Ints, decisions: Ints, rerolled: NDArray[np.uint8], used: Ints) -> None:
    """Change hands by Powers; note each in ``used`` as ``kind << 8 | hand of the dice``."""
    for row in range(len(hands)):
        code = -1 - decisions[row]
        hand = hands[row]
        changed = engine.power_dice(hand, decisions[row])
        dice_used = 0
        drawn = 0
        for k in range(DICE):
            if code >> k & 1:
                dice_used = engine.HAND_ADD[dice_used, engine.HAND_DICE[hand, k]]
                if code >> DICE == REROLL:
                    changed = engine.HAND_ADD[changed, rerolled[row, drawn]]
                    drawn += 1
        hands[row] = changed
        used[row] = code >> DICE << 8 | dice_used


@kernel
def _close_turns(before: Boards, after: Boards, values: RuleValues) -> tuple[Ints, Ints, Ints]:
    """The cells placed (n, 4), the RUINs (n,) and the scores without Power costs (n,) of turns."""
    cells = np.full((len(before), DICE), -1)
    ruins = np.full(len(before), -1)
    scores = np.empty(len(before), np.int64)
    order = np.empty(DICE, np.int8)
    for row in range(len(before)):
        scores[row] = engine.score(after[row], values)
        ruined = engine.ruin_mask(before[row] ^ after[row])
        if ruined:
            ruins[row] = engine.LOW_BIT[ruined]
        else:
            count = engine.staging_order(before[row], after[row], values.near, order)
            cells[row, :count] = order[:count]
    return cells, ruins, scores


@kernel
def _score_parts(boards: Boards) -> Ints:
    parts = np.empty((len(boards), 5), np.int64)
    for row in range(len(boards)):
        parts[row] = engine.score_parts(boards[row])
    return parts


@kernel
def _unfinished(boards: Boards) -> Ints:
    """The rows whose boards have an empty cell (R26)."""
    open_rows = np.empty(len(boards), np.int64)
    found = 0
    for row in range(len(boards)):
        if engine.empty_mask(boards[row]):
            open_rows[found] = row
            found += 1
    return open_rows[:found]


class Table:
    """The games of a chunk as they stand, played turn by turn."""

    def __init__(self, referee: Referee, bot: Bot, rules: Rules, seed: int, games: Ints) -> None:
        self._referee = referee
        self._rules = rules
        self._shown = replace(rules)  # a copy: what a bot does to it changes no score
        self._values = make_rule_values(rules)
        self._seed = seed
        self._games = games
        self.keys = dice.bot_keys(seed, games.astype(np.uint64), bot.spec)
        self.boards = np.full(len(games), EMPTY_BOARD, np.int64)
        self.powers_left = np.full(len(games), rules.powers, np.int64)

    def play_turn(self, turn: int) -> Turns | None:
        """Play one turn of every unfinished game; None if there is none."""
        rows = _unfinished(self.boards)
        if not len(rows):
            return None
        games, before, powers_left = self._games[rows], self.boards[rows], self.powers_left[rows]
        roll = _hand_indices(dice.rolls(self._seed, games.astype(np.uint64), turn))
        hands, left, after = roll.copy(), powers_left.copy(), before.copy()
        magdagdon = _magdagdon(before, hands, self._values)
        used = np.full((len(rows), self._rules.powers), -1)
        estimates = np.full(len(rows), np.nan, np.float32)
        asked = np.arange(len(rows))
        for step in count():
            keys = dice.decision_keys(self.keys[rows[asked]], turn, step)
            positions = Positions(before[asked], hands[asked], left[asked], keys, self._shown)
            decisions, estimates[asked] = self._referee.ask(positions, games[asked], turn)
            closing = decisions >= 0
            after[asked[closing]] = decisions[closing]
            asked, powers = asked[~closing], decisions[~closing]
            if not len(asked):
                break
            left[asked] -= 1
            changed, new = hands[asked], used[asked, step]
            _apply_powers(changed, powers, self._rerolled(games, asked, used, turn), new)
            hands[asked], used[asked, step] = changed, new
            magdagdon[asked] |= _magdagdon(before[asked], changed, self._values)
        self.boards[rows], self.powers_left[rows] = after, left
        cells, ruins, scores = _close_turns(before, after, self._values)
        paid = np.cumsum([0, *self._rules.power_costs])[self._rules.powers - left]
        ended = np.where(ruins >= 0, ACCEPTED, np.where(magdagdon, RESCUED, PLACED))
        return Turns(
            games,
            np.full(len(rows), turn),
            powers_left,
            roll,
            used,
            hands,
            cells,
            ended,
            ruins,
            after,
            scores - paid,
            estimates,
        )

    def _rerolled(self, games: Ints, asked: Ints, used: Ints, turn: int) -> NDArray[np.uint8]:
        """The dice that each game's next reroll of this turn draws, (n, 4)."""
        stream = 1 + (used[asked] >> 8 == REROLL).sum(axis=1)
        rerolled = np.empty((len(asked), DICE), np.uint8)
        for number in np.unique(stream):
            rows = stream == number
            drawn = games[asked[rows]].astype(np.uint64)
            rerolled[rows] = dice.dice(self._seed, drawn, turn, int(number))
        return rerolled


def _gather(turns: list[Turns]) -> Turns:
    """All turns of a chunk, by game and turn."""
    joined = {
        field.name: np.concatenate([getattr(turn, field.name) for turn in turns])
        for field in fields(Turns)
    }
    order = np.lexsort((joined["turn"], joined["game"]))
    return Turns(**{name: column[order] for name, column in joined.items()})


def _powers_by_kind(turns: Turns, first: int, games: int) -> Ints:
    kinds = turns.powers >> 8
    by_kind = np.zeros((games, len(POWER_KINDS)), np.int64)
    for kind in range(len(POWER_KINDS)):
        np.add.at(by_kind[:, kind], turns.game - first, (kinds == kind).sum(axis=1))
    return by_kind


def play_games(bot: Bot, rules: Rules, seed: int, first: int, games: int, watch: Watch) -> Played:
    """Play game indices ``first`` to ``first + games - 1`` to the end.

    The result depends on the arguments only, except for the seconds.

    Raises:
        BotFault: at the first fault of the bot.
    """
    referee = Referee(bot, rules, watch)
    indices = np.arange(first, first + games)
    table = Table(referee, bot, rules, seed, indices)
    log: list[Turns] = []
    while (turns := table.play_turn(len(log) + 1)) is not None:
        log.append(turns)
    turns = _gather(log)
    played = Games(
        indices,
        np.bincount(turns.game - first, minlength=games),
        _powers_by_kind(turns, first, games),
        _score_parts(table.boards),
        table.boards,
    )
    return Played(turns, played, referee.decisions, referee.seconds)


class PowerFirst(Bot):
    """Rerolls all dice while it can, then takes the legal decision with the best score.

    It meets every kernel of the simulator and of ``Position``, to have them compiled.
    """

    def decide(self, position: Position) -> Decision:
        """Reroll, else the best score now."""
        if position.powers_left:
            return Power("reroll", position.dice)
        if position.in_magdagdon():
            return position.ruins()[0]
        places = [place for place in position.placements() if self._is_stageable(position, place)]
        return max(places, key=lambda place: position.score(position.after(place)))

    def _is_stageable(self, position: Position, place: Place) -> bool:
        return any(cell in position.legal_cells(die) for die, cell in place.placements)
