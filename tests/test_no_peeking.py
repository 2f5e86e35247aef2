"""Nobody learns the dice to come: not from undoing, saves, a full disk, hints, or the rival."""

import errno
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner, Result
from players import one_by_one, script, seat

from magsim import dice
from magsim.board import CELL_NAMES, format_board, format_dice, parse_board
from magsim.cli import main
from magsim.play import saves, scores
from magsim.play.counsel import Counsel
from magsim.play.game import GAME_INDEX, Game
from magsim.play.language import Phrase, Tongue
from magsim.play.saves import Sitting
from magsim.pool import stop_workers
from magsim.rules import DIFFICULTIES, NIGHTMARE, PEACEFUL, SURVIVAL, Rules

SECONDS = 120.0
BOARD_TEXT = re.compile(r"[.1-6R]{4}(?:/[.1-6R]{4}){3}")

every_difficulty = pytest.mark.parametrize(
    "rules", DIFFICULTIES.values(), ids=lambda rules: rules.name
)


pytestmark = pytest.mark.usefixtures("data")


@pytest.fixture
def processes() -> Iterator[None]:
    """The processes of bots, to be ended."""
    yield
    stop_workers()


def play(*words: str, lines: list[str]) -> Result:
    options = ["--no-review", "--runs", "nowhere", "--lang", "en", "--time-limit", str(SECONDS)]
    text = "".join(f"{line}\n" for line in lines)
    return CliRunner().invoke(main, ["play", *options, *words], input=text)


def answers(output: str) -> list[str]:
    """What is shown before the first command, and after each."""
    return re.split(r"^> .*\n", output, flags=re.MULTILINE)


def roll(seed: int, turn: int) -> str:
    """The roll of a turn of a seed's game."""
    return "".join(map(str, dice.rolls(seed, np.array([GAME_INDEX], np.uint64), turn)[0]))


def same_first_roll(rules: Rules, number: int) -> list[Game]:
    """Games of seeds that begin with the same roll, and go on with others."""
    first = Game(0, rules)
    same = (game for seed in count(1) if (game := Game(seed, rules)).hand == first.hand)
    return [first, *(next(same) for _ in range(number - 1))]


def in_position(seed: int, rules: Rules, board: str, hand: tuple[int, ...], used: int) -> Game:
    """A game of a seed, brought into a position of its fourth turn."""
    game = Game(seed, rules)
    game.board, game.hand, game.turn, game.powers_used = parse_board(board), hand, 4, used
    return game


@pytest.fixture(scope="module", params=["random", "greedy"])
def counsel(request: pytest.FixtureRequest) -> Iterator[Counsel]:
    """A bot that gives hints: one that draws them by its key, or one that reckons."""
    counsel = Counsel(request.param, SECONDS, Tongue("en"), lambda _phrase: None)
    yield counsel
    counsel.close()


POSITIONS = [
    (PEACEFUL, "..../.34./..R./....", (1, 2, 4, 4), 1),
    (NIGHTMARE, "3456/.34./..R./.1..", (2, 3, 5, 6), 0),
    (SURVIVAL, "3456/3345/44R./51..", (1, 3, 5, 6), 1),
]


def test_a_hint_depends_on_the_position_alone(counsel: Counsel) -> None:
    """Whatever the seed, however often it is asked for, and whether dice are staged."""
    for rules, board, hand, used in POSITIONS:
        hints = []
        for seed in (0, 1, 2**64 - 1):
            game = in_position(seed, rules, board, hand, used)
            hints += [counsel.advise(game, 9), counsel.advise(game, 9)]
            for placement in [(die, cell) for die in hand for cell in game.legal_cells(die)][:1]:
                game.stage([placement])
                hints.append(counsel.advise(game, 9))
        assert len(hints) > 5
        assert all(hint == hints[0] for hint in hints)


def test_games_that_begin_alike_are_given_the_same_hints(counsel: Counsel) -> None:
    """After a resumption, too."""
    games = same_first_roll(SURVIVAL, 3)
    assert len({roll(game.seed, 2) for game in games}) > 1
    found = []
    for game in games:
        sitting = replace(saves.begin(SURVIVAL, game.seed, None), seed_chosen=False)
        for lines in (["hint 9", "save", "hint"], ["hint 9"]):
            session, shown = seat(sitting, lines, advise=counsel.advise)
            session.run()
            found.append(shown.getvalue())
            sitting = saves.load(sitting.name)
    assert "would do this: " in found[0]
    assert found == found[:2] * 3


def hint_of_nothing(_game: Game, hints: int) -> list[Phrase]:
    return [Phrase("no idea")] * hints


HARMLESS = (
    *("", "show", "save", "score", "rules", "help", "hint", "hint 9", "why b2", "why 3 c3"),
    *("1", "2", "3", "4", "5", "6", "why a1", "+6", "-1", "reroll 7", "reroll", "raise", "ruin e5"),
    *("nonsense", "3 b2 3 b2 3 b2 3 b2 3 b2", "7b2", "undo e5", "\0", "hint 0", "hint 99"),
)
"""Lines that are refused or change nothing, wherever they are given."""


def detour(game: Game, chance: Random) -> list[str]:
    """Lines that lead back to where a game is: asking, refused, staging, undoing, redoing."""
    lines: list[str] = []
    for _ in range(chance.randrange(4)):
        lines += chance.choices(HARMLESS, k=chance.randrange(1, 3))
        if len(game.staged) < game.required:
            lines.append("done")
        if not game.in_magdagdon:
            lines.append("ruin a1")
        if not game.powers_left:
            lines += ["reroll all", "+3", "-4"]
        where = [(die, cell) for die in game.available for cell in game.legal_cells(die)]
        if where and chance.random() < 0.7:
            die, cell = chance.choice(where)
            lines += [f"{die}{CELL_NAMES[cell]}", f"undo {CELL_NAMES[cell]}"]
        if chance.random() < 0.5:
            again = [f"{die}{CELL_NAMES[cell]}" for die, cell in game.staged]
            lines += ["undo all", *again]
    return lines


def after(sitting: Sitting, lines: list[str]) -> tuple[Sitting, str]:
    """A sitting after some lines, and what was shown."""
    session, shown = seat(sitting, lines, advise=hint_of_nothing)
    session.run()
    return session.sitting, shown.getvalue()


@every_difficulty
@pytest.mark.parametrize("player", [1, 4])
def test_no_detour_changes_the_dice_of_turns_or_rerolls(rules: Rules, player: int) -> None:
    seed, chance = 1000 + player, Random(player)
    lines = one_by_one(script(seed, rules, player)[1])
    straight = saves.begin(rules, seed, None)
    winding = saves.begin(rules, seed, None)
    rounds = 0
    for line in lines:
        straight, _ = after(straight, [line])
        way = detour(winding.game, chance)
        rounds += len(way)
        winding, shown = after(winding, [*way, line])
        assert vars(winding.game) == vars(straight.game), (way, shown)
        if chance.random() < 0.5:
            winding = saves.load(winding.name)
    assert straight.game.over
    assert rounds > len(lines)


def test_there_are_rerolls_on_the_winding_ways() -> None:
    for player in (1, 4):
        lines, _ = script(1000 + player, PEACEFUL, player)
        assert any(line.startswith("reroll") for line in lines)


@every_difficulty
def test_every_way_through_a_game_meets_the_same_rolls(rules: Rules) -> None:
    rolls: dict[int, set[tuple[int, ...]]] = {}
    for player in range(8):
        _, game = script(77, rules, player)
        for step in reversed(game.steps):
            if step == next(first for first in game.steps if first.turn == step.turn):
                rolls.setdefault(step.turn, set()).add(step.dice)
    assert len(rolls) > 5
    assert all(len(different) == 1 for different in rolls.values())
    assert len(set.union(*rolls.values())) > 3


def test_a_reroll_is_the_same_after_any_use_of_other_dice() -> None:
    """What is rolled anew depends on how often, and how many, and on nothing else."""
    hands = set()
    for power in ("reroll 3", "reroll 4", "reroll 6"):
        sitting, _ = after(saves.begin(PEACEFUL, 118, None), ["undo", "4 b2", "undo", power])
        rest = [3, 4, 4, 6]
        rest.remove(int(power[-1]))
        new = list(sitting.game.hand)
        for die in rest:
            new.remove(die)
        hands.add(tuple(new))
    assert len(hands) == 1


def full_disk(_file: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ([], "reroll 3"),
        ([], "reroll all"),
        (["4 b2"], "reroll 3 4 6"),
        (["reroll 3"], "reroll 1"),
        (["4 b2 4 b3"], "done"),
        ([], "4 b2 4 b3 done"),
    ],
)
def test_dice_that_cannot_be_saved_are_not_shown_and_do_not_change(
    monkeypatch: pytest.MonkeyPatch, before: list[str], line: str
) -> None:
    straight, _ = after(saves.begin(PEACEFUL, 118, None), [*before, line])
    sitting, _ = after(saves.begin(PEACEFUL, 118, None), before)
    hand, used, staged = sitting.game.hand, sitting.game.powers_used, sitting.game.staged
    length = 0

    def lines() -> Iterator[str]:
        nonlocal length
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full_disk)
            length = len(shown.getvalue())
            yield line
            yield line
            failed.append(shown.getvalue()[length:])
            game = session.sitting.game
            assert (game.hand, game.powers_used, game.staged) == (hand, used, staged)
            assert vars(saves.load(sitting.name).game) == vars(game)
        yield "show"
        yield line

    failed: list[str] = []
    session, shown = seat(sitting, lines())
    session.run()
    (said,) = failed
    assert said.count("Nothing has changed: ") == 2
    assert all(text.startswith("Nothing has changed: ") for text in said.splitlines())
    assert format_dice(straight.game.hand) not in said.replace(" ", "")
    assert vars(session.sitting.game) == vars(straight.game)
    assert straight.game.hand != hand


def test_a_hint_that_cannot_be_counted_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    sitting = saves.begin(PEACEFUL, 118, None)

    def lines() -> Iterator[str]:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full_disk)
            yield "hint"
        yield "quit"

    session, shown = seat(sitting, lines(), advise=hint_of_nothing)
    session.run()
    assert "no idea" not in shown.getvalue()
    assert session.sitting.hints == 0


FAULTY = """
from magsim.bot import Bot

class Faulty(Bot):
    def decide(self, position):
        raise ValueError(f"nothing to say of {position}")
"""


@pytest.mark.usefixtures("processes")
def test_a_drawn_seed_is_shown_at_the_end_only(tmp_path: Path) -> None:
    """Not on any page, in a refusal, by a fault of the advisor, or after a resumption."""
    (tmp_path / "faulty.py").write_text(FAULTY)
    advisor = ("--advisor", str(tmp_path / "faulty.py"))
    first = play("--difficulty", "peaceful", *advisor, lines=["hint", *HARMLESS[2:6], "quit"])
    assert "Nothing has changed: bot" in first.stdout
    (name,) = saves.names()
    seed = saves.load(name).game.seed
    lines = script(seed, PEACEFUL, 2)[0]
    told = [first.output]
    for line in lines[:-1]:
        asked = [text for text in HARMLESS if not text.startswith("hint")]
        told.append(play("--resume", lines=[line, *asked, "quit"]).output)
    last = play("--resume", lines=lines[-1:])
    before, _, end = last.output.partition("The game is over")
    assert f"seed {seed}" in end
    for output in [*told, before, name]:
        for text in (str(seed), f"{seed:x}", f"{seed:,}", f"{seed:o}"):
            assert text not in output.lower()
    (entry,), _ = scores.read("peaceful")
    assert (entry.seed, entry.seed_chosen) == (seed, False)


SPY = """
from magsim import dice
from magsim import rules as law
from magsim.board import empty_cells
from magsim.bot import Bot
from magsim.decision import Ruin
from dataclasses import replace

SEEN = set()

class Spy(Bot):
    def decide(self, position):
        SEEN.add(position)
        outcomes = law.outcomes(position.board, position.dice, position.rules)
        if outcomes:
            decision = position.placement(min(outcomes))
        else:
            decision = Ruin(empty_cells(position.board)[0])
        return replace(decision, estimate=float(len(SEEN)))
"""


@pytest.mark.usefixtures("processes")
def test_an_advisor_has_not_seen_what_the_same_bot_met_as_a_rival(tmp_path: Path) -> None:
    (tmp_path / "spy.py").write_text(SPY)
    spy = str(tmp_path / "spy.py")
    options = ("--difficulty", "survival", "--seed", "7", "--advisor", spy)
    result = play(*options, "--against", spy, lines=["hint"])
    assert "it expects 1.0 points in the end" in answers(result.stdout)[1], result.output


TIRING = """
from pathlib import Path
from magsim import dice
from magsim.board import empty_cells
from magsim.bot import Bot
from magsim.decision import Ruin

class Tiring(Bot):
    def decide(self, position):
        if len(empty_cells(position.board)) < 12 and Path(__file__).with_name("tired").exists():
            raise ValueError("tired")
        outcomes = position.outcomes()
        return position.placement(outcomes[0]) if outcomes else (
            Ruin(empty_cells(position.board)[0]))
"""


@pytest.fixture
def tiring(tmp_path: Path) -> Path:
    """A bot that raises in later turns once a file ``tired`` lies beside it."""
    path = tmp_path / "tiring.py"
    path.write_text(TIRING)
    return path


@pytest.mark.usefixtures("processes")
def test_a_rival_is_shown_as_far_as_the_player_has_come(tiring: Path) -> None:
    """Its later scores, its boards and its dice come after the end."""
    lines, game = script(7, SURVIVAL)
    options = ("--difficulty", "survival", "--seed", "7", "--against", str(tiring))
    *before, end = answers(play(*options, lines=lines).stdout)
    rival = next(line.split()[1:] for line in end.splitlines() if line.startswith("rival"))
    assert len(set(rival)) > 3
    titles = [line for block in before for line in block.splitlines() if "SURVIVAL · " in line]
    assert len(titles) > game.turn
    for title in titles:
        found = re.search(r"turn (\d+) .* has (-?\d+)$", title)
        assert found is not None
        turn, score = found.groups()
        done = min(int(turn) - 1, len(rival))
        assert score == (rival[done - 1] if done else "0")
    mine = {format_board(step.board) for step in game.steps}
    assert set(BOARD_TEXT.findall("".join(before))) <= mine


@pytest.mark.usefixtures("processes")
def test_a_rival_at_fault_does_not_tell_the_dice_of_turns_to_come(tiring: Path) -> None:
    """As when a game is resumed whose rival is not what it was."""
    sitting = saves.begin(SURVIVAL, 5, str(tiring))
    saves.save(sitting)
    tiring.with_name("tired").touch()
    result = play("--resume", lines=["show", "quit"])
    assert set(BOARD_TEXT.findall(result.output)) <= {"..../..../..../...."}, result.output
    told = result.output.replace(" ", "")
    assert not any(roll(5, turn) in told for turn in range(2, 9)), result.output


def test_no_dice_are_shown_of_a_game_that_cannot_be_saved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "fsync", full_disk)
    result = play("--difficulty", "survival", "--seed", "118", lines=["show"])
    assert result.exit_code == 2
    assert "Dice" not in result.output
    assert "3 4 4 6" not in result.output
