"""The checks: each plays or asks a bot, and says in a sentence what it found."""

import contextlib
import io
import os
import reprlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from magsim import dice
from magsim.board import format_board, format_dice
from magsim.bot import Bot, Position, Positions, make_rule_values, pack_answer
from magsim.decision import pack_decision, unpack_decision
from magsim.engine import HAND_INDEX, HANDS
from magsim.errors import MagsimError
from magsim.program import PREFIX
from magsim.referee import Referee, exception_words
from magsim.registry import Option, load_bot, options_of
from magsim.rules import Rules
from magsim.simulate import Table, Turns
from magsim.trials.sample import (
    Checkup,
    Ints,
    Sample,
    Wrong,
    boards_before,
    bot_of,
    first_decisions,
    played,
    sample,
)

_RANKED = 10
"""So many positions of a sample are ranked."""
_OTHER_SEED = 0x9E3779B97F4A7C15
_OTHER_GAMES = 20_000
"""Among so many games of another seed some begin a turn with any given roll."""
_LEAK = 64
"""MiB that a bot may take more when it plays the same games again."""
_MIB = 1 << 20


class Finding(NamedTuple):
    """What a check found: whether the bot passed, and a sentence or what was measured."""

    passed: bool
    text: str


def run_check(checkup: Checkup, name: str) -> Finding:
    """Make one of the ``CHECKS``, in a process that is kept for the next one."""
    _before()
    try:
        return Finding(True, CHECKS[name](checkup))
    except (Wrong, MagsimError) as error:
        return Finding(False, str(error))


def _loads(checkup: Checkup) -> str:
    bot = bot_of(checkup)
    return f"{bot.spec}; options: {len(options_of(type(bot)))}"


def _is_legal(checkup: Checkup) -> str:
    decisions = sum(played(checkup, rules).decisions for rules in checkup.rules)
    names = ", ".join(rules.name for rules in checkup.rules)
    return f"{decisions:,} decisions, {checkup.games} games each: {names}"


def _has_sound_options(checkup: Checkup) -> str:
    entries = options_of(type(bot_of(checkup)))
    if checkup.source.startswith(PREFIX) or not entries:
        return "there are none"
    tried = 0
    for entry in entries:
        try:
            sound = entry.parse(str(entry.default)) == entry.default
        except (ValueError, OverflowError):
            sound = False
        if not sound:
            raise Wrong(
                f"the default of option {entry.name}, {entry.default!r}, is not {entry.allowed()}"
            )
        for value in _extremes(entry):
            spec = f"{checkup.source.partition(':')[0]}:{entry.name}={value}"
            tried += _decides(spec, checkup)
    return f"defaults are allowed; with {tried} values at their limits it decides"


def _extremes(entry: Option) -> list[str]:
    """The values of an option that are at its limits, or all if they are few."""
    if entry.type is bool:
        return ["true", "false"]
    limits = [value for value in (entry.minimum, entry.maximum) if value is not None]
    return [*entry.choices, *(str(entry.type(value)) for value in limits)]


def _decides(spec: str, checkup: Checkup) -> bool:
    """Let a bot make the first decision of a game; False if what it relies on is not there.

    Raises:
        MagsimError: if it cannot.
    """
    bot, rules, nothing = load_bot(spec), checkup.rules[-1], np.zeros(1, np.int64)
    try:
        bot.relies_on(rules)
    except MagsimError:
        return False
    hands, left = np.array([HAND_INDEX[1, 2, 3, 4]]), np.array([rules.powers])
    start = Positions(nothing, hands, left, np.zeros(1, np.uint64), replace(rules))
    with checkup.watch() as watch:
        Referee(bot, rules, watch).ask(start, nothing, 1)
    return True


def _is_quiet(checkup: Checkup) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        for rules in checkup.rules:
            checkup.play(load_bot(checkup.source), rules, 0, 1)
    if said.getvalue():
        raise Wrong(f"it prints {reprlib.repr(said.getvalue())} while it plays")
    return "it prints nothing"


def _repeats(checkup: Checkup) -> str:
    fresh = load_bot(checkup.source)
    for rules in checkup.rules:
        again = checkup.play(fresh, rules, 0, checkup.games).turns
        _expect_same(played(checkup, rules).turns, again, rules, "when it was played again")
    return "the same games again, the same decisions"


def _has_no_state(checkup: Checkup) -> str:
    for rules in checkup.rules:
        turns = played(checkup, rules).turns
        for game in reversed(range(checkup.games)):
            alone = checkup.play(bot_of(checkup), rules, game, 1).turns
            rows = turns.game == game
            whole = {field.name: getattr(turns, field.name)[rows] for field in fields(Turns)}
            _expect_same(Turns(**whole), alone, rules, "when the games came in another order")
    return "games alone, from the last to the first, the same decisions"


def _expect_same(one: Turns, other: Turns, rules: Rules, when: str) -> None:
    """Check that the same was decided in whole games.

    Raises:
        Wrong: if not, with the first difference.
    """
    count = min(len(one.game), len(other.game))
    different = np.zeros(count, bool)
    for name in ("game", "turn", "powers", "board"):
        unlike = getattr(one, name)[:count] != getattr(other, name)[:count]
        different |= unlike.reshape(count, -1).any(axis=1)
    if different.any():
        row = int(different.argmax())
        board = format_board(int(boards_before(one)[row]))
        ends = [format_board(int(turns.board[row])) for turns in (one, other)]
        raise Wrong(
            f"{rules.name}, game {one.game[row]}, turn {one.turn[row]}, board {board}, roll "
            f"{format_dice(HANDS[one.roll[row]])}: the turn ended in {ends[0]}, {when} in {ends[1]}"
        )


def _keeps_positions(checkup: Checkup) -> str:
    count = 0
    for rules in checkup.rules:
        asked = sample(checkup, rules)
        count += len(asked.game)
        shown = replace(rules)
        given = replace(asked.positions.rows(0, len(asked.game)), rules=shown)
        _answer(bot_of(checkup), given, rules.name)
        for name in ("boards", "hands", "powers_left", "keys"):
            changed = getattr(given, name) != getattr(asked.positions, name)
            if changed.any():
                where = asked.where(int(changed.argmax()))
                raise Wrong(f"it changed {name} of the positions it was given; {where}")
        if shown != rules:
            raise Wrong(f"it changed the rules it was given: {rules} became {shown}")
        lawful = make_rule_values(rules)._asdict()
        for name, value in given.values._asdict().items():
            if not np.array_equal(value, lawful[name]):
                raise Wrong(f"it changed {name} of the rule values of {rules.name}")
    return f"{count:,} positions, as they were"


def _answer(bot: Bot, positions: Positions, where: str) -> Ints:
    """The packed decisions of a bot in a batch.

    Raises:
        Wrong: if it answers nothing of the kind.
    """
    try:
        decisions = bot.decide_batch(positions).decisions
    except Exception as error:
        raise Wrong(f"it raised {exception_words(error)}; {where}") from error
    if decisions.shape != (len(positions),):
        raise Wrong(f"it answered {decisions.shape} to {len(positions)} positions; {where}")
    return decisions


def _does_not_peek(checkup: Checkup) -> str:
    count = 0
    for rules in checkup.rules:
        asked = sample(checkup, rules)
        for turn in np.unique(asked.turn):
            count += _ask_with_other_dice(checkup, rules, int(turn), asked)
    return f"{count:,} positions with other dice to come, the same decisions"


def _ask_with_other_dice(checkup: Checkup, rules: Rules, turn: int, asked: Sample) -> int:
    """Put the positions of a turn to the bot in games of another seed; how many they were.

    Raises:
        Wrong: if it decides otherwise.
    """
    bot, games = bot_of(checkup), np.arange(_OTHER_GAMES, dtype=np.uint64)
    rolls = np.sort(dice.rolls(_OTHER_SEED, games, turn), axis=1)
    by_hand = {HAND_INDEX[tuple(roll)]: game for game, roll in enumerate(rolls.tolist())}
    hands = asked.positions.hands
    rows = np.array([k for k in np.flatnonzero(asked.turn == turn) if hands[k] in by_hand], int)
    with checkup.watch() as watch:
        others = np.array([by_hand[hand] for hand in hands[rows]], np.int64)
        table = Table(Referee(bot, rules, watch), bot, rules, _OTHER_SEED, others)
        table.keys = dice.bot_keys(checkup.seed, asked.game[rows].astype(np.uint64), bot.spec)
        table.boards = asked.positions.boards[rows]
        table.powers_left = asked.positions.powers_left[rows]
        turns = table.play_turn(turn)
    assert turns is not None, "a sample has no finished games"
    now, before = first_decisions(turns), asked.first[rows]
    if (now != before).any():
        k = int((now != before).argmax())
        row = int(rows[k])
        raise Wrong(
            f"it looks at dice that are not thrown yet: it decided "
            f"{asked.in_words(int(before[k]), row)}, and {asked.in_words(int(now[k]), row)} with "
            f"other dice to come; {asked.where(row)}"
        )
    return len(rows)


def _forms_agree(checkup: Checkup) -> str:
    bot, count = bot_of(checkup), 0
    forms: dict[str, Callable[[Positions, int], int]] = {"alone": _alone(bot)}
    if type(bot).decide is not Bot.decide and type(bot).decide_batch is not Bot.decide_batch:
        forms["by decide()"] = _by_decide(bot)
    for rules in checkup.rules:
        asked = sample(checkup, rules)
        positions, last = asked.positions, len(asked.game)
        whole = _answer(bot, positions.rows(0, last), rules.name)
        count += last
        for row in range(last):
            ranked = {"by rank()": _by_rank(bot)} if row % max(1, last // _RANKED) == 0 else {}
            for form, decide in (forms | ranked).items():
                found = decide(positions, row)
                if found != whole[row]:
                    one, other = (_in_words(at, asked, row) for at in (int(whole[row]), found))
                    where = asked.where(row)
                    raise Wrong(f"it decided {one} in a batch and {other} {form}; {where}")
    every = ", ".join(["in a batch", *forms])
    return f"{count:,} positions {every} and by rank(), the same decisions"


def _in_words(packed: int, asked: Sample, row: int) -> str:
    """A packed decision in text."""
    if packed >= 0:
        return asked.in_words(packed, row)
    position = asked.positions.position(row)
    return f"'{unpack_decision(packed, position.board, position.dice)}'"


def _alone(bot: Bot) -> Callable[[Positions, int], int]:
    return lambda positions, row: int(_answer(bot, positions.rows(row, row + 1), "alone")[0])


def _by_decide(bot: Bot) -> Callable[[Positions, int], int]:
    def decide(positions: Positions, row: int) -> int:
        position = _seeded(bot, positions, row)
        return pack_answer(bot.decide(position), position)[0]

    return decide


def _by_rank(bot: Bot) -> Callable[[Positions, int], int]:
    def decide(positions: Positions, row: int) -> int:
        position = _seeded(bot, positions, row)
        first = bot.rank(position, int(positions.keys[row]), 1)[0]
        return pack_decision(first, position.board, position.dice)

    return decide


def _seeded(bot: Bot, positions: Positions, row: int) -> Position:
    """A position, the bot's own randomness made ready for it."""
    bot.random.seed(int(positions.keys[row]))
    return positions.position(row)


@cache
def _before() -> dict[str, dict[str, object]]:
    """What functions, classes and tables of this package are, before any bot is loaded."""
    return {
        name: _parts(vars(module))
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == "magsim"
    }


def _parts(names: Mapping[str, object]) -> dict[str, object]:
    """By name what is to stay the same: functions, those of classes, the bytes of arrays."""
    found: dict[str, object] = {}
    for name, value in list(names.items()):
        if isinstance(value, np.ndarray):
            found[name] = value.tobytes()
        elif callable(value):
            found[name] = value
        if isinstance(value, type) and value.__module__.partition(".")[0] == "magsim":
            own = {key: part for key, part in vars(value).items() if callable(part)}
            found |= {f"{name}.{key}": part for key, part in own.items()}
    return found


def _leaves_alone(checkup: Checkup) -> str:
    for rules in checkup.rules:
        played(checkup, rules)
    for module, before in _before().items():
        now = _parts(vars(sys.modules[module]))
        for name, part in before.items():
            same = now.get(name) == part if isinstance(part, bytes) else now.get(name) is part
            if not same:
                raise Wrong(f"it changed {module}.{name}, which is not its own")
    return "functions and tables of the program are as they were"


def _time(checkup: Checkup) -> str:
    found = []
    for rules in checkup.rules:
        games = played(checkup, rules)
        found.append(f"{1000 * games.seconds / max(1, games.decisions):.3f} ({rules.name})")
    return f"ms a decision: {', '.join(found)}"


def _memory(checkup: Checkup) -> str:
    taken = []
    for _ in range(3):
        for rules in checkup.rules:
            checkup.play(bot_of(checkup), rules, 0, checkup.games)
        taken.append(_resident())
    grown = (taken[2] - taken[1]) // _MIB
    if grown > _LEAK:
        raise Wrong(f"it takes {grown} MiB more each time that it plays the same games")
    return f"{taken[2] // _MIB} MiB for its process, no more as it plays on"


def _resident() -> int:
    """The bytes of memory that this process takes now; 0 where the system does not tell."""
    with contextlib.suppress(OSError):
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0


CHECKS: dict[str, Callable[[Checkup], str]] = {
    "loads": _loads,
    "legal": _is_legal,
    "options": _has_sound_options,
    "quiet": _is_quiet,
    "repeatable": _repeats,
    "stateless": _has_no_state,
    "keeps positions": _keeps_positions,
    "no peeking": _does_not_peek,
    "forms agree": _forms_agree,
    "leaves magsim alone": _leaves_alone,
    "time": _time,
    "memory": _memory,
}
"""In the order in which they are made."""
FIRST = ("loads", "legal")
"""Where one of these fails, the others are not made: they need games."""
