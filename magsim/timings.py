"""Wall times of a run's chunks, kept beside the records because they are never the same twice."""

import json
import math
from collections import defaultdict
from pathlib import Path
from typing import TextIO

FILE = "timings.jsonl"


def open_timings(run: Path) -> TextIO:
    """The run's file of times, for appending; a line cut short by a kill is closed first."""
    path = run / FILE
    torn = path.exists() and not path.read_bytes().endswith(b"\n")
    file = path.open("a", encoding="utf-8")
    if torn:
        file.write("\n")
    return file


def add_timing(
    file: TextIO, bot: str, difficulty: str, first: int, decisions: int, seconds: float
) -> None:
    """Note what a chunk took: the ``seconds`` spent in the bot for so many decisions."""
    entry = {"bot": bot, "difficulty": difficulty, "first": first, "decisions": decisions}
    file.write(json.dumps(entry | {"seconds": round(float(seconds), 6)}) + "\n")
    file.flush()


def milliseconds_per_decision(run: Path) -> dict[tuple[str, str], float]:
    """Wall milliseconds by difficulty and bot, over the chunks whose time is known.

    A line that is none of ours (cut short by a kill, edited) is passed over: no record needs it.
    """
    path = run / FILE
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    decisions: dict[tuple[str, str], int] = defaultdict(int)
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    for line in text.splitlines():
        match _parse(line):
            case {
                "bot": str(bot),
                "difficulty": str(difficulty),
                "decisions": int(count),
                "seconds": float(took),
            } if 0 <= took < math.inf and count >= 0:
                seconds[difficulty, bot] += took
                decisions[difficulty, bot] += count
    return {key: 1000 * seconds[key] / decisions[key] for key in seconds if decisions[key]}


def _parse(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
