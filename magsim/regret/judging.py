"""What decisions cost and what the dice gave, in a part of the records: judged and kept beside it.

A *decision* that perfect play would not have made costs the difference between what the best one
and it are worth: its *regret*. *Luck* is what a roll or a reroll changed in what perfect play
expects; a raise or a lower leads to dice that are known, and brings none. So in every game

    score = start value + luck - regret

and exactly so: values are whole multiples of a small part of a point, and each mean over dice is
rounded once, before it is used on either side. It is checked for every game, to the last digit.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from magsim import records
from magsim.board import CELLS, RUIN, format_board
from magsim.bot import rule_values
from magsim.errors import MagsimError
from magsim.records import Column
from magsim.regret.decisions import Decisions, Ints, read_decisions
from magsim.rules import Rules
from magsim.solver.library import needed_perfect
from magsim.solver.perfect import UNKNOWN, Judged, Perfect, judge, judged_rows

TABLE = "decisions"
"""The folder of what was judged, beside ``turns`` and ``games``."""
KINDS = ("placement", "power not used", "power used", "ruin cell")
"""What was decided, and so by what it may have lost.

A Power is one that was used; anything else where a Power would have been best, one that was not.
"""
PLACEMENT, NOT_USED, USED, RUIN_CELL = range(len(KINDS))

COLUMNS = {
    "game": Column(pl.UInt32, "game index"),
    "turn": Column(pl.UInt8, "turn of the game, from 1"),
    "step": Column(pl.UInt8, "decision of the turn, from 1: its Powers in order, then its end"),
    "kind": Column(pl.Enum(KINDS), "placement, power not used, power used, or ruin cell"),
    "luck": Column(pl.Float64, "what the roll or the reroll before it brought, in points"),
    "best": Column(pl.Float64, "the final score that the best decision leads to, in points"),
    "regret": Column(pl.Float64, "what the decision made lost against the best one, in points"),
}
SCHEMA = {name: column.dtype for name, column in COLUMNS.items()}


@dataclass(frozen=True, slots=True)
class Task:
    """A part of the table ``turns`` to judge, and the folder for what is found."""

    turns: Path
    games: tuple[int, int]
    """The first and the last."""
    rules: Rules
    seed: int
    folder: Path


class _Found(NamedTuple):
    """What was found of decisions, in 1/scale points; int64, shapes (n,)."""

    kind: Ints
    luck: Ints
    expected: Ints
    """The final score, before the dice that the decision was made with."""
    best: Ints
    """The final score that the best decision leads to."""
    made: Ints
    """The final score that the decision made leads to."""
    regret: Ints


def origin(turns: Path, fingerprint: str) -> str:
    """How a part of decisions says in its name what it was made from."""
    return f".{records.digest_in(turns)}.{fingerprint}"


def warm_up(rules: Rules) -> float:
    """Compile the judge for rules that are solved; the seconds it took."""
    started = time.perf_counter()
    none = np.empty(0, np.int64)
    judge_distinct(Decisions(*(none,) * len(Decisions._fields)), needed_perfect(rules))
    return time.perf_counter() - started


def judge_part(task: Task) -> int:
    """Judge a part and write what is found; how many games it has.

    Raises:
        MagsimError: if the part is damaged or makes no sense, its rules are not solved, a game does
            not come to its score, or the disk refuses.
    """
    perfect = needed_perfect(task.rules)
    turns, decisions = read_turns(task.turns, task.rules, task.seed)
    try:
        found = _weigh(decisions, judge_distinct(decisions, perfect), perfect)
        _check_links(decisions, found, perfect.scale)
        _check_scores(decisions, found, turns, perfect.scale)
    except MagsimError as error:
        raise MagsimError(f"{task.turns}, {error}") from error
    frame = _frame(decisions, found, perfect.scale)
    try:
        records.write_part(
            task.folder,
            task.games,
            records.encode(frame),
            origin(task.turns, perfect.fingerprint),
        )
    except OSError as error:
        raise MagsimError(f"{task.folder} cannot be written: {error.strerror or error}") from error
    return 1 + task.games[1] - task.games[0]


def read_turns(
    part: Path, rules: Rules, seed: int, most: int | None = None
) -> tuple[pl.DataFrame, Decisions]:
    """A part of the table ``turns`` and its decisions, up to game ``most`` (not included) if told.

    Raises:
        MagsimError: if the part is damaged or makes no sense.
    """
    records.check_part(part)
    turns = records.read_part(part, "turns")
    if most is not None:
        turns = turns.filter(pl.col("game") < most)
    try:
        return turns, read_decisions(turns, rules, seed)
    except ValueError as error:
        raise MagsimError(
            f"{part}: its records make no sense ({error}); magsim verify says more"
        ) from error


def judge_distinct(decisions: Decisions, perfect: Perfect) -> Judged:
    """Judge decisions, each different one once, in 1/scale points from their turn on."""
    levels = perfect.levels[decisions.powers_left]
    asked = np.stack([decisions.board, decisions.hand, levels, decisions.decision])
    different, which = np.unique(asked, axis=1, return_inverse=True)
    rows = judged_rows(different.shape[1])
    boards, hands, levels, packed = (np.ascontiguousarray(column) for column in different)
    values, work = rule_values(perfect.rules), perfect.new_work()
    judge(boards, hands, levels, packed, values, perfect.book, work, rows)
    return Judged(*(column[which] for column in rows))


def _kinds(decisions: Decisions, judged: Judged) -> Ints:
    """The places in ``KINDS``."""
    decision, added = decisions.decision, decisions.decision ^ decisions.board
    ruined = np.zeros(len(decision), bool)
    for cell in range(CELLS):
        ruined |= added >> 4 * cell & 15 == RUIN
    kept = np.where(ruined, RUIN_CELL, PLACEMENT)
    return np.where(decision < 0, USED, np.where(judged.best > judged.staying, NOT_USED, kept))


def _weigh(decisions: Decisions, judged: Judged, perfect: Perfect) -> _Found:
    """What was found of decisions.

    Raises:
        MagsimError: if the solution does not reach a board, or a decision is better than the best.
    """
    unknown = np.stack([judged.before, judged.best, judged.made]) == UNKNOWN
    if unknown.any():
        row = int(unknown.any(axis=0).argmax())
        raise MagsimError(
            f"{_where(decisions, row)}: the solution in {perfect.path} does not reach what board "
            f"{format_board(int(decisions.board[row]))} leads to"
        )
    regret = judged.best - judged.made
    if (regret < 0).any():
        row = int(regret.argmin())
        raise MagsimError(
            f"{_where(decisions, row)}: the decision is worth {-regret[row] / perfect.scale:g} "
            "points more than the best one that is legal; magsim verify says whether it is legal"
        )
    now = decisions.score * perfect.scale
    made, best = now + judged.made, now + judged.best
    expected = np.where(decisions.step == 1, now + judged.before, np.roll(made, 1))
    luck = np.where(decisions.rolled == 1, best - expected, 0)
    return _Found(_kinds(decisions, judged), luck, expected, best, made, regret)


def _check_links(decisions: Decisions, found: _Found, scale: int) -> None:
    """Check that a decision begins with what the one before it is worth, but for luck.

    Raises:
        MagsimError: if not.
    """
    begun = np.where(decisions.rolled == 1, found.expected, found.best)
    broken = (begun != np.roll(found.made, 1)) & (np.diff(decisions.game, prepend=-1) == 0)
    if broken.any():
        row = int(broken.argmax())
        raise MagsimError(
            f"{_where(decisions, row)}: a final score of {begun[row] / scale:.7f} is expected, and "
            f"of {found.made[row - 1] / scale:.7f} after the decision before"
        )


def _check_scores(decisions: Decisions, found: _Found, turns: pl.DataFrame, scale: int) -> None:
    """Check that score = start value + luck - regret in every game.

    Raises:
        MagsimError: if not.
    """
    first = np.flatnonzero(np.diff(decisions.game, prepend=-1))
    luck, regret = (np.add.reduceat(column, first) for column in (found.luck, found.regret))
    score = turns.group_by("game", maintain_order=True).agg(pl.col("score").last())["score"]
    summed = found.expected[first] + luck - regret
    wrong = np.flatnonzero(summed != score.to_numpy().astype(np.int64) * scale)
    if len(wrong):
        start, luck, regret, total = (
            column[wrong[0]] / scale for column in (found.expected[first], luck, regret, summed)
        )
        raise MagsimError(
            f"game {decisions.game[first[wrong[0]]]}: start value {start:.7f} + luck {luck:.7f} "
            f"- regret {regret:.7f} is {total:.7f}, not the score {score[int(wrong[0])]}"
        )


def _frame(decisions: Decisions, found: _Found, scale: int) -> pl.DataFrame:
    columns = {
        "game": decisions.game,
        "turn": decisions.turn,
        "step": decisions.step,
        "kind": pl.Series(KINDS, dtype=SCHEMA["kind"]).gather(found.kind),
        "luck": found.luck / scale,
        "best": found.best / scale,
        "regret": found.regret / scale,
    }
    return pl.DataFrame(columns).cast(pl.Schema(SCHEMA))


def _where(decisions: Decisions, row: int) -> str:
    return f"game {decisions.game[row]}, turn {decisions.turn[row]}"
