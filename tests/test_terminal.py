"""`magsim play` from outside: at a terminal of 80 by 24, and through a pipe."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata
from contextlib import suppress
from itertools import cycle
from pathlib import Path

import pytest
from players import one_by_one, script, seat

from magsim import rules as law
from magsim.board import format_board, format_dice
from magsim.decision import Place, Power, parse_decision
from magsim.play import LANGUAGES, saves, scores
from magsim.play.game import Game
from magsim.play.language import Phrase
from magsim.rules import DIFFICULTIES, PEACEFUL, Rules

WAIT = 120
COLUMNS, ROWS = 80, 24
CLEARED = re.compile(r"\x1b\[2J\x1b\[H")
SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PROMPT = re.compile(r"\n(?:\x1b\[[0-9;?]*[A-Za-z])*> ")
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m")
SAVED = "The game is saved; magsim play --resume goes on with it."
GAME = ("--no-review", "--runs", "nowhere", "--lang", "en")
PEACEFUL_118 = (*GAME, "--difficulty", "peaceful", "--seed", "118")

every_difficulty = pytest.mark.parametrize(
    "rules", DIFFICULTIES.values(), ids=lambda rules: rules.name
)

# The child makes the terminal its own, so that Ctrl-C and a hang-up reach it.
AT_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "magsim", *sys.argv[1:]])
"""


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own, and an environment that asks for nothing."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONUTF8", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("INPUTRC", os.devnull)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLUMNS", "LINES", "PYTHONSTARTUP"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "magsim"


class Terminal:
    """A process at a terminal of its own; ``output`` is all that it has shown."""

    def __init__(self, *words: str) -> None:
        self.output = ""
        self._seen = 0
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        command = [sys.executable, "-c", AT_TERMINAL, *words]
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.hang_up()

    def _read(self, seconds: float) -> bool:
        """Read what there is; whether there can be more."""
        if select.select([self._master], [], [], seconds)[0]:
            try:
                new = os.read(self._master, 65536)
            except OSError:  # the last one has left the terminal
                return False
            self.output += new.decode(errors="replace")
            return bool(new)
        return True

    def until(self, text: str | re.Pattern[str]) -> str:
        """Wait for a text after what has been waited for before; what was shown up to its end."""
        wanted = re.compile(re.escape(text)) if isinstance(text, str) else text
        limit, more = time.monotonic() + WAIT, True
        while not (found := wanted.search(self.output, self._seen)):
            assert more, f"ended without {text!r}: {self.output[self._seen :]!r}"
            assert time.monotonic() < limit, f"no {text!r} in {self.output[self._seen :]!r}"
            more = self._read(1)
        before = self.output[self._seen : found.end()]
        self._seen = found.end()
        return before

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def say(self, line: str) -> str:
        """Type a line at the prompt; the screen that answers it, up to its prompt."""
        self.type(line + "\r")
        self.until(line)
        return self.until(PROMPT)

    def end(self, key: str = "") -> int:
        """The exit code once it has ended, after a key that is pressed again if nothing happens.

        Python's ``input`` sleeps on if Ctrl-C comes just before it begins to wait.
        """
        limit, before = time.monotonic() + WAIT, len(self.output)
        self.type(key)
        while self._read(3):
            assert time.monotonic() < limit, self.output
            if len(self.output) == before:
                self.type(key)
        return self.process.wait(WAIT)

    def hang_up(self) -> None:
        """Close the terminal."""
        with suppress(OSError):
            os.close(self._master)
            self._master = -1


def play(*words: str) -> Terminal:
    terminal = Terminal("play", *words)
    terminal.until(PROMPT)
    return terminal


def pipe(lines: list[str], *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "magsim", "play", *words],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=WAIT,
        check=False,
    )


def width(line: str) -> int:
    """The columns that a line takes: those of Unicode's format characters are none."""
    return sum(
        0
        if unicodedata.category(sign) == "Cf"
        else 1 + (unicodedata.east_asian_width(sign) in "WF")
        for sign in line
    )


def frames(output: str) -> list[list[str]]:
    """The lines of every screen, the prompt's with them; what precedes the first is left out."""
    texts = [SEQUENCE.sub("", text).replace("\r", "") for text in CLEARED.split(output)[1:]]
    return [text.split("\n") for text in texts]


def fits(output: str) -> list[list[str]]:
    """The screens, each within the terminal."""
    found = frames(output)
    assert found
    for lines in found:
        shown = "\n".join(lines)
        assert all(width(line) <= COLUMNS for line in lines), shown
        assert len(lines) <= ROWS, shown
    return found


def test_the_screen_shows_board_dice_powers_and_score() -> None:
    with play(*PEACEFUL_118) as terminal:
        (lines,) = fits(terminal.output)
        assert lines[0] == "PEACEFUL · turn 1 · seed 118"
        assert "┌─────┬─────┬─────┬─────┐" in lines[3]
        assert any(line.startswith("Dice 3 4 4 6; 3 Powers left") for line in lines)
        screen = terminal.say("4b2")
        assert "[4]" in screen
        assert "Staged: 4b2." in screen
        screen = terminal.say("4")
        assert screen.count("(4)") == 4
        fits(terminal.output)
        terminal.type("quit\r")
        assert terminal.end() == 0
        assert SAVED in terminal.output


def test_tab_completes_what_may_follow() -> None:
    pytest.importorskip("readline", reason="this Python has no readline: nothing completes")
    with play(*PEACEFUL_118) as terminal:
        terminal.say("4b2")
        for begun, whole in (
            ("why 3 ", None),
            ("und\t", "undo "),
            ("res\t", None),
            ("scor\t", "score "),
            ("rer\t6", "reroll 6"),
        ):
            terminal.type(begun)
            if whole:
                terminal.until(whole)
            terminal.type("\x15")  # the line is emptied
            terminal.type("\r")
            terminal.until(PROMPT)
        terminal.type("undo b\t\r")
        assert "Taken back: 4b2." in terminal.until(PROMPT)
        terminal.type("4 \t\t")
        terminal.until("a1")
        terminal.until("d4")
        terminal.type("\x15why 3 z\t9\x15")
        terminal.type("rul\t\r")
        terminal.until("rules")
        assert "A turn: four dice are rolled." in terminal.until(PROMPT)


def test_arrow_up_recalls_the_last_line() -> None:
    pytest.importorskip("readline", reason="this Python has no readline: nothing is recalled")
    with play(*PEACEFUL_118) as terminal:
        terminal.say("score")
        terminal.say("4b2")
        terminal.say("undo")
        terminal.type("\x1b[A\x1b[A\r")
        assert "Staged: 4b2." in terminal.until(PROMPT)


@pytest.mark.parametrize("begun", ["", "4b", "reroll 3 4"])
def test_ctrl_c_says_that_the_game_is_saved(begun: str) -> None:
    """Whatever has been typed and not been sent has not happened."""
    with play(*PEACEFUL_118) as terminal:
        terminal.say("4b2")
        terminal.type(begun)
        if begun:
            terminal.until(begun)
        assert terminal.end("\x03") == 130
        assert SAVED in terminal.output
        assert "Traceback" not in terminal.output
    game = saves.load(saves.names()[0]).game
    assert (format_dice(game.hand), game.staged, game.powers_used) == ("3446", ((4, 5),), 0)


def test_ctrl_c_and_ctrl_d_at_the_question_for_a_difficulty_leave() -> None:
    for key, code in (("\x03", 130), ("\x04", 0)):
        with play(*GAME) as terminal:
            assert "Which difficulty? peaceful / survival / nightmare" in terminal.output
            assert terminal.end(key) == code
            assert "Traceback" not in terminal.output
    assert saves.names() == []


def test_the_difficulty_is_asked_for_at_a_terminal() -> None:
    with play(*GAME) as terminal:
        terminal.type("pea")
        terminal.until("pea")
        terminal.type("ceful\r")
        terminal.until("PEACEFUL · turn 1")
        assert "seed" not in terminal.until(PROMPT)


def test_ctrl_d_leaves_the_game_saved() -> None:
    with play(*PEACEFUL_118) as terminal:
        terminal.say("4b2")
        assert terminal.end("\x04") == 0
        assert SAVED in terminal.output
    assert saves.load(saves.names()[0]).game.staged == ((4, 5),)


SLOW = """
import time
from magsim.bot import Bot

class Slow(Bot):
    def decide(self, position):
        time.sleep(3600)
"""


def test_ctrl_c_stops_a_hint_and_the_game_goes_on(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    advisor = ("--advisor", str(tmp_path / "slow.py"), "--time-limit", "3600")
    with play(*PEACEFUL_118, *advisor) as terminal:
        terminal.type("hint\r")
        terminal.until("thinks …")
        terminal.type("\x03")
        assert "The hint was stopped." in terminal.until(PROMPT)
        assert "Staged: 4b2." in terminal.say("4b2")
        assert terminal.end("\x03") == 130
        assert SAVED in terminal.output


SEED_OF_TWO_REROLLS = 11
STOPS = {0: "killed", 4: "hung up", 5: "killed", 6: "terminated", 8: "hung up"}
"""How the process ends after which line of that game: a staged die, two rerolls, a die, a turn."""


def test_a_game_whose_process_ends_goes_on_with_the_same_dice_staged_or_not() -> None:
    seed = SEED_OF_TWO_REROLLS
    _, straight = script(seed, PEACEFUL, seed)
    lines = one_by_one(straight)
    assert [lines[stop].split()[0] for stop in STOPS] == ["1a3", "reroll", "reroll", "2a2", "done"]
    words: tuple[str, ...] = (*GAME, "--difficulty", "peaceful", "--seed", str(seed))
    game, done = Game(seed, PEACEFUL), 0
    for stop, how in STOPS.items():
        with play(*words) as terminal:
            assert_shown(terminal.output, game)
            for line in lines[done : stop + 1]:
                terminal.say(line)
                follow(game, line)
            assert_shown(terminal.output, game)
            end_process(terminal, how)
        (name,) = saves.names()
        assert vars(saves.load(name).game) == vars(game)
        words, done = ("--resume", *GAME), stop + 1
    finished = pipe(lines[done:], *words)
    assert finished.returncode == 0, finished.stderr
    assert f"Score {straight.score.total}: " in finished.stdout
    (entry,), _ = scores.read("peaceful")
    assert (entry.score, entry.turns) == (straight.score.total, straight.turn)
    assert list(saves.folder().iterdir()) == []


def follow(game: Game, line: str) -> None:
    """Do in a game what a line says, a placement of one die, a Power or ``done``."""
    if line == "done":
        game.confirm()
        return
    decision = parse_decision(line)
    if isinstance(decision, Place):
        game.stage(decision.placements)
    else:
        assert isinstance(decision, Power)
        game.use(decision)


def assert_shown(output: str, game: Game) -> None:
    """The last screen shows the dice of a game, those staged in brackets and on the board."""
    board, _, below = "\n".join(frames(output)[-1]).partition("Dice ")
    shown = below.partition(";")[0].split()
    assert shown == [*map(str, game.available), *(f"[{die}]" for die, _ in game.staged)]
    assert re.findall(r"\[\d\]", board) == [
        f"[{die}]" for die, cell in sorted(game.staged, key=lambda placement: placement[1])
    ]
    assert f"turn {game.turn} " in board
    if game.powers_left:
        assert f"; {game.powers_left} Power" in below


def end_process(terminal: Terminal, how: str) -> None:
    match how:
        case "killed":
            terminal.process.kill()
        case "terminated":
            terminal.process.terminate()
        case _:
            terminal.hang_up()
    terminal.process.wait(WAIT)


@every_difficulty
def test_a_script_plays_a_whole_game_through_a_pipe(rules: Rules) -> None:
    lines, game = script(44, rules, 3)
    done = pipe(lines, *GAME, "--difficulty", rules.name, "--seed", "44")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    total = law.score(game.board, rules, game.powers_used).total
    assert f"To share it: seed 44, {rules.name.upper()}: beat {total}\n" in done.stdout
    assert f"you: {format_board(game.board)}\n" in done.stdout
    (entry,), _ = scores.read(rules.name)
    assert (entry.score, entry.turns, entry.powers) == (total, game.turn, game.powers_used)
    assert list(saves.folder().iterdir()) == []


def test_a_pipe_that_ends_early_leaves_the_game_saved() -> None:
    """Without an end of line, too, and after bytes that are no text."""
    command = [sys.executable, "-m", "magsim", "play", *PEACEFUL_118]
    typed = b"4b2\n\xff\xfe\0\x1b[31m\n4b3"
    done = subprocess.run(command, input=typed, capture_output=True, timeout=WAIT, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert SAVED.encode() in done.stdout
    assert saves.load(saves.names()[0]).game.staged == ((4, 5), (4, 9))


def test_a_pipe_is_asked_for_the_difficulty() -> None:
    done = pipe(["night", "quit"], *GAME)
    assert (done.returncode, done.stderr) == (0, "")
    assert "NIGHTMARE · turn 1" in done.stdout


def test_ctrl_c_through_a_pipe_leaves_the_game_saved() -> None:
    command = [sys.executable, "-m", "magsim", "play", *PEACEFUL_118]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as player:
        assert player.stdin
        assert player.stdout
        player.stdin.write("4b2\nsave\n")
        player.stdin.flush()
        while "> save" not in (line := player.stdout.readline()):
            assert line
        assert SAVED in player.stdout.readline()
        player.send_signal(signal.SIGINT)
        output = player.stdout.read()
        assert player.wait(WAIT) == 130, output
    assert SAVED in output
    assert "Traceback" not in output
    assert saves.load(saves.names()[0]).game.staged == ((4, 5),)


def test_no_color_means_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    for no_color in (False, True):
        if no_color:
            monkeypatch.setenv("NO_COLOR", "1")
        with play(*PEACEFUL_118) as terminal:
            terminal.say("4b2")
            terminal.say("4")
            terminal.say("help")
            assert bool(COLOUR.search(terminal.output)) != no_color
            assert CLEARED.search(terminal.output)


def test_plain_at_a_terminal_is_line_by_line() -> None:
    with play(*PEACEFUL_118, "--plain") as terminal:
        assert "Staged 4b2" in terminal.say("4b2")
        assert not CLEARED.search(terminal.output)
        assert not COLOUR.search(terminal.output)
        assert "┌" not in terminal.output


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_screen_of_a_game_fits_into_80_by_24(language: str) -> None:
    """With the line of the prompt, whatever is asked for on the way."""
    asked = cycle(
        ["score", "why b2", *"123456", "why a1", "3 b2 4 c2 5", "nonsense " * 30, "rules", "help"]
    )
    for rules in DIFFICULTIES.values():
        lines: list[str] = []
        for line in one_by_one(script(2**64 - 1, rules, 3)[1]):
            lines += [next(asked), next(asked), line]
        sitting = saves.begin(rules, 2**64 - 1, None)
        session, shown = seat(sitting, lines, plain=False, language=language)
        assert session.run()
        assert len(fits(shown.getvalue())) == 1 + len(lines)


@pytest.mark.parametrize("count", [1, 2, 9])
def test_hints_fit_on_the_screen(count: int) -> None:
    said = ["greedy would do this: Power reroll 123."]
    said += [f"{place}. 1a1 2b1 3c1 4d1: 123.4" for place in range(1, count + 1)] * (count > 1)

    def advise(_game: Game, _count: int) -> list[Phrase]:
        return [Phrase(line) for line in said]

    lines = [f"hint {count}", "show"]
    session, shown = seat(saves.begin(PEACEFUL, 118, None), lines, plain=False, advise=advise)
    session.run()
    assert set(said) <= set(fits(shown.getvalue())[1])
