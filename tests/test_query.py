"""``magsim query``: answers are those of the rows, in every form; what is wrong is one sentence."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from small_runs import make_run

from magsim import records
from magsim.asking import Watch
from magsim.cli import main
from magsim.errors import MagsimError
from magsim.manifest import read_manifest
from magsim.reading.query import Question
from magsim.rules import PEACEFUL, SURVIVAL

ODD = "odd[bold]"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    watch = Watch(600)
    path = tmp_path_factory.mktemp("run") / "r"
    return make_run(path, watch, {"first": 10, ODD: 5}, (PEACEFUL, SURVIVAL))


def query(run: Path, sql: str, *words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["query", str(run), sql, *words])
    return result.exit_code, result.stdout, result.stderr


def rows(run: Path, sql: str) -> list[tuple[str, ...]]:
    """The answer as CSV has it, without its head."""
    code, out, err = query(run, sql, "--format", "csv")
    assert (code, err) == (0, "")
    return [tuple(row) for row in csv.reader(io.StringIO(out))][1:]


def scan(run: Path, table: str) -> pl.DataFrame:
    return records.scan(run, table, read_manifest(run)).collect()


def test_both_tables_are_asked_with_difficulty_and_bot(run: Path) -> None:
    sql = """
        WITH best AS (SELECT difficulty, bot, MAX(score) AS score FROM games GROUP BY ALL)
        SELECT t.difficulty, t.bot, COUNT(*) FROM turns t
        JOIN best b ON t.difficulty = b.difficulty AND t.bot = b.bot AND t.score = b.score
        GROUP BY t.difficulty, t.bot ORDER BY t.difficulty, t.bot
    """
    turns, games = scan(run, "turns"), scan(run, "games")
    best = games.group_by("difficulty", "bot").agg(pl.col("score").max())
    matched = turns.join(best, on=["difficulty", "bot", "score"])
    counted = matched.group_by("difficulty", "bot").len().sort("difficulty", "bot")
    assert rows(run, sql) == [(d, b, str(n)) for d, b, n in counted.rows()]


def test_enumerations_are_texts(run: Path) -> None:
    turns = scan(run, "turns")
    wanted = turns.filter(pl.col("roll").cast(str).str.starts_with("1"), magdagdon="rescued")
    sql = "SELECT COUNT(*) FROM turns WHERE magdagdon = 'rescued' AND roll LIKE '1%'"
    assert rows(run, sql) == [(str(len(wanted)),)]
    assert rows(run, "SELECT COUNT(*) FROM turns WHERE ruin = 'no such cell'") == [("0",)]


def test_json_holds_every_row_as_an_object_a_line(run: Path) -> None:
    code, out, err = query(run, "SELECT * FROM turns", "--format", "json")
    assert (code, err) == (0, "")
    assert [json.loads(line) for line in out.splitlines()] == scan(run, "turns").to_dicts()


def test_csv_holds_every_row(run: Path) -> None:
    turns = scan(run, "turns")
    assert len(turns) > 100
    assert len(rows(run, "SELECT * FROM turns")) == len(turns)


def test_a_table_shows_a_hundred_rows_and_says_that_there_are_more(run: Path) -> None:
    code, out, err = query(run, "SELECT game AS g FROM turns")
    assert code == 0
    assert sum(line.strip().isdigit() for line in out.splitlines()) == 100
    assert "first 100 rows" in err
    assert "--format" in err
    code, out, err = query(run, "SELECT game AS g FROM turns LIMIT 100")
    assert sum(line.strip().isdigit() for line in out.splitlines()) == 100
    assert (code, err) == (0, "")


def test_a_row_of_a_table_is_one_line_and_texts_stay_as_they_are(run: Path) -> None:
    sql = f"SELECT *, 'a\x1b[31m\nb' AS \"[red]x\" FROM turns WHERE bot = '{ODD}' LIMIT 1"
    code, out, _ = query(run, sql)
    assert code == 0
    head, row = (line.split() for line in out.splitlines() if "─" not in line and line.strip())
    assert head == [*records.SCAN_COLUMNS, *records.TURNS_SCHEMA, "[red]x"]
    assert row[1] == ODD
    assert row[-1] == r"a\x1b[31m\nb"


WRONG = {
    "": "is empty",
    " -- SELECT 1": "is empty",
    "DROP TABLE turns": "begins with SELECT or WITH, not with 'DROP'",
    "DELETE FROM games": "not with 'DELETE'",
    "SELEC score FROM games": "not with 'SELEC'",
    "SELECT 1; SELECT 2": "(and only one) statement",
    "SELECT score FROM games WHERE": "Expected: an expression",
    "SELECT scor FROM games": '"scor" (turns: difficulty, bot, game, turn,',
    "SELECT * FROM plays": "'plays' was not found (tables: turns, games;",
    "SELECT nothing(score) FROM games": "unsupported function 'nothing'",
    "SELECT score + bot FROM games": "arithmetic on",
    "SELECT score FROM games WHERE score = 'x'": "cannot compare",
    "SELECT CAST(bot AS INT) FROM games": "failed in column 'bot'",
    "SELECT * FROM read_csv('/etc/passwd')": "tables turns and games of the run, and no other",
    "SELECT g.* FROM games g, READ_parquet -- a '\n ('x')": "no other file by READ_parquet()",
    "SELECT 'it''s' FROM \"read_json\"/* ' */('x')": "no other file by read_json()",
    "WITH a AS (SELECT * FROM `read_ipc`('x')) SELECT * FROM a": "no other file by read_ipc()",
    "SELECT $a$'$a$ AS a$$, * FROM read_ndjson('x') AS b$$": "no other file by read_ndjson()",
    "SELECT * FROM '/etc/passwd'": "'/etc/passwd' was not found",
}


@pytest.mark.parametrize("sql", WRONG)
def test_a_wrong_query_is_one_sentence(run: Path, sql: str) -> None:
    for form in ("table", "csv"):
        code, out, err = query(run, sql, "--format", form)
        assert (code, err.count("\n")) == (2, 1), err
        assert out.count("\n") <= (form == "csv"), out  # the head may be out before it is known
        assert err.startswith("magsim: ")
        assert WRONG[sql] in err


def test_a_folder_that_is_no_run_is_one_sentence(tmp_path: Path) -> None:
    code, _, err = query(tmp_path, "SELECT 1")
    assert code == 2
    assert "is no run" in err


@pytest.mark.parametrize("keep", [0, 3000])
def test_a_damaged_part_is_named(tmp_path: Path, watch: Watch, keep: int) -> None:
    run = make_run(tmp_path / "run", watch, {"first": 3, "second": 3}, (SURVIVAL,))
    part = next(run.glob("turns/*/bot=second/*.parquet"))
    part.write_bytes(part.read_bytes()[:keep])
    for form in ("table", "csv", "json"):
        code, _, err = query(run, "SELECT SUM(score) AS s FROM turns", "--format", form)
        assert (code, err.count("\n")) == (2, 1), err
        assert f"{part} is damaged" in err
    assert query(run, "SELECT COUNT(*) FROM games")[0] == 0


def test_a_part_that_decodes_but_is_not_as_written_is_damaged(tmp_path: Path, watch: Watch) -> None:
    run = make_run(tmp_path / "run", watch, {"first": 3}, (SURVIVAL,))
    (part,) = run.glob("games/*/*/*.parquet")
    pl.read_parquet(part).with_columns(pl.col("score") + 1).write_parquet(part)
    for sql in ("SELECT SUM(score) FROM games", 'SELECT COUNT(*) FROM "GAMES"'):
        code, out, err = query(run, sql)
        assert (code, out) == (2, "")
        assert err == f"magsim: {part} is damaged: its bytes are not those that were written\n"
    assert query(run, "SELECT COUNT(*) FROM turns")[0] == 0


def test_a_text_or_a_name_may_look_like_a_function_that_reads(run: Path) -> None:
    sql = "SELECT 'read_csv(''x'')' AS read_csv, $$scan_csv(a)$$ AS b -- read_csv('x')\n FROM games"
    assert rows(run, f"{sql} LIMIT 1") == [("read_csv('x')", "scan_csv(a)")]


class Refusing(io.BytesIO):
    """Takes no bytes."""

    def __init__(self, error: OSError) -> None:
        self.error = error

    def write(self, _data: object) -> int:
        raise self.error


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_full_disk_is_told_from_a_reader_that_went_away(run: Path, form: str) -> None:
    question = Question(run, "SELECT * FROM turns")
    with pytest.raises(MagsimError, match=r"cannot be written: No space left"):
        question.write(form, Refusing(OSError(28, "No space left on device")))
    with pytest.raises(BrokenPipeError):
        question.write(form, Refusing(BrokenPipeError()))


def test_a_pipe_that_closes_early_is_left_in_silence(run: Path) -> None:
    words = ["query", str(run), "SELECT a.* FROM turns a, turns b, games c", "--format", "csv"]
    with subprocess.Popen(
        [sys.executable, "-m", "magsim", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"difficulty,bot,game,")
        process.stdout.close()
        assert process.stderr.read() == b""
