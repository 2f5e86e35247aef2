"""A balancing question as a file: which bots play which rules, and what is to be concluded.

An experiment file is TOML::

    question = "How much does the RUIN penalty weigh?"
    bots = ["greedy", "mcts"]
    games = 5000                     # of each bot at each point
    seed = 1                         # 1 unless told
    difficulty = "survival"          # one, a list, or "all" (unless told)

    [grid]                           # every combination is a point
    ruin_penalty = [0, 10, 15, 20, 30]

    [verdict]
    kind = "effect"

Axes of the grid are the values of ``Rules``, and two more: ``powers``, how many there are, and
``power_cost``, what each of them costs. Instead of a grid, ``[[points]]`` lists the points one by
one, each with a ``label`` and the values that it changes. Every point is played on the same dice.
"""

import math
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

from magsim.errors import MagsimError
from magsim.rules import DIFFICULTIES, Rules
from magsim.variants import (
    MAX_POINTS,
    MAX_POWERS,
    Changes,
    checked,
    difficulties,
    format_value,
    read_toml,
    vary,
)

FOLDER = "experiment"
"""Where the run of an experiment keeps the file it was made from."""
MAX_RULES = 1000
MAX_BELOW = 1_000_000
MAX_LABEL = 150
"""Signs of a label as it is written in the name of a folder, ``%20`` for a space."""
POWERS, POWER_COST = "powers", "power_cost"
_DERIVED = {POWERS: (0, MAX_POWERS), POWER_COST: (0, MAX_POINTS)}
_CHANGED = (*(name for name in Rules.__dataclass_fields__ if name != "name"), *_DERIVED)
"""The values that a point may change."""
_TOP = ("question", "bots", "games", "seed", "difficulty", "grid", "points", "verdict")

VERDICTS = {
    "steps": (),
    "spacing": (),
    "effect": ("measure",),
    "threshold": ("measure", "below"),
    "crossing": ("measure", "other"),
    "opening": (),
    "cost": (),
}
"""The kinds of verdicts, and what each is told."""

MEASURES = {
    "score": "mean score",
    "base": "points from numbers",
    "straight_points": "points from STRAIGHTs",
    "four_points": "points from FOURs OF A KIND",
    "two_pairs_points": "points from TWO PAIRS",
    "ruins": "RUINs per game",
    "powers": "Powers used per game",
    "used": "share of games with a Power used",
    "turns": "turns per game",
}
"""What is measured at each point, a mean over games, in words."""
POINTS = ("score", "base", "straight_points", "four_points", "two_pairs_points")
"""Measures in points."""
SHARES = ("used",)
"""Measures that are shares of games."""

AXES = {
    "minimum": "required minimum, dice",
    "ruin_penalty": "RUIN penalty, points",
    "straight": "STRAIGHT, points",
    "four": "FOUR OF A KIND, points",
    "two_pairs": "TWO PAIRS, points",
    "max_difference": "largest difference between neighbours",
    POWERS: "Powers",
    POWER_COST: "cost of each Power, points",
}
"""Axes of whole numbers in words, with their units."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be concluded: a kind of ``VERDICTS`` and the measures it looks at."""

    kind: str
    measure: str = "score"
    other: str = "score"
    below: float = 0.0


@dataclass(frozen=True, slots=True)
class Point:
    """One point of an experiment: the rules played there, and where it lies on the axes."""

    rules: Rules
    difficulty: str
    values: dict[str, int | tuple[int, ...] | str]

    @property
    def label(self) -> str:
        """The values on the axes in words; the difficulty where there is no axis."""
        shown = [
            value if isinstance(value, str) else f"{name}={format_value(value)}"
            for name, value in self.values.items()
        ]
        return ", ".join(shown) or self.difficulty


@dataclass(frozen=True, slots=True)
class Question:
    """An experiment: what is asked, who plays what, and which verdict is wanted."""

    name: str
    text: str
    bots: str
    games: int
    seed: int
    verdict: Verdict
    points: tuple[Point, ...]
    axes: tuple[str, ...] = field(default=())

    @property
    def rules(self) -> list[Rules]:
        """The rules of all points, each with a name of its own."""
        return [point.rules for point in self.points]


def read_question(path: Path) -> Question:
    """The question of an experiment file.

    Raises:
        MagsimError: if the file, a key or a value is wrong.
    """
    where = f"experiment file {path}"
    try:
        return _read(path, where)
    except ValueError as error:  # Python reads and prints no whole number of 4,300 digits
        raise MagsimError(f"{where}: {error}") from error


def _read(path: Path, where: str) -> Question:
    table = read_toml(path, where)
    for key in table:
        if key not in _TOP:
            raise MagsimError(f"{where}: unknown key {key!r}{_near(key, _TOP)}")
    if "grid" in table and "points" in table:
        raise MagsimError(f"{where}: it has a grid and points; one of them is allowed")
    for key in ("question", "bots", "games", "verdict"):
        if key not in table:
            raise MagsimError(f"{where}: {key} is missing")
    points = tuple(_points(table, where))
    for name, times in Counter(point.rules.name for point in points).items():
        if times > 1:
            raise MagsimError(f"{where}: the point {name} is there twice")
    question = Question(
        path.stem,
        _text(table["question"], "question", where),
        _joined(table["bots"], "bots", where),
        _whole(table["games"], "games", (1, 2**32 - 1), where),
        _whole(table.get("seed", 1), "seed", (0, 2**64 - 1), where),
        _verdict(table["verdict"], where),
        points,
        tuple(table.get("grid", {"points": ()} if "points" in table else {})),
    )
    _check_verdict(question, where)
    return question


def keep(file: Path, run: Path) -> None:
    """Keep an experiment's file, by its name, in its run, where its report finds it.

    Raises:
        MagsimError: if it cannot be written.
    """
    folder = run / FOLDER
    temporary = folder / f".{os.getpid()}.tmp"
    try:
        folder.mkdir(exist_ok=True)
        temporary.write_bytes(file.read_bytes())
        temporary.replace(folder / file.name)
        for other in folder.iterdir():
            if other.name != file.name:
                other.unlink()
    except OSError as error:
        raise MagsimError(f"{folder} cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def kept(run: Path) -> Path | None:
    """The experiment's file in a run; None if the run is of no experiment."""
    found = sorted(path for path in (run / FOLDER).glob("*") if not path.name.startswith("."))
    return found[0] if found else None


def _near(word: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(word, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{hint} (known: {', '.join(known)})"


def _text(value: object, key: str, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise MagsimError(f"{where}: {key} = {value!r} is to be a text")
    return " ".join(value.split())


def _joined(value: object, key: str, where: str) -> str:
    words: list[Any] = value if isinstance(value, list) else [value]
    if not words or not all(isinstance(word, str) and word.strip() for word in words):
        raise MagsimError(f"{where}: {key} = {value!r} is to be a text or a list of texts")
    return ",".join(words)


def _whole(value: object, key: str, limits: tuple[int, int], where: str) -> int:
    low, high = limits
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise MagsimError(f"{where}: {key} = {value!r} is to be a whole number, {low} to {high}")
    return value


def _bases(value: object, where: str) -> list[Rules]:
    """The difficulties that the points are variants of."""
    text = _joined(value, "difficulty", where)
    names = text.split(",")
    if len(set(names)) < len(names):
        raise MagsimError(f"{where}: difficulty = {value!r} names a difficulty twice")
    try:
        return difficulties(text)
    except MagsimError as error:
        raise MagsimError(f"{where}: {error}") from error


def _check_number(points: int, where: str) -> None:
    if points > MAX_RULES:
        raise MagsimError(f"{where}: {points:,} points; up to {MAX_RULES:,} are allowed")


def _label(value: object, where: str) -> str:
    label = _text(value, "label of a point", where)
    if not all(sign.isprintable() and sign not in "+/" for sign in label):
        raise MagsimError(
            f"{where}: label {label!r} is to hold no '+', no '/' and only signs that can be printed"
        )
    if len(quote(label, safe="")) > MAX_LABEL:
        raise MagsimError(f"{where}: label {label!r} is too long for the name of a folder")
    return label


def _points(table: dict[str, Any], where: str) -> Iterator[Point]:
    bases = _bases(table.get("difficulty", "all"), where)
    if "points" in table:
        entries = table["points"]
        if (
            not isinstance(entries, list)
            or not entries
            or not all(isinstance(entry, dict) for entry in entries)
        ):
            raise MagsimError(f"{where}: points are to be written as [[points]], one or more")
        _check_number(len(bases) * len(entries), where)
        for base in bases:
            for number, entry in enumerate(entries, 1):
                if "label" not in entry:
                    raise MagsimError(f"{where}: the label of point {number} is missing")
                label = _label(entry["label"], where)
                changes = {key: value for key, value in entry.items() if key != "label"}
                rules = vary(base, _changes(base, changes, where), [label])
                yield Point(rules, base.name, {"points": label})
        return
    grid = table.get("grid", {})
    if not isinstance(grid, dict):
        raise MagsimError(f"{where}: grid = {grid!r} is to be a table of lists")
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise MagsimError(f"{where}: {key} = {values!r} is to be a list of values")
    _check_number(len(bases) * math.prod(map(len, grid.values())), where)
    for base in bases:
        for combination in product(*grid.values()):
            changes = dict(zip(grid, combination, strict=True))
            lawful = _changes(base, changes, where)
            shown = {
                key: tuple(value) if isinstance(value, list) else value
                for key, value in changes.items()
            }
            suffixes = [f"{key}={format_value(value)}" for key, value in shown.items()]
            rules = vary(base, lawful, suffixes) if suffixes else base
            yield Point(rules, base.name, dict(shown))


def _changes(base: Rules, changes: dict[str, Any], where: str) -> Changes:
    """Changes as ``Rules`` takes them; ``powers`` and ``power_cost`` become ``power_costs``."""
    for key in changes:
        if key not in _CHANGED:
            raise MagsimError(f"{where}: unknown key {key!r}{_near(key, _CHANGED)}")
    lawful = {
        key: checked(key, value, where) for key, value in changes.items() if key not in _DERIVED
    }
    derived = {
        key: _whole(value, key, _DERIVED[key], where)
        for key, value in changes.items()
        if key in _DERIVED
    }
    if not derived:
        return lawful
    if "power_costs" in lawful:
        raise MagsimError(f"{where}: power_costs goes with neither {POWERS} nor {POWER_COST}")
    powers = derived.get(POWERS, base.powers)
    if POWER_COST in derived:
        return lawful | {"power_costs": (derived[POWER_COST],) * powers}
    if powers > base.powers:
        raise MagsimError(
            f"{where}: {POWERS} = {powers}, but {base.name} prices {base.powers}; "
            f"say with {POWER_COST} what each costs"
        )
    return lawful | {"power_costs": base.power_costs[:powers]}


def _verdict(value: object, where: str) -> Verdict:
    if not isinstance(value, dict) or "kind" not in value:
        raise MagsimError(f"{where}: verdict is to be a table with a kind")
    kind = value["kind"]
    if not isinstance(kind, str) or kind not in VERDICTS:
        raise MagsimError(f"{where}: unknown verdict {kind!r}{_near(str(kind), tuple(VERDICTS))}")
    told = {key: entry for key, entry in value.items() if key != "kind"}
    for key, entry in told.items():
        if key not in VERDICTS[kind]:
            allowed = ", ".join(VERDICTS[kind]) or "nothing else"
            raise MagsimError(f"{where}: verdict {kind!r} takes {allowed}, not {key!r}")
        if key != "below" and (not isinstance(entry, str) or entry not in MEASURES):
            raise MagsimError(
                f"{where}: unknown measure {entry!r}{_near(str(entry), tuple(MEASURES))}"
            )
        if key == "below" and not _is_number(entry):
            raise MagsimError(
                f"{where}: below = {entry!r} is to be a number, up to {MAX_BELOW:,} either way"
            )
    if kind == "threshold" and "below" not in told:
        raise MagsimError(f"{where}: verdict 'threshold' needs below, a number")
    found = Verdict(kind, **told)
    if kind == "crossing" and found.measure == found.other:
        raise MagsimError(
            f"{where}: verdict 'crossing' needs a measure and an other, not {found.measure!r} twice"
        )
    return found


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -MAX_BELOW <= value <= MAX_BELOW


def _check_verdict(question: Question, where: str) -> None:
    """Check that there is something to conclude from."""
    kind = question.verdict.kind
    if kind in ("threshold", "crossing"):
        values = {type(value) for point in question.points for value in point.values.values()}
        if not question.axes or values != {int}:
            raise MagsimError(f"{where}: verdict {kind!r} needs a grid of whole numbers")
        last = {list(point.values.values())[-1] for point in question.points}
        if len(last) < 2:
            raise MagsimError(
                f"{where}: verdict {kind!r} needs two values or more of {question.axes[-1]}"
            )
    if kind == "crossing":
        units = {_unit(question.verdict.measure), _unit(question.verdict.other)}
        if len(units) > 1:
            raise MagsimError(
                f"{where}: verdict 'crossing' compares {question.verdict.measure} with "
                f"{question.verdict.other}, which have different units"
            )
    by_difficulty = Counter(point.difficulty for point in question.points)
    if kind == "effect" and min(by_difficulty.values()) < 2:
        raise MagsimError(f"{where}: verdict 'effect' needs two points or more at each difficulty")
    if kind == "spacing" and (question.axes or len(question.points) < 3):
        raise MagsimError(f"{where}: verdict 'spacing' needs three difficulties and no grid")
    if kind == "cost" and question.axes:
        raise MagsimError(f"{where}: verdict 'cost' needs difficulties and no grid")
    order = [point.difficulty for point in question.points]
    if kind == "spacing" and order not in (list(DIFFICULTIES), list(DIFFICULTIES)[::-1]):
        raise MagsimError(
            f"{where}: verdict 'spacing' needs the difficulties in order, {', '.join(DIFFICULTIES)}"
        )


def _unit(measure: str) -> str:
    return "points" if measure in POINTS else "share" if measure in SHARES else "count"
