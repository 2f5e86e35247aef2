"""``magsim verify`` finds what was done to a run, whatever it was."""

import hashlib
import io
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from magsim.cli import main

pytestmark = pytest.mark.usefixtures("workers_stay")


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "pristine"
    words = ["tournament", "--bots", "random,greedy", "--games", "12", "--chunk", "6"]
    result = CliRunner().invoke(main, [*words, "--out", str(run)])
    assert result.exit_code == 0, result.output
    return run


@pytest.fixture
def run(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "run"))


def verify(run: Path, *words: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["verify", str(run), "--jobs", "2", *words])
    return result.exit_code, result.output


def part(run: Path, table: str, first: int = 0) -> Path:
    folder = run / table / "difficulty=peaceful" / "bot=random"
    return next(folder.glob(f"{first:09d}-*.parquet"))


def rewrite(path: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """Change a part's rows and give the file the name that its new bytes deserve."""
    buffer = io.BytesIO()
    change(pl.read_parquet(path, hive_partitioning=False)).write_parquet(buffer)
    digest = hashlib.sha256(buffer.getvalue()).hexdigest()[:16]
    path.unlink()
    path.with_name(f"{path.name.split('.')[0]}.{digest}.parquet").write_bytes(buffer.getvalue())


def set_cell(column: str, row: int, value: object) -> Callable[[pl.DataFrame], pl.DataFrame]:
    def change(frame: pl.DataFrame) -> pl.DataFrame:
        values = frame[column].to_list()
        assert values[row] != value
        values[row] = value
        return frame.with_columns(pl.Series(column, values, dtype=frame.schema[column]))

    return change


def test_a_run_as_played_is_right(run: Path) -> None:
    code, output = verify(run)
    assert code == 0, output
    assert "72 games" in output


def test_a_sample_replays_only_so_many_games(run: Path) -> None:
    code, output = verify(run, "--sample", "5")
    assert code == 0, output
    assert "5 games" in output


@pytest.mark.parametrize("table", ["turns", "games"])
@pytest.mark.parametrize("place", [0, 0.5, -1])
def test_a_flipped_byte_is_found_even_by_a_small_sample(
    run: Path, table: str, place: float
) -> None:
    path = part(run, table)
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 1
    path.write_bytes(content)
    code, output = verify(run, "--sample", "1")
    assert code == 2
    assert path.name in output
    assert "damaged" in output


@pytest.mark.parametrize("table", ["turns", "games"])
def test_a_missing_part_is_named(run: Path, table: str) -> None:
    part(run, table, 6).unlink()
    code, output = verify(run)
    assert code == 2
    assert f"bot random, peaceful: the {table} of games 6 to 11 are missing" in output


def test_a_part_beside_the_plan_is_named(run: Path) -> None:
    path = part(run, "games", 6)
    shutil.copy(
        path, path.with_name(path.name.replace("000000006-000000011", "000000012-000000017"))
    )
    code, output = verify(run)
    assert code == 2
    assert "000000012-000000017" in output
    assert "is not in the plan" in output


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("score", 9999),
        ("base", 7),
        ("straights", 8),
        ("fours", 8),
        ("two_pairs", 8),
        ("bonuses", 999),
        ("ruins", 16),
        ("ruin_cost", 999),
        ("power_cost", 999),
        ("turns", 17),
        ("raises", 9),
        ("lowers", 9),
        ("rerolls", 9),
        ("board", "RRRR/RRRR/RRRR/RRRR"),
        ("game", 99),
    ],
)
def test_an_edited_game_is_found(run: Path, column: str, value: object) -> None:
    rewrite(part(run, "games"), set_cell(column, 2, value))
    code, output = verify(run)
    assert code == 2, output
    if column != "game":
        assert f"bot random, peaceful, game 2: {column} is {value!r}" in output


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("score", 9999),
        ("turn", 9),
        ("powers_left", 9),
        ("roll", "1111"),
        ("powers", "+1; +1; +1; +1"),
        ("dice", "1111"),
        ("placements", "1a1 1d4"),
        ("magdagdon", "rescued"),
        ("ruin", "a1"),
        ("board", "RRRR/RRRR/RRRR/RRRR"),
        ("game", 99),
    ],
)
def test_an_edited_turn_is_found_and_is_the_first_one_named(
    run: Path, column: str, value: object
) -> None:
    rewrite(part(run, "turns"), set_cell(column, 0, value))
    rewrite(part(run, "turns"), set_cell("score", 3, -9999))
    code, output = verify(run)
    assert code == 2, output
    if column != "game":
        assert "bot random, peaceful, game 0, turn" in output
        assert "-9999" not in output.split(" (and")[0]


def test_turns_in_another_order_are_found(run: Path) -> None:
    rewrite(part(run, "turns"), lambda frame: frame.reverse())
    assert verify(run)[0] == 2


def test_another_seed_in_the_manifest_is_found(run: Path) -> None:
    manifest = run / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"seed": 1', '"seed": 2'))
    code, output = verify(run)
    assert code == 2
    assert "roll is" in output


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 1}', '{"format": 99}'])
def test_a_broken_manifest_is_one_sentence(run: Path, content: str) -> None:
    (run / "manifest.json").write_text(content)
    code, output = verify(run)
    assert code == 2
    assert "manifest.json" in output
    assert len(output.splitlines()) == 1


def test_no_run_is_one_sentence(tmp_path: Path) -> None:
    code, output = verify(tmp_path)
    assert code == 2
    assert "is no run" in output


def test_a_resumed_tournament_refuses_a_damaged_part(run: Path) -> None:
    path = part(run, "games")
    content = bytearray(path.read_bytes())
    content[50] ^= 1
    path.write_bytes(content)
    words = ["tournament", "--bots", "random,greedy", "--games", "12", "--chunk", "6"]
    result = CliRunner().invoke(main, [*words, "--out", str(run)])
    assert result.exit_code == 2
    assert "is damaged" in result.output
    path.unlink()
    result = CliRunner().invoke(main, [*words, "--out", str(run)])
    assert result.exit_code == 0
    assert verify(run)[0] == 0


def test_rows_smuggled_in_before_the_true_ones_are_found(run: Path) -> None:
    def smuggle(frame: pl.DataFrame) -> pl.DataFrame:
        false = frame.filter(pl.col("game") == 0).with_columns(score=pl.lit(9999, pl.Int32))
        return pl.concat([false, frame])

    rewrite(part(run, "turns"), smuggle)
    code, output = verify(run)
    assert code == 2
    assert "game 0, turn 1: score is 9999" in output


@pytest.mark.parametrize("text", ["", "reroll  1", "+3;+4"])
def test_powers_in_another_notation_are_found(run: Path, text: str) -> None:
    rewrite(part(run, "turns"), set_cell("powers", 0, text))
    assert verify(run)[0] == 2
