"""Re-judging a run: replays recorded games by the readable law, with the dice drawn anew.

The engine takes no part in it. A file's bytes, the completeness of the run, every turn and every
score are checked, and the first thing that is wrong is named. Only a bot's own estimates cannot be
judged: the bytes alone vouch for them.
"""

import random
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from joblib import delayed
from tqdm import tqdm

from magsim import dice, records
from magsim import rules as law
from magsim.board import (
    CELL_NAMES,
    EMPTY_BOARD,
    format_board,
    format_dice,
    with_cell,
)
from magsim.decision import Place, Power, Ruin, parse_decision
from magsim.errors import MagsimError
from magsim.manifest import Plan, read_manifest
from magsim.pool import parallel, stop_workers
from magsim.rules import Rules

Row = dict[str, Any]


class Wrong(Exception):
    """A record contradicts the law; the message says how."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was checked, and the first thing found wrong in each part that has one, in order."""

    games: int
    turns: int
    problems: tuple[str, ...]


def _expect(name: str, recorded: object, lawful: object) -> None:
    if recorded != lawful:
        raise Wrong(f"{name} is {recorded!r}, by the rules it is {lawful!r}")


@dataclass(slots=True)
class _Replay:
    """One game, replayed turn by turn."""

    rules: Rules
    seed: int
    game: int
    board: int = EMPTY_BOARD
    used: dict[str, int] | None = None
    turns: int = 0

    @property
    def powers_used(self) -> int:
        return sum((self.used or {}).values())

    @property
    def powers_left(self) -> int:
        return self.rules.powers - self.powers_used

    def _dice(self, stream: int) -> list[int]:
        games = np.array([self.game], np.uint64)
        drawn = dice.dice(self.seed, games, self.turns, stream)[0]
        return [int(die) for die in drawn]

    def play(self, row: Row) -> None:
        """Check one recorded turn and take it over.

        Raises:
            Wrong: if it is not what the law and the dice make it.
        """
        self.turns += 1
        _expect("turn", row["turn"], self.turns)
        if law.is_over(self.board):
            raise Wrong("the game was over before this turn (R26)")
        _expect("powers_left", row["powers_left"], self.powers_left)
        hand = tuple(sorted(self._dice(dice.ROLL_STREAM)))
        _expect("roll", row["roll"], format_dice(hand))
        magdagdon = law.in_magdagdon(self.board, hand, self.rules)
        rerolls = 0
        for text in [] if row["powers"] is None else row["powers"].split("; "):
            power = parse_decision(text)
            if not isinstance(power, Power) or str(power) != text:
                raise Wrong(f"{text!r} is no Power")
            law.check_power(hand, self.powers_left, power)
            rerolls += power.kind == "reroll"
            drawn = self._dice(rerolls)[: len(power.dice)] if power.kind == "reroll" else ()
            hand = law.power_dice(hand, power, drawn)
            self._count(power.kind)
            magdagdon = magdagdon or law.in_magdagdon(self.board, hand, self.rules)
        _expect("dice", row["dice"], format_dice(hand))
        self.board = self._after(row, hand)
        ended = "accepted" if row["ruin"] else "rescued" if magdagdon else "no"
        _expect("magdagdon", row["magdagdon"], ended)
        _expect("board", row["board"], format_board(self.board))
        _expect("score", row["score"], law.score(self.board, self.rules, self.powers_used).total)

    def _count(self, kind: str) -> None:
        self.used = self.used or {}
        self.used[kind] = self.used.get(kind, 0) + 1

    def _after(self, row: Row, hand: tuple[int, ...]) -> int:
        if (row["ruin"] is None) == (row["placements"] is None):
            raise Wrong("a turn ends with placements or with a RUIN")
        if row["ruin"] is not None:
            return law.check_ruin(self.board, hand, Ruin(CELL_NAMES.index(row["ruin"])), self.rules)
        place = parse_decision(row["placements"])
        if not isinstance(place, Place) or str(place) != row["placements"]:
            raise Wrong(f"{row['placements']!r} is no placement")
        staged = self.board
        for die, cell in place.placements:
            if not law.is_legal_cell(staged, die, cell, self.rules):
                raise Wrong(f"{die} on {CELL_NAMES[cell]} is not legal in this order (R8-R11)")
            staged = with_cell(staged, cell, die)
        return law.check_place(self.board, hand, place, self.rules)

    def close(self, row: Row) -> None:
        """Check the recorded result of the game.

        Raises:
            Wrong: if it is not what the law makes it.
        """
        if not law.is_over(self.board):
            raise Wrong("its last recorded turn leaves empty cells (R26)")
        score = law.score(self.board, self.rules, self.powers_used)
        used = self.used or {}
        lawful = {
            "score": score.total,
            "base": score.base,
            "straights": score.straights,
            "fours": score.fours,
            "two_pairs": score.two_pairs,
            "bonuses": score.bonuses,
            "ruins": score.ruins,
            "ruin_cost": score.ruin_cost,
            "power_cost": score.power_cost,
            "turns": self.turns,
            "raises": used.get("raise", 0),
            "lowers": used.get("lower", 0),
            "rerolls": used.get("reroll", 0),
            "board": format_board(self.board),
        }
        for name, value in lawful.items():
            _expect(name, row[name], value)


def _replay_game(rules: Rules, seed: int, turns: list[Row], result: Row) -> str | None:
    """What is wrong with a recorded game, if anything."""
    game = result["game"]
    replay = _Replay(rules, seed, game)
    where = f"game {game}"
    try:
        for row in turns:
            where = f"game {game}, turn {row['turn']}"
            replay.play(row)
        where = f"game {game}"
        replay.close(result)
    except (Wrong, law.IllegalDecision, MagsimError, ValueError) as error:
        return f"{where}: {error}"
    return None


@dataclass(frozen=True, slots=True)
class _Part:
    """A pair of parts to check, and the game indices to replay in them (all if None)."""

    turns: Path
    games: Path
    bot: str
    rules: Rules
    seed: int
    first: int
    last: int
    sample: tuple[int, ...] | None

    def check(self) -> tuple[int, int, list[str]]:
        """Games and turns replayed, and what is wrong, first things first."""
        damaged = [path for path in (self.turns, self.games) if not records.is_intact(path)]
        problems = [
            f"{path} is damaged: its bytes are not those that were written" for path in damaged
        ]
        try:
            with records.quiet() if damaged else nullcontext():
                turns = records.read_part(self.turns, "turns")
                games = records.read_part(self.games, "games")
        except MagsimError as error:
            return 0, 0, [*problems, str(error)]
        where = f"bot {self.bot}, {self.rules.name}"
        indices = list(range(self.first, self.last + 1))
        if games["game"].to_list() != indices:
            return 0, 0, [*problems, f"{self.games} does not hold one row for each of its games"]
        groups = [
            (game, list(rows))
            for game, rows in groupby(turns.iter_rows(named=True), lambda row: row["game"])
        ]
        if [game for game, _ in groups] != indices:
            return 0, 0, [*problems, f"{self.turns} does not hold the turns of its games in order"]
        grouped = dict(groups)
        chosen = indices if self.sample is None else self.sample
        played = 0
        for game in chosen:
            played += len(grouped[game])
            result = games.row(game - self.first, named=True)
            wrong = _replay_game(self.rules, self.seed, grouped[game], result)
            if wrong:
                return len(chosen), played, [f"{where}, {wrong}", *problems]
        return len(chosen), played, problems


def _parts(run: Path, plan: Plan, sample: int | None) -> tuple[list[_Part], list[str]]:
    """What there is to check, and what of the plan is missing or stands beside it."""
    found: list[_Part] = []
    problems = [f"{path} is not in the plan" for path in records.strangers(run, plan)]
    wanted = {(first, first + games - 1) for first, games in plan.chunks()}
    chosen = _sample(plan, sample)
    for rules in plan.rules:
        for bot in plan.bots:
            tables = [records.parts(run, table, rules.name, bot) for table in records.TABLES]
            for table, parts in zip(records.TABLES, tables, strict=True):
                problems += [
                    f"bot {bot}, {rules.name}: the {table} of games {first} to {last} are missing"
                    for first, last in sorted(wanted - parts.keys())
                ]
            for first, last in sorted(wanted & tables[0].keys() & tables[1].keys()):
                games = None
                if chosen is not None:
                    picked = chosen.get((rules.name, bot), [])
                    games = tuple(game for game in picked if first <= game <= last)
                turns_part, games_part = (parts[first, last] for parts in tables)
                found.append(
                    _Part(turns_part, games_part, bot, rules, plan.seed, first, last, games)
                )
    return found, problems


def _sample(plan: Plan, sample: int | None) -> dict[tuple[str, str], list[int]] | None:
    """Which games to replay of each difficulty and bot: ``sample`` in all, drawn by the seed."""
    if sample is None:
        return None
    pairs = [(rules.name, bot) for rules in plan.rules for bot in plan.bots]
    total = len(pairs) * plan.games
    chosen: dict[tuple[str, str], list[int]] = {}
    for place in sorted(random.Random(plan.seed).sample(range(total), min(sample, total))):
        chosen.setdefault(pairs[place // plan.games], []).append(place % plan.games)
    return chosen


def verify_run(run: Path, sample: int | None, jobs: int) -> Verdict:
    """Check a run: all bytes, and all games or a ``sample`` of them turn by turn.

    Raises:
        MagsimError: if there is no run to check.
    """
    plan = read_manifest(run)
    parts, problems = _parts(run, plan, sample)
    games = turns = 0
    found: dict[int, list[str]] = {}
    try:
        results: Iterator[tuple[int, tuple[int, int, list[str]]]] = parallel(
            jobs, (delayed(_check_numbered)(number, part) for number, part in enumerate(parts))
        )
        for number, (checked_games, checked_turns, wrong) in tqdm(
            results, total=len(parts), unit=" parts"
        ):
            games += checked_games
            turns += checked_turns
            found[number] = wrong
    finally:
        stop_workers()
    problems += [wrong for number in sorted(found) for wrong in found[number]]
    return Verdict(games, turns, tuple(problems))


def _check_numbered(number: int, part: _Part) -> tuple[int, tuple[int, int, list[str]]]:
    return number, part.check()
