"""The machine-made cases of an independent program (RULES.md, "The cases")."""

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from magsim.board import format_board

DATA = Path(__file__).parent / "data"


@cache
def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


def each(name: str) -> pytest.MarkDecorator:
    """Run a test with every ``case`` of a file, named by what it starts from."""
    found = lines(name)
    names = [
        " ".join(str(case[k]) for k in ("board", "dice", "minimum") if k in case) for case in found
    ]
    return pytest.mark.parametrize("case", found, ids=names)


def digest(boards: Iterable[int]) -> str:
    """The ``sha256`` of a case: 16 hex digits over the sorted texts of boards."""
    text = "\n".join(sorted(format_board(int(board)) for board in boards))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
