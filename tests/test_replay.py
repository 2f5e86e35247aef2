"""``magsim replay``: a recorded game told as it was, and bots asked about it as they were then."""

import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from small_runs import make_run

from magsim import registry
from magsim.asking import Watch
from magsim.board import format_board, parse_board
from magsim.bot import Bot, Position
from magsim.cli import main
from magsim.decision import Decision, Power, Ruin, pack_decision, parse_decision
from magsim.errors import BotFault, MagsimError
from magsim.reading import drawing
from magsim.reading.explain import Explanation, explain, explain_apart, inquiry
from magsim.reading.replay import Game, Turn, read_game
from magsim.rules import PEACEFUL, SURVIVAL, Rules

ODD = Rules("survival+ruin_penalty=20", 2, (70,), ruin_penalty=20)
SEARCHING = ("lookahead", "mcts:iterations=8")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two bots, of which one has not played all of its games yet."""
    watch = Watch(600)
    path = tmp_path_factory.mktemp("run") / "r"
    return make_run(path, watch, {"first": 8, "second": 4}, (PEACEFUL, ODD), chunk=4)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    watch = Watch(600)
    path = tmp_path_factory.mktemp("searched") / "r"
    bots = {name: registry.load_bot(name) for name in SEARCHING}
    return make_run(path, watch, dict.fromkeys(SEARCHING, 3), (PEACEFUL,), bots)


def replay(run: Path, *words: str) -> tuple[int, str, str]:
    """Exit code, output, and what is said on standard error but for news of the compiler."""
    result = CliRunner().invoke(main, ["replay", str(run), *words])
    said = [line for line in result.stderr.splitlines(True) if not line.startswith("Compil")]
    return result.exit_code, result.stdout, "".join(said)


def test_a_turn_is_drawn_with_what_is_new_in_brackets() -> None:
    start = Position(parse_board("..../.34./..R./...."), (1, 2, 4, 4), 2, PEACEFUL)
    powers = ((parse_decision("+4"), (1, 2, 4, 5)), (parse_decision("reroll 12"), (3, 4, 5, 6)))
    turn = Turn(
        number=3,
        start=start,
        powers=tuple((power, dice) for power, dice in powers if isinstance(power, Power)),
        closing=parse_decision("5d2 6d1"),
        magdagdon="rescued",
        board=parse_board("...6/.345/..R./...."),
        score=-4,
        change=-8,
        estimate=231.04,
    )
    assert "\n".join(line.plain for line in drawing.turn_lines(turn)) == (
        "Turn 3\n"
        "     a   b   c   d    roll       1244\n"
        "  1  .   .   .  [6]   Powers     +4 → 1245, reroll 12 → 3456\n"
        "  2  .   3   4  [5]   MAGDAGDON  came, rescued by a Power\n"
        "  3  .   .   R   .    decision   5d2 6d1\n"
        "  4  .   .   .   .    board      ...6/.345/..R./....\n"
        "                      score      -4 (-8)\n"
        "                      estimate   231.0"
    )


def test_a_ruin_is_drawn_and_told() -> None:
    start = Position(parse_board("1234/2345/34.6/...."), (1, 1, 1, 1), 0, PEACEFUL)
    board = pack_decision(Ruin(10), start.board, start.dice)
    turn = Turn(9, start, (), Ruin(10), "accepted", board, 100, -15, None)
    lines = [line.plain for line in drawing.turn_lines(turn)]
    assert lines[2].endswith("MAGDAGDON  came, accepted")
    assert lines[3].endswith("decision   RUIN on c3")
    assert lines[4].startswith("  3  3   4  [R]  6 ")
    assert "estimate" not in "".join(lines)


def test_every_game_is_read_back_to_its_recorded_end(run: Path) -> None:
    accepted = 0
    for difficulty in (PEACEFUL.name, ODD.name):
        for index in range(8):
            game = read_game(run, "first", difficulty, index)
            where = f"{difficulty}, game {index}"
            assert game.result["game"] == index, where
            assert len(game.turns) == game.result["turns"], where
            assert sum(turn.change for turn in game.turns) == game.result["score"], where
            assert format_board(game.turns[-1].board) == game.result["board"], where
            for turn in game.turns:
                new = [line.plain.count("[") for line in drawing.board_lines(turn.board, 0)]
                assert sum(new) == sum(c != "." for c in format_board(turn.board)) - 3, where
                accepted += turn.magdagdon == "accepted"
                after = pack_decision(turn.closing, turn.start.board, _hand(turn))
                assert after == turn.board, f"{where}, turn {turn.number}"
    assert accepted


def _hand(turn: Turn) -> tuple[int, ...]:
    return turn.powers[-1][1] if turn.powers else turn.start.dice


def test_the_score_is_taken_apart(run: Path) -> None:
    game = read_game(run, "first", ODD.name, 5)
    lines = [line.plain.split() for line in drawing.score_lines(game)][1:]
    points = [int(next(word for word in words if word.lstrip("-").isdigit())) for words in lines]
    assert points[-1] == sum(points[:-1]) == game.result["score"]
    ruins = next(words for words in lines if words[0] == "RUINs")
    assert ruins[2:] == [str(game.result["ruins"]), "×", "20"]


def test_a_whole_game_is_printed_plain_where_it_is_piped(run: Path) -> None:
    code, out, err = replay(run, "--bot", "first", "--difficulty", "peaceful", "--game", "5")
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    game = read_game(run, "first", "peaceful", 5)
    assert out.startswith("Game 5 of first at peaceful, seed 1\n\nTurn 1\n")
    assert [line for line in out.splitlines() if line.startswith("Turn ")] == [
        f"Turn {turn.number}" for turn in game.turns
    ]
    assert out.splitlines()[-1].split() == ["score", str(game.result["score"])]


def test_one_turn_by_itself(run: Path) -> None:
    words = ("--bot", "first", "--difficulty", ODD.name, "--game", "1", "--turn", "2")
    code, out, err = replay(run, *words)
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "Turn 2"
    assert "Turn 3" not in out
    assert "Final score" not in out


def test_bot_and_difficulty_may_be_left_out_where_there_is_one(
    tmp_path: Path, watch: Watch
) -> None:
    run = make_run(tmp_path / "run", watch, {"a[bold]b": 1}, (SURVIVAL,))
    code, out, _ = replay(run, "--game", "0")
    assert code == 0
    assert out.startswith("Game 0 of a[bold]b at survival, seed 1\n")


WRONG = {
    "--game 1": "which bot? The run has first, second",
    "--game 1 --bot first": "which difficulty?",
    "--game 1 --bot fist": "did you mean 'first'? (it has: first, second)",
    "--game 1 --bot first --difficulty peacefull": "did you mean 'peaceful'?",
    "--game 8 --bot first --difficulty peaceful": "the run has games 0 to 7",
    "--game -1 --bot first --difficulty peaceful": "the run has games 0 to 7",
    "--game 4 --bot second --difficulty peaceful": "has not been played yet",
    "--game 1 --bot first --difficulty peaceful --turn 0": "has turns 1 to ",
    "--game 1 --bot first --difficulty peaceful --turn 99": "has turns 1 to ",
    "--game 1 --bot first --difficulty peaceful --explain greedy": "by --turn",
    "--game 1 --bot first --difficulty peaceful --turn 1 --explain greedi": "mean 'greedy'?",
    "--game 1 --bot first --difficulty peaceful --turn 1 --explain greedy,random": "one bot",
}


@pytest.mark.parametrize("words", WRONG)
def test_what_is_not_there_is_one_sentence(run: Path, words: str) -> None:
    code, out, err = replay(run, *words.split())
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert WRONG[words] in err


def test_only_the_part_of_the_game_need_be_whole(tmp_path: Path, watch: Watch) -> None:
    run = make_run(tmp_path / "run", watch, {"first": 4}, (PEACEFUL,), chunk=2)
    for table in ("turns", "games"):
        part = next(run.glob(f"{table}/*/*/000000000-*.parquet"))
        part.write_bytes(part.read_bytes()[:-1])
    assert read_game(run, None, None, 2).index == 2
    with pytest.raises(MagsimError, match="is damaged"):
        read_game(run, None, None, 0)


def packed(decision: Decision, turn: Turn) -> int:
    return pack_decision(decision, turn.start.board, turn.start.dice)


@pytest.mark.parametrize("name", SEARCHING)
def test_a_bot_explains_what_it_did_in_the_run(searched: Path, watch: Watch, name: str) -> None:
    bot = registry.load_bot(name)
    for index in range(3):
        game = read_game(searched, name, None, index)
        for turn in game.turns:
            where = f"game {index}, turn {turn.number}: {turn.start}"
            explained = explain(inquiry(game, turn.number, bot.spec), bot, watch)
            assert packed(explained.decision, turn) == packed(turn.first_decision, turn), where
            assert explained.options[0] == explained.decision, where
            if not turn.powers:
                estimates = (explained.decision.estimate, explained.options[0].estimate)
                assert np.float32(estimates).tolist() == [turn.estimate] * 2, where


def test_options_are_printed_with_the_one_that_was_played(searched: Path) -> None:
    words = ("--bot", "lookahead", "--game", "1", "--turn", "2", "--explain", "lookahead")
    code, out, err = replay(searched, *words)
    assert code == 0, err
    turn = read_game(searched, "lookahead", None, 1).turn(2)
    table = out[out.index("lookahead would decide: ") :].splitlines()
    assert table[0].startswith(f"lookahead would decide: {turn.first_decision}, estimate ")
    assert [line.split()[0] for line in table[2:]] == ["1", "2", "3", "4", "5"]
    assert [line for line in table if "played in the run" in line] == [table[2]]


def test_a_bot_without_a_ranking_says_so(searched: Path) -> None:
    words = ("--bot", "lookahead", "--game", "1", "--turn", "2", "--explain", "random")
    code, out, err = replay(searched, *words)
    assert code == 0, err
    assert "random would decide: " in out
    assert out.endswith("random ranks no options.\n")


class Acting(Bot):
    """Does what it is told to, whatever the position."""

    def __init__(self, act: Callable[[Position], object]) -> None:
        self.act = act

    def decide(self, position: Position) -> Decision:
        return self.act(position)  # type: ignore[return-value]


class Contradicting(Bot):
    """Ranks last what it decides."""

    def decide(self, position: Position) -> Decision:
        return position.decisions()[0]

    def rank(self, position: Position, _key: int, _count: int) -> list[Decision]:
        return position.decisions()[::-1]


class Repeating(Bot):
    """Ranks a decision that it named before."""

    def decide(self, position: Position) -> Decision:
        return position.decisions()[0]

    def rank(self, position: Position, _key: int, _count: int) -> list[Decision]:
        return [*position.decisions()[:2], position.decisions()[1]]


class Endless(Bot):
    """Ranks without an end."""

    def decide(self, position: Position) -> Decision:
        return position.decisions()[0]

    def rank(self, position: Position, _key: int, _count: int) -> Iterator[Decision]:  # type: ignore[override]
        yield from position.decisions()
        while True:
            yield position.decisions()[0]


@pytest.fixture
def game(searched: Path) -> Game:
    return read_game(searched, "lookahead", None, 0)


def fail(_position: Position) -> object:
    raise RuntimeError("no\nidea")


def leave(_position: Position) -> object:
    raise SystemExit


@pytest.mark.parametrize(
    ("bot", "what"),
    [
        (Acting(fail), "raised RuntimeError: no; game 0, turn 2, position"),
        (Acting(leave), "raised SystemExit"),
        (Acting(lambda _position: 7), "answered 7"),
        (Acting(lambda _position: Power("raise", (9,))), "no such die"),
        (
            Acting(lambda _position: parse_decision("ruin d4")),
            "decided 'ruin d4', which is illegal",
        ),
        (Contradicting(), "first"),
        (Repeating(), "twice"),
    ],
)
def test_a_bot_at_fault_is_named_with_the_position(
    game: Game, watch: Watch, bot: Bot, what: str
) -> None:
    with pytest.raises(BotFault, match="game 0, turn 2, position") as caught:
        explain(inquiry(game, 2, bot.spec), bot, watch)
    assert what in str(caught.value)


def test_of_a_ranking_no_more_is_taken_than_is_shown(game: Game, watch: Watch) -> None:
    assert len(game.turn(1).start.decisions()) > 3
    explained = explain(inquiry(game, 1, "endless"), Endless(), watch, 3)
    assert list(explained.options) == game.turn(1).start.decisions()[:3]


def test_a_ranking_that_does_not_end_in_time_is_a_fault(game: Game) -> None:
    assert game.turn(1).start.decisions()  # no compiler in the time that is watched
    watch = Watch(0.3)
    try:
        with pytest.raises(BotFault, match=r"gave no answer within 0\.3 s; game 0, turn 1"):
            explain(inquiry(game, 1, "endless"), Endless(), watch, 10**9)
    finally:
        watch.close()


HANGING = """
from magsim.bot import Bot
class Hanging(Bot):
    def decide(self, position):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass
"""
LEAVING = """
import os
from magsim.bot import Bot
class Leaving(Bot):
    def decide(self, position):
        os._exit(0)
"""


@pytest.mark.parametrize(
    ("code", "what"),
    [
        (HANGING, "gave no answer within 2 s and could not be interrupted"),
        (LEAVING, "took its process down"),
    ],
)
def test_a_bot_that_hangs_or_leaves_is_told_in_one_sentence(
    searched: Path, tmp_path: Path, code: str, what: str
) -> None:
    (tmp_path / "odd.py").write_text(code)
    words = ("--bot", "lookahead", "--game", "1", "--turn", "2")
    limit = ("--time-limit", "2" if code is HANGING else "60")
    done, out, err = replay(searched, *words, "--explain", str(tmp_path / "odd.py"), *limit)
    assert (done, out.splitlines()[0]) == (3, "Turn 2"), err
    assert err.startswith(f"magsim: bot odd.py (peaceful) {what}; game 1, turn 2, position ")
    assert err.count("\n") == 1


def test_ctrl_c_stops_an_explanation(searched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_work: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr("magsim.reading.apart.call_apart", interrupt)
    words = ("--bot", "lookahead", "--game", "1", "--turn", "2", "--explain", "random")
    code, _, err = replay(searched, *words)
    assert code == 130
    assert err.strip() == "Stopped."


def test_the_process_that_explains_is_told_no_seed(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[bytes] = []

    def listen(work: object) -> Explanation:
        told.append(pickle.dumps(work))
        return Explanation(game.turns[0].closing, ())

    monkeypatch.setattr("magsim.reading.apart.call_apart", listen)
    seed = 0x1122334455667788
    about = inquiry(replace(game, seed=seed), 1, "lookahead")
    explain_apart(about, registry.load_bot("lookahead"), "lookahead", 60)
    assert seed.to_bytes(8, "little") in pickle.dumps(replace(game, seed=seed))
    assert len(told) == 1
    assert seed.to_bytes(8, "little") not in told[0]


def test_a_replay_leaves_no_process_behind(searched: Path) -> None:
    words = ("--bot", "lookahead", "--game", "1", "--turn", "2", "--explain", "random")
    assert replay(searched, *words)[0] == 0
    assert not [child for child in active_children() if "Loky" in child.name]
