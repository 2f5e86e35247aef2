"""Experiments asked about made-up runs, and boards turned by hand."""

from pathlib import Path

import by_hand
from by_hand import Records, Row, mean_and_width

from magsim.experiments.answers import Answers, answer
from magsim.experiments.question import keep, read_question

TOP = 'question = "How much?"\nbots = ["tinker", "careful"]\ngames = 20\n'
GRID = TOP + 'difficulty = "survival"\n[grid]\npowers = [2, 1]\npower_cost = [120, 0, 70]\n'


def keep_text(text: str, run: Path) -> Path:
    """Keep an experiment's file of this text in a run."""
    file = run.parent / "asked.toml"
    file.write_text(text)
    keep(file, run)
    return file


def ask(run: Path, text: str) -> Answers:
    """Answer another question about the same points."""
    keep_text(text, run)
    return answer(run)


def play(run: Path, text: str, bots: tuple[str, ...], games: int) -> Path:
    """A run of an experiment by the bots of ``by_hand``."""
    run.mkdir()
    question = read_question(keep_text(text, run))
    return by_hand.make_run(run, dict.fromkeys(bots, games), chunk=games, rules=question.rules)


def measure(game: Row, name: str) -> int:
    if name == "powers":
        return game["used"]
    return int(game["used"] > 0) if name == "used" else game[name]


def column(recorded: Records, rules: str, bot: str, name: str) -> dict[int, int]:
    return {game["game"]: measure(game, name) for game in recorded.games[rules, bot]}


def ahead(one: dict[int, int], other: dict[int, int]) -> tuple[float | None, float | None]:
    """Mean of the differences game by game, and half its interval."""
    return mean_and_width([one[game] - other[game] for game in one if game in other])


def turned(board: str) -> set[str]:
    """The images of a board by the eight matrices of the square."""
    rows = board.split("/")
    images = set()
    for a, b, c, d in (
        *((1, 0, 0, 1), (-1, 0, 0, 1), (1, 0, 0, -1), (-1, 0, 0, -1)),
        *((0, 1, 1, 0), (0, -1, 1, 0), (0, 1, -1, 0), (0, -1, -1, 0)),
    ):
        image = [[""] * 4 for _ in range(4)]
        for i in range(4):
            for j in range(4):
                x, y = 2 * i - 3, 2 * j - 3
                image[(a * x + b * y + 3) // 2][(c * x + d * y + 3) // 2] = rows[i][j]
        images.add("/".join("".join(row) for row in image))
    return images
