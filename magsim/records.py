"""The records of a run: the columns of its two Parquet tables, writing and reading parts of them.

``turns`` holds a row a turn, ``games`` a row a game, in Hive-style folders by difficulty and bot,
a part for each chunk of games. A part is written under a temporary name and then renamed, so that
what exists is whole; its name ends in the first digits of its SHA-256, so that it can vouch for
itself. The turns of a chunk are written before its games: where the games are, all is there.
"""

import hashlib
import io
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
import polars as pl

from magsim.board import CELL_NAMES, SIZE, SYMBOLS
from magsim.decision import POWER_KINDS, Power
from magsim.engine import FIRST_ROLL, HANDS
from magsim.errors import MagsimError, first_line
from magsim.manifest import Plan
from magsim.rules import Rules
from magsim.simulate import Games, Ints, Played, Turns

DataType = pl.DataType | type[pl.DataType]

TABLES = ("turns", "games")
MAGDAGDON = ("no", "rescued", "accepted")

_ROLLS = pl.Enum(["".join(map(str, hand)) for hand in HANDS[FIRST_ROLL:]])
_CELLS = pl.Enum(CELL_NAMES)
_MAGDAGDON = pl.Enum(MAGDAGDON)


class Column(NamedTuple):
    """A column of a table: its type in Parquet, and its meaning in a phrase."""

    dtype: DataType
    meaning: str


_TURNS = {
    "game": Column(pl.UInt32, "game index; the same dice for every bot and difficulty"),
    "turn": Column(pl.UInt8, "turn of the game, from 1"),
    "powers_left": Column(pl.UInt8, "Powers left before the turn"),
    "roll": Column(_ROLLS, "the roll: four ascending digits"),
    "powers": Column(pl.String, "Powers used, in order: '+3; reroll 14'; null if none"),
    "dice": Column(_ROLLS, "the dice after all Powers of the turn"),
    "placements": Column(
        pl.String, "dice and cells in an order of staging: '3b2 4b3'; null if a RUIN ended the turn"
    ),
    "magdagdon": Column(_MAGDAGDON, "MAGDAGDON: no, rescued (by a Power) or accepted (by a RUIN)"),
    "ruin": Column(_CELLS, "the cell that became a RUIN; null if none"),
    "board": Column(pl.String, "the board after the turn: its rows, top first; R is a RUIN"),
    "score": Column(pl.Int32, "the score after the turn, Powers paid so far, in points"),
    "estimate": Column(pl.Float32, "the final score that the bot expected; null if it gave none"),
}
_GAMES = {
    "game": Column(pl.UInt32, "game index; the same dice for every bot and difficulty"),
    "score": Column(pl.Int32, "final score: base + bonuses - ruin_cost - power_cost"),
    "base": Column(pl.Int32, "sum of the numbers, each in its row and its column"),
    "straights": Column(pl.UInt8, "how many STRAIGHTs"),
    "fours": Column(pl.UInt8, "how many FOURs OF A KIND"),
    "two_pairs": Column(pl.UInt8, "how many TWO PAIRS"),
    "bonuses": Column(pl.Int32, "points of these bonuses"),
    "ruins": Column(pl.UInt8, "how many RUINs"),
    "ruin_cost": Column(pl.Int32, "points that the RUINs cost"),
    "power_cost": Column(pl.Int32, "points that the Powers used cost"),
    "turns": Column(pl.UInt8, "how many turns"),
    "raises": Column(pl.UInt8, "how many Powers were a raise"),
    "lowers": Column(pl.UInt8, "how many Powers were a lower"),
    "rerolls": Column(pl.UInt8, "how many Powers were a reroll"),
    "board": Column(pl.String, "the final board: its rows, top first; R is a RUIN"),
}
COLUMNS = {"turns": _TURNS, "games": _GAMES}
SCAN_COLUMNS = {
    "difficulty": Column(pl.String, "name of the rules: a difficulty, with what was changed in it"),
    "bot": Column(pl.String, "canonical bot spec"),
}
"""What ``scan`` puts before the columns of either table; on disk they are in the folders' names."""


def _dtypes(columns: dict[str, Column]) -> dict[str, DataType]:
    return {name: column.dtype for name, column in columns.items()}


TURNS_SCHEMA = _dtypes(_TURNS)
GAMES_SCHEMA = _dtypes(_GAMES)
SCHEMAS = {"turns": TURNS_SCHEMA, "games": GAMES_SCHEMA}

READ_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What polars may raise at a file that is damaged or gone."""

_COMPRESSION_LEVEL = 3
_DIGEST = 16


def _gather(texts: Iterable[str], codes: Ints, dtype: DataType = pl.String) -> pl.Series:
    """The text of each code, null where it is negative."""
    words = [*texts, None]
    return pl.Series(words, dtype=dtype).gather(np.where(codes < 0, len(words) - 1, codes))


_ROW_TEXTS = [
    "".join(SYMBOLS[code >> 3 * cell & 7] for cell in range(SIZE)) for code in range(8**SIZE)
]


def _board_texts(boards: Ints) -> pl.Series:
    rows = {}
    for row in range(SIZE):
        bits = boards >> 16 * row
        code = bits & 7 | bits >> 1 & 0o70 | bits >> 2 & 0o700 | bits >> 3 & 0o7000
        rows[str(row)] = _gather(_ROW_TEXTS, code)
    return pl.DataFrame(rows).select(pl.concat_str(pl.all(), separator="/")).to_series()


def _joined(columns: list[pl.Series], separator: str) -> pl.Series:
    """Texts side by side, nulls left out; null where all are."""
    frame = pl.DataFrame({str(k): column for k, column in enumerate(columns)})
    text = pl.concat_str(pl.all(), separator=separator, ignore_nulls=True)
    return frame.select(pl.when(pl.col("0").is_not_null()).then(text)).to_series()


def _power_texts(powers: Ints) -> pl.Series:
    texts = [str(Power(kind, hand)) for kind in POWER_KINDS for hand in HANDS]
    codes = np.where(powers < 0, -1, (powers >> 8) * len(HANDS) + (powers & 255))
    columns = [_gather(texts, codes[:, k]) for k in range(powers.shape[1])]
    return _joined(columns, "; ") if columns else pl.Series([None] * len(powers), dtype=pl.String)


def _placement_texts(turns: Turns) -> pl.Series:
    texts = [f"{die}{cell}" for die in range(8) for cell in CELL_NAMES]
    columns = []
    for cells in turns.cells.T:
        dice = turns.board >> 4 * np.maximum(cells, 0) & 7
        columns.append(_gather(texts, np.where(cells < 0, -1, dice * len(CELL_NAMES) + cells)))
    return _joined(columns, " ")


def turns_frame(turns: Turns) -> pl.DataFrame:
    """The ``turns`` table of what was played."""
    columns = {
        "game": turns.game,
        "turn": turns.turn,
        "powers_left": turns.powers_left,
        "roll": _gather(_ROLLS.categories, turns.roll - FIRST_ROLL, _ROLLS),
        "powers": _power_texts(turns.powers),
        "dice": _gather(_ROLLS.categories, turns.hand - FIRST_ROLL, _ROLLS),
        "placements": _placement_texts(turns),
        "magdagdon": _gather(MAGDAGDON, turns.magdagdon, _MAGDAGDON),
        "ruin": _gather(CELL_NAMES, turns.ruin, _CELLS),
        "board": _board_texts(turns.board),
        "score": turns.score,
        "estimate": pl.Series(turns.estimate, nan_to_null=True),
    }
    return pl.DataFrame(columns).cast(pl.Schema(TURNS_SCHEMA))


def games_frame(games: Games, rules: Rules) -> pl.DataFrame:
    """The ``games`` table of what was played."""
    base, straights, fours, two_pairs, ruins = games.parts.T
    bonuses = rules.straight * straights + rules.four * fours + rules.two_pairs * two_pairs
    ruin_cost = rules.ruin_penalty * ruins
    power_cost = np.cumsum([0, *rules.power_costs])[games.powers.sum(axis=1)]
    raises, lowers, rerolls = games.powers.T
    columns = {
        "game": games.game,
        "score": base + bonuses - ruin_cost - power_cost,
        "base": base,
        "straights": straights,
        "fours": fours,
        "two_pairs": two_pairs,
        "bonuses": bonuses,
        "ruins": ruins,
        "ruin_cost": ruin_cost,
        "power_cost": power_cost,
        "turns": games.turns,
        "raises": raises,
        "lowers": lowers,
        "rerolls": rerolls,
        "board": _board_texts(games.board),
    }
    return pl.DataFrame(columns).cast(pl.Schema(GAMES_SCHEMA))


def part_folder(run: Path, table: str, difficulty: str, bot: str) -> Path:
    """The folder of a bot's parts at a difficulty; names are percent-encoded where they must be."""
    return run / table / f"difficulty={quote(difficulty, safe='')}" / f"bot={quote(bot, safe='+,')}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGEST]


def encode(frame: pl.DataFrame) -> bytes:
    """A table as the bytes of a Parquet file."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", compression_level=_COMPRESSION_LEVEL)
    return buffer.getvalue()


def encode_chunk(rules: Rules, played: Played) -> dict[str, bytes]:
    """The parts of a chunk by table."""
    frames = {"turns": turns_frame(played.turns), "games": games_frame(played.games, rules)}
    return {table: encode(frame) for table, frame in frames.items()}


def write_part(folder: Path, games: tuple[int, int], content: bytes, origin: str = "") -> None:
    """Write a part of the first to the last of ``games``, whole, in place of an older one.

    ``origin`` is put into its name, to say what it was made from. Whoever is killed just before it
    has its name may leave neither: it is made again.

    Raises:
        OSError: if the disk refuses.
    """
    name = f"{games[0]:09d}-{games[1]:09d}"
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{games[0]:09d}.{os.getpid()}.tmp"
    try:
        temporary.write_bytes(content)
        for older in folder.glob(f"{name}.*.parquet"):
            older.unlink()  # of a chunk that was cut short, by a bot that does not repeat itself
        temporary.replace(folder / f"{name}{origin}.{_digest(content)}.parquet")
    finally:
        temporary.unlink(missing_ok=True)


def write_chunk(
    run: Path, bot: str, difficulty: str, games: tuple[int, int], parts: dict[str, bytes]
) -> None:
    """Write a chunk's turns, then its games: the first to the last of ``games``.

    Raises:
        OSError: if the disk refuses; no part is left half-written.
    """
    for table in TABLES:
        write_part(part_folder(run, table, difficulty, bot), games, parts[table])


def parts(run: Path, table: str, difficulty: str, bot: str) -> dict[tuple[int, int], Path]:
    """The parts of a bot at a difficulty by first and last game index, ascending.

    Raises:
        MagsimError: if two parts hold the same games, or a file is none of ours.
    """
    found: dict[tuple[int, int], Path] = {}
    for path in sorted(part_folder(run, table, difficulty, bot).glob("*.parquet")):
        games, _, _ = path.name.partition(".")
        first, dash, last = games.partition("-")
        if not (dash and first.isdigit() and last.isdigit()):
            raise MagsimError(
                f"{path} is no part of a run, its name should begin with two numbers; move it away"
            )
        key = int(first), int(last)
        if key in found:
            raise MagsimError(f"{path} and {found[key].name} both claim games {games}")
        found[key] = path
    return found


def digest_in(part: Path) -> str:
    """The digits in a part's name that stand for its bytes."""
    return part.name.split(".")[-2]


def is_intact(part: Path) -> bool:
    """Whether a part's bytes can be read and are those that its name vouches for."""
    try:
        return digest_in(part) == _digest(part.read_bytes())
    except OSError:
        return False


def remove_temporaries(run: Path) -> None:
    """Remove temporary files of processes that are gone."""
    for path in run.glob("*/*/*/.*.tmp"):
        match = re.fullmatch(r"\.\d{9,}\.(\d+)\.tmp", path.name)
        if match and not _is_running(int(match[1])):
            path.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def planned_parts(run: Path, table: str, plan: Plan, rules: Rules, bot: str) -> list[Path]:
    """The parts of a bot at a difficulty that the plan asks for and that exist, by game."""
    found = parts(run, table, rules.name, bot)
    keys = ((first, first + games - 1) for first, games in plan.chunks())
    return [found[key] for key in keys if key in found]


def check_part(part: Path) -> None:
    """Check that a part's bytes are those that its name vouches for.

    Raises:
        MagsimError: if not, or if it cannot be read.
    """
    if not is_intact(part):
        raise MagsimError(f"{part} is damaged: its bytes are not those that were written")


def check_parts(run: Path, plan: Plan, tables: Iterable[str] = TABLES) -> None:
    """Check that what is there of tables can be counted on: whole bytes, no games without turns.

    Raises:
        MagsimError: if a part is damaged or missing, naming the first.
    """
    for rules in plan.rules:
        for bot in plan.bots:
            found = {table: parts(run, table, rules.name, bot) for table in TABLES}
            for first, games in plan.chunks():
                key = first, first + games - 1
                if "turns" in tables and key in found["games"] and key not in found["turns"]:
                    raise MagsimError(missing_turns(run, rules.name, bot, *key))
                for table in tables:
                    if key in found[table]:
                        check_part(found[table][key])


def missing_turns(run: Path, difficulty: str, bot: str, first: int, last: int) -> str:
    """What to say where there are games without their turns."""
    return (
        f"run {run}: the turns of bot {bot}, {difficulty}, games {first} to {last} are missing; "
        "the same tournament command plays them again"
    )


def strangers(run: Path, plan: Plan) -> Iterator[Path]:
    """Files among the records that the plan does not ask for."""
    for table in TABLES:
        planned = {
            path
            for rules in plan.rules
            for bot in plan.bots
            for path in planned_parts(run, table, plan, rules, bot)
        }
        for path in sorted((run / table).rglob("*.parquet")):
            if path not in planned:
                yield path


def scan_parts(parts: Iterable[Path]) -> pl.LazyFrame:
    """Parts of one table, lazily, one after another, with its own columns."""
    # Named file by file: in a run's path, signs of patterns and of Hive folders mean nothing.
    files = [path.resolve() for path in parts]
    return pl.scan_parquet(files, glob=False, hive_partitioning=False)


def scan(run: Path, table: str, plan: Plan) -> pl.LazyFrame:
    """A table of a run, lazily, with the columns ``difficulty`` and ``bot`` before its own.

    Rows are in the plan's order of difficulties and bots, then by game; ``turns`` also by turn.

    Raises:
        MagsimError: if the run has no part of it.
    """
    frames = []
    for rules in plan.rules:
        for bot in plan.bots:
            found = planned_parts(run, table, plan, rules, bot)
            if found:
                columns = pl.lit(rules.name).alias("difficulty"), pl.lit(bot).alias("bot")
                frames.append(scan_parts(found).select(*columns, pl.all()))
    if not frames:
        raise MagsimError(f"run {run}: there are no {table} in it yet")
    return pl.concat(frames)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence standard error for a while: polars, meeting damaged bytes, may panic there."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def read_part(part: Path, table: str, game: int | None = None) -> pl.DataFrame:
    """A part's rows, or those of one game.

    Raises:
        MagsimError: if the file is no readable Parquet, or its columns are not the table's.
    """
    lazy = scan_parts([part])
    try:
        if lazy.collect_schema() != pl.Schema(SCHEMAS[table]):
            raise MagsimError(f"{part}: its columns are not those of {table}")
        return (lazy if game is None else lazy.filter(pl.col("game") == game)).collect()
    except READ_ERRORS as error:
        raise MagsimError(f"{part} cannot be read: {first_line(error)}") from error
