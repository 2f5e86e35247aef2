"""The decisions of a part of the records, as arrays: positions, and what was decided in them.

A turn holds its Powers in order and then a placement or a RUIN. The dice are drawn anew from the
seed, and must be those that are recorded.
"""

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from magsim import dice
from magsim import rules as law
from magsim.board import CELLS, DICE, EMPTY_BOARD, SIZE, SYMBOLS, format_dice
from magsim.decision import POWER_KINDS, REROLL, Power, pack_decision, parse_decision
from magsim.engine import FIRST_ROLL, HAND_ADD, HAND_INDEX, HAND_SIZE, HANDS
from magsim.rules import Rules

Ints = NDArray[np.int64]

_LENGTH = CELLS + SIZE - 1
_PLACES = [cell + cell // SIZE for cell in range(CELLS)]
"""Where the cells are in the text of a board."""
_UNKNOWN = len(SYMBOLS)
_VALUES = np.full(256, _UNKNOWN, np.int64)
_VALUES[[ord(symbol) for symbol in SYMBOLS]] = range(len(SYMBOLS))


class Decisions(NamedTuple):
    """Decisions in the order in which they were made; shapes (n,)."""

    game: Ints
    turn: Ints
    step: Ints
    """The decision of its turn, from 1."""
    board: Ints
    """At the start of the turn."""
    hand: Ints
    """The dice, as in ``engine.HANDS``."""
    powers_left: Ints
    decision: Ints
    """Packed, as in ``decision``."""
    score: Ints
    """So far, the Powers used paid, in points."""
    rolled: Ints
    """1 if these dice came from a roll or a reroll just before, else 0."""


class _Turns(NamedTuple):
    """Columns of the table ``turns``, and what its texts say; shapes (n,) unless said."""

    game: Ints
    turn: Ints
    powers_left: Ints
    roll: Ints
    dice: Ints
    powers: Ints
    """The Powers in order, ``kind * len(HANDS) + the dice``, then -1; shape (n, Powers + 1)."""
    before: Ints
    after: Ints
    score: Ints
    """Before the turn."""


def read_decisions(turns: pl.DataFrame, rules: Rules, seed: int) -> Decisions:
    """The decisions in rows of the table ``turns``, which are whole games by game and turn.

    Raises:
        ValueError: if a text is no notation, a Power is not legal, or the dice are not those of
            the seed.
    """
    table = _read(turns, rules)
    spent = np.cumsum([0, *rules.power_costs])
    rows = np.arange(len(turns))
    rolled, streams = np.ones(len(rows), np.int64), np.zeros(len(rows), np.int64)
    hand, left = _thrown(streams, table, rows, streams, seed), table.powers_left
    _expect("roll", hand, table.roll, table, rows)
    steps: list[Decisions] = []
    while len(rows):
        codes = table.powers[rows, len(steps)]
        going = codes >= 0
        _expect("dice", hand[~going], table.dice[rows[~going]], table, rows[~going])
        decision = table.after[rows]
        decision[going], kept = _use(hand[going], codes[going])
        paid = spent[rules.powers - left] - spent[rules.powers - table.powers_left[rows]]
        steps.append(
            Decisions(
                table.game[rows],
                table.turn[rows],
                np.full(len(rows), len(steps) + 1),
                table.before[rows],
                hand,
                left,
                decision,
                table.score[rows] - paid,
                rolled,
            )
        )
        rows, left = rows[going], left[going] - 1
        rolled = (codes[going] // len(HANDS) == REROLL).astype(np.int64)
        streams = streams[going] + rolled
        hand = _thrown(kept, table, rows, streams, seed)
    return _in_order(steps)


def _in_order(steps: list[Decisions]) -> Decisions:
    """All decisions by game, turn and step."""
    joined = Decisions(*(np.concatenate(columns) for columns in zip(*steps, strict=True)))
    order = np.lexsort((joined.step, joined.turn, joined.game))
    return Decisions(*(column[order] for column in joined))


def _read(turns: pl.DataFrame, rules: Rules) -> _Turns:
    game, turn, left, score = (
        turns[name].cast(pl.Int64).to_numpy() for name in ("game", "turn", "powers_left", "score")
    )
    roll, hand = (
        turns[name].to_physical().cast(pl.Int64).to_numpy() + FIRST_ROLL
        for name in ("roll", "dice")
    )
    powers = _power_codes(turns["powers"].to_list(), rules.powers)
    if (left > rules.powers).any() or ((powers >= 0).sum(axis=1) > left).any():
        raise ValueError("there are more Powers than the rules have")
    first = np.append(True, np.diff(game) > 0)
    if (turn != np.where(first, 1, np.append(0, turn[:-1] + 1))).any():
        raise ValueError("its turns are not in order")
    after = pack_boards(turns["board"])
    before, score = (
        np.where(first, start, np.roll(column, 1))
        for start, column in ((EMPTY_BOARD, after), (0, score))
    )
    return _Turns(game, turn, left, roll, hand, powers, before, after, score)


def pack_boards(texts: pl.Series) -> Ints:
    """The packed boards of texts (R2), int64.

    Raises:
        ValueError: if one is no board.
    """
    if not (texts.str.len_bytes().fill_null(0) == _LENGTH).all():
        raise ValueError("a board is not four rows of four cells")
    signs = np.frombuffer("".join(texts).encode(), np.uint8).reshape(-1, _LENGTH)
    cells = _VALUES[signs[:, _PLACES]]
    if (cells == _UNKNOWN).any():
        raise ValueError(f"a cell of a board is not one of {SYMBOLS}")
    boards: Ints = (cells << 4 * np.arange(CELLS)).sum(axis=1)
    return boards


def _power_codes(texts: list[str | None], most: int) -> Ints:
    """``_Turns.powers`` of texts."""
    distinct = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    table = np.full((len(distinct), most + 1), -1)
    for text, k in distinct.items():
        words = [] if text is None else text.split("; ")
        if len(words) > most:
            raise ValueError(f"{text!r} are more Powers than the rules have")
        for place, word in enumerate(words):
            power = parse_decision(word)
            if not isinstance(power, Power) or power.dice not in HAND_INDEX:
                raise ValueError(f"{word!r} is no Power")
            table[k, place] = POWER_KINDS.index(power.kind) * len(HANDS) + HAND_INDEX[power.dice]
    codes: Ints = table[[distinct[text] for text in texts]]
    return codes


def _use(hands: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """Powers packed, and the dice after a raise or a lower, or those that a reroll keeps.

    Raises:
        ValueError: if one is not legal.
    """
    different, which = np.unique(hands * 3 * len(HANDS) + codes, return_inverse=True)
    packed, kept = np.empty((2, len(different)), np.int64)
    for k, pair in enumerate(different):
        place, code = divmod(int(pair), 3 * len(HANDS))
        kind, chosen = divmod(code, len(HANDS))
        hand, power = HANDS[place], Power(POWER_KINDS[kind], HANDS[chosen])
        law.check_power(hand, 1, power)
        packed[k] = pack_decision(power, EMPTY_BOARD, hand)
        kept[k] = HAND_INDEX[law.power_dice(hand, power)]
    return packed[which], kept[which]


def _thrown(kept: Ints, table: _Turns, rows: Ints, streams: Ints, seed: int) -> Ints:
    """Hands made whole with the dice of streams, from the left; shape (len(rows),)."""
    hands = kept.copy()
    games, turns = table.game[rows].astype(np.uint64), table.turn[rows]
    short = HAND_SIZE[hands] < DICE
    for turn, stream in {*zip(turns[short].tolist(), streams[short].tolist(), strict=True)}:
        these = np.flatnonzero(short & (turns == turn) & (streams == stream))
        for drawn in dice.dice(seed, games[these], turn, stream).T:
            open_ = HAND_SIZE[hands[these]] < DICE
            hands[these[open_]] = HAND_ADD[hands[these[open_]], drawn[open_]]
    return hands


def _expect(name: str, hands: Ints, recorded: Ints, table: _Turns, rows: Ints) -> None:
    """Check dice.

    Raises:
        ValueError: if they are not those that are recorded.
    """
    wrong = np.flatnonzero(hands != recorded)
    if len(wrong):
        row, (drawn, there) = rows[wrong[0]], (HANDS[at[wrong[0]]] for at in (hands, recorded))
        raise ValueError(
            f"game {table.game[row]}, turn {table.turn[row]}: the {name} is {format_dice(there)}, "
            f"by the seed it is {format_dice(drawn)}"
        )
