"""Networks: exact where nothing is left to learn, even under symmetries, the same from one seed."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner, Result
from reachable import images, random_board

from magsim import engine
from magsim.board import parse_board
from magsim.bot import rule_values
from magsim.cli import main
from magsim.cli.training import train as train_command
from magsim.errors import MagsimError
from magsim.registry import load_bot
from magsim.rules import DIFFICULTIES, NIGHTMARE, SURVIVAL, Rules, score
from magsim_bots.growth import candidates
from magsim_bots.judge import ENDLESS, Judge, static_worth
from magsim_bots.lines import POINT
from magsim_bots.network import OWN, blank, judge_for, network_file, shipped, train, unpack
from magsim_bots.turn import turn_worth
from magsim_bots.windows import KIND, OFFSET, WINDOWS, alike, window_codes

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


def test_files_that_are_no_network_for_the_rules_are_refused(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "network.npz"
    path.write_bytes(content)
    words = ["tournament", "--games", "1", "--out", str(tmp_path / "run"), "--bots"]
    spec = f"ntuple:weights={path}"
    assert "is a network for other rules than nightmare" in refusal(
        *words, spec, "--difficulty", "nightmare"
    )
    for damaged in (b"", b"nothing", content[:-1], content[:5000]):
        path.write_bytes(damaged)
        assert f"{path} is no network" in refusal(*words, spec, "--difficulty", "survival")
    assert "there is no such file" in refusal(*words, "ntuple:weights=nowhere.npz")
    assert "has nothing to learn" in refusal("train", "greedy", "--out", str(tmp_path / "x"))
    assert "bot ntuple has not learned survival+ruin_penalty=20" in refusal(
        *words, "ntuple", "--difficulty", "survival", "--set", "ruin_penalty=20"
    )


def test_several_difficulties_are_learned_into_a_folder(tmp_path: Path) -> None:
    out = tmp_path / "networks"
    words = ["--difficulty", "survival,nightmare", "--games", "20", "--out", str(out)]
    result = CliRunner().invoke(main, ["train", "ntuple", *words])
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in out.iterdir()) == ["nightmare.npz", "survival.npz"]
    for name in ("nightmare", "survival"):
        unpack((out / f"{name}.npz").read_bytes(), DIFFICULTIES[name], out)


def test_what_cannot_be_written_is_told_before_anything_is_learned(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    out = tmp_path / "file" / "network.npz"
    words = ["train", "ntuple", "--difficulty", "survival", "--games", "4000000000"]
    assert f"{out} cannot be written: " in refusal(*words, "--out", str(out))
    kept = tmp_path / "file"
    assert f"{kept} is there already" in refusal(*words, "--out", str(kept))


@pytest.mark.parametrize("rules", DIFFICULTIES.values(), ids=lambda rules: rules.name)
def test_networks_are_shipped_as_the_command_makes_them(rules: Rules) -> None:
    """For every difficulty there is one, of its defaults."""
    (path,) = (path for path in shipped().values() if path.stem == rules.name)
    with np.load(path) as arrays:
        notes = json.loads(arrays["notes"].tobytes())
    defaults = {option.name: option.default for option in train_command.params}
    assert (notes["seed"], notes["games"]) == (defaults["seed"], defaults["games"])
    assert load_bot("ntuple").relies_on(rules).startswith("network ")
    assert network_file(rules, OWN) == path


def test_a_network_that_has_learned_nothing_knows_lines() -> None:
    network = blank(NIGHTMARE)
    assert static_worth(parse_board("1234/1234/1234/123."), 0, network) > 0


def test_a_network_of_another_format_is_refused() -> None:
    with pytest.raises(MagsimError, match="no network that this version reads"):
        unpack(b"PK", SURVIVAL, Path("x"))
