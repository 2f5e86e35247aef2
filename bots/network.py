"""An n-tuple network: tables over lines and windows of a board, learned by playing against itself.

What a board is worth is a sum over its eight lines, its 21 windows and the values that still fit
somewhere, by tables of their own for each count of Powers left and of empty cells. Networks of this
kind come from Bledsoe and Browning (1959), and from Szubert and Jaskowski, "Temporal difference
learning of n-tuple networks for the game 2048" (IEEE CIG 2014), for games of chance.

They are learned by temporal differences (Sutton, 1988) over boards between turns. The target of a
board is weighed over the 126 rolls of its next turn, so no chance of the dice is in it. Each weight
has a rate of its own, which falls as its corrections cancel out (temporal coherence: Beal and
Smith, 1999; Jaskowski, "Mastering 2048 with delayed temporal coherence learning", IEEE ToG 2018).
"""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from magsim.board import CELLS, DICE, SIDES, SIZE
from magsim.bot import option, rule_values
from magsim.compiled import kernel
from magsim.engine import (
    HAND_ADD,
    HAND_SIZE,
    RuleValues,
    count_bits,
    empty_mask,
    power_dice,
    random_below,
    transpose,
)
from magsim.errors import MagsimError
from magsim.rules import Rules
from magsim_bots.growth import candidates
from magsim_bots.judge import INNER, Judge, far_lanes, fitting_values, judge, static_worth
from magsim_bots.lines import POINT, crossings, expected_worth, view
from magsim_bots.turn import HAND_COUNT, THROWS, best_power, turn_values
from magsim_bots.windows import (
    CODES,
    KIND,
    OFFSET,
    WINDOWS,
    alike,
    window_codes,
)

Weights = NDArray[np.float64]
Worths = NDArray[np.int16]

FORMAT = 1
LEARNED = ("line", "window", "openness")
"""The tables of a judge that are learned."""
SHIPPED = Path(__file__).parent / "networks"
"""What was learned for the published rules."""
_KEPT = 16
"""Worths are kept in whole 1/16 points ..."""
_UNIT = POINT // _KEPT
"""... of so many 1/256 points each."""
_ROUND = 100
"""So many games are played with dice of one key; another number learns other networks."""
EXPLORE = 10
"""One turn in so many ends in another board than the one that looks best."""
PARTS = 12
"""Boards with more empty cells than this share tables."""
SLACK = 12
"""Boards that look worse than the best one by more points than this hardly ever are the best."""
TRIM = 3
"""Placements of some of the dice that are worse than others of the same dice by more points than
this hardly ever lead to the best one of more dice."""
LEAD = 4
"""A lead of so many points after the next turn is hardly ever lost."""
DOUBT = 6
"""A network errs by less than a few visits of a search do."""
FEATURES = 2 * SIZE + WINDOWS + 1
_MOST = 32_000
"""In 1/256 points: what a window may be worth at most."""


class Learned(NamedTuple):
    """Weights in points, and what their rates depend on; each shape that of ``Judge``'s table."""

    line: Weights
    window: Weights
    openness: Weights


class Learner(NamedTuple):
    """A network that learns: its tables as bots take them, and the weights they are made of."""

    judge: Judge
    weights: Learned
    sums: Learned
    """The sum of all corrections of each weight ..."""
    sizes: Learned
    """... and of their absolute values."""
    images: NDArray[np.int64]
    """Room for the codes that mean the same; shape (8,)."""


def parts_of(powers: int) -> NDArray[np.int64]:
    """``Judge.part``: full boards have one for themselves, with exact worths."""
    part = np.zeros((powers + 1, CELLS + 1), np.int64)
    empty = np.minimum(np.arange(1, CELLS + 1), PARTS)
    part[:, 1:] = PARTS * np.arange(powers + 1)[:, np.newaxis] + empty
    return part


def blank(rules: Rules) -> Judge:
    """A network that knows lines by themselves only."""
    values, part = rule_values(rules), parts_of(rules.powers)
    parts = 1 + part.max()
    return Judge(
        part=part,
        line=np.repeat(expected_worth(values)[np.newaxis], 2 * parts, axis=0),
        window=np.zeros((parts, CODES), np.int16),
        codes=np.empty(WINDOWS, np.int64),
        crossing=crossings(values),
        far=far_lanes(values),
        openness=np.zeros((rules.powers + 1, CELLS + 1, 1 << SIDES), np.int32),
        spare=np.zeros((rules.powers + 1, CELLS + 1), np.int64),
        reach=min(DICE, max(3, rules.minimum)),
        trim=TRIM * POINT,
        slack=SLACK * POINT,
        lead=LEAD * POINT,
        doubt=DOUBT,
    )


def new_learner(rules: Rules) -> Learner:
    """A network that has learned nothing yet."""
    network = blank(rules)
    tables = network.line, network.window, network.openness
    weights, sums, sizes = (Learned(*(np.zeros(t.shape) for t in tables)) for _ in range(3))
    return Learner(network, weights, sums, sizes, np.empty(8, np.int64))


@kernel
def _reversed(line: int) -> int:
    return (line & 15) << 12 | (line >> 4 & 15) << 8 | (line >> 8 & 15) << 4 | line >> 12 & 15


@kernel
def _step(
    weight: Weights, total: Weights, size: Weights, row: int, code: int, error: float
) -> float:
    """Correct a weight by its own rate; what it is then."""
    rate = abs(total[row, code]) / size[row, code] if size[row, code] > 0 else 1.0
    weight[row, code] += rate * error / FEATURES
    total[row, code] += error
    size[row, code] += abs(error)
    return float(weight[row, code])


@kernel
def _short(points: float) -> int:
    """Points in 1/256 points, as tables of windows hold them."""
    return int(max(-_MOST, min(_MOST, np.rint(points * POINT))))


@kernel
def learn(board: int, left: int, target: int, start: NDArray[np.int32], learner: Learner) -> None:
    """Correct what a board is worth towards a target in 1/256 points.

    ``start`` is what lines are worth before anything is learned.
    """
    network, weights, sums, sizes, _ = learner
    empty = count_bits(empty_mask(board))
    part = network.part[left, empty]
    error = (target - static_worth(board, left, network)) / POINT
    for lines in (view(board, network.crossing), view(transpose(board), network.crossing)):
        for k in range(SIZE):
            line = lines >> 16 * k & 0xFFFF
            code, mirror = min(line, _reversed(line)), max(line, _reversed(line))
            row = 2 * part + INNER[k]
            found = _step(weights.line, sums.line, sizes.line, row, code, error)
            worth = start[code] + np.int64(np.rint(found * POINT))
            network.line[row, code] = network.line[row, mirror] = worth
    codes, images = network.codes, learner.images
    window_codes(board, codes)
    for k in range(WINDOWS):
        count = alike(KIND[k], codes[k] - OFFSET[k], images)
        code = OFFSET[k] + images[:count].min()
        found = _step(weights.window, sums.window, sizes.window, part, code, error)
        for i in range(count):
            network.window[part, OFFSET[k] + images[i]] = _short(found)
    values = fitting_values(board, network)
    found = _step(
        weights.openness[left], sums.openness[left], sizes.openness[left], empty, values, error
    )
    network.openness[left, empty, values] = np.int64(np.rint(found * POINT))


@kernel
def _learn_all(
    board: int,
    start: NDArray[np.int32],
    learner: Learner,
    turn: NDArray[np.int64],
) -> None:
    """Learn what a board is worth with each count of Powers left; ``turn`` is from turn_values."""
    for left in range(len(turn)):
        learn(board, left, turn[left, 0] // THROWS, start, learner)


@kernel
def self_play(
    games: int,
    key: np.uint64,
    values: RuleValues,
    start: NDArray[np.int32],
    learner: Learner,
) -> None:
    """Play games by the network as it stands, and learn from every board on the way.

    One turn in ``EXPLORE`` ends in another board than the one that looks best. A board is learned
    with every count of Powers left, also with those that play would not have there: else what is
    not met while it looks bad would go on to look bad.
    """
    network, powers = learner.judge, len(values.power_costs)
    boards, worths = np.empty(8, np.int64), np.empty(8, np.int64)
    turn = np.empty((powers + 1, HAND_COUNT), np.int64)
    drawn = 0
    for _ in range(games):
        left = powers
        board = 0
        while empty_mask(board):
            turn_values(board, powers, powers, values, network, turn)
            hand = 0
            while True:
                while HAND_SIZE[hand] < DICE:
                    hand = HAND_ADD[hand, 1 + random_below(key, drawn, SIDES)]
                    drawn += 1
                count = candidates(
                    board, hand, left, network.reach + 1, values, network, boards, worths
                )
                if left == 0:
                    break
                cost = values.power_costs[powers - left] * POINT
                worth, power = best_power(hand, cost, turn[left - 1])
                if worth <= worths[0] * THROWS:
                    break
                hand = power_dice(hand, power)
                left -= 1
            _learn_all(board, start, learner, turn)
            pick = 0
            if random_below(key, drawn, EXPLORE) == 0:
                pick = random_below(key, drawn + 1, count)
            other = boards[random_below(key, drawn + 2, count)]
            drawn += 3
            if empty_mask(other):
                turn_values(other, powers, powers, values, network, turn)
                _learn_all(other, start, learner, turn)
            board = boards[pick]


def train(rules: Rules, seed: int, games: int, told: Callable[[int], object]) -> bytes:
    """Learn rules by playing so many games; the file of the network, the same for the same seed.

    ``told`` is called with how many more games are played, now and then.
    """
    values, learner = rule_values(rules), new_learner(rules)
    start = expected_worth(values)
    for first in range(0, games, _ROUND):
        count = min(_ROUND, games - first)
        key = np.uint64(_key(seed, first))
        self_play(count, key, values, start, learner)
        told(count)
    return _packed(rules, seed, games, learner.judge)


def _key(seed: int, first: int) -> int:
    """The key of the dice of the games from ``first`` on."""
    words = f"network {seed} {first}".encode()
    return int.from_bytes(hashlib.sha256(words).digest()[:8], "little")


def _packed(rules: Rules, seed: int, games: int, network: Judge) -> bytes:
    """A network as a file: what was learned of each table, in whole 1/16 points."""
    notes = {"format": FORMAT, "rules": _values(rules), "seed": seed, "games": games}
    learned = (network.line - blank(rules).line, network.window, network.openness)
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, table in zip(LEARNED, learned, strict=True):
        worth = np.clip(np.rint(table.ravel() / _UNIT), -32_767, 32_767).astype(np.int16)
        (at,) = np.nonzero(worth)
        arrays[f"{name}_at"] = np.diff(at, prepend=0).astype(np.uint32)
        arrays[name] = worth[at]
    file = io.BytesIO()
    text = np.frombuffer(json.dumps(notes, sort_keys=True).encode(), np.uint8)
    np.savez_compressed(file, notes=text, **arrays)
    return file.getvalue()


def _values(rules: Rules) -> dict[str, object]:
    """What a network is for: all of rules but their name."""
    values = asdict(rules) | {"power_costs": list(rules.power_costs)}
    del values["name"]
    return values


def unpack(content: bytes, rules: Rules, path: Path) -> Judge:
    """The network in a file.

    Raises:
        MagsimError: if it is none, or one for other rules.
    """
    network = blank(rules)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            notes = json.loads(arrays["notes"].tobytes())
            if notes["format"] != FORMAT:
                raise ValueError("another format")
            if notes["rules"] != _values(rules):
                raise MagsimError(f"{path} is a network for other rules than {rules.name}")
            for name in LEARNED:
                _add(getattr(network, name), arrays[f"{name}_at"], arrays[name])
    except _UNREADABLE as error:
        raise MagsimError(f"{path} is no network that this version reads") from error
    return network


_UNREADABLE = (
    *(ValueError, KeyError, IndexError, TypeError, OSError, EOFError, MemoryError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What a file may raise that is damaged, or no network at all."""


def _add(table: NDArray[np.signedinteger], gaps: NDArray[np.uint32], worth: Worths) -> None:
    """Add to a table what was learned of some of its entries, as ``_packed`` wrote it.

    Raises:
        ValueError: if that cannot be.
    """
    at = np.cumsum(gaps, dtype=np.int64)
    if (gaps.dtype, worth.dtype) != (np.uint32, np.int16) or gaps.shape != worth.shape != ():
        raise ValueError("arrays of other kinds")
    flat = table.reshape(-1)
    whole = flat[at] + worth.astype(np.int64) * _UNIT
    limits = np.iinfo(table.dtype)
    if ((whole < limits.min) | (whole > limits.max)).any():
        raise ValueError("worths that are too large")
    flat[at] = whole


NONE, OWN = "none", "shipped"
"""In place of a file: no network, or the one that is shipped for the rules."""


def weights_option(default: str) -> str:
    """The option ``weights`` of bots that can play by a network."""
    chosen: str = option(
        default, "file of a network made by magsim train, shipped for the one here, or none"
    )
    return chosen


def network_file(rules: Rules, weights: str) -> Path | None:
    """The file of a network; None if there is none for these rules, or none is to be used.

    Raises:
        MagsimError: if there is no file of this name.
    """
    if weights == NONE:
        return None
    if weights != OWN:
        path = Path(weights)
        if not path.is_file():
            raise MagsimError(f"network {weights}: there is no such file")
        return path
    return shipped().get(json.dumps(_values(rules), sort_keys=True))


@cache
def shipped() -> dict[str, Path]:
    """The networks that are shipped, by the rules that they are for."""
    found = {}
    for path in sorted(SHIPPED.glob("*.npz")):
        with np.load(path, allow_pickle=False) as arrays:
            notes = json.loads(arrays["notes"].tobytes())
        found[json.dumps(notes["rules"], sort_keys=True)] = path
    return found


class Network(NamedTuple):
    """A network that was read, and which one it is."""

    judge: Judge
    digest: str


@cache
def network_for(rules: Rules, weights: str) -> Network | None:
    """The network that the option ``weights`` means, read once; None if it means none.

    Raises:
        MagsimError: if it cannot be read, or is one for other rules.
    """
    path = network_file(rules, weights)
    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError as error:
        raise MagsimError(f"{path} cannot be read: {error.strerror or error}") from error
    return Network(unpack(content, rules, path), hashlib.sha256(content).hexdigest()[:16])


def judge_for(rules: Rules, weights: str) -> Judge:
    """The network for rules, or what is made from the rules alone where there is none.

    Raises:
        MagsimError: if the network cannot be read.
    """
    network = network_for(rules, weights)
    return network.judge if network else judge(rules)


def reliance(rules: Rules, weights: str) -> str:
    """What a bot relies on that plays by a network, if it does.

    Raises:
        MagsimError: if the network cannot be read.
    """
    network = network_for(rules, weights)
    return f"network {network.digest}" if network else ""
