"""High scores: one a game, whatever happens as it ends, and none lost by another."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from players import script

from magsim.cli import main
from magsim.errors import MagsimError
from magsim.play import saves, scores
from magsim.play.scores import HighScore
from magsim.rules import DIFFICULTIES, NIGHTMARE, PEACEFUL, SURVIVAL, Rules

WAIT = 120
PLAY = ("play", "--no-review", "--runs", "nowhere", "--lang", "en")


pytestmark = pytest.mark.usefixtures("data")


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def play(*words: str, lines: list[str]) -> Result:
    return CliRunner().invoke(main, [*PLAY, *words], input=text(lines))


def play_seed(seed: int, rules: Rules, *more: str) -> Result:
    """A whole game of a random player with a chosen seed."""
    lines = [*more, *script(seed, rules)[0]]
    return play("--difficulty", rules.name, "--seed", str(seed), lines=lines)


def listed(*words: str) -> str:
    result = CliRunner().invoke(main, ["scores", "--lang", "en", *words])
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def rows(output: str) -> list[list[str]]:
    return [line.split() for line in output.splitlines() if line.strip()[:1].isdigit()]


def write(rules: Rules, name: str, **changed: object) -> Path:
    """A score by hand."""
    entry = {
        "date": "2026-01-02T03:04:05+00:00",
        "difficulty": rules.name,
        "score": 100,
        "turns": 7,
        "powers": 0,
        "hints": 0,
        "seed": 1,
        "seed_chosen": False,
    }
    path = scores.folder() / rules.name / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entry | changed))
    return path


@pytest.mark.parametrize("rules", DIFFICULTIES.values(), ids=lambda rules: rules.name)
def test_a_row_tells_score_turns_powers_hints_date_and_seed(rules: Rules) -> None:
    _, game = script(21, rules)
    before = time.strftime("%Y-%m-%d")
    assert play_seed(21, rules).exit_code == 0
    after = time.strftime("%Y-%m-%d")
    ((place, score, turns, powers, hints, date, seed),) = rows(listed())
    assert (place, score, hints, seed) == ("1", str(game.score.total), "0", "21*")
    assert (turns, powers) == (str(game.turn), str(game.powers_used))
    assert before <= date <= after
    ((kept,), damaged) = scores.read(rules.name)
    assert not damaged
    assert (kept.score, kept.turns, kept.powers) == (game.score.total, game.turn, game.powers_used)
    assert (kept.seed, kept.seed_chosen) == (21, True)


def test_difficulties_are_kept_apart() -> None:
    for rules in DIFFICULTIES.values():
        for seed in range(rules.minimum):
            play_seed(seed, rules)
    output = listed()
    assert "PEACEFUL: 2 games" in output
    assert "SURVIVAL: 2 games" in output
    assert "NIGHTMARE: 3 games" in output
    assert "PEACEFUL" not in listed("--difficulty", "NightMare")
    assert len(rows(listed("--difficulty", "nightmare"))) == 3


def test_without_games_there_is_no_score_and_no_folder(data: Path) -> None:
    output = listed()
    for rules in DIFFICULTIES.values():
        assert f"{rules.name.upper()}: no game yet" in output
    assert rows(output) == []
    assert not data.exists()


@pytest.mark.parametrize(
    "words", [("--top", "0"), ("--top", "-1"), ("--top", "x"), ("--difficulty", "hard"), ("more",)]
)
def test_wrong_options_are_refused(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, ["scores", *words])
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_the_best_come_first_and_of_equals_the_earlier() -> None:
    for name, score, date in (
        ("a", -40, "2026-03-01T00:00:00+00:00"),
        ("b", 130, "2026-03-03T00:00:00+00:00"),
        ("c", 9, "2026-03-01T00:00:00+00:00"),
        ("d", 130, "2026-03-02T00:00:00+00:00"),
        ("e", 101, "2026-03-01T00:00:00+00:00"),
    ):
        write(SURVIVAL, name, score=score, date=date, seed=ord(name))
    found = rows(listed())
    assert [row[0] for row in found] == list("12345")
    assert [row[1] for row in found] == ["130", "130", "101", "9", "-40"]
    assert "".join(chr(int(row[-1])) for row in found) == "dbeca"
    assert rows(listed("--top", "2")) == found[:2]
    assert rows(listed("--top", "999")) == found
    assert "SURVIVAL: 5 games" in listed("--top", "2")


def test_ten_are_shown_unless_more_are_asked_for() -> None:
    for number in range(12):
        write(SURVIVAL, str(number), score=number)
    assert len(rows(listed())) == 10
    assert len(rows(listed("--top", "11"))) == 11


def test_a_chosen_seed_is_marked_and_explained_where_it_is_shown() -> None:
    write(PEACEFUL, "drawn", score=2, seed=77)
    write(PEACEFUL, "chosen", score=1, seed=78, seed_chosen=True)
    marked, unmarked = listed(), listed("--top", "1")
    assert [row[-1] for row in rows(marked)] == ["77", "78*"]
    assert "* The player chose the seed" in marked
    assert [row[-1] for row in rows(unmarked)] == ["77"]
    assert "chose" not in unmarked


def test_the_end_of_a_game_tells_its_place() -> None:
    write(SURVIVAL, "better", score=10_000)
    write(SURVIVAL, "worse", score=-10_000)
    assert "Place 2 of your 3 games at SURVIVAL." in play_seed(3, SURVIVAL).output


def whole(rules: Rules, seed: int = 5) -> tuple[saves.Sitting, bytes]:
    """A game that was played to its end by the library, and the bytes of its score."""
    sitting = saves.begin(rules, seed, None)
    sitting.game = script(seed, rules)[1]
    scores.add(sitting, "2026-01-02T03:04:05+00:00")
    return sitting, path_of(sitting).read_bytes()


def path_of(sitting: saves.Sitting) -> Path:
    return scores.folder() / sitting.game.rules.name / f"{sitting.name}.json"


def test_the_same_game_twice_is_one_entry() -> None:
    sitting, before = whole(PEACEFUL)
    scores.add(sitting, "2026-01-02T03:04:05+00:00")
    assert path_of(sitting).read_bytes() == before
    assert len(list(path_of(sitting).parent.iterdir())) == 1


def test_a_save_put_back_and_played_again_is_one_entry() -> None:
    lines, game = script(5, SURVIVAL)
    play("--difficulty", "survival", "--seed", "5", lines=lines[:-1])
    (path,) = saves.folder().glob("*.json")
    copy = path.read_bytes()
    for _ in range(2):
        path.write_bytes(copy)
        assert play("--resume", lines=lines[-1:]).exit_code == 0
        assert not path.exists()
        (entry,), damaged = scores.read("survival")
        assert (entry.score, damaged) == (game.score.total, [])


KILLED = """
import os, signal, sys
from magsim.play import saves, scores
{patch} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from magsim.cli import main
main()
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONUTF8": "1"}


@pytest.mark.parametrize(
    ("patch", "found"), [("saves.remove", 1), ("scores.add", 0), ("scores.read", 1)]
)
def test_a_game_killed_as_it_ends_is_in_the_scores_once(patch: str, found: int) -> None:
    """Before its score is written, or between that and the removal of its save, or after."""
    lines, game = script(8, NIGHTMARE)
    options = ["--difficulty", "nightmare", "--seed", "8"]
    killed = subprocess.run(
        [sys.executable, "-c", KILLED.format(patch=patch), *PLAY, *options],
        input=text(lines),
        capture_output=True,
        text=True,
        timeout=WAIT,
        check=False,
        env=environment(),
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(scores.read("nightmare")[0]) == found
    if patch == "scores.read":
        assert saves.names() == []
    else:
        assert len(saves.names()) == 1
        result = play("--resume", lines=[])
        assert result.exit_code == 0, result.output
        assert f"Score {game.score.total}: " in result.output
        assert "Your first game at NIGHTMARE." in result.output
    (entry,), damaged = scores.read("nightmare")
    assert (entry.score, entry.seed, damaged) == (game.score.total, 8, [])
    assert list(saves.folder().glob("*.json")) == []


def test_games_that_end_at_once_are_all_kept() -> None:
    """Every process waits before its last command, and all get it together."""
    seeds = {seed: script(seed, SURVIVAL) for seed in (31, 32, 33, 34)}
    already = write(SURVIVAL, "earlier", score=7, seed=1)
    content = already.read_bytes()
    players: list[subprocess.Popen[str]] = []
    try:
        for seed in seeds:
            words = ["--difficulty", "survival", "--seed", str(seed)]
            players.append(
                subprocess.Popen(
                    [sys.executable, "-m", "magsim", *PLAY, *words],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    env=environment(),
                )
            )
        for player, (lines, _) in zip(players, seeds.values(), strict=True):
            assert player.stdin
            assert player.stdout
            player.stdin.write(text([*lines[:-1], "why"]))
            player.stdin.flush()
            while "> why" not in player.stdout.readline():
                assert player.poll() is None
        for player, (lines, _) in zip(players, seeds.values(), strict=True):
            assert player.stdin
            player.stdin.write(text(lines[-1:]))
            player.stdin.flush()
        for player in players:
            output, _ = player.communicate(timeout=WAIT)
            assert player.returncode == 0, output
            assert "To share it: seed" in output
    finally:
        for player in players:
            player.kill()
            player.communicate()
    found, damaged = scores.read("survival")
    wanted = {(seed, game.score.total) for seed, (_, game) in seeds.items()}
    assert {(entry.seed, entry.score) for entry in found} == {*wanted, (1, 7)}
    assert len(found) == 5
    assert damaged == []
    assert already.read_bytes() == content
    assert saves.names() == []
    assert {path.suffix for path in (scores.folder() / "survival").iterdir()} == {".json"}


def test_a_full_disk_keeps_the_game_and_the_scores_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    earlier, content = whole(SURVIVAL)
    lines, game = script(6, SURVIVAL)
    replace = os.replace

    def full(source: Any, target: Any, **options: Any) -> None:
        if scores.folder() in Path(target).parents:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        result = play("--difficulty", "survival", "--seed", "6", lines=lines)
        assert result.exit_code == 2
        (line,) = result.stderr.splitlines()
        assert line.startswith("magsim: ")
        assert os.strerror(errno.ENOSPC) in line
        assert "magsim play --resume" in line
        assert "To share it" not in result.output
        assert play("--resume", lines=[]).exit_code == 2
        assert listed().count("5*") == 1
    assert len(saves.names()) == 1
    assert list(path_of(earlier).parent.iterdir()) == [path_of(earlier)]
    assert path_of(earlier).read_bytes() == content
    result = play("--resume", lines=[])
    assert result.exit_code == 0, result.output
    assert saves.names() == []
    assert {entry.score for entry in scores.read("survival")[0]} == {
        game.score.total,
        script(5, SURVIVAL)[1].score.total,
    }
    assert path_of(earlier).read_bytes() == content


def test_a_score_that_cannot_be_written_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    sitting, content = whole(PEACEFUL)

    def full(_file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MagsimError, match=r"cannot be written: .*space"):
        scores.add(sitting, "2027-01-01T00:00:00+00:00")
    assert path_of(sitting).read_bytes() == content
    assert len(list(path_of(sitting).parent.iterdir())) == 1


DAMAGED = [
    b"",
    b"{",
    b"\0" * 200,
    b"\xff\xfe",
    b"null",
    b"[]",
    b"{}",
    b"3",
    b"[" * 100_000,
]

WRONG: list[tuple[str, object]] = [
    ("date", None),
    ("date", 5),
    ("date", "yesterday"),
    ("date", "0001-01-01T00:00:00"),
    ("date", "0001-01-01T00:00:00+23:00"),
    ("date", "9999-12-31T23:59:59-23:00"),
    ("difficulty", "brutal"),
    ("difficulty", []),
    ("difficulty", "nightmare"),
    ("score", None),
    ("score", "100"),
    ("score", 1.5),
    ("score", True),
    ("turns", None),
    ("powers", []),
    ("hints", "0"),
    ("seed", float("inf")),
    ("seed", None),
    ("seed_chosen", "no"),
    ("extra", 1),
]


def reported(path: Path) -> None:
    """The file is named as damaged, and the other scores are listed; nor does a game's end mind."""
    good = write(SURVIVAL, "good", score=55, seed=4)
    output = listed()
    assert f"{path} is damaged and left out." in output
    assert [row[1] for row in rows(output)] == ["55"]
    assert "SURVIVAL: 1 game\n" in output
    result = play_seed(3, SURVIVAL)
    assert result.exit_code == 0, result.output
    assert "of your 2 games at SURVIVAL." in result.output
    assert path.exists()
    assert good.exists()


@pytest.mark.parametrize("content", DAMAGED, ids=lambda content: repr(content[:9]))
def test_a_damaged_score_is_named_and_never_in_the_way(content: bytes) -> None:
    path = write(SURVIVAL, "bad")
    path.write_bytes(content)
    reported(path)


@pytest.mark.parametrize(("key", "value"), WRONG, ids=lambda part: str(part)[:24])
def test_a_score_of_wrong_content_is_named_and_never_in_the_way(key: str, value: object) -> None:
    reported(write(SURVIVAL, "bad", **{key: value}))


def test_a_folder_among_the_scores_is_named_and_never_in_the_way() -> None:
    path = scores.folder() / "survival" / "bad.json"
    path.mkdir(parents=True)
    reported(path)


def test_a_link_that_leads_nowhere_is_never_in_the_way() -> None:
    path = write(SURVIVAL, "bad")
    path.unlink()
    path.symlink_to(path.parent / "gone")
    write(SURVIVAL, "good", score=55)
    assert [row[1] for row in rows(listed())] == ["55"]
    assert play_seed(3, SURVIVAL).exit_code == 0


def test_a_score_cut_off_anywhere_is_named() -> None:
    path = write(SURVIVAL, "torn")
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        assert scores.read("survival") == ([], [path])
    path.write_bytes(content)
    ((entry,), damaged) = scores.read("survival")
    assert (entry.score, damaged) == (100, [])


def test_what_a_killed_writer_leaves_is_no_score_and_no_obstacle() -> None:
    sitting, content = whole(PEACEFUL)
    torn = path_of(sitting).with_name(f".{sitting.name}.json.tmp")
    torn.write_bytes(content[:20])
    entries, damaged = scores.read("peaceful")
    assert (len(entries), damaged) == (1, [])
    path_of(sitting).unlink()
    scores.add(sitting, "2026-01-02T03:04:05+00:00")
    assert path_of(sitting).read_bytes() == content
    assert list(path_of(sitting).parent.iterdir()) == [path_of(sitting)]


def test_a_file_in_the_place_of_the_folder_is_told_in_a_sentence(data: Path) -> None:
    """The game is kept until its score can be written."""
    data.mkdir()
    (data / "scores").write_text("in the way")
    result = play_seed(3, SURVIVAL)
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert len(saves.names()) == 1
    (data / "scores").unlink()
    assert play("--resume", lines=[]).exit_code == 0
    assert len(scores.read("survival")[0]) == 1


def test_an_entry_reads_back_as_it_was_written() -> None:
    sitting = saves.begin(NIGHTMARE, 2**64 - 1, None)
    sitting.game = script(2**64 - 1, NIGHTMARE)[1]
    sitting.hints = 12
    entry = scores.add(sitting, "2026-01-02T03:04:05+00:00")
    assert scores.read("nightmare") == ([entry], [])
    assert entry == HighScore(
        date="2026-01-02T03:04:05+00:00",
        difficulty="nightmare",
        score=sitting.game.score.total,
        turns=sitting.game.turn,
        powers=0,
        hints=12,
        seed=2**64 - 1,
        seed_chosen=True,
    )
