"""Bots in files: found by their path, read anew, refused in one sentence."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from bot_specs import refusal

from magsim.registry import fingerprint, load_bot, worker_spec

WriteBot = Callable[[str], Path]

MINE = """
from magsim.bot import Bot, Position, option
from magsim.decision import Decision

class Mine(Bot):
    width: int = option(3, "how wide", minimum=1)

    def decide(self, position: Position) -> Decision:
        return position.decisions()[0]
"""


@pytest.fixture
def write(tmp_path: Path) -> WriteBot:
    def write_bot(source: str) -> Path:
        path = tmp_path / "my_bot.py"
        path.write_text(source)
        return path

    return write_bot


def test_a_file_is_a_bot_by_its_path(write):
    bot = load_bot(f"{write(MINE)}:width=5")
    assert type(bot).__name__ == "Mine"
    assert (bot.width, bot.spec) == (5, "my_bot.py:width=5")
    assert load_bot(f"{write(MINE)}:width=3").spec == "my_bot.py"


def test_a_relative_path_is_one_from_here(write, monkeypatch):
    monkeypatch.chdir(write(MINE).parent)
    assert load_bot("my_bot.py").spec == "my_bot.py"
    assert load_bot("./my_bot.py:width=4").spec == "my_bot.py:width=4"


def test_a_file_is_read_anew_each_time(write):
    assert load_bot(str(write(MINE))).width == 3
    assert load_bot(str(write(MINE.replace("option(3", "option(30")))).width == 30


def test_options_of_a_file_are_checked_like_others(write):
    path = write(MINE)
    assert refusal(f"{path}:width=0") == (
        f"bot '{path}:width=0': option width=0 is to be a whole number, at least 1"
    )
    assert "unknown option 'widht'; did you mean 'width'?" in refusal(f"{path}:widht=5")


def test_a_missing_file_is_named_in_full(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refusal("my_bot.py") == f"bot file {tmp_path}/my_bot.py: there is no such file"
    assert refusal("my_bot.py:width=3") == f"bot file {tmp_path}/my_bot.py: there is no such file"
    (tmp_path / "folder.py").mkdir()
    assert refusal("folder.py") == f"bot file {tmp_path}/folder.py: there is no such file"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import nowhere_at_all", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("def broken(:", "SyntaxError: "),
    ],
)
def test_a_file_that_does_not_import_says_why(write, source, why):
    path = write(source)
    assert refusal(str(path)).startswith(f"bot file {path} does not import: {why}")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("", "none"),
        ("from magsim.bot import Bot", "none"),
        ("from magsim.bot import Bot\nclass _Base(Bot): ...", "none"),
        ("class Mine: ...", "none"),
        ("from magsim.bot import Bot\nclass A(Bot): ...\nclass B(Bot): ...", "A, B"),
    ],
)
def test_a_file_is_to_define_one_public_bot(write, source, found):
    path = write(source)
    assert refusal(str(path)) == (
        f"bot file {path}: it must define exactly one public subclass of magsim.bot.Bot, "
        f"it defines {found}"
    )


def test_a_file_may_build_on_other_bots_and_on_a_private_base(write):
    path = write(
        MINE.replace("class Mine", "class _Base")
        + "from magsim_bots.random import Random\n"
        + "class Best(_Base):\n    height: int = option(7, 'how high')\n"
    )
    assert load_bot(f"{path}:height=1:width=1").spec == "my_bot.py:width=1:height=1"


def test_a_file_may_postpone_its_annotations(write):
    bot = load_bot(f"{write('from __future__ import annotations' + MINE)}:width=5")
    assert bot.width == 5


@pytest.mark.parametrize(
    "kind", ["list", "int | None", "Position", "'list'", "'Nothing'", "'int' 3"]
)
def test_an_option_of_another_type_is_refused(write, kind):
    path = write(MINE.replace("width: int", f"width: {kind}"))
    assert "my_bot.py" in refusal(str(path)) or "Mine" in refusal(str(path))


def test_an_option_of_another_type_is_told_which_there_are(write):
    path = write(MINE.replace("width: int", "width: list"))
    assert refusal(str(path)) == (
        "bot Mine: option 'width' is to be annotated as int, float, bool or str, not <class 'list'>"
    )


def test_an_option_without_an_annotation_is_refused(write):
    path = write(MINE.replace("width: int", "width"))
    assert refusal(str(path)) == (
        f"bot file {path} does not import: TypeError: 'width' is a field but has no type annotation"
    )


def test_a_bot_that_fails_when_it_is_set_up_says_why(write):
    path = write(MINE + "    def __post_init__(self):\n        raise ValueError('too wide')\n")
    assert refusal(f"{path}:width=5") == (
        f"bot '{path}:width=5' cannot be set up: ValueError: too wide"
    )


def test_a_worker_gets_an_absolute_path(write, monkeypatch):
    path = write(MINE)
    monkeypatch.chdir(path.parent)
    assert worker_spec("my_bot.py:width=5") == f"{path}:width=5"
    assert worker_spec(f"{path}") == str(path)
    assert worker_spec("mcts:iterations=5") == "mcts:iterations=5"


def test_the_fingerprint_of_a_file_is_its_digest_and_changes_with_it(write):
    path = write(MINE)
    before = fingerprint(f"{path}:width=5")
    assert before == f"sha256:{hashlib.sha256(MINE.encode()).hexdigest()}"
    write(MINE + "\n# changed\n")
    assert fingerprint(f"{path}:width=5") != before
