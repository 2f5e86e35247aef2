"""Perfect play as a bot, on rules that are solved in seconds: it is right, and nothing beats it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
import solved
from click.testing import CliRunner, Result
from endgames import ROLLS, PerfectPlay, random_endgame
from reachable import random_board

from magsim import registry
from magsim import rules as law
from magsim.asking import Watch
from magsim.board import empty_cells
from magsim.bot import Bot, Position
from magsim.cli import main
from magsim.decision import Place, Power, Ruin, unpack_decision
from magsim.engine import empty_mask
from magsim.entrants import Entrant
from magsim.errors import MagsimError
from magsim.play import saves
from magsim.play.advice import regrets
from magsim.play.counsel import Counsel
from magsim.play.game import Game
from magsim.play.language import Tongue
from magsim.reading.explain import explain, inquiry
from magsim.reading.replay import read_game
from magsim.rules import NIGHTMARE, SURVIVAL, Rules
from magsim.simulate import Played, play_games
from magsim.solver.classes import class_word
from magsim.solver.library import missing_sentence, needed_perfect
from magsim.solver.limits import LIMITED, NO_LIMITS, may_pay

pytestmark = pytest.mark.usefixtures("workers_stay")

SEED = 11


@pytest.fixture
def optimal(solution: Rules) -> Bot:  # noqa: ARG001 - it must be there
    return registry.load_bot("optimal")


def positions(rules: Rules, seed: int, count: int, most_empty: int = 16) -> list[Position]:
    """Positions of random play with random rolls; the first is an opening."""
    random, found = Random(seed), []
    while len(found) < count:
        board = random_board(rules, random, random.randint(1, 16)) if found else 0
        dice, left = random.choice(ROLLS), random.randint(0, rules.powers)
        if 0 < len(empty_cells(board)) <= most_empty or not found:
            found.append(Position(board, dice, left, rules))
    return found


# What it decides.


def test_a_decision_is_the_best_of_all_weighed(optimal: Bot, solution: Rules) -> None:
    perfect, kinds = needed_perfect(solution), set()
    for position in positions(solution, 1, 150):
        weighed = {option: option.estimate or 0.0 for option in perfect.weighed(position)}
        answers = optimal.decide_batch(position.alone(0))
        decided = unpack_decision(int(answers.decisions[0]), position.board, position.dice)
        best = max(weighed.values())
        assert weighed[decided] == pytest.approx(best, abs=1e-9), str(position)
        ranking = optimal.rank(position, 0, 10**6)
        assert ranking[0] == decided
        assert {option: option.estimate for option in ranking} == pytest.approx(weighed, abs=1e-9)
        assert answers.estimates is not None
        assert ranking[0].estimate == pytest.approx(answers.estimates[0], abs=1e-9)
        assert [o.estimate for o in ranking] == sorted((o.estimate for o in ranking), reverse=True)
        assert optimal.rank(position, 0, 3) == ranking[:3]
        kinds.add(type(decided))
    assert kinds == {Place, Ruin, Power}


def test_a_decision_is_worth_what_the_recursion_says(optimal: Bot, solution: Rules) -> None:
    play, random = PerfectPlay(solution), Random(2)
    for empty in (1, 2, 2, 3):
        board = random_endgame(solution, random, empty)
        for left in range(solution.powers + 1):
            spent = sum(solution.power_costs[: solution.powers - left])
            now = law.score(board, solution).total - spent
            for dice, worth in zip(ROLLS, play.worths(board, left), strict=True):
                answers = optimal.decide_batch(Position(board, dice, left, solution).alone(0))
                assert answers.estimates is not None
                assert answers.estimates[0] == pytest.approx(now + worth, abs=1e-4)


def test_a_power_is_used_only_where_it_is_worth_more(solution: Rules) -> None:
    perfect, optimal, used = needed_perfect(solution), registry.load_bot("optimal"), 0
    for position in positions(solution, 3, 60, most_empty=5):
        answers = optimal.decide_batch(position.alone(0))
        if answers.decisions[0] < 0:
            others = [o for o in perfect.weighed(position) if not isinstance(o, Power)]
            assert answers.estimates is not None
            assert all((other.estimate or 0.0) < answers.estimates[0] for other in others)
            used += 1
    assert used > 3


def test_limits_spare_work_and_change_nothing(
    optimal: Bot, solution: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    perfect = needed_perfect(solution)
    assert len(perfect.limits) > 100_000
    wide = [p for p in positions(solution, 6, 400) if len(empty_cells(p.board)) >= LIMITED]
    spared = 0
    for position in (position for position in wide if position.powers_left):
        options = perfect.weighed(position)
        power = max(o.estimate or 0.0 for o in options if isinstance(o, Power))
        other = max(o.estimate or 0.0 for o in options if not isinstance(o, Power))
        spent = sum(solution.power_costs[: solution.powers - position.powers_left])
        worth = round((other - position.score(position.board) + spent) * perfect.scale)
        mask, (below, tables, stakes) = empty_mask(position.board), perfect.book
        word = class_word(position.board, tables.masks.bits[mask], tables.lines)
        level = perfect.levels[position.powers_left]
        known = tables.masks, below.layers[0], below.vectors[0], perfect.limits
        pays = may_pay(worth, word, mask, level, stakes, *known)
        assert pays or power < other, str(position)
        spared += not pays
    assert spared > 20
    decided = [optimal.decide_batch(position.alone(0)).decisions[0] for position in wide]
    without = replace(perfect, limits=NO_LIMITS)
    monkeypatch.setattr("magsim_bots.exact.needed_perfect", lambda *_: without)
    assert [optimal.decide_batch(p.alone(0)).decisions[0] for p in wide] == decided


def test_limits_that_are_damaged_are_told(
    solution_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copytree(solution_folder, tmp_path / "copy")
    monkeypatch.setenv("MAGSIM_SOLUTIONS", str(copy))
    assert magsim("solve", *solved.words()).exit_code == 0
    (path,) = copy.glob("values-*/limits.bin")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    done = magsim("solve", *solved.words())
    assert done.exit_code == 2
    assert f"magsim: {path} is damaged: its bytes for {LIMITED} empty cells" in done.stderr


# Whole games.


def scores(bot: str, rules: Rules, games: int, watch: Watch) -> np.ndarray:
    played: Played = play_games(registry.load_bot(bot), rules, SEED, 0, games, watch)
    parts, used = played.games.parts, played.games.powers.sum(axis=1)
    paid = np.cumsum([0, *rules.power_costs])[used]
    return np.asarray(parts[:, 0] - rules.ruin_penalty * parts[:, 4] - paid, np.float64)


def test_the_mean_is_the_exact_value_and_no_bot_beats_it(solution: Rules, watch: Watch) -> None:
    count = {"random": 1500, "greedy": 1500, "lookahead": 800, "mcts:iterations=12": 200}
    best = scores("optimal", solution, max(count.values()), watch)
    value = needed_perfect(solution).value(0, solution.powers)
    assert abs(best.mean() - value) < 4 * best.std() / len(best) ** 0.5
    for bot, games in count.items():
        lead = best[:games] - scores(bot, solution, games, watch)
        assert lead.mean() > -2 * lead.std() / games**0.5, bot
        assert bot.startswith(("lookahead", "mcts")) or lead.mean() > 2 * lead.std() / games**0.5


def magsim(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def tournament(run: Path, *words: object, bots: str = "optimal", games: int = 40) -> Result:
    arguments = ["tournament", "--bots", bots, "--games", games, *solved.words(), "--out", run]
    return magsim(*arguments, *words)


def files(run: Path) -> dict[Path, bytes]:
    found = [path for path in run.glob("**/*") if path.suffix in (".parquet", ".json")]
    return {path.relative_to(run): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def run(solution_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("optimal") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAGSIM_SOLUTIONS", str(solution_folder))
        done = tournament(run, "--chunk", 20, "--jobs", 1)
    assert done.exit_code == 0, done.output
    return run


@pytest.mark.usefixtures("solution")
def test_jobs_and_a_resumed_run_change_no_byte(run: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    assert tournament(again, "--chunk", 20, "--jobs", 2).exit_code == 0
    assert files(again) == files(run)
    for path in again.glob("turns/*/*/000000020-*.parquet"):
        path.unlink()
    assert tournament(again, "--chunk", 20, "--jobs", 2).exit_code == 0
    assert files(again) == files(run)


def test_a_changed_solution_is_another_configuration(
    run: Path, solution_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    (relied,) = manifest["relied"]["optimal"].values()
    assert relied.startswith("solution ")
    changed = tmp_path / "changed"
    shutil.copytree(solution_folder, changed)
    (values,) = changed.glob("values-*/manifest.json")
    table = json.loads(values.read_text())
    table["layers"]["0"]["sha256"]["values.bin"] = "0" * 64
    values.write_text(json.dumps(table))
    monkeypatch.setenv("MAGSIM_SOLUTIONS", str(changed))
    done = tournament(run, "--chunk", 20)
    assert done.exit_code == 2
    assert f"bot optimal relies on {relied} there, solution " in done.stderr
    monkeypatch.setenv("MAGSIM_SOLUTIONS", str(solution_folder))
    assert "complete" in tournament(run, "--chunk", 20).stderr


def test_a_worker_refuses_a_solution_that_changed(
    solution: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("magsim.tournament.reliance", lambda _bot, _rules: "solution 00ff")
    done = tournament(tmp_path / "run")
    assert done.exit_code == 2
    assert f"bot optimal ({solution.name}) relied on solution 00ff when the run" in done.stderr


# Where it is not solved.


def test_the_command_that_solves_it_is_named() -> None:
    rules = Rules("survival+odd", 2, (70, 80), ruin_penalty=20)
    assert missing_sentence(SURVIVAL) == (
        "perfect play under survival is not solved here; to solve it: "
        "magsim solve --difficulty survival"
    )
    assert missing_sentence(rules, 3).endswith(
        "to solve it: magsim solve --difficulty survival --set 'power_costs=[70,80]' "
        "--set ruin_penalty=20 --max-empty 3"
    )


@pytest.mark.parametrize(
    "words",
    [
        ("tournament", "--bots", "greedy,optimal", "--difficulty", "nightmare", "--out", "run"),
        ("tournament", "--bots", "mcts:endgame=3", "--difficulty", "nightmare", "--out", "run"),
        ("play", "--advisor", "optimal", "--difficulty", "nightmare"),
        ("play", "--against", "optimal", "--difficulty", "nightmare"),
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("data")
def test_what_is_not_solved_is_told_before_anything_is_played(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAGSIM_SOLUTIONS", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)
    done = magsim(*words)
    assert done.exit_code == 2
    assert done.stderr.startswith("magsim: perfect play under nightmare is not solved here; ")
    assert "magsim solve --difficulty nightmare" in done.stderr
    assert "Traceback" not in done.output
    assert not (tmp_path / "run").exists()
    assert saves.names() == []


def test_a_solution_that_does_not_reach_the_empty_board_is_no_game(
    solution: Rules, solution_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(solution_folder, tmp_path / "some")
    monkeypatch.setenv("MAGSIM_SOLUTIONS", str(tmp_path / "some"))
    (values,) = tmp_path.glob("some/values-*")
    table = json.loads((values / "manifest.json").read_text())
    classes = json.loads((tmp_path / "some" / table["classes"] / "manifest.json").read_text())
    count = {k: sum(n for _, n in v["masks"]) for k, v in classes["layers"].items()}
    above = sum(size for empty, size in count.items() if int(empty) > 4)
    table["most_empty"] = 4
    table["layers"] = {k: v for k, v in table["layers"].items() if int(k) <= 4}
    content = (values / "values.bin").read_bytes()
    width = len(table["levels"]) * 4
    (values / "values.bin").write_bytes(content[above * width :])
    (values / "limits.bin").unlink()
    (values / "manifest.json").write_text(json.dumps(table))
    with pytest.raises(MagsimError, match="solved here only for boards with up to 4 empty cells"):
        registry.load_bot("optimal").relies_on(solution)
    late = registry.load_bot("lookahead:endgame=4")
    assert late.relies_on(solution).startswith("solution ")
    for position in positions(solution, 5, 30, most_empty=4)[1:]:
        assert late.rank(position, 0, 1) == [needed_perfect(solution, 4).weighed(position)[0]]
    with pytest.raises(MagsimError, match=r"--max-empty 5$"):
        registry.load_bot("mcts:endgame=5").relies_on(solution)
    with pytest.raises(MagsimError, match="solved here only for boards"):
        registry.load_bot("optimal").decide_batch(Position(0, (1, 2, 3, 4), 0, solution).alone(0))


# Endgames of bots that search.


@pytest.mark.parametrize("name", ["lookahead", "mcts"])
def test_endgames_are_decided_perfectly_and_the_rest_as_before(
    name: str, optimal: Bot, solution: Rules
) -> None:
    plain, late = registry.load_bot(name), registry.load_bot(f"{name}:endgame=6")
    assert (plain.relies_on(solution), late.spec) == ("", f"{name}:endgame=6")
    found = positions(solution, 4, 40)
    late_ones = [len(empty_cells(position.board)) <= 6 for position in found]
    assert 5 < sum(late_ones) < 35
    for key, (position, is_late) in enumerate(zip(found, late_ones, strict=True)):
        expected = (optimal if is_late else plain).decide_batch(position.alone(key))
        answers = late.decide_batch(position.alone(key))
        assert answers.decisions[0] == expected.decisions[0]
        assert answers.estimates[0] == expected.estimates[0]
        assert late.rank(position, key, 5)[0].estimate == pytest.approx(answers.estimates[0])


# What players and readers are told.


@pytest.mark.usefixtures("solution")
def test_every_option_is_explained(run: Path, watch: Watch) -> None:
    game = read_game(run, None, None, 3)
    bot = registry.load_bot("optimal")
    for turn in game.turns:
        explained = explain(inquiry(game, turn.number, "optimal"), bot, watch)
        assert explained.exact
        assert set(explained.options) == set(turn.start.decisions())
        assert len(explain(inquiry(game, turn.number, "optimal"), bot, watch, 2).options) <= 2
    last = game.turns[-1]
    done = magsim("replay", run, "--game", 3, "--turn", last.number, "--explain", "optimal")
    assert done.exit_code == 0, done.stderr
    table = done.output.partition("under perfect play, exactly:\n")[2].splitlines()
    assert len(table) == len(last.start.decisions())
    assert any("played in the run" in line for line in table)


def entrant(spec: str) -> Entrant:
    return Entrant(registry.load_bot(spec), spec, "")


def played_at_random(rules: Rules, seed: int) -> Game:
    """A finished game of random decisions, Powers while there are any."""
    random, game = Random(seed), Game(seed, rules)
    while not game.over:
        position = Position(game.board, tuple(sorted(game.hand)), game.powers_left, rules)
        decision = random.choice(position.powers() or position.placements() or position.ruins())
        match decision:
            case Power():
                game.use(decision)
            case Ruin():
                game.accept(decision.cell)
            case Place():
                game.stage(list(decision.placements))
                game.confirm()
    return game


def test_the_post_mortem_is_exact(solution: Rules) -> None:
    game, perfect = played_at_random(solution, 1), needed_perfect(solution)
    costs = {}
    for step in game.steps:
        weighed = perfect.weighed(Position(step.board, step.dice, step.powers_left, solution))
        worths = {str(option): option.estimate for option in weighed}
        costs[step] = weighed[0].estimate - worths[str(step.decision)]
    found = regrets(solution, game.steps, entrant("optimal"), 60)
    assert {regret.step: regret.cost for regret in found} == pytest.approx(
        {step: cost for step, cost in costs.items() if cost > 0}
    )
    said: list[str] = []
    counsel = Counsel(None, 60, Tongue("en"), said.append)
    first, *dearest = counsel.review(game)
    assert first == (
        f"Against perfect play your decisions cost {sum(costs.values()):.1f} points in all, "
        "exactly; most of it here:"
    )
    assert len(dearest) == 3
    assert all("perfect play is " in line for line in dearest)
    counsel.close()


def test_hints_come_from_perfect_play_where_it_is_solved(solution: Rules) -> None:
    counsel = Counsel(None, 60, Tongue("en"), lambda _phrase: None)
    game = Game(5, solution)
    (hint,) = counsel.advise(game, 1)
    start = Position(game.board, tuple(sorted(game.hand)), game.powers_left, solution)
    best = needed_perfect(solution).weighed(start)[0]
    assert hint.startswith("Perfect play is this: ")
    assert f"; {best.estimate:.1f} points are to be expected in the end." in hint
    assert "exactly:" in counsel.advise(game, 3)[1]
    counsel.close()
    other = Counsel(None, 60, Tongue("en"), lambda _phrase: None)
    assert other.advise(Game(5, NIGHTMARE), 1)[0].startswith("mcts would do this: ")
    other.close()
