"""Networks: exact where nothing is left to learn, even under symmetries, the same from one seed."""

import io
import json
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner, Result
from reachable import images, random_board

import magsim
from magsim import engine, rules
from magsim.board import RUIN, empty_cells, parse_board, with_cell
from magsim.bot import rule_values
from magsim.cli import main
from magsim.cli.training import train as train_command
from magsim.errors import MagsimError
from magsim.registry import load_bot
from magsim.rules import DIFFICULTIES, NIGHTMARE, PEACEFUL, SURVIVAL, Rules, score
from magsim_bots.growth import candidates
from magsim_bots.judge import ENDLESS, Judge, static_worth
from magsim_bots.lines import POINT, expected_worth, view
from magsim_bots.network import OWN, blank, judge_for, network_file, shipped, train, unpack
from magsim_bots.turn import turn_values, turn_worth
from magsim_bots.windows import KIND, OFFSET, WINDOWS, alike, window_codes

pytestmark = pytest.mark.usefixtures("workers_stay")

Hand = tuple[int, ...]
GAMES = 300


@pytest.fixture(scope="module")
def content() -> bytes:
    """What is learned of SURVIVAL in a few hundred games."""
    return train(SURVIVAL, 1, GAMES, lambda _games: None)


@pytest.fixture(scope="module")
def network(content: bytes) -> Judge:
    return unpack(content, SURVIVAL, Path("network"))


def some_boards(count: int) -> list[int]:
    """Boards with an empty cell, of games."""
    random = Random(4)
    return [random_board(SURVIVAL, random, most_empty=1 + number % 16) for number in range(count)]


def test_the_worth_of_a_board_is_that_of_its_eight_images(network: Judge) -> None:
    for board in some_boards(60):
        for left in (0, 1):
            worths = {int(static_worth(image, left, network)) for image in images(board)}
            assert len(worths) == 1


def test_hardly_anything_is_lost_by_trimming() -> None:
    """Nothing is found that is not there without, and nearly all that is."""
    values, network, lost = rule_values(SURVIVAL), judge_for(SURVIVAL, OWN), []
    for board in some_boards(150):
        whole = turn_worth(board, 1, values, network._replace(trim=ENDLESS))
        lost.append(whole - turn_worth(board, 1, values, network))
    assert min(lost) == 0
    assert max(lost) < 3 * POINT
    assert sum(lost) / len(lost) < POINT / 4


def test_a_full_board_is_worth_its_score(network: Judge) -> None:
    for text in ("4RRR/4544/R654/45R5", "5544/6555/6654/566R", "1234/1234/1234/1234"):
        board = parse_board(text)
        assert static_worth(board, 1, network) == score(board, SURVIVAL).total * POINT


def test_boards_of_a_turn_are_judged_as_they_are_judged_alone(network: Judge) -> None:
    """What grows with the placements is what a board is worth by itself, with any Powers left."""
    values = rule_values(SURVIVAL)
    found, worths = np.empty(50, np.int64), np.empty(50, np.int64)
    for number, board in enumerate(some_boards(60)):
        hand = engine.FIRST_ROLL + 7 * number % 126
        for left in (0, 1):
            count = candidates(board, hand, left, 3, values, network, found, worths)
            alone = [int(static_worth(at, left, network)) for at in found[:count]]
            assert worths[:count].tolist() == alone
            assert alone == sorted(alone, reverse=True)


def test_a_mirrored_code_is_that_of_a_mirrored_board() -> None:
    """Of each kind the codes of a board and of its images are the same, but for mirrors."""
    codes, same = np.empty(WINDOWS, np.int64), np.empty(8, np.int64)

    def found(board: int) -> list[tuple[int, int]]:
        window_codes(board, codes)
        plain = zip(KIND.tolist(), (codes - OFFSET).tolist(), strict=True)
        return sorted((kind, int(same[: alike(kind, code, same)].min())) for kind, code in plain)

    for board in some_boards(60):
        assert all(found(image) == found(board) for image in images(board))


def test_the_same_seed_learns_the_same_bytes(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "network.npz"
    words = ["train", "ntuple", "--difficulty", "survival", "--games", GAMES, "--out", path]
    result = CliRunner().invoke(main, [*map(str, words)])
    assert result.exit_code == 0, result.output
    assert path.read_bytes() == content
    other = train(SURVIVAL, 2, GAMES, lambda _games: None)
    assert other != content


def test_learning_is_worth_it(content: bytes, tmp_path: Path) -> None:
    """After a few hundred games it plays far better than greedy, on the same dice."""
    path = tmp_path / "network.npz"
    path.write_bytes(content)
    run = tmp_path / "run"
    bots = f"greedy,ntuple:weights={path}"
    words = ["tournament", "--bots", bots, "--difficulty", "survival", "--games", "300"]
    assert CliRunner().invoke(main, [*words, "--out", str(run)]).exit_code == 0
    query = "select bot, avg(score) s from games group by bot order by bot"
    result = CliRunner().invoke(main, ["query", str(run), query, "--format", "csv"])
    scores = [float(line.rpartition(",")[2]) for line in result.stdout.splitlines()[1:]]
    assert scores[1] > scores[0] + 80


def refusal(*words: str) -> str:
    result: Result = CliRunner().invoke(main, list(words))
    assert result.exit_code == 2, result.output
    return result.output


@pytest.mark.parametrize("bot", ["ntuple", "lookahead", "mcts"])
def test_files_that_are_no_network_for_the_rules_are_refused(
    bot: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "network.npz"
    path.write_bytes(content)
    run = tmp_path / "run"
    words = ["tournament", "--games", "1", "--out", str(run), "--bots"]
    spec = f"{bot}:weights={path}"
    assert "is a network for other rules than nightmare" in refusal(
        *words, spec, "--difficulty", "nightmare"
    )
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 0x55
    for number, damaged in enumerate((b"", b"nothing", content[:-1], content[:5000], flipped)):
        other = tmp_path / f"{number}.npz"
        other.write_bytes(damaged)
        spec = f"{bot}:weights={other}"
        assert f"{other} is no network" in refusal(*words, spec, "--difficulty", "survival")
    assert "there is no such file" in refusal(*words, f"{bot}:weights=nowhere.npz")
    assert not run.exists()


def test_ntuple_says_why_it_cannot_play(tmp_path: Path) -> None:
    words = ["tournament", "--games", "1", "--out", str(tmp_path / "run"), "--bots"]
    assert "bot ntuple has not learned survival+ruin_penalty=20" in refusal(
        *words, "ntuple", "--difficulty", "survival", "--set", "ruin_penalty=20"
    )
    assert "weights=none leaves it nothing" in refusal(*words, "ntuple:weights=none")


LEARNER = """
from magsim.bot import Bot

class Learner(Bot):
    def decide(self, position):
        return position.decisions()[0]

    def train(self, rules, seed, games, told):
        told(games)
        return {}
"""


def test_bots_that_cannot_learn_or_fail_at_it_are_named(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "greedy has nothing to learn" in refusal("train", "greedy", "--out", str(out / "x"))
    bad = tmp_path / "learner.py"
    for answer, said in (
        ("b'learned'", ""),
        ("'learned'", "train() gave 'learned', not bytes"),
        ("1 / 0", "train() raised ZeroDivisionError: division by zero"),
    ):
        bad.write_text(LEARNER.format(answer))
        words = ["train", str(bad), "--difficulty", "survival", "--games", "5", "--out", str(out)]
        if said:
            assert said in refusal(*words)
        else:
            assert CliRunner().invoke(main, words).exit_code == 0
            assert out.read_bytes() == b"learned"
            out.unlink()
    assert not out.exists()


def test_several_difficulties_are_learned_into_a_folder(tmp_path: Path) -> None:
    out = tmp_path / "networks"
    words = ["--difficulty", "survival,nightmare", "--games", "20", "--out", str(out)]
    result = CliRunner().invoke(main, ["train", "ntuple", *words])
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in out.iterdir()) == ["nightmare.npz", "survival.npz"]
    for name in ("nightmare", "survival"):
        unpack((out / f"{name}.npz").read_bytes(), DIFFICULTIES[name], out)


def test_what_cannot_be_written_is_told_before_anything_is_learned(tmp_path: Path) -> None:
    kept = tmp_path / "file"
    kept.touch()
    words = ["train", "ntuple", "--difficulty", "survival", "--games", "4000000000", "--out"]
    for place in (kept / "network.npz", kept / "networks" / "network.npz"):
        assert f"{place} cannot be written: {kept} is no folder" in refusal(*words, str(place))
    assert f"{kept} is there already" in refusal(*words, str(kept))
    assert list(tmp_path.iterdir()) == [kept]


@pytest.mark.parametrize("law", DIFFICULTIES.values(), ids=lambda law: law.name)
def test_networks_are_shipped_as_the_command_makes_them(law: Rules) -> None:
    """For every difficulty there is one, of its defaults."""
    (path,) = (path for path in shipped().values() if path.stem == law.name)
    with np.load(path) as arrays:
        notes = json.loads(arrays["notes"].tobytes())
    defaults = {option.name: option.default for option in train_command.params}
    assert (notes["seed"], notes["games"]) == (defaults["seed"], defaults["games"])
    assert load_bot("ntuple").relies_on(law).startswith("network ")
    assert network_file(law, OWN) == path


def test_a_network_that_has_learned_nothing_knows_lines() -> None:
    """And nothing else."""
    network, values = blank(NIGHTMARE), rule_values(NIGHTMARE)
    worth = expected_worth(values)
    for board in some_boards(30):
        lines = [
            view(at, network.crossing) >> 16 * k & 0xFFFF
            for at in (board, engine.transpose(board))
            for k in range(4)
        ]
        assert static_worth(board, 0, network) == sum(int(worth[line]) for line in lines)


def test_a_network_of_another_format_or_with_other_arrays_is_refused(content: bytes) -> None:
    def changed(**others: np.ndarray) -> bytes:
        with np.load(io.BytesIO(content)) as arrays:
            parts = dict(arrays) | others
        file = io.BytesIO()
        np.savez_compressed(file, **parts)
        return file.getvalue()

    with np.load(io.BytesIO(content)) as arrays:
        notes, window, gaps = (arrays[name].copy() for name in ("notes", "window", "window_at"))
    assert unpack(changed(), SURVIVAL, Path("x")).reach == 3
    text = json.loads(notes.tobytes()) | {"format": 2}
    others = (
        {"notes": np.frombuffer(json.dumps(text).encode(), np.uint8)},
        {"window": window.astype(np.float64)},
        {"window": window[:1]},
        {"window_at": gaps.astype(np.int64) - 1},
        {"window_at": gaps + np.uint32(2**31)},
        {"window": np.full_like(window, 32_767)},
    )
    for other in others:
        with pytest.raises(MagsimError, match="no network that this version reads"):
            unpack(changed(**other), SURVIVAL, Path("x"))


def turn_by_hand(board: int, hand: Hand, left: int, uses: int, judge: Judge) -> Fraction:
    """What a roll is worth, by the readable law: placements, RUINs and so many Powers in a row."""
    costs = PEACEFUL.power_costs
    outcomes = rules.outcomes(board, hand, PEACEFUL) or {
        with_cell(board, cell, RUIN) for cell in empty_cells(board)
    }
    best = Fraction(max(int(static_worth(outcome, left, judge)) for outcome in outcomes))
    if not uses or not left:
        return best
    cost = costs[len(costs) - left] * POINT

    def after(dice: Hand) -> Fraction:
        return turn_by_hand(board, tuple(sorted(dice)), left - 1, uses - 1, judge)

    for k, die in enumerate(hand):
        rest = hand[:k] + hand[k + 1 :]
        for other in {max(die - 1, 1), min(die + 1, 6)} - {die}:
            best = max(best, after((*rest, other)) - cost)
    for size in range(4):
        throws = list(product(range(1, 7), repeat=4 - size))
        for kept in set(combinations(hand, size)):
            worth = sum(after((*kept, *throw)) for throw in throws) / len(throws)
            best = max(best, worth - cost)
    return best


@pytest.mark.parametrize("text", ["5434/6523/5312/R11.", "2345/R356/R456/344."])
def test_turns_with_powers_in_a_row_are_worth_what_they_are_by_hand(text: str) -> None:
    board, network = parse_board(text), judge_for(PEACEFUL, OWN)
    found = np.empty((4, len(engine.HANDS)), np.int64)
    turn_values(board, 2, 1, rule_values(PEACEFUL), network, found)
    for number in range(engine.FIRST_ROLL, len(engine.HANDS), 25):
        hand = engine.HANDS[number]
        for left in (1, 2):
            by_hand = turn_by_hand(board, hand, left, left - 1, network)
            assert abs(int(found[left, number]) - by_hand) <= 2, (hand, left)


def test_records_of_bots_on_networks_do_not_depend_on_jobs_or_chunks(tmp_path: Path) -> None:
    found = []
    for jobs, chunk in ((1, 12), (2, 5)):
        run = tmp_path / str(jobs)
        words = [
            "tournament",
            "--bots",
            "ntuple,mcts",
            "--difficulty",
            "nightmare",
            "--games",
            "12",
        ]
        words += ["--jobs", str(jobs), "--chunk", str(chunk), "--out", str(run)]
        assert CliRunner().invoke(main, words).exit_code == 0
        turns, games = magsim.load(run)
        found.append((turns.collect(), games.collect()))
    assert found[0][0].equals(found[1][0])
    assert found[0][1].equals(found[1][1])
