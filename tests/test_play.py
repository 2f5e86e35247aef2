"""`magsim play` through a pipe: whole games, refusals, saves, the rival, the end."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from players import script

from magsim import rules as law
from magsim.board import parse_board
from magsim.cli import main
from magsim.errors import MagsimError
from magsim.play import saves, scores
from magsim.rules import DIFFICULTIES, PEACEFUL, SURVIVAL, Rules


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "magsim"


def play(*options: str, lines: list[str]) -> Result:
    words = ["play", "--no-review", "--runs", "nowhere", *options]
    return CliRunner().invoke(main, words, input="".join(f"{line}\n" for line in lines))


def answers(output: str) -> list[list[str]]:
    """The lines before the first command, and those after each, the command left out."""
    blocks: list[list[str]] = [[]]
    for line in output.splitlines():
        if line.startswith("> "):
            blocks.append([])
        else:
            blocks[-1].append(line)
    return blocks


def states(output: str) -> Iterator[tuple[int, tuple[int, ...], str]]:
    """Board, hand and task of every state that is shown."""
    for block in answers(output):
        words = {line.partition(" ")[0]: line.partition(" ")[2] for line in block}
        if "Board" not in words:
            continue
        available = words["Dice"].partition(";")[0].replace("-", "").split()
        staged = [word[0] for word in words.get("Staged", "").split()]
        hand = tuple(sorted(int(die) for die in available + staged))
        dice = next(number for number, line in enumerate(block) if line.startswith("Dice"))
        yield parse_board(words["Board"]), hand, block[dice + 1]


def saved() -> bytes:
    (name,) = saves.names()
    return (saves.folder() / f"{name}.json").read_bytes()


@pytest.mark.parametrize("rules", DIFFICULTIES.values(), ids=lambda rules: rules.name)
@pytest.mark.parametrize("player", range(3))
def test_a_game_through_a_pipe_ends_with_the_score_of_the_law(rules: Rules, player: int) -> None:
    lines, game = script(4711, rules, player)
    result = play("--difficulty", rules.name, "--seed", "4711", lines=lines)
    assert result.exit_code == 0, result.output
    parts = law.score(game.board, rules, game.powers_used)
    told = (
        f"Score {parts.total}: base {parts.base}, bonuses {parts.bonuses}, "
        f"RUINs {-parts.ruin_cost}, Powers {-parts.power_cost}"
    )
    assert told in answers(result.stdout)[-1]
    assert (
        f"To share it: seed 4711, {rules.name.upper()}: beat {parts.total}"
        in answers(result.stdout)[-1]
    )
    (entry,), damaged = scores.read(rules.name)
    assert (entry.score, entry.turns, entry.powers) == (parts.total, game.turn, game.powers_used)
    assert (entry.seed, entry.seed_chosen, entry.hints, damaged) == (4711, True, 0, [])
    assert saves.names() == []


@pytest.mark.parametrize("rules", DIFFICULTIES.values(), ids=lambda rules: rules.name)
def test_magdagdon_is_announced_exactly_when_it_holds(rules: Rules) -> None:
    seen = set()
    for player in range(4):
        lines, _ = script(12, rules, player)
        output = play("--difficulty", rules.name, "--seed", "12", lines=lines).stdout
        for board, hand, task in states(output):
            holds = law.in_magdagdon(board, hand, rules)
            assert task.startswith("MAGDAGDON!") == holds
            seen.add(holds)
    assert seen == {True, False}


BAD = (
    "3 z9",
    "9 b2",
    "6 b2 6 b3",
    "4 a1 4 d4",
    "4 b2 4 b3 4 c2",
    "1 b2",
    "b2",
    "undo",
    "undo b2",
    "+6",
    "+2",
    "-2",
    "reroll 6 6",
    "reroll",
    "done",
    "ruin c3",
    "ruin",
    "hint 0",
    "why",
    "why e5",
    "score 1",
    "quit 1",
    "xyzzy",
    "4 b2 done",
    "4 b2 3 b2",
)


@pytest.mark.parametrize("line", BAD)
def test_a_bad_line_is_answered_in_one_sentence_and_changes_nothing(line: str) -> None:
    """The first roll of seed 118 is 3446."""
    options = ("--difficulty", "peaceful", "--seed", "118")
    play(*options, lines=["quit"])
    before = saved()
    result = play("--resume", lines=[line, "quit"])
    assert result.exit_code == 0
    start, answer, end = answers(result.stdout)
    assert "Dice 3 4 4 6; 3 Powers left, the next costs 10" in start
    assert len(answer) == 1
    assert answer[0].endswith((".", "?"))
    assert end == ["The game is saved; magsim play --resume goes on with it."]
    assert saved() == before


def test_a_staged_die_is_refused_a_second_time_and_to_powers() -> None:
    options = ("--difficulty", "peaceful", "--seed", "118")
    lines = [
        "3 b2",
        "3 b3",
        "+3",
        "reroll all",
        "4a1",
        "why b2",
        "why 4 a1",
        "why 6 b1",
        "why 4 b1",
    ]
    blocks = answers(play(*options, lines=lines).stdout)
    assert blocks[1][0] == "Staged: 3b2."
    assert blocks[2] == ["That die is staged; take it back first (R15)."]
    assert blocks[3] == ["That die is staged; take it back first (R15)."]
    assert blocks[4][0].startswith("reroll 446: the dice are ")
    hand = blocks[4][0].split(" the dice are ")[1].split(" now")[0].split()
    assert "3" in hand
    assert "Staged 3b2" in blocks[4]
    assert blocks[6] == ["b2 holds a number already (R8)."]
    assert blocks[7] == ["No number is beside a1, above or below it, and a die needs one (R9)."]
    assert blocks[8] == ["A 6 on b1 differs by more than 1 from the number on b2 (R10)."]
    assert blocks[9][0] == "A 4 may be staged on b1."


def test_taking_back_tells_what_leaned_on_it() -> None:
    """The first roll of seed 13 is 3456."""
    lines = ["3b2 4b3 5b4 6c4", "undo b3", "undo", "undo", "4b3 3b2", "undo all"]
    options = ("--difficulty", "peaceful", "--seed", "13")
    blocks = answers(play(*options, lines=lines).stdout)
    assert blocks[1][0] == "Staged: 3b2 4b3 5b4 6c4."
    assert blocks[2][:2] == [
        "Taken back: 4b3.",
        "They leaned on that die and are taken back, too: 5b4 6c4.",
    ]
    assert "Staged 3b2" in blocks[2]
    assert blocks[3][0] == "Taken back: 3b2."
    assert blocks[4] == ["No die is staged; turns and Powers cannot be undone."]
    assert blocks[6][0] == "Taken back: 4b3 3b2."


def test_the_chosen_die_is_placed_by_a_cell_alone() -> None:
    options = ("--difficulty", "peaceful", "--seed", "118")
    blocks = answers(play(*options, lines=["b2", "3", "b2", "4", "b3"]).stdout)
    assert blocks[1] == ["Say which die, as in “3 b2”, or choose one."]
    assert "The 3 may go on: a1 b1 c1 d1 a2 b2 c2 d2 a3 b3 c3 d3 a4 b4 c4 d4" in blocks[2]
    assert blocks[3][0] == "Staged: 3b2."
    assert "The 4 may go on: b1 a2 c2 b3" in blocks[4]
    assert blocks[5][0] == "Staged: 4b3."


def test_what_cannot_be_saved_has_not_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--difficulty", "peaceful", "--seed", "118")
    straight = answers(play(*options, lines=["reroll 3", "quit"]).stdout)[1]
    kept, calls = saves.save, []

    def save(sitting: saves.Sitting) -> None:
        calls.append(sitting)
        if len(calls) == 2:
            raise MagsimError("the disk is full")
        kept(sitting)

    monkeypatch.setattr(saves, "save", save)
    blocks = answers(play(*options, lines=["reroll 3", "show", "reroll 3", "quit"]).stdout)
    assert blocks[1] == ["Nothing has changed: the disk is full"]
    assert "Dice 3 4 4 6; 3 Powers left, the next costs 10" in blocks[2]
    assert blocks[3] == straight


def test_a_game_that_begins_unsaved_does_not_begin(data: Path) -> None:
    data.parent.mkdir(exist_ok=True)
    data.write_text("in the way")
    result = play("--difficulty", "peaceful", lines=["reroll all"])
    assert result.exit_code == 2
    assert result.stderr.startswith("magsim: ")
    assert "cannot be written" in result.stderr
    assert "Dice" not in result.output


def test_the_difficulty_is_asked_for_and_first_letters_do() -> None:
    result = play(lines=["", "hard", "n", "quit"])
    assert "There is no difficulty “hard”." in result.output
    assert "NIGHTMARE · turn 1" in result.output
    assert play(lines=[]).exit_code == 0


def test_ctrl_c_says_that_the_game_is_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> object:
        def read() -> str:
            raise KeyboardInterrupt

        return read

    monkeypatch.setattr("magsim.play.terminal.pipe_reader", interrupt)
    result = play("--difficulty", "survival", lines=[])
    assert result.exit_code == 130
    assert "The game is saved; magsim play --resume goes on with it." in result.output
    assert len(saves.names()) == 1


def test_resume_goes_on_with_the_last_game_of_a_difficulty() -> None:
    for name, seed in (("peaceful", "1"), ("survival", "2"), ("peaceful", "3")):
        play("--difficulty", name, "--seed", seed, lines=["quit"])
    assert "seed 3" in play("--resume", lines=[]).output
    assert "seed 2" in play("--resume", "--difficulty", "survival", lines=[]).output
    assert "seed 2" in play("--resume", lines=[]).output
    result = play("--resume", "--difficulty", "nightmare", lines=[])
    assert result.exit_code == 2
    assert "there is no saved game at nightmare" in result.stderr


def test_a_game_played_elsewhere_is_left_alone() -> None:
    play("--difficulty", "peaceful", "--seed", "1", lines=["quit"])
    play("--difficulty", "peaceful", "--seed", "2", lines=["quit"])
    last, other = saves.names()
    with saves.claimed(last):
        assert "seed 1" in play("--resume", lines=[]).output
        with saves.claimed(other):
            result = play("--resume", lines=[])
    assert result.exit_code == 2
    assert "is being played in another terminal" in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--resume", "--seed", "3"), "leave --seed out"),
        (("--resume", "--against", "greedy"), "leave --against out"),
        (("--resume",), "there is no saved game to go on with"),
        (("--difficulty", "hard"), "'hard' is not one of"),
        (("--seed", "-1"), "-1 is not in the range"),
        (("--seed", "x"), "'x' is not a valid integer"),
        (("--difficulty", "peaceful", "--against", "gredy"), "gredy"),
        (("--difficulty", "peaceful", "--against", "greedy,random"), "name one bot, not 2"),
        (("--difficulty", "peaceful", "--advisor", "mtcs"), "mtcs"),
        (("--lang", "xx"), "'xx' is not one of"),
    ],
)
def test_nonsense_in_options_is_told_in_a_sentence(options: tuple[str, ...], words: str) -> None:
    result = play(*options, lines=["quit"])
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output
    assert saves.names() == []


def test_a_drawn_seed_is_told_only_at_the_end() -> None:
    play("--difficulty", "nightmare", lines=["quit"])
    sitting = saves.load(saves.names()[0])
    seed = sitting.game.seed
    assert not sitting.seed_chosen
    lines, _ = script(seed, DIFFICULTIES["nightmare"])
    result = play("--resume", lines=[*lines])
    *before, end = answers(result.stdout)
    assert not any(str(seed) in line for block in before for line in block)
    assert any(f"seed {seed}, NIGHTMARE" in line for line in end)


def test_two_drawn_seeds_differ() -> None:
    drawn = {saves.begin(PEACEFUL, None, None).game.seed for _ in range(5)}
    assert len(drawn) == 5
    assert all(0 <= seed < saves.MAX_DRAWN_SEED for seed in drawn)


def test_the_rival_plays_the_same_dice_and_is_compared() -> None:
    lines, game = script(7, SURVIVAL)
    options = ("--difficulty", "survival", "--seed", "7", "--against", "greedy")
    result = play(*options, lines=lines)
    end = answers(result.stdout)[-1]
    rows = {
        line.split()[0]: line.split()[1:] for line in end if line.split()[0] in ("you", "rival")
    }
    mine, its = rows["you"], rows["rival"]
    assert int(mine[-1]) == game.score.total
    assert len(mine) == game.turn
    ahead = int(mine[-1]) - int(its[-1])
    verdict = next(line for line in end if "on the same dice" in line)
    if ahead > 0:
        assert verdict == f"You beat greedy on the same dice by {ahead} points."
    else:
        assert verdict == f"greedy beats you on the same dice by {-ahead} points."


def test_the_rival_is_shown_as_far_as_the_player_has_come() -> None:
    lines, _ = script(7, SURVIVAL)
    options = ("--difficulty", "survival", "--seed", "7", "--against", "greedy")
    blocks = answers(play(*options, lines=lines).stdout)
    rival = next(line.split()[1:] for line in blocks[-1] if line.startswith("rival"))
    for block in blocks[:-1]:
        title = next((line for line in block if line.startswith("SURVIVAL · turn")), None)
        if title:
            turn, score = int(title.split()[3]), int(title.split()[-1])
            assert score == (int(rival[min(turn - 1, len(rival)) - 1]) if turn > 1 else 0)


def test_without_runs_there_is_nothing_to_compare_with() -> None:
    result = play("--difficulty", "survival", "--seed", "7", lines=script(7, SURVIVAL)[0])
    assert "No recorded games of bots at SURVIVAL in nowhere to compare with." in result.output


def test_scores_are_listed_by_difficulty(data: Path) -> None:
    for seed in ("7", "8", "9"):
        lines, _ = script(int(seed), SURVIVAL)
        play("--difficulty", "survival", "--seed", seed, lines=lines)
    result = CliRunner().invoke(main, ["scores", "--top", "2"])
    assert result.exit_code == 0
    assert "SURVIVAL: 3 games" in result.output
    assert "NIGHTMARE: no game yet" in result.output
    listed = [line.split() for line in result.output.splitlines() if line.strip()[:1].isdigit()]
    kept = [json.loads(path.read_text()) for path in (data / "scores/survival").glob("*.json")]
    best = sorted(kept, key=lambda entry: -entry["score"])[:2]
    assert [int(row[1]) for row in listed] == [entry["score"] for entry in best]
    assert [row[-1] for row in listed] == [f"{entry['seed']}*" for entry in best]
