"""The Parquet records: columns, texts and types as documented; parts whole or absent."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from small_runs import make_run, write

import magsim
from magsim import records
from magsim.asking import Watch
from magsim.board import parse_board
from magsim.decision import parse_decision
from magsim.errors import MagsimError
from magsim.manifest import Plan, read_manifest
from magsim.rules import NIGHTMARE, PEACEFUL, Rules
from magsim.simulate import Played, PowerFirst, play_games


def play(rules: Rules, watch: Watch, games: int = 6) -> Played:
    return play_games(PowerFirst(), rules, 3, 0, games, watch)


def test_turns_read_as_their_own_notation(watch: Watch) -> None:
    played = play(PEACEFUL, watch)
    frame = records.turns_frame(played.turns)
    assert frame.schema == pl.Schema(records.TURNS_SCHEMA)
    assert len(frame) == len(played.turns.game)
    for row, board in zip(frame.iter_rows(named=True), played.turns.board, strict=True):
        assert parse_board(row["board"]) == board
        assert (row["placements"] is None) == (row["ruin"] is not None)
        assert (row["magdagdon"] == "accepted") == (row["ruin"] is not None)
        if row["placements"]:
            assert str(parse_decision(row["placements"])) == row["placements"]
        for text in (row["powers"] or "").split("; "):
            assert not text or str(parse_decision(text)) == text


def test_powers_stand_in_the_order_of_use(watch: Watch) -> None:
    frame = records.turns_frame(play(PEACEFUL, watch).turns)
    first = frame.filter(pl.col("turn") == 1)
    assert (first["powers"].str.count_matches("reroll") == 3).all()
    assert first["powers_left"].to_list() == [3] * 6
    assert first["powers"].str.starts_with(pl.lit("reroll ") + first["roll"].cast(str)).all()


def test_without_powers_the_column_is_null(watch: Watch) -> None:
    frame = records.turns_frame(play(NIGHTMARE, watch).turns)
    assert frame["powers"].null_count() == len(frame)
    assert frame["estimate"].null_count() == len(frame)


def test_games_add_up(watch: Watch) -> None:
    played = play(PEACEFUL, watch)
    games = records.games_frame(played.games, PEACEFUL)
    assert games.schema == pl.Schema(records.GAMES_SCHEMA)
    total = pl.col("base") + pl.col("bonuses") - pl.col("ruin_cost") - pl.col("power_cost")
    assert games.select((total == pl.col("score")).all()).item()
    turns = records.turns_frame(played.turns)
    last = turns.group_by("game", maintain_order=True).last()
    assert last["score"].to_list() == games["score"].to_list()
    assert last["board"].to_list() == games["board"].to_list()
    assert turns.group_by("game", maintain_order=True).len()["len"].to_list() == (
        games["turns"].to_list()
    )
    assert (games["power_cost"] == 70).all()


def test_a_chunk_is_read_back_with_bot_and_difficulty(watch: Watch, tmp_path: Path) -> None:
    run = tmp_path / "a=1" / "[odd]*"
    bot, rules = "my bot:level=2", Rules("odd/name+x=[1,2]", 2, (1, 2))
    played = play(rules, watch)
    write(run, bot, rules, played)
    for table, frame in (
        ("turns", records.turns_frame(played.turns)),
        ("games", records.games_frame(played.games, rules)),
    ):
        plan = Plan(3, 6, 6, {bot: ""}, (rules,))
        read = records.scan(run, table, plan).collect()
        assert read.drop("difficulty", "bot").equals(frame, null_equal=True)
        assert read["bot"].unique().to_list() == [bot]
        assert read["difficulty"].unique().to_list() == [rules.name]
        assert list(records.parts(run, table, rules.name, bot)) == [(0, 5)]


def test_enumerations_are_dictionary_columns_for_other_readers(
    watch: Watch, tmp_path: Path
) -> None:
    write(tmp_path, "bot", PEACEFUL, play(PEACEFUL, watch))
    part = next(tmp_path.glob("turns/*/*/*.parquet"))
    schema = pl.read_parquet_schema(part)
    assert all(isinstance(schema[name], pl.Enum) for name in ("roll", "dice", "ruin", "magdagdon"))


def test_a_part_that_cannot_be_written_leaves_nothing(
    watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: Path, _content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path, "bot", PEACEFUL, play(PEACEFUL, watch))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_damage_and_strangers_are_refused(watch: Watch, tmp_path: Path) -> None:
    write(tmp_path, "bot", PEACEFUL, play(PEACEFUL, watch))
    part = next(tmp_path.glob("games/*/*/*.parquet"))
    assert records.is_intact(part)
    part.write_bytes(part.read_bytes()[:-1])
    assert not records.is_intact(part)
    with pytest.raises(MagsimError, match="cannot be read"):
        records.read_part(part, "games")
    pl.DataFrame({"a": [1]}).write_parquet(part)
    with pytest.raises(MagsimError, match="columns are not those of games"):
        records.read_part(part, "games")
    (part.parent / "notes.parquet").write_text("")
    with pytest.raises(MagsimError, match="is no part of a run"):
        records.parts(tmp_path, "games", "peaceful", "bot")


def test_estimates_are_kept_and_none_is_null(watch: Watch) -> None:
    turns = play(PEACEFUL, watch).turns
    turns.estimate[0] = np.float32(12.5)
    frame = records.turns_frame(turns)
    assert frame["estimate"][0] == 12.5
    assert frame["estimate"].null_count() == len(frame) - 1


def test_a_run_is_loaded_as_two_lazy_frames(watch: Watch, tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", watch, {"first": 2, "second": 2}, (PEACEFUL, NIGHTMARE))
    turns, games = magsim.load(run)
    for frame, table in ((turns, "turns"), (games, "games")):
        assert isinstance(frame, pl.LazyFrame)
        schema = frame.collect_schema()
        assert list(schema) == [*records.SCAN_COLUMNS, *records.SCHEMAS[table]]
        assert all(schema[name] == dtype for name, dtype in records.SCHEMAS[table].items())
    assert magsim.load(str(run)).games.select(pl.len()).collect().item() == 8
    with pytest.raises(MagsimError, match="is no run"):
        magsim.load(tmp_path)


def test_one_game_is_read_out_of_its_part(watch: Watch, tmp_path: Path) -> None:
    write(tmp_path, "bot", PEACEFUL, play(PEACEFUL, watch))
    part = next(tmp_path.glob("turns/*/*/*.parquet"))
    whole = records.read_part(part, "turns")
    for game in (0, 5):
        assert records.read_part(part, "turns", game).equals(whole.filter(game=game))
    assert records.read_part(part, "turns", 6).is_empty()


def test_parts_can_be_counted_on_unless_one_is_damaged_or_without_turns(
    watch: Watch, tmp_path: Path
) -> None:
    run = make_run(tmp_path / "run", watch, {"first": 10, "second": 5}, (PEACEFUL, NIGHTMARE))
    plan = read_manifest(run)
    records.check_parts(run, plan)
    for table in records.TABLES:
        part = records.parts(run, table, "nightmare", "first")[5, 9]
        content = part.read_bytes()
        part.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(MagsimError, match=f"{re.escape(str(part))} is damaged"):
            records.check_parts(run, plan)
        part.write_bytes(content)
    games, turns = (
        records.parts(run, table, "peaceful", "first")[5, 9] for table in ("games", "turns")
    )
    turns.unlink()
    where = "turns of bot first, peaceful, games 5 to 9 are missing"
    with pytest.raises(MagsimError, match=where):
        records.check_parts(run, plan)
    games.unlink()  # a chunk that is not there at all is one still to play
    records.check_parts(run, plan)
