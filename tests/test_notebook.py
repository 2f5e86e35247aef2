"""What notebooks get: light imports, boards and games that show themselves, runs played at hand."""

import copy
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from cells import outputs, read_cells
from polars.testing import assert_frame_equal
from small_runs import make_run

import magsim
from magsim.asking import Watch
from magsim.board import format_board, parse_board
from magsim.bot import Bot, Position, option
from magsim.decision import Decision
from magsim.errors import BotFault, MagsimError
from magsim.registry import load_bot
from magsim.rules import DIFFICULTIES, SURVIVAL, score

TEXT = "..../.34./..R./...."
EXAMPLE = Path(__file__).parent.parent / "experiments" / "first_look.ipynb"
SVG = "{http://www.w3.org/2000/svg}"


def seen(picture: str) -> ElementTree.Element:
    """The tree of a picture, which is plain SVG with nothing from elsewhere in it."""
    tree = ElementTree.fromstring(picture)
    kinds = {element.tag for element in tree.iter()}
    assert kinds <= {SVG + kind for kind in ("svg", "title", "desc", "rect", "path", "text")}
    names = {name for element in tree.iter() for name in element.attrib}
    assert not [name for name in names if name.startswith("on") or "href" in name or name == "id"]
    assert "url(" not in picture
    return tree


def words(tree: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in tree.iter(SVG + "text")]


class First(Bot):
    """The first legal decision, or the last."""

    last: bool = option(False, "the last")

    def decide(self, position: Position) -> Decision:
        found = position.ruins() or position.placements()
        return found[-1 if self.last else 0]


class Nonsense(Bot):
    def decide(self, position: Position) -> Decision:  # noqa: ARG002
        return None  # type: ignore[return-value]


class Stopped(Bot):
    def decide(self, position: Position) -> Decision:  # noqa: ARG002
        raise KeyboardInterrupt


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12 games of ``random`` and ``First`` at two difficulties, in parts of 5."""
    watch = Watch(600)
    named = First()
    named.spec = "First"  # type: ignore[misc]
    bots = {"random": load_bot("random"), "First": named}
    rules = DIFFICULTIES["peaceful"], SURVIVAL
    folder = tmp_path_factory.mktemp("notebook") / "run"
    yield make_run(folder, watch, {"random": 12, "First": 12}, rules, bots)
    watch.close()


def test_names_are_public_and_all_there() -> None:
    assert dir(magsim) == sorted(magsim.__all__)
    assert all(getattr(magsim, name) for name in magsim.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Bord'"):
        _ = magsim.Bord


def test_a_board_needs_nothing_heavy() -> None:
    script = f"import sys, magsim; magsim.Board({TEXT!r})._repr_html_(); print(*sys.modules)"
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert not {"numpy", "polars", "numba"} & set(done.stdout.split())


def test_a_board_is_a_value() -> None:
    board = magsim.Board(TEXT)
    assert str(board) == TEXT
    assert eval(repr(board), {"Board": magsim.Board}) == board
    assert board == magsim.Board(parse_board(TEXT)) == magsim.Board(board)
    assert board != magsim.Board("..../..../..../....")
    assert len({board, magsim.Board(TEXT)}) == 1
    assert pickle.loads(pickle.dumps(board)) == copy.copy(board) == board
    with pytest.raises(AttributeError):
        board.packed = 0  # type: ignore[misc]


def test_a_board_is_scored() -> None:
    board = magsim.Board("3456/3455/R111/....")
    assert board.score("survival", powers_used=1) == score(board.packed, SURVIVAL, 1)
    dear = magsim.Rules("dear", minimum=2, power_costs=(), ruin_penalty=100)
    assert board.score(SURVIVAL).total - board.score(dear).total == 85


@pytest.mark.parametrize(
    "board", ["", "....", "7.../..../..../....", -1, 8, 1 << 63, 1 << 64, 1.5, True, None]
)
def test_what_is_no_board_is_refused_in_a_sentence(board: object) -> None:
    with pytest.raises(MagsimError) as caught:
        magsim.Board(board)  # type: ignore[arg-type]
    assert str(caught.value).startswith("board")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("rules", "used"), [("easy", 0), ("all", 0), (3, 0), ("survival", 2), ("survival", 1.0)]
)
def test_a_board_has_no_score_under_no_rules(rules: object, used: int) -> None:
    with pytest.raises(MagsimError):
        magsim.Board(TEXT).score(rules, used)  # type: ignore[arg-type]


def test_a_board_shows_itself() -> None:
    tree = seen(magsim.Board(TEXT)._repr_html_())
    assert [title.text for title in tree.iter(SVG + "title")] == [f"Board {TEXT}"]
    assert sorted(words(tree)) == sorted([*"abcd", *"1234", "3", "4"])
    assert len(list(tree.iter(SVG + "path"))) == 1, "a RUIN is crossed out"


def test_a_run_played_here_is_that_of_a_tournament(run: Path) -> None:
    recorded = magsim.load(run)
    for difficulty in ("peaceful", "survival"):
        for bot, name in (("random", "random"), (First(), "First")):
            played = magsim.play_games(bot, 12, difficulty)
            for mine, theirs in zip(played, recorded, strict=True):
                same = pl.col("bot") == name, pl.col("difficulty") == difficulty
                assert_frame_equal(mine.collect(), theirs.filter(*same).collect())


def test_rule_values_change_rules_and_their_name() -> None:
    run = magsim.play_games("random", 3, ruin_penalty=20, power_costs=(30, 60))
    games = run.games.collect()
    assert set(games["difficulty"]) == {"survival+ruin_penalty=20+power_costs=[30,60]"}
    assert (games["ruin_cost"] == games["ruins"] * 20).all()
    own = magsim.Rules("own", minimum=1, power_costs=())
    assert set(magsim.play_games("random", 1, own).turns.collect()["difficulty"]) == {"own"}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"minimum": 0}, "rules 'own': minimum = 0 is to be a whole number from 1 to 4"),
        ({"minimum": "2"}, "minimum = '2' is to be"),
        ({"ruin_penalty": 1.5}, "ruin_penalty = 1.5 is to be"),
        ({"ruin_penalty": 10**12}, "ruin_penalty = 1000000000000 is to be"),
        ({"power_costs": (1,) * 10}, "is to be a list of up to 9"),
        ({"name": 3}, "rules 3: their name is to be a printable text"),
    ],
)
def test_rules_of_ones_own_keep_the_limits(values: dict[str, object], sentence: str) -> None:
    given = {"name": "own", "minimum": 2, "power_costs": ()} | values
    own = magsim.Rules(**given)  # type: ignore[arg-type]
    for use in (lambda: magsim.play_games("random", 1, own), lambda: magsim.Board(TEXT).score(own)):
        with pytest.raises(MagsimError) as caught:
            use()
        assert sentence in str(caught.value)


def test_costs_of_rules_of_ones_own_may_be_a_list() -> None:
    own = magsim.Rules("own", minimum=2, power_costs=[30, 60])  # type: ignore[arg-type]
    assert magsim.play_games("greedy", 1, own).games.collect()["difficulty"].to_list() == ["own"]


def test_a_bot_at_hand_is_called_by_its_options() -> None:
    bot = First(last=True)
    assert set(magsim.play_games(bot, 1).games.collect()["bot"]) == {"First:last=true"}
    assert bot.spec == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"bot": "grdy"}, "unknown bot 'grdy'"),
        ({"bot": 3}, "bot 3: give a bot spec"),
        ({"bot": First}, "bot First is a class: give an instance, First()"),
        ({"bot": "random:x=1"}, "unknown option 'x'"),
        ({"games": 0}, "games 0 is to be a whole number from 1"),
        ({"games": True}, "games True is to be"),
        ({"games": "10"}, "games '10' is to be"),
        ({"seed": -1}, "seed -1 is to be a whole number from 0"),
        ({"seed": 2**64}, "seed 18446744073709551616 is to be"),
        ({"difficulty": "surviva"}, "did you mean 'survival'?"),
        ({"difficulty": "all"}, "name one difficulty, not 3"),
        ({"difficulty": None}, "difficulty None"),
        ({"ruin_penalti": 3}, "did you mean 'ruin_penalty'?"),
        ({"ruin_penalty": 3.5}, "is to be a whole number"),
        ({"power_costs": "abc"}, "is to be a list"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_sentence(
    arguments: dict[str, object], sentence: str
) -> None:
    with pytest.raises(MagsimError) as caught:
        magsim.play_games(**{"bot": "random", "games": 1} | arguments)  # type: ignore[arg-type]
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_bot_at_fault_is_told() -> None:
    with pytest.raises(BotFault, match="bot Nonsense"):
        magsim.play_games(Nonsense(), 1)


def test_whoever_stops_a_bot_is_heard() -> None:
    with pytest.raises(KeyboardInterrupt):
        magsim.play_games(Stopped(), 1)


def test_a_game_is_found(run: Path) -> None:
    loaded = magsim.load(run)
    game = loaded.game(7, "random", "survival")
    assert (game.bot, game.difficulty, game.index) == ("random", "survival", 7)
    assert len(game) == len(game.boards) == len(game.turns)
    assert game.turns["turn"].to_list() == list(range(1, len(game) + 1))
    used = int(game.score.power_cost > 0)
    assert game.score == game.boards[-1].score("survival", used)
    assert repr(game) == (
        f"<Game 7 of random at survival: {game.score.total} points in {len(game)} turns>"
    )


def test_names_may_be_left_out_where_there_is_one() -> None:
    game = magsim.play_games("random", 2).game(1)
    assert (game.bot, game.difficulty) == ("random", "survival")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((3,), "which difficulty? The run has peaceful, survival: choose difficulty=…"),
        ((3, None, "survival"), "which bot? The run has random, First: choose bot=…"),
        ((3, "rando", "survival"), "did you mean 'random'?"),
        ((3, "random", "nightmare"), "difficulty 'nightmare' is not in the run"),
        ((12,), "game 12 is not in the run, whose last one is game 11"),
        ((-1,), "game -1 is to be a whole number"),
        (("3",), "game '3' is to be a whole number"),
    ],
)
def test_a_game_that_is_not_one_is_refused(
    run: Path, arguments: tuple[object, ...], sentence: str
) -> None:
    with pytest.raises(MagsimError) as caught:
        magsim.load(run).game(*arguments)  # type: ignore[arg-type]
    assert sentence in str(caught.value)


def test_a_damaged_run_is_told_in_a_sentence(run: Path, tmp_path: Path) -> None:
    broken = Path(shutil.copytree(run, tmp_path / "broken"))
    loaded = magsim.load(broken)
    for part in broken.glob("games/**/*.parquet"):
        part.write_bytes(b"nothing")
    with pytest.raises(MagsimError, match="cannot be read"):
        loaded.game(0, "random", "survival")


def test_a_game_shows_itself_turn_by_turn() -> None:
    game = magsim.play_games("random", 20, "peaceful", seed=5)
    games = [game.game(index) for index in range(20)]
    assert any(shown.score.ruins for shown in games)
    assert any(shown.score.power_cost for shown in games)
    for shown in games:
        tree = seen(shown._repr_html_())
        told = words(tree)
        (spoken,) = (element.text or "" for element in tree.iter(SVG + "desc"))
        assert spoken.count(": roll ") == len(shown)
        for row in shown.turns.iter_rows(named=True):
            assert f"Turn {row['turn']}" in told
            assert f"roll {row['roll']}" in told
            used = row["powers"].split("; ") if row["powers"] else []
            assert {f"Power {power}" for power in used} <= {*told}
            if row["ruin"] is not None:
                assert f"RUIN on {row['ruin']}" in told
                assert "MAGDAGDON accepted" in told
        assert any(re.search(rf"= {shown.score.total} points$", line) for line in told)
        framed = shown._repr_html_().count('fill="none"')
        empty = format_board(shown.boards[-1].packed).count(".")
        assert framed == 16 - empty == 16, "every cell was new once"


def test_the_example_notebook_shows_what_it_shows() -> None:
    """But for tables of polars, which draws them as its version likes."""
    names = {"__name__": "__main__"}
    shown = 0
    for cell in read_cells(EXAMPLE):
        if cell["cell_type"] == "code":
            found = outputs("".join(cell["source"]), names)
            assert len(found) == len(cell["outputs"])
            for now, kept in zip(found, cell["outputs"], strict=True):
                if not "".join(kept.get("data", {}).get("text/plain", "")).startswith("shape: "):
                    assert now == kept
                    shown += "<svg" in str(kept)
    assert shown == 4


def test_the_example_notebook_holds_nothing_of_a_machine() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert len(text.encode()) < 300_000
    for place in (Path.home(), Path(tempfile.gettempdir()), EXAMPLE.parent.parent):
        assert str(place) not in text
    for cell in read_cells(EXAMPLE):
        assert not cell["metadata"]
        assert cell.get("execution_count") is None
