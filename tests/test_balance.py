"""What Powers, openings and rescues are worth, against perfect play asked position by position."""

import math
import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path

import by_hand
import polars as pl
import pytest
import solved
from by_hand import Records, Row, mean_and_width, wilson
from click.testing import CliRunner, Result

from magsim import records
from magsim import rules as law
from magsim.analysis.shapes import canonical, shape
from magsim.balance import estimates
from magsim.balance.openings import Openings, openings
from magsim.balance.run import weigh_run
from magsim.balance.sums import Sums
from magsim.balance.turns import Task, weigh_part, worth_column
from magsim.board import EMPTY_BOARD, format_board, parse_board, parse_dice
from magsim.bot import Position
from magsim.cli import main
from magsim.decision import Power
from magsim.errors import MagsimError
from magsim.manifest import read_manifest
from magsim.regret.sums import UNIT
from magsim.report import balance as report
from magsim.rules import NIGHTMARE, Rules
from magsim.solver.library import needed_perfect
from magsim.solver.perfect import Perfect

pytestmark = pytest.mark.usefixtures("workers_stay", "solution")

BOT = "tinker"
NAME = solved.solved_rules().name


def magsim(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of rules that are solved and of others. Not to be changed."""
    folder = tmp_path_factory.mktemp("balance") / "run"
    games = {BOT: 20, "plain": 10}
    return by_hand.make_run(folder, games, rules=(solved.solved_rules(), NIGHTMARE))


@pytest.fixture
def perfect() -> Perfect:
    return needed_perfect(solved.solved_rules())


@pytest.fixture
def turns(run: Path, perfect: Perfect) -> list[Row]:
    """The turns of a bot as they are recorded, with what was weighed of them."""
    parts = records.planned_parts(run, "turns", read_manifest(run), perfect.rules, BOT)
    weighed = pl.concat(weigh_part(Task(part, BOT, perfect, 1, None)) for part in parts)
    recorded = Records(run).turns[NAME, BOT]
    return [a | b for a, b in zip(recorded, weighed.to_dicts(), strict=True)]


@pytest.fixture
def sums(run: Path, perfect: Perfect) -> Sums:
    found = weigh_run(run, read_manifest(run), {NAME: perfect}, [BOT], 2)
    assert found is not None
    return found


def test_powers_are_worth_what_perfect_play_says_one_by_one(
    turns: list[Row], perfect: Perfect
) -> None:
    costs = perfect.rules.power_costs
    for turn in turns[::5]:
        board, left = parse_board(turn["before"]), turn["powers_left"]
        assert (turn["empty"], turn["powers"]) == (turn["before"].count("."), left)
        for powers in (1, 2):
            # With fewer left, more of them were paid for.
            gain = perfect.value(board, powers) - perfect.value(board, powers - 1)
            gain -= costs[len(costs) - powers]
            assert turn[worth_column(powers)] / UNIT == pytest.approx(gain, abs=1e-6)


def test_a_use_is_weighed_against_the_best_decision_that_is_none(
    turns: list[Row], perfect: Perfect
) -> None:
    met = 0
    for turn in turns[::4]:
        board, left = parse_board(turn["before"]), turn["powers_left"]
        position = Position(board, parse_dice(turn["roll"]), left, perfect.rules)
        assert turn["magdagdon"] == position.in_magdagdon()
        if not left:
            assert turn["gain"] is turn["price"] is None
            continue
        met += turn["magdagdon"]
        weighed = perfect.weighed(position)
        power, other = (
            max(one.estimate or 0.0 for one in weighed if isinstance(one, Power) == wanted)
            for wanted in (True, False)
        )
        assert turn["gain"] / UNIT == pytest.approx(power - other, abs=1e-5)
        price = power - other + perfect.rules.power_costs[perfect.rules.powers - left]
        assert turn["price"] / 10 - 1e-5 <= price <= (turn["price"] + 1) / 10 + 1e-5
    assert met > 3


def grouped(rows: list[Row], *keys: str) -> dict[tuple[int, ...], list[Row]]:
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[key] for key in keys)].append(row)
    return found


def found_rows(frame: pl.DataFrame) -> list[Row]:
    return frame.drop("difficulty", "bot").to_dicts()


@pytest.mark.parametrize("key", ["empty", "turn"])
def test_worths_are_means_over_games(key: str, turns: list[Row], sums: Sums) -> None:
    rows = found_rows(estimates.worth_by(sums, key))
    by_key = grouped(turns, key)
    assert [(row["powers"], row[key]) for row in rows] == [
        (powers, at) for powers in (1, 2) for (at,) in sorted(by_key)
    ]
    for row in rows:
        values = [turn[worth_column(row["powers"])] / UNIT for turn in by_key[row[key],]]
        expected = (len(values), *mean_and_width(values))
        by_hand.assert_rows([(row["turns"], row["worth"], row["half_width"])], [expected])


def test_before_the_first_roll_worths_are_exact(sums: Sums, perfect: Perfect) -> None:
    rows = found_rows(estimates.moments(sums, {NAME: perfect}))
    assert [(row["powers"], row["cost"]) for row in rows] == [(1, 25), (2, 15)]
    for row in rows:
        fewer, more = (perfect.futures([EMPTY_BOARD], row["powers"] - k)[0] for k in (1, 0))
        assert row["start"] == more - fewer
        by_empty = estimates.worth_by(sums, "empty").filter(powers=row["powers"])
        middle = by_empty.filter(empty=row["middle_empty"]).row(0, named=True)
        assert abs(row["middle_empty"] - 8) <= 1
        assert (row["middle"], row["middle_half_width"]) == (middle["worth"], middle["half_width"])


def clusters(turns: list[Row], name: str) -> tuple[list[float], list[float]]:
    """By game: the sum of a column, and how many turns there are."""
    games = grouped(turns, "game").values()
    return [sum(float(turn[name]) for turn in game) for game in games], [*map(len, games)]


def assert_share(row: Row, counted: list[Row], name: str) -> None:
    count, n = sum(turn[name] for turn in counted), len(counted)
    assert row["turns"] == n
    assert row["share"] == pytest.approx(count / n)
    if len(grouped(counted, "game")) == n:
        ends = wilson(count, n)
    else:
        share, width = by_hand.ratio_and_width(*clusters(counted, name))
        assert share is not None
        assert width is not None
        ends = max(0.0, share - width), min(1.0, share + width)
    assert (row["low"], row["high"]) == pytest.approx(ends, abs=1e-9)


def chosen(turns: list[Row], row: Row) -> list[Row]:
    wanted = {key: row[key] for key in ("powers", "empty") if row[key] is not None}
    return [turn for turn in turns if wanted.items() <= turn.items()]


def test_prices_are_quantiles_and_shares_of_turns(turns: list[Row], sums: Sums) -> None:
    left = [turn | {"pays": turn["gain"] > 0} for turn in turns if turn["powers_left"]]
    rows = found_rows(estimates.prices(sums))
    sizes = (
        len(grouped(left, *keys)) for keys in ((), ("powers",), ("empty",), ("powers", "empty"))
    )
    assert len(rows) == sum(sizes)
    for row in rows:
        counted = chosen(left, row)
        assert_share(row, counted, "pays")
        prices = [(turn["price"] + 0.5) / 10 for turn in counted]
        for name, share in {"p10": 0.1, "p50": 0.5, "p90": 0.9}.items():
            assert row[name] == pytest.approx(by_hand.quantile(prices, share))
    costs = solved.solved_rules().power_costs
    for row in found_rows(estimates.price_curve(sums)):
        counted = [turn for turn in left if turn["powers"] == row["powers"]]
        assert row["turns"] == len(counted)
        pays = sum(turn["price"] >= 10 * row["price"] for turn in counted)
        assert row["share"] == pytest.approx(pays / len(counted))
        if row["price"] == costs[-row["powers"]]:
            assert pays == sum(turn["pays"] for turn in counted)


def test_rescues_are_counted_and_gain(turns: list[Row], sums: Sums) -> None:
    met = [turn for turn in turns if turn["powers_left"] and turn["magdagdon"]]
    met = [turn | {"worth_it": turn["gain"] > 0, "points": turn["gain"] / UNIT} for turn in met]
    rows = found_rows(estimates.rescues(sums))
    assert {row["powers"] for row in rows} == {None, 1, 2}
    assert sum(row["turns"] for row in rows if row["powers"] and row["empty"]) == len(met)
    for row in rows:
        counted = chosen(met, row)
        assert_share(row, counted, "worth_it")
        rescued = [turn for turn in counted if turn["worth_it"]]
        assert row["rescued"] == len(rescued)
        expected = by_hand.ratio_and_width(*clusters(rescued, "points"))
        by_hand.assert_rows([(row["gain"], row["half_width"])], [expected])


def brute(perfect: Perfect) -> Iterator[tuple[str, float, dict[str, float]]]:
    """By roll: its chance, and the value of every placement up to symmetry, by the readable law."""
    rules = perfect.rules
    for roll in combinations_with_replacement(range(1, 7), 4):
        ways = math.factorial(4)
        for die in set(roll):
            ways //= math.factorial(roll.count(die))
        boards = {canonical(format_board(b)) for b in law.outcomes(EMPTY_BOARD, roll, rules)}
        worths = {text: perfect.value(parse_board(text), rules.powers) for text in boards}
        yield "".join(map(str, roll)), ways / 1296, worths


def assert_openings(found: Openings, perfect: Perfect) -> None:
    every: dict[str, float] = {}
    share: dict[str, float] = defaultdict(float)
    loss: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row, (roll, chance, worths) in zip(found.rolls.to_dicts(), brute(perfect), strict=True):
        every |= worths
        assert (row["roll"], row["chance"]) == (roll, pytest.approx(chance))
        best = sorted(worths.values(), reverse=True)
        assert [row["value"], row["second_value"]] == pytest.approx([*best, None, None][:2])
        assert row["gap"] == (pytest.approx(best[0] - best[1]) if len(best) > 1 else None)
        assert row["best"] is None if not best else worths[row["best"]] == best[0]
        shapes = {shape(text) for text in worths}
        for name in shapes:
            here = max(worth for text, worth in worths.items() if shape(text) == name)
            share[name] += chance * (here == best[0])
            loss[name].append((chance, best[0] - here))
    assert dict(found.placements.select("board", "value").rows()) == pytest.approx(every)
    assert found.placements["value"].is_sorted(descending=True)
    assert set(found.shapes["shape"]) == set(share)
    for row in found.shapes.to_dicts():
        chances, lost = zip(*loss[row["shape"]], strict=True)
        assert row["best"] == pytest.approx(share[row["shape"]])
        assert row["allowed"] == pytest.approx(sum(chances))
        mean = sum(c * lose for c, lose in zip(chances, lost, strict=True)) / sum(chances)
        assert row["loss"] == pytest.approx(mean)
        assert shape(row["example"]) == row["shape"]


def test_openings_are_those_of_the_readable_law(perfect: Perfect) -> None:
    found = openings(perfect)
    assert_openings(found, perfect)
    rolls = {row["roll"]: row for row in found.rolls.to_dicts()}
    for roll in ("1111", "1346"):
        weighed = perfect.weighed(Position(EMPTY_BOARD, parse_dice(roll), 2, perfect.rules))
        power = max(one.estimate or 0.0 for one in weighed if isinstance(one, Power))
        assert rolls[roll]["power"] == pytest.approx(power, abs=1e-5)


def without_powers(perfect: Perfect) -> Perfect:
    """As in NIGHTMARE: no Powers, and rolls that allow no placement; values are others'."""
    rules: Rules = replace(perfect.rules, name="bare", minimum=3, power_costs=())
    return replace(perfect, rules=rules)


def test_without_powers_openings_are_all_there_is(
    run: Path, perfect: Perfect, tmp_path: Path
) -> None:
    bare = {"bare": without_powers(perfect)}
    assert weigh_run(run, read_manifest(run), bare, [BOT], 1) is None
    found = report.balance(None, bare)
    assert_openings(found.openings["bare"], bare["bare"])
    assert found.openings["bare"].rolls["power"].null_count() == 126
    (table,) = report.closing_tables(found)
    assert table.title == "Bare: first placements by their cells"
    report.write_page(run, found, [], tmp_path / "page")
    text = (tmp_path / "page" / "report.md").read_text(encoding="utf-8")
    assert "of rolls allow none" in text
    assert [line for line in text.split("\n") if line.startswith("## ")] == ["## Openings at bare"]


def test_the_command_tells_and_writes(run: Path, tmp_path: Path) -> None:
    result = magsim("balance", run, "--jobs", 2, "--out", tmp_path / "page")
    assert result.exit_code == 0, result.output
    assert "Left out: perfect play under nightmare is not solved here" in result.stderr
    for title in (
        "What one Power more is worth",
        "The price, in points",
        "best Power against best",
    ):
        assert title in result.stdout
    drawn = {path.stem for path in (tmp_path / "page" / "charts").glob("*.png")}
    powers = {"worth_by_empty", "worth_by_turn", "prices", "price_curve", "rescues"}
    assert drawn == powers | {"openings_0"}
    text = (tmp_path / "page" / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# magsim: balance by perfect play\n\n**At survival")
    assert "up to 20 games of tinker, plain" in text


def test_the_number_of_threads_changes_nothing(run: Path, perfect: Perfect, sums: Sums) -> None:
    one = weigh_run(run, read_manifest(run), {NAME: perfect}, [BOT], 1)
    assert one is not None
    assert one.moments.equals(sums.moments)
    assert one.prices.equals(sums.prices)


def test_only_the_first_games_of_a_bot_are_weighed(run: Path, perfect: Perfect) -> None:
    found = weigh_run(run, read_manifest(run), {NAME: perfect}, [BOT], 1, 13)
    assert found is not None
    first = estimates.worth_by(found, "turn").filter(turn=1)
    assert first["turns"].to_list() == [13, 13]
    assert first["half_width"].to_list() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--difficulty", "nightmare"), "perfect play under nightmare is not solved here"),
        (("--bot", "tinkr"), "tinker"),
        (("--difficulty", "peaceful"), "nightmare"),
    ],
)
def test_what_cannot_be_weighed_is_told(run: Path, words: tuple[str, ...], sentence: str) -> None:
    result = magsim("balance", run, *words)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert not (run / report.FOLDER).exists()


def test_a_run_without_games_or_with_a_damaged_part_is_refused(
    run: Path, perfect: Perfect, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "run"))
    (part, *_) = records.parts(copy, "turns", NAME, BOT).values()
    part.write_bytes(part.read_bytes()[:-1] + b"?")
    with pytest.raises(MagsimError, match=part.name):
        weigh_run(copy, read_manifest(copy), {NAME: perfect}, [BOT], 2)
    shutil.rmtree(copy / "turns")
    with pytest.raises(MagsimError, match="are missing; the same tournament command"):
        weigh_run(copy, read_manifest(copy), {NAME: perfect}, [BOT], 2)
    shutil.rmtree(copy / "games")
    with pytest.raises(MagsimError, match="there are no games in it yet"):
        weigh_run(copy, read_manifest(copy), {NAME: perfect}, [BOT], 2)
