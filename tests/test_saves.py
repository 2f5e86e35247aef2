"""Games under way: saved at every command, played again by the rules, one player at a time."""

import builtins
import errno
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from players import one_by_one, script, seat

from magsim.board import CELL_NAMES, parse_cell
from magsim.cli import main
from magsim.decision import Power
from magsim.errors import MagsimError
from magsim.play import saves
from magsim.play.game import Game
from magsim.play.saves import Sitting
from magsim.rules import DIFFICULTIES, NIGHTMARE, PEACEFUL, SURVIVAL, Rules

WAIT = 120
SEED = 118

every_difficulty = pytest.mark.parametrize(
    "rules", DIFFICULTIES.values(), ids=lambda rules: rules.name
)


pytestmark = pytest.mark.usefixtures("data")


def kept(sitting: Sitting) -> dict[str, object]:
    """Everything that a sitting and its game hold."""
    fields = {name: getattr(sitting, name) for name in Sitting.__slots__}
    return fields | {"game": vars(sitting.game)}


def path_of(sitting: Sitting) -> Path:
    return saves.folder() / f"{sitting.name}.json"


def begun(rules: Rules, seed: int) -> Sitting:
    """A game that has just begun, and is saved."""
    sitting = saves.begin(rules, seed, None)
    saves.save(sitting)
    return sitting


@pytest.fixture
def staged() -> Sitting:
    """A peaceful game in its second turn, two Powers used, a die staged."""
    sitting = saves.begin(PEACEFUL, SEED, None)
    game = sitting.game
    game.use(Power("reroll", (3,)))
    game.use(Power("lower", (6,)))
    game.stage([(4, parse_cell("b2")), (4, parse_cell("b3"))])
    game.confirm()
    game.stage([legal_placement(game)])
    saves.save(sitting)
    return sitting


def legal_placement(game: Game) -> tuple[int, int]:
    return next((die, cell) for die in game.available for cell in game.legal_cells(die))


@every_difficulty
@pytest.mark.parametrize("player", range(3))
def test_a_save_holds_the_game_at_every_line(rules: Rules, player: int) -> None:
    def checked() -> Iterator[str]:
        for line in one_by_one(script(player, rules, player)[1]):
            yield line
            assert kept(saves.load(session.sitting.name)) == kept(session.sitting)
            counts.append(len(session.sitting.game.staged))

    counts: list[int] = []
    session, _ = seat(saves.begin(rules, player, "greedy"), checked())
    assert session.run()
    assert kept(saves.load(session.sitting.name)) == kept(session.sitting)
    assert {0, 1, 2} <= set(counts)


@every_difficulty
def test_a_game_opened_at_any_point_comes_to_the_same_end(rules: Rules) -> None:
    _, straight = script(3, rules, 1)
    lines = one_by_one(straight)
    for stop in [*range(0, len(lines), 3), len(lines)]:
        first, _ = seat(saves.begin(rules, 3, None), lines[:stop])
        assert first.run() == (stop == len(lines))
        second, _ = seat(saves.load(first.sitting.name), lines[stop:])
        assert second.run()
        assert vars(second.sitting.game) == vars(straight)


def test_what_is_taken_back_is_not_saved(staged: Sitting) -> None:
    session, _ = seat(saves.load(staged.name), ["undo all"])
    session.run()
    assert saves.load(staged.name).game.staged == ()
    assert saves.load(staged.name).game.hand == staged.game.hand


@every_difficulty
@pytest.mark.parametrize("chosen", [True, False])
def test_a_save_tells_neither_seed_nor_dice_to_come(rules: Rules, chosen: bool) -> None:
    """Beside the sealed seed there is nothing in it but what the player has decided."""
    drawn = saves.begin(rules, None, None)
    seed = 2**64 - 1 - drawn.game.seed if chosen else drawn.game.seed
    sitting = saves.begin(rules, seed, None) if chosen else drawn
    lines = one_by_one(script(seed, rules)[1])

    def watched() -> Iterator[str]:
        for line in lines:
            yield line
            game, text = session.sitting.game, path_of(sitting).read_text()
            words = [str(seed), f"{seed:x}", seed.to_bytes(8, "little").hex(), f"{seed:o}"]
            for word in words:
                assert word not in text.lower() + sitting.name
            content = json.loads(text)
            turns = [
                [str(step.decision) for step in game.steps if step.turn == turn]
                for turn in range(1, game.turn + 1)
            ]
            staged = " ".join(f"{die}{CELL_NAMES[cell]}" for die, cell in game.staged)
            assert len(content.pop("sealed")) == 16
            assert content == {
                "format": saves.FORMAT,
                "started": sitting.started,
                "difficulty": rules.name,
                "seed_chosen": chosen,
                "against": None,
                "hints": 0,
                "turns": turns,
                "staged": staged,
            }

    session, _ = seat(sitting, watched())
    assert session.run()


def test_the_same_seed_is_sealed_differently_in_every_game() -> None:
    sealed = set()
    for _ in range(20):
        sitting = saves.begin(PEACEFUL, SEED, None)
        saves.save(sitting)
        sealed.add(json.loads(path_of(sitting).read_text())["sealed"])
    assert len(sealed) == 20


def refused(sitting: Sitting) -> str:
    """What is said of a save that cannot be opened, in one sentence that names it."""
    with pytest.raises(MagsimError) as caught:
        saves.load(sitting.name)
    said = str(caught.value)
    assert str(path_of(sitting)) in said
    assert "\n" not in said
    return said


def test_a_save_cut_off_anywhere_is_told_by_name(staged: Sitting) -> None:
    whole = path_of(staged).read_bytes()
    for length in range(len(whole) - 1):
        path_of(staged).write_bytes(whole[:length])
        refused(staged)
    path_of(staged).write_bytes(whole[:-1])
    assert kept(saves.load(staged.name)) == kept(staged)


def test_a_save_changed_anywhere_is_refused_by_name_or_obeys_the_rules(staged: Sitting) -> None:
    whole, chance, opened = path_of(staged).read_bytes(), Random(1), 0
    for _ in range(400):
        at = chance.randrange(len(whole))
        new = bytes(chance.choices([*b'0123456789abcdr+-"[]{},: \n\0\xff'], k=chance.randrange(3)))
        path_of(staged).write_bytes(whole[:at] + new + whole[at + chance.randrange(3) :])
        try:
            sitting = saves.load(staged.name)
        except MagsimError:
            refused(staged)
        else:
            opened += 1
            saves.save(sitting)
            assert kept(saves.load(staged.name)) == kept(sitting)
    assert 0 < opened < 400


CONTENTS: list[bytes] = [
    b"",
    b"\0" * 300,
    b"null",
    b"[]",
    b"7",
    b'"text"',
    b"{}",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"format":' * 50_000,
    b"9" * 5000,
]


@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: repr(content[:9]))
def test_a_file_that_is_no_save_is_told_by_name(staged: Sitting, content: bytes) -> None:
    path_of(staged).write_bytes(content)
    refused(staged)


def test_a_folder_in_the_place_of_a_save_is_told_by_name(staged: Sitting) -> None:
    path_of(staged).unlink()
    path_of(staged).mkdir()
    refused(staged)


WRONG: list[tuple[str, Any]] = [
    ("format", 0),
    ("format", 2),
    ("format", None),
    ("format", [1]),
    ("difficulty", "brutal"),
    ("difficulty", "PEACEFUL"),
    ("difficulty", None),
    ("difficulty", ["peaceful"]),
    ("difficulty", {}),
    ("difficulty", 1),
    ("sealed", ""),
    ("sealed", "no hex"),
    ("sealed", "-1"),
    ("sealed", "f" * 17),
    ("sealed", "f" * 5000),
    ("sealed", 5),
    ("sealed", None),
    ("hints", "many"),
    ("hints", None),
    ("hints", [0]),
    ("hints", float("inf")),
    ("hints", float("nan")),
    ("against", 5),
    ("against", ["greedy"]),
    ("against", {}),
    ("turns", None),
    ("turns", 3),
    ("turns", [5]),
    ("turns", [None, []]),
    ("turns", [[5], []]),
    ("turns", [[None], []]),
    ("turns", [[""], []]),
    ("turns", [["nothing"], []]),
    ("turns", [["4b2"], []]),
    ("turns", [["4b2 4b2"], []]),
    ("turns", [["4b2 4d4"], []]),
    ("turns", [["9b2 4b3"], []]),
    ("turns", [["4b9 4b3"], []]),
    ("turns", [["ruin a1"], []]),
    ("turns", [["ruin z1"], []]),
    ("turns", [["-7"], []]),
    ("turns", [["reroll"], []]),
    ("turns", [["reroll 12345"], []]),
    ("turns", [["reroll 3"] * 4, []]),
    ("turns", [[], []]),
    ("turns", [[], [], [], []]),
    ("staged", 5),
    ("staged", True),
    ("staged", ["4b2"]),
    ("staged", {"4": "b2"}),
    ("staged", "+3"),
    ("staged", "ruin a1"),
    ("staged", "nothing"),
    ("staged", "7a1"),
    ("staged", "4z9"),
    ("staged", "4b2"),
    ("staged", "1a1 1a1 1a1 1a1 1a1"),
]


@pytest.mark.parametrize(("key", "value"), WRONG, ids=lambda part: str(part)[:24])
def test_wrong_content_is_told_by_name(staged: Sitting, key: str, value: object) -> None:
    content = json.loads(path_of(staged).read_text())
    path_of(staged).write_text(json.dumps(content | {key: value}))
    refused(staged)


def test_every_key_is_needed_but_that_of_the_rival(staged: Sitting) -> None:
    content = json.loads(path_of(staged).read_text())
    for key in content.keys() - {"against"}:
        path_of(staged).write_text(json.dumps({k: v for k, v in content.items() if k != key}))
        refused(staged)


def test_nothing_is_decided_after_the_end() -> None:
    """Not even a Power that was left."""
    _, game = script(15, SURVIVAL, 15)
    assert game.powers_left
    sitting = replace(begun(SURVIVAL, 15), game=game)
    saves.save(sitting)
    assert vars(saves.load(sitting.name).game) == vars(game)
    whole = json.loads(path_of(sitting).read_text())
    for more in ("ruin a1", f"reroll {game.hand[0]}", "4b2 4b3"):
        turns = [*whole["turns"][:-1], [*whole["turns"][-1], more]]
        path_of(sitting).write_text(json.dumps(whole | {"turns": turns}))
        refused(sitting)
        path_of(sitting).write_text(json.dumps(whole | {"turns": [*whole["turns"], [more]]}))
        refused(sitting)


@pytest.mark.parametrize(
    "content", [b"", b'{"format": 1', b"[" * 100_000], ids=["0", "cut", "deep"]
)
def test_the_command_tells_of_a_damaged_save_in_a_sentence(staged: Sitting, content: bytes) -> None:
    path_of(staged).write_bytes(content)
    result = CliRunner().invoke(main, ["play", "--resume"])
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("magsim: ")
    assert str(path_of(staged)) in line
    assert path_of(staged).read_bytes() == content


@pytest.mark.parametrize("against", ["no such bot", "greedy,random", ""])
def test_a_game_goes_on_without_a_rival_that_is_none(staged: Sitting, against: str) -> None:
    content = json.loads(path_of(staged).read_text()) | {"against": against}
    path_of(staged).write_text(json.dumps(content))
    result = CliRunner().invoke(main, ["play", "--resume", "--lang", "en"])
    assert result.exit_code == 0, result.output
    assert "The rival does not play on: " in result.stdout
    assert vars(saves.load(staged.name).game) == vars(staged.game)


def full_disk(*_args: object, **_options: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _no_fsync(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(os, "fsync", full_disk)


def _no_replace(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(os, "replace", full_disk)
    patch.setattr(os, "rename", full_disk)


def _no_open(patch: pytest.MonkeyPatch) -> None:
    kept_open = io.open

    def opened(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        if set(mode) & set("wax+"):
            full_disk()
        return kept_open(file, mode, *args, **options)

    patch.setattr(io, "open", opened)
    patch.setattr(builtins, "open", opened)


def _no_write(patch: pytest.MonkeyPatch) -> None:
    """Files open, take half of what is written, and fail."""
    kept_open = io.open

    class Full(io.TextIOWrapper):
        def write(self, text: str) -> int:
            super().write(text[: len(text) // 2])
            self.flush()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def opened(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        if set(mode) & set("wax+"):
            return Full(kept_open(file, mode.replace("b", "") + "b"), encoding="utf-8")
        return kept_open(file, mode, *args, **options)

    patch.setattr(io, "open", opened)
    patch.setattr(builtins, "open", opened)


@pytest.mark.parametrize("broken", [_no_fsync, _no_replace, _no_open, _no_write])
def test_a_write_that_fails_leaves_the_earlier_save(
    staged: Sitting, monkeypatch: pytest.MonkeyPatch, broken: Callable[[pytest.MonkeyPatch], None]
) -> None:
    before = {path: path.read_bytes() for path in saves.folder().iterdir()}
    later = saves.load(staged.name)
    later.game.take_back_all()
    with monkeypatch.context() as patch:
        broken(patch)
        with pytest.raises(MagsimError) as caught:
            saves.save(later)
    assert str(path_of(staged)) in str(caught.value)
    assert os.strerror(errno.ENOSPC) in str(caught.value)
    assert {path: path.read_bytes() for path in saves.folder().iterdir()} == before
    saves.save(later)
    assert kept(saves.load(staged.name)) == kept(later)


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
from magsim.board import CELL_NAMES, parse_cell
from magsim.cli import main
from magsim.decision import Power
main()
"""


def run(lines: list[str], *words: str, script: tuple[str, ...] = ("-m", "magsim")) -> Any:
    return subprocess.run(
        [
            sys.executable,
            *script,
            "play",
            "--no-review",
            "--runs",
            "nowhere",
            "--lang",
            "en",
            *words,
        ],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=WAIT,
        check=False,
        env={**os.environ, "PYTHONUTF8": "1"},
    )


def test_a_disk_that_fills_up_in_a_game_loses_one_command_only(staged: Sitting) -> None:
    """The operating system itself refuses to write more than it has."""
    before = path_of(staged).read_bytes()
    die, cell = legal_placement(staged.game)
    lines = [f"{die}{CELL_NAMES[cell]}", "save", "quit"]
    done = run(lines, "--resume", script=("-c", LIMITED, str(len(before))))
    assert done.returncode == 0, done.stderr
    assert f"Nothing has changed: {path_of(staged)} cannot be written" in done.stdout
    assert path_of(staged).read_bytes() == before
    assert {path.suffix for path in saves.folder().iterdir()} == {".json", ".lock"}


def test_a_claimed_game_is_for_one_process_alone(staged: Sitting) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-m", "magsim", "play", "--resume", "--lang", "en"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    with holder:
        try:
            assert holder.stdout
            assert "PEACEFUL" in holder.stdout.readline()
            with pytest.raises(saves.BeingPlayed), saves.claimed(staged.name):
                pass
            before = path_of(staged).read_bytes()
            other = run(["undo all"], "--resume")
            assert other.returncode == 2
            assert "is being played in another terminal" in other.stderr
            assert "Traceback" not in other.stderr
            assert path_of(staged).read_bytes() == before
            second = begun(NIGHTMARE, 4)
            assert "NIGHTMARE" in run([], "--resume").stdout
            os.utime(path_of(second), (1, 1))
            assert "NIGHTMARE" in run([], "--resume").stdout
        finally:
            holder.kill()
    os.utime(path_of(staged), (2**31, 2**31))
    assert "PEACEFUL" in run([], "--resume").stdout


def test_a_claim_ends_with_its_body_whatever_happens(staged: Sitting) -> None:
    for trouble in (MagsimError, KeyboardInterrupt, ZeroDivisionError):
        with pytest.raises(trouble), saves.claimed(staged.name):
            raise trouble
    with saves.claimed(staged.name):
        pass


def test_the_game_played_last_comes_first() -> None:
    sittings = [begun(rules, 5) for rules in (PEACEFUL, SURVIVAL, NIGHTMARE, PEACEFUL)]
    for age, sitting in zip((30, 10, 40, 20), sittings, strict=True):
        os.utime(path_of(sitting), (10**9 - age, 10**9 - age))
    (saves.folder() / ".torn.json.tmp").write_text("{")
    (saves.folder() / ".hidden.json").write_text("{")
    (saves.folder() / "other.lock").touch()
    order = [sittings[k].name for k in (1, 3, 0, 2)]
    assert saves.names() == order
    saves.save(sittings[2])
    assert saves.names() == [order[3], *order[:3]]
    saves.remove(sittings[1].name)
    saves.remove(sittings[1].name)
    assert saves.names() == [order[3], *order[1:3]]


def test_no_folder_is_no_game() -> None:
    assert saves.names() == []
    assert not saves.folder().exists()


def test_games_that_end_leave_nothing_behind() -> None:
    """Straight on, left and resumed, or refused because the game is played elsewhere."""
    words = ["play", "--no-review", "--runs", "nowhere", "--lang", "en"]
    for rules in DIFFICULTIES.values():
        lines, _ = script(2, rules)
        text = "".join(f"{line}\n" for line in lines)
        begin = [*words, "--difficulty", rules.name, "--seed", "2"]
        assert CliRunner().invoke(main, begin, input=text).exit_code == 0
        half = "".join(f"{line}\n" for line in lines[:2])
        assert CliRunner().invoke(main, begin, input=half).exit_code == 0
        with saves.claimed(saves.names()[0]):
            assert CliRunner().invoke(main, [*words, "--resume"]).exit_code == 2
        assert len(list(saves.folder().iterdir())) == 2
        rest = "".join(f"{line}\n" for line in lines[2:])
        assert CliRunner().invoke(main, [*words, "--resume"], input=rest).exit_code == 0
        assert list(saves.folder().iterdir()) == []


def test_a_game_that_cannot_begin_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    _no_fsync(monkeypatch)
    result = CliRunner().invoke(main, ["play", "--difficulty", "peaceful", "--lang", "en"])
    assert result.exit_code == 2
    assert "Dice" not in result.output
    assert list(saves.folder().iterdir()) == []
