"""Experiment files as texts: read, or refused in one sentence."""

from pathlib import Path

import pytest

from magsim.errors import MagsimError
from magsim.experiments.question import Question, read_question

TOP = """
question = "How much?"
bots = ["one", "two:depth=2"]
games = 7
"""

STEPS = '[verdict]\nkind = "steps"\n'
EFFECT = '[verdict]\nkind = "effect"\n'


def read(tmp_path: Path, text: str) -> Question:
    file = tmp_path / "asked.toml"
    file.write_text(text, encoding="utf-8")
    return read_question(file)


def refusal(tmp_path: Path, text: str) -> str:
    """The one sentence with which a file is refused, without the file's name."""
    with pytest.raises(MagsimError) as caught:
        read(tmp_path, text)
    where, file, message = str(caught.value).partition("asked.toml")
    assert where.startswith("experiment file")
    assert file
    assert "\n" not in message
    return message


GRID = "[grid]\nfour = [20, 40]\n"
