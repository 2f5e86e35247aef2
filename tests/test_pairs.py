"""Comparisons on the same dice, each figure recomputed from the rows in plain Python."""

import math
import statistics
from itertools import combinations
from pathlib import Path

import by_hand
import numpy as np
import polars as pl
import pytest
from by_hand import Records, mean_and_width
from hypothesis import given, settings
from hypothesis import strategies as st

from magsim.analysis import pairs
from magsim.analysis.pairs import Player, gather
from magsim.analysis.tallies import PARTS
from magsim.rules import NIGHTMARE, PEACEFUL, SURVIVAL


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return by_hand.shared_run(tmp_path_factory)


@pytest.fixture(scope="module")
def recorded(run: Path) -> Records:
    return Records(run)


@pytest.fixture(scope="module")
def gapped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of which some parts are not there yet, not the same for every bot."""
    run = by_hand.make_run(
        tmp_path_factory.mktemp("gapped") / "run",
        {"plain": 27, "tinker": 27, "careful": 27},
        rules=[SURVIVAL, NIGHTMARE],
        chunk=9,
    )
    for pattern in ("=survival/bot=plain/000000009-*", "=survival/bot=careful/000000018-*"):
        (part,) = run.glob(f"games/difficulty{pattern}")
        part.unlink()
    return run


def in_common(recorded: Records, difficulty: str, *bots: str) -> list[list[int]]:
    """The scores of bots in the games that all of them played, side by side."""
    scores = [recorded.column((difficulty, bot), "score") for bot in bots]
    games = sorted(set.intersection(*(set(column) for column in scores)))
    return [[column[game] for game in games] for column in scores]


def differences_by_hand(recorded: Records):
    bots = list(recorded.plan.bots)
    number = len(recorded.rules) * math.comb(len(bots), 2)
    for difficulty in recorded.rules:
        for other, bot in combinations(bots, 2):
            scores, against = in_common(recorded, difficulty, bot, other)
            ahead = [a - b for a, b in zip(scores, against, strict=True)]
            mean, width = mean_and_width(ahead)
            wide = mean_and_width(ahead, 1 - 0.05 / number)[1]
            apart = statistics.variance(scores) + statistics.variance(against)
            gain = apart / statistics.variance(ahead)
            yield difficulty, bot, other, len(ahead), mean, width, wide, gain


@pytest.mark.parametrize("which", ["run", "gapped"])
def test_differences_agree_with_the_rows(which: str, request: pytest.FixtureRequest) -> None:
    run = request.getfixturevalue(which)
    recorded = Records(run)
    table = pairs.paired_differences(run)
    by_hand.assert_rows(table.iter_rows(), differences_by_hand(recorded))
    assert set(table["games"]) == ({20, 30} if which == "run" else {9, 18, 27})


def test_wider_intervals_hold_for_all_pairs_at_once(run: Path) -> None:
    for row in pairs.paired_differences(run).iter_rows(named=True):
        df = row["games"] - 1
        ratio = by_hand.t_value(df, 1 - 0.05 / 9) / by_hand.t_value(df)
        assert row["simultaneous"] / row["half_width"] == pytest.approx(ratio)


def test_a_single_pair_needs_no_wider_interval(tmp_path: Path) -> None:
    games = {"plain": 6, "careful": 6}
    run = by_hand.make_run(tmp_path / "run", games, rules=[PEACEFUL])
    (row,) = pairs.paired_differences(run).iter_rows(named=True)
    assert row["simultaneous"] == row["half_width"]


def test_a_bot_against_itself_has_no_spread_and_no_gain(tmp_path: Path) -> None:
    bots = dict.fromkeys(("one", "two"), by_hand.BOTS["plain"])
    run = by_hand.make_run(tmp_path / "run", dict.fromkeys(bots, 7), bots, rules=[NIGHTMARE])
    (row,) = pairs.paired_differences(run).iter_rows()
    assert row[3:] == (7, 0.0, 0.0, 0.0, None)
    shares = pairs.variance_shares(run, pairs.score_moments(run))
    assert shares["share"].to_list() == [0.0, 1.0, 0.0]


def anova(scores: list[list[int]]) -> tuple[float, float, float]:
    """Components of bot, dice and rest of a table bots x games, by deviations from its means."""
    bots, games = len(scores), len(scores[0])
    whole = statistics.mean(value for row in scores for value in row)
    of_bot = [statistics.mean(row) for row in scores]
    of_game = [statistics.mean(column) for column in zip(*scores, strict=True)]
    bot_square = games * sum((mean - whole) ** 2 for mean in of_bot) / (bots - 1)
    dice_square = bots * sum((mean - whole) ** 2 for mean in of_game) / (games - 1)
    left = sum(
        (scores[i][g] - of_bot[i] - of_game[g] + whole) ** 2
        for i in range(bots)
        for g in range(games)
    )
    rest = left / ((bots - 1) * (games - 1))
    return max(0.0, (bot_square - rest) / games), max(0.0, (dice_square - rest) / bots), rest


def shares_of(components: tuple[float, ...]) -> list[float]:
    return [part / sum(components) for part in components]


def variance_by_hand(recorded: Records):
    for difficulty in recorded.rules:
        bots = [bot for bot in recorded.plan.bots if (difficulty, bot) in recorded.games]
        columns = [recorded.column((difficulty, bot), "score") for bot in bots]
        games = sorted(set.intersection(*(set(column) for column in columns)))
        components = anova([[column[game] for game in games] for column in columns])
        left_out = []
        for group in range(20):
            kept = [game for game in games if game % 20 != group]
            if len(kept) < len(games):
                left_out.append(shares_of(anova([[c[game] for game in kept] for c in columns])))
        for k, source in enumerate(("bot", "dice", "rest")):
            share = shares_of(components)[k]
            ends: tuple[float | None, float | None] = (None, None)
            if len(games) >= 2 * len(left_out):
                groups = [shares[k] for shares in left_out]
                spread = sum((one - statistics.mean(groups)) ** 2 for one in groups)
                error = math.sqrt(spread * (len(groups) - 1) / len(groups))
                width = by_hand.t_value(len(groups) - 1) * error
                ends = max(0.0, share - width), min(1.0, share + width)
            yield difficulty, source, len(games), len(bots), components[k], share, *ends


@pytest.fixture(scope="module")
def even(tmp_path_factory: pytest.TempPathFactory) -> Path:
    games = dict.fromkeys(by_hand.BOTS, 45)
    run = tmp_path_factory.mktemp("even") / "run"
    return by_hand.make_run(run, games, chunk=45, rules=[SURVIVAL])


@pytest.mark.parametrize("which", ["run", "gapped", "even"])
def test_shares_of_variance_are_those_of_the_table(
    which: str, request: pytest.FixtureRequest
) -> None:
    run = request.getfixturevalue(which)
    table = pairs.variance_shares(run, pairs.score_moments(run))
    by_hand.assert_rows(table.iter_rows(), variance_by_hand(Records(run)))
    assert (table["low"].null_count() == 0) == (which == "even")


def moments_of_scores(values: np.ndarray) -> pairs.Moments:
    bots, games = values.shape
    players = tuple(Player(SURVIVAL, str(k)) for k in range(bots))
    moments = pairs.Moments(players, *(np.zeros((20, bots, bots), np.int64) for _ in range(4)))
    pairs._add(moments, values, np.arange(games) % 20, list(range(bots)))
    return moments


@settings(max_examples=40)
@given(st.data())
def test_components_are_never_negative_and_those_of_the_table(data: st.DataObject) -> None:
    bots, games = data.draw(st.integers(2, 4)), data.draw(st.integers(2, 25))
    scores = st.lists(st.integers(-60, 250), min_size=games, max_size=games)
    table = data.draw(st.lists(scores, min_size=bots, max_size=bots))
    found = pairs._components(moments_of_scores(np.array(table)), np.ones(20, bool))
    assert min(found) >= 0
    assert found == pytest.approx(anova(table), rel=1e-7, abs=1e-6)


def test_components_are_found_again_in_made_up_scores() -> None:
    random = np.random.default_rng(5)
    bots, games = np.array([0.0, 10.0, 40.0])[:, None], 20_000
    scores = bots + random.normal(0, 20, games) + random.normal(0, 12, (3, games))
    moments = moments_of_scores(np.rint(scores).astype(np.int64))
    assert pairs._components(moments, np.ones(20, bool)) == pytest.approx(
        (statistics.variance([0, 10, 40]), 400, 144), rel=0.03
    )


@pytest.mark.parametrize("which", ["run", "gapped"])
def test_parts_of_the_score_fall_into_the_difference(
    which: str, request: pytest.FixtureRequest
) -> None:
    run = request.getfixturevalue(which)
    recorded = Records(run)
    bots = list(recorded.plan.bots)
    for difficulty, moments in zip(recorded.rules, pairs.part_moments(run), strict=True):
        for weak, strong in [(0, 2), (2, 1)]:
            table = pairs.waterfall(moments, weak, strong)
            ones, others = (recorded.games[difficulty, bots[k]] for k in (strong, weak))
            both = [(a, b) for a in ones for b in others if a["game"] == b["game"]]
            expected = []
            for part in PARTS:
                ahead = [a[part] - b[part] for a, b in both]
                expected.append((part, len(both), *mean_and_width(ahead)))
            by_hand.assert_rows(table.iter_rows(), expected)
            mean = statistics.mean(a["score"] - b["score"] for a, b in both)
            assert table["difference"].sum() == pytest.approx(mean)


def moments_of(run: Path, difficulty: str, common: bool) -> pairs.Moments:
    recorded = Records(run)
    players = [Player(recorded.rules[difficulty], bot) for bot in recorded.plan.bots]
    return gather(run, recorded.plan, players, common=common)["score"]


def test_means_are_over_all_games_of_a_player(gapped: Path) -> None:
    recorded, moments = Records(gapped), moments_of(gapped, "survival", common=False)
    for k, bot in enumerate(recorded.plan.bots):
        scores = list(recorded.column(("survival", bot), "score").values())
        assert moments.mean(k)[:3] == pytest.approx((len(scores), *mean_and_width(scores)))


def test_common_games_are_those_that_all_played(gapped: Path) -> None:
    recorded, moments = Records(gapped), moments_of(gapped, "survival", common=True)
    columns = in_common(recorded, "survival", *recorded.plan.bots)
    assert [len(column) for column in columns] == [9, 9, 9]
    for k, column in enumerate(columns):
        assert moments.mean(k)[:3] == pytest.approx((9, *mean_and_width(column)))
    assert (moments.games == moments.games[:, :1, :1]).all()


@pytest.mark.parametrize("weights", [[1, -2, 1], [1, 1, -2], [0, 3, -1], [1, 0, 0]])
@pytest.mark.parametrize("which", ["gapped", "even"])
def test_contrasts_are_sums_game_by_game(
    which: str, weights: list[int], request: pytest.FixtureRequest
) -> None:
    run = request.getfixturevalue(which)
    columns = in_common(Records(run), "survival", *Records(run).plan.bots)
    sums = [
        sum(w * score for w, score in zip(weights, scores, strict=True))
        for scores in zip(*columns, strict=True)
    ]
    found = moments_of(run, "survival", common=True).contrast(weights)
    assert found[:3] == pytest.approx((len(sums), *mean_and_width(sums)))


def test_groups_of_games_go_by_game_index(run: Path, recorded: Records) -> None:
    moments = moments_of(run, "peaceful", common=False)
    for k, bot in enumerate(recorded.plan.bots):
        scores = recorded.column(("peaceful", bot), "score")
        for group in range(20):
            here = [score for game, score in scores.items() if game % 20 == group]
            assert moments.games[group, k, k] == len(here)
            assert moments.sums[group, k, k] == sum(here)
            assert moments.squares[group, k, k] == sum(score**2 for score in here)
            assert moments.products[group, k, k] == sum(score**2 for score in here)


def test_batches_change_nothing(gapped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pairs.paired_differences(gapped), pairs.score_moments(gapped)
    monkeypatch.setattr(pairs, "BATCH", 10)
    again = pairs.paired_differences(gapped), pairs.score_moments(gapped)
    assert again[0].equals(whole[0])
    for one, other in zip(again[1], whole[1], strict=True):
        for name in ("games", "sums", "squares", "products"):
            assert (getattr(one, name) == getattr(other, name)).all()


def test_players_may_play_by_different_rules(run: Path, recorded: Records) -> None:
    players = [Player(PEACEFUL, "careful"), Player(NIGHTMARE, "careful")]
    values = [{"twice": 2 * pl.col("score")}, {"twice": 3 * pl.col("score")}]
    moments = gather(run, recorded.plan, players, values, groups=1)["twice"]
    easy, hard = (recorded.column((name, "careful"), "score") for name in ("peaceful", "nightmare"))
    ahead = [2 * easy[game] - 3 * hard[game] for game in easy]
    assert moments.difference(0, 1)[:3] == pytest.approx((30, *mean_and_width(ahead)))


def test_one_game_has_differences_without_intervals(tmp_path: Path) -> None:
    run = by_hand.make_run(tmp_path / "run", {"plain": 1, "careful": 1}, rules=[SURVIVAL])
    (row,) = pairs.paired_differences(run).iter_rows()
    (one,), (other,) = in_common(Records(run), "survival", "careful", "plain")
    assert row == ("survival", "careful", "plain", 1, one - other, None, None, None)
    assert pairs.variance_shares(run, pairs.score_moments(run)).is_empty()


def test_bots_without_a_game_in_common_are_not_compared(tmp_path: Path) -> None:
    run = by_hand.make_run(tmp_path / "run", {"plain": 4, "careful": 8}, rules=[SURVIVAL], chunk=4)
    (part,) = run.glob("games/*/bot=careful/000000000-*")
    part.unlink()
    assert pairs.paired_differences(run).is_empty()
    assert pairs.variance_shares(run, pairs.score_moments(run)).is_empty()


def test_bots_without_games_have_no_share_in_the_variance(tmp_path: Path) -> None:
    games = {"plain": 6, "tinker": 0, "careful": 9}
    run = by_hand.make_run(tmp_path / "run", games, rules=[SURVIVAL], chunk=3)
    table = pairs.variance_shares(run, pairs.score_moments(run))
    by_hand.assert_rows(table.iter_rows(), variance_by_hand(Records(run)))
    assert table.select("games", "bots").unique().rows() == [(6, 2)]
    games = {"plain": 6, "tinker": 0, "careful": 0}
    run = by_hand.make_run(tmp_path / "alone", games, rules=[SURVIVAL])
    assert pairs.variance_shares(run, pairs.score_moments(run)).is_empty()
