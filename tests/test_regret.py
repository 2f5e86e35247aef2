"""Recorded decisions against perfect play: every figure again, one decision at a time."""

import statistics
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import by_hand
import polars as pl
import pytest
from by_hand import assert_rows, mean_and_width, ratio_and_width
from solved import solved_rules

from magsim import records
from magsim.board import EMPTY_BOARD
from magsim.charts.regret import KIND_NAMES
from magsim.decision import Decision, Power, Ruin, pack_decision
from magsim.manifest import Plan, read_manifest
from magsim.reading.replay import read_game
from magsim.registry import load_bot
from magsim.regret import estimates, judging
from magsim.regret.decisions import read_decisions
from magsim.regret.judging import KINDS, Task, judge_part
from magsim.regret.run import judged_parts
from magsim.regret.sums import BEST, GRADES, HALF, STEPS, Sums, sum_up
from magsim.regret.worst import look_up, positions
from magsim.solver.library import needed_perfect
from magsim.solver.perfect import Perfect

GAMES = {"plain": 20, "tinker": 30, "careful": 30, "optimal": 10}
SAMPLED = 4
"""Games of each bot that are judged again one decision at a time."""


@pytest.fixture(scope="module", autouse=True)
def perfect(solution_folder: Path) -> Iterator[Perfect]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAGSIM_SOLUTIONS", str(solution_folder))
        yield needed_perfect(solved_rules())


@pytest.fixture(scope="module")
def run(perfect: Perfect, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the rules that are solved, judged in this process."""
    bots = {**by_hand.BOTS, "optimal": load_bot("optimal")}
    folder = tmp_path_factory.mktemp("regret") / "run"
    run = by_hand.make_run(folder, GAMES, bots, rules=(perfect.rules,))
    for bot in GAMES:
        folder = records.part_folder(run, judging.TABLE, perfect.rules.name, bot)
        for games, turns in records.parts(run, "turns", perfect.rules.name, bot).items():
            count = judge_part(Task(turns, games, perfect.rules, 1, folder))
            assert count == games[1] - games[0] + 1
    return run


@pytest.fixture(scope="module")
def plan(run: Path) -> Plan:
    return read_manifest(run)


@pytest.fixture(scope="module")
def sums(run: Path, plan: Plan, perfect: Perfect) -> Sums:
    return sum_up(run, plan, {perfect.rules.name: perfect}, list(GAMES), worst=3)


def judged(run: Path, perfect: Perfect, bot: str) -> pl.DataFrame:
    parts = judged_parts(run, read_manifest(run), perfect, bot)
    frame = pl.concat(pl.read_parquet(part, hive_partitioning=False) for part in parts.values())
    assert frame.schema == pl.Schema(judging.SCHEMA)
    return frame


@pytest.mark.parametrize("bot", GAMES)
def test_a_score_is_start_plus_luck_minus_regret(run: Path, perfect: Perfect, bot: str) -> None:
    """Exactly: values are whole multiples of a power of two."""
    games = records.scan(run, "games", read_manifest(run)).filter(pl.col("bot") == bot).collect()
    scores = dict(games.select("game", "score").iter_rows())
    rows = judged(run, perfect, bot).group_by("game").agg(pl.col("luck", "regret").sum())
    start = perfect.value(EMPTY_BOARD, perfect.rules.powers)
    assert len(rows) == GAMES[bot]
    for game, luck, regret in rows.iter_rows():
        assert start + luck - regret == scores[game], f"game {game} of {bot}"


def _kind(options: list[Decision], made: Decision) -> str:
    """The kind of a decision, by what is best of all there are."""
    if isinstance(made, Power):
        return "power used"
    worth = {
        kind: max(option.estimate for option in options if isinstance(option, Power) == kind)
        for kind in {isinstance(option, Power) for option in options}
    }
    if True in worth and worth[True] > worth[False] + 1e-6:
        return "power not used"
    return "ruin cell" if isinstance(made, Ruin) else "placement"


@pytest.mark.parametrize("bot", ["tinker", "careful", "optimal"])
def test_each_decision_is_judged_as_it_is_weighed(run: Path, perfect: Perfect, bot: str) -> None:
    frame = judged(run, perfect, bot).filter(pl.col("game") < SAMPLED)
    rows = iter(frame.iter_rows(named=True))
    for index in range(SAMPLED):
        expected = None
        for turn in read_game(run, bot, None, index).turns:
            for step, (position, made) in enumerate(positions(turn), 1):
                row = next(rows)
                where = f"game {index}, turn {turn.number}: {position}, {made}"
                assert (row["game"], row["turn"], row["step"]) == (index, turn.number, step), where
                options = {
                    pack_decision(option, position.board, position.dice): option
                    for option in perfect.weighed(position)
                }
                best = next(iter(options.values())).estimate
                worth = options[pack_decision(made, position.board, position.dice)].estimate
                if step == 1:
                    expected = perfect.value(position.board, position.powers_left)
                assert None not in (best, worth, expected)
                assert row["best"] == pytest.approx(best, abs=1e-5), where
                assert row["regret"] == pytest.approx(best - worth, abs=1e-5), where
                assert row["luck"] == pytest.approx(best - expected, abs=1e-5), where
                assert row["kind"] == _kind(list(options.values()), made), where
                expected = worth
    assert next(rows, None) is None


def test_a_raise_and_a_lower_bring_no_luck(run: Path, perfect: Perfect) -> None:
    calm = 0
    for index in range(GAMES["tinker"]):
        rows = judged(run, perfect, "tinker").filter(pl.col("game") == index)
        for turn in read_game(run, "tinker", None, index).turns:
            luck = rows.filter(pl.col("turn") == turn.number)["luck"].to_list()
            for (power, _), change in zip(turn.powers, luck[1:], strict=True):
                if power.kind != "reroll":
                    assert change == 0
                    calm += 1
    assert calm


def test_everything_happens_in_these_games(run: Path, perfect: Perfect) -> None:
    frame = judged(run, perfect, "tinker")
    assert set(frame["kind"]) == set(KINDS) == set(KIND_NAMES)
    assert frame["step"].max() == 1 + perfect.rules.powers
    assert (frame["regret"] > 0).any()
    assert (frame["regret"] >= 0).all()


def test_the_perfect_bot_loses_nothing(sums: Sums, run: Path, perfect: Perfect) -> None:
    assert judged(run, perfect, "optimal")["regret"].max() == 0
    row = estimates.luck_adjusted(sums).row(-1, named=True)
    assert row["bot"] == "optimal"
    assert row["adjusted"] == row["start"]
    assert estimates.accuracy(sums).row(-1, named=True)["best"] == 1


def test_dice_of_another_seed_are_refused(run: Path, perfect: Perfect) -> None:
    part = next(iter(records.parts(run, "turns", perfect.rules.name, "plain").values()))
    turns = records.read_part(part, "turns")
    with pytest.raises(ValueError, match="the roll is 3456, by the seed it is 1566"):
        read_decisions(turns, perfect.rules, 2)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("board", "..../....", "four rows of four"),
        ("board", "..../..../..../...x", "is not one of"),
        ("powers", "ruin c3", "is no Power"),
        ("powers", "+6; +6; +6", "more Powers than the rules have"),
        ("powers", "+7", "dice are written as"),
        ("powers", "+1", "no such die among 3456"),
        ("powers", "+6", "no die goes below 1 or above 6"),
        ("turn", 2, "not in order"),
        ("powers_left", 3, "more Powers than the rules have"),
    ],
)
def test_records_that_make_no_sense_are_refused(
    run: Path, perfect: Perfect, column: str, value: object, message: str
) -> None:
    part = next(iter(records.parts(run, "turns", perfect.rules.name, "plain").values()))
    turns = records.read_part(part, "turns")
    values = [value, *turns[column].to_list()[1:]]
    edited = turns.with_columns(pl.Series(column, values, dtype=turns.schema[column]))
    with pytest.raises(ValueError, match=message):
        read_decisions(edited, perfect.rules, 1)


class ByHand:
    """The judged decisions of a bot by game, and the scores of its games."""

    def __init__(self, run: Path, perfect: Perfect, bot: str) -> None:
        self.games: dict[int, list[by_hand.Row]] = defaultdict(list)
        for row in judged(run, perfect, bot).iter_rows(named=True):
            self.games[row["game"]].append(row)
        games = records.scan(run, "games", read_manifest(run)).filter(pl.col("bot") == bot)
        self.scores = dict(games.select("game", "score").collect().iter_rows())

    def lost(self, **wanted: object) -> list[float]:
        """Points lost in each game, by decisions that are so."""
        return [
            sum(row["regret"] for row in rows if wanted.items() <= row.items())
            for rows in self.games.values()
        ]


@pytest.fixture(scope="module")
def hands(run: Path, perfect: Perfect) -> dict[str, ByHand]:
    return {bot: ByHand(run, perfect, bot) for bot in GAMES}


def test_luck_adjusted_scores_are_start_minus_regret(
    sums: Sums, hands: dict[str, ByHand], perfect: Perfect
) -> None:
    name, start = perfect.rules.name, perfect.value(EMPTY_BOARD, perfect.rules.powers)
    expected = []
    for bot, hand in hands.items():
        regret, wide = mean_and_width(hand.lost())
        luck = [sum(row["luck"] for row in rows) for rows in hand.games.values()]
        figures = *mean_and_width(hand.scores.values()), *mean_and_width(luck), start, regret
        assert regret is not None
        gain = None
        if any(hand.lost()):
            spread = statistics.variance(hand.scores.values())
            gain = spread / statistics.variance(hand.lost())
        expected.append((name, bot, GAMES[bot], *figures, start - regret, wide, gain))
    assert_rows(estimates.luck_adjusted(sums).rows(), expected)


def test_accuracy_is_told_by_decision_with_games_as_clusters(
    sums: Sums, hands: dict[str, ByHand], perfect: Perfect
) -> None:
    expected = []
    for bot, hand in hands.items():
        games = hand.games.values()
        sizes = [len(rows) for rows in games]
        lost = [[row["regret"] for row in rows] for rows in games]
        accuracies = [[round(1e6 * HALF / (HALF + x)) / 1e6 for x in game] for game in lost]
        limits = [*GRADES.values(), 1e9]
        counted = [[sum(x < BEST for x in game) for game in lost]]
        for low, high in pairwise(limits):
            counted.append([sum(low <= x < high for x in game) for game in lost])
        found = [ratio_and_width([sum(game) for game in by], sizes) for by in (lost, accuracies)]
        found += [ratio_and_width(counts, sizes) for counts in counted]
        figures = [figure for pair in found for figure in pair]
        expected.append((perfect.rules.name, bot, len(sizes), sum(sizes), *figures))
    assert_rows(estimates.accuracy(sums).rows(), expected)


def test_losses_by_kind_are_means_over_all_games(
    sums: Sums, hands: dict[str, ByHand], perfect: Perfect
) -> None:
    expected = []
    for bot, hand in hands.items():
        rows = [row for game in hand.games.values() for row in game]
        for kind in KINDS:
            of_kind = [row["regret"] for row in rows if row["kind"] == kind]
            lossy = [x for x in of_kind if x >= BEST]
            counts = GAMES[bot], len(of_kind), len(lossy)
            each = sum(of_kind) / len(lossy) if lossy else None
            means = mean_and_width(hand.lost(kind=kind))
            expected.append((perfect.rules.name, bot, kind, *counts, *means, each))
    assert_rows(estimates.by_kind(sums).rows(), expected)


def test_losses_by_turn_are_means_over_the_games_that_have_it(
    sums: Sums, hands: dict[str, ByHand], perfect: Perfect
) -> None:
    expected = []
    for bot, hand in hands.items():
        turns: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        for game, rows in hand.games.items():
            for row in rows:
                turns[row["turn"]][game] += row["regret"]
        for turn in sorted(turns):
            lost = list(turns[turn].values())
            expected.append((perfect.rules.name, bot, turn, len(lost), *mean_and_width(lost)))
    assert_rows(estimates.by_turn(sums).rows(), expected)


def test_losses_by_size_count_what_loses_so_much_or_more(
    sums: Sums, hands: dict[str, ByHand], perfect: Perfect
) -> None:
    expected = []
    for bot, hand in hands.items():
        lost = [row["regret"] for rows in hand.games.values() for row in rows]
        for step in STEPS:
            count = sum(x >= step for x in lost)
            expected.append((perfect.rules.name, bot, step, count, count / len(lost)))
    assert_rows(estimates.by_size(sums).rows(), expected)


def test_luck_adjusted_differences_are_of_the_games_that_both_played(
    sums: Sums, hands: dict[str, ByHand], perfect: Perfect
) -> None:
    expected = []
    bots, pairs = list(GAMES), 6
    for k, other in enumerate(bots):
        for bot in bots[k + 1 :]:
            one, two = hands[bot], hands[other]
            games = [game for game in one.games if game in two.games]
            regret = [dict(zip(hand.games, hand.lost(), strict=True)) for hand in (one, two)]
            gaps = [regret[1][game] - regret[0][game] for game in games]
            scores = [one.scores[game] - two.scores[game] for game in games]
            wide = mean_and_width(gaps, 1 - 0.05 / pairs)[1]
            gain = statistics.variance(scores) / statistics.variance(gaps)
            names = perfect.rules.name, bot, other, len(games)
            expected.append((*names, *mean_and_width(gaps), wide, gain))
    assert_rows(estimates.differences(sums).rows(), expected)


def test_the_worst_decisions_are_those_that_replay_shows(
    sums: Sums, run: Path, perfect: Perfect, hands: dict[str, ByHand]
) -> None:
    listed = look_up(run, {perfect.rules.name: perfect}, sums.worst)
    bots = [bot for bot in GAMES if bot != "optimal"]
    assert [one.bot for one in listed] == [bot for bot in bots for _ in range(3)]
    for bot, hand in hands.items():
        lost = [row["regret"] for rows in hand.games.values() for row in rows]
        mine = [one for one in listed if one.bot == bot]
        assert [one.regret for one in mine] == sorted(lost, reverse=True)[: len(mine)]
        for one in mine:
            turn = read_game(run, bot, None, one.game).turn(one.turn)
            decided = [*(power for power, _ in turn.powers), turn.closing]
            assert one.position.board == turn.start.board
            assert one.made in decided
            lost = one.best.estimate - one.made.estimate
            assert lost == pytest.approx(one.regret, abs=1e-5)


def test_only_the_first_games_are_summed_if_so_told(
    run: Path, plan: Plan, perfect: Perfect, hands: dict[str, ByHand]
) -> None:
    some = sum_up(run, plan, {perfect.rules.name: perfect}, ["tinker"], most=13)
    (row,) = estimates.luck_adjusted(some).iter_rows(named=True)
    assert row["games"] == 13
    assert row["regret"] == pytest.approx(statistics.mean(hands["tinker"].lost()[:13]))
    assert not len(estimates.differences(some))


def test_bots_that_share_no_game_are_not_compared(sums: Sums) -> None:
    apart = replace(sums, pairs=sums.pairs.with_columns(pl.lit(0, pl.Int128).alias("n")))
    assert not len(estimates.differences(apart))
