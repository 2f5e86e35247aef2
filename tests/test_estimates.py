"""Every table of estimates, each figure recomputed from the rows in plain Python."""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path

import by_hand
import polars as pl
import pytest
from by_hand import (
    Player,
    Records,
    Row,
    dice_of,
    kind_of,
    mean_and_width,
    powers_of,
    ratio_and_width,
    welch,
    wilson,
)

from magsim import rules as law
from magsim.analysis import estimates, options, tallies
from magsim.analysis.tallies import Tallies, tally
from magsim.board import CELL_NAMES, parse_board, parse_dice
from magsim.bot import Position
from magsim.decision import POWER_KINDS
from magsim.errors import MagsimError
from magsim.manifest import Plan, write_manifest
from magsim.rules import NIGHTMARE, PEACEFUL

COLUMN = {"raise": "raises", "lower": "lowers", "reroll": "rerolls"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return by_hand.shared_run(tmp_path_factory)


@pytest.fixture(scope="module")
def found(run: Path) -> Tallies:
    return tally(run)


@pytest.fixture(scope="module")
def recorded(run: Path) -> Records:
    return Records(run)


def shares(counts: Counter[int], of: int) -> Iterator[tuple[int, int, float, float, float]]:
    for key in sorted(counts):
        yield key, counts[key], counts[key] / of, *wilson(counts[key], of)


def rates(turns: Iterable[Row], key: Callable[[Row], int], is_counted: Callable[[Row], bool]):
    """Of the turns with the same key, how many are counted."""
    every: Counter[int] = Counter()
    some: Counter[int] = Counter()
    for turn in turns:
        every[key(turn)] += 1
        some[key(turn)] += is_counted(turn)
    for k in sorted(every):
        yield k, every[k], some[k], some[k] / every[k], *wilson(some[k], every[k])


def ruins_by_hand(turn: Row) -> int:
    return turn["board"].count("R") - turn["before"].count("R")


def has_power(turn: Row) -> bool:
    return turn["powers"] is not None


def test_everything_happens_in_the_run(recorded: Records) -> None:
    turns = [turn for player in recorded.players for turn in recorded.turns[player]]
    ways = {(turn["magdagdon"], len(powers_of(turn))) for turn in turns}
    assert ways >= {("accepted", 3), ("accepted", 2), ("rescued", 1), ("rescued", 3), ("no", 2)}
    assert {kind_of(power) for turn in turns for power in powers_of(turn)} == set(POWER_KINDS)
    assert {turn["estimate"] for turn in turns} >= {None, 1e9, -1e9, -37.25}
    assert len({len(games) for games in recorded.games.values()}) == 2


def percentiles(recorded: Records, player: Player):
    scores = list(recorded.column(player, "score").values())
    for percent in (1, 5, 10, 25, 50, 75, 90, 95, 99):
        yield percent, by_hand.quantile(scores, percent / 100)


def means(recorded: Records, player: Player):
    for name in (
        *("base", "straight_points", "four_points", "two_pairs_points"),
        *("ruin_points", "power_points", "ruins", "turns"),
    ):
        values = recorded.column(player, name)
        yield len(values), name, *mean_and_width(values.values())


def ruins_per_game(recorded: Records, player: Player):
    boards = recorded.column(player, "board").values()
    yield from shares(Counter(board.count("R") for board in boards), len(boards))


def turns_per_game(recorded: Records, player: Player):
    games = recorded.by_game(player)
    yield from shares(Counter(map(len, games.values())), len(games))


def ruins_by_turn(recorded: Records, player: Player):
    yield from rates(recorded.turns[player], lambda turn: turn["turn"], ruins_by_hand)


def ruins_by_empty(recorded: Records, player: Player):
    yield from rates(recorded.turns[player], lambda turn: turn["before"].count("."), ruins_by_hand)


def powers_by_turn(recorded: Records, player: Player):
    yield from rates(recorded.turns[player], lambda turn: turn["turn"], has_power)


def ruin_map(recorded: Records, player: Player):
    boards = [board.replace("/", "") for board in recorded.column(player, "board").values()]
    for cell, name in enumerate(CELL_NAMES):
        count = sum(board[cell] == "R" for board in boards)
        yield name, len(boards), count, count / len(boards), *wilson(count, len(boards))


def magdagdon(recorded: Records, player: Player):
    games = recorded.by_game(player).values()
    met = [sum(turn["magdagdon"] != "no" for turn in turns) for turns in games]
    rescued = [
        sum(turn["magdagdon"] != "no" and not ruins_by_hand(turn) for turn in turns)
        for turns in games
    ]
    lengths = [len(turns) for turns in games]
    yield (
        *(len(games), sum(lengths), sum(met), *share_of_turns(met, lengths)),
        *(sum(rescued), *share_of_turns(rescued, met)),
    )


def share_of_turns(some: list[int], all_turns: list[int]):
    share, width = ratio_and_width(some, all_turns)
    return share, width if 0 < sum(some) < sum(all_turns) else None


def dice_by_board(turn: Row) -> int:
    return turn["before"].count(".") - turn["board"].count(".") - ruins_by_hand(turn)


def dice_placed(recorded: Records, player: Player):
    turns = recorded.turns[player]
    counts = Counter(map(dice_by_board, turns))
    for dice in sorted(counts):
        yield dice, counts[dice], counts[dice] / len(turns)


def dice_per_turn(recorded: Records, player: Player):
    games = recorded.by_game(player).values()
    dice = [sum(map(dice_by_board, turns)) for turns in games]
    lengths = [len(turns) for turns in games]
    yield len(games), sum(lengths), *ratio_and_width(dice, lengths)


def each_power(recorded: Records, player: Player) -> Iterator[tuple[str, Row, int]]:
    """Kind, turn and cost of each Power used, game by game."""
    costs = recorded.rules[player[0]].power_costs
    for turns in recorded.by_game(player).values():
        powers = ((power, turn) for turn in turns for power in powers_of(turn))
        for number, (power, turn) in enumerate(powers):
            yield kind_of(power), turn, costs[number]


def powers_by_kind(recorded: Records, player: Player):
    games = recorded.by_game(player)
    for kind in POWER_KINDS:
        uses = [(turn, cost) for k, turn, cost in each_power(recorded, player) if k == kind]
        by_game = Counter(turn["game"] for turn, _ in uses)
        ends = Counter(turn["magdagdon"] for turn, _ in uses)
        yield (
            *(kind, len(games), len(uses)),
            *mean_and_width([by_game[game] for game in games]),
            *(ends["no"], ends["rescued"], ends["accepted"]),
            sum(cost for _, cost in uses) / len(uses) if uses else None,
        )


def powers_used(recorded: Records, player: Player):
    scores = recorded.column(player, "score")
    used = Counter(dict.fromkeys(scores, 0))
    paid: Counter[int] = Counter()
    for _, turn, cost in each_power(recorded, player):
        used[turn["game"]] += 1
        paid[turn["game"]] += cost
    none = [scores[game] for game in scores if used[game] == 0]
    for number in sorted(set(used.values())):
        games = [game for game in scores if used[game] == number]
        some = [scores[game] for game in games]
        yield (
            *(number, len(games), len(games) / len(scores), *wilson(len(games), len(scores))),
            *(sum(paid[game] for game in games) / len(games), statistics.mean(some)),
            *(welch(some, none) if number else (None, None)),
        )


def power_worth(recorded: Records, player: Player):
    scores = recorded.column(player, "score")
    powers = list(each_power(recorded, player))
    none = [scores[game] for game in scores if game not in {turn["game"] for _, turn, _ in powers}]
    for kind in POWER_KINDS:
        costs = [cost for k, _, cost in powers if k == kind]
        games = {turn["game"] for k, turn, _ in powers if k == kind}
        if games:
            difference = welch([scores[game] for game in games], none)
            yield kind, len(games), len(none), statistics.mean(costs), *difference


def said(turn: Row) -> Fraction:
    """An estimate to 1/256 point."""
    return Fraction(round(turn["estimate"] * 256), 256)


def estimated(recorded: Records, player: Player, turns: list[Row]):
    """What a bot expected in these turns against what came, with games as clusters."""
    final = recorded.column(player, "score")
    games: dict[int, list[Fraction]] = {}
    for turn in turns:
        games.setdefault(turn["game"], []).append(said(turn) - final[turn["game"]])
    bias = ratio_and_width(
        [sum(errors) for errors in games.values()], list(map(len, games.values()))
    )
    expected = float(sum(map(said, turns)) / len(turns))
    came = statistics.mean(final[turn["game"]] for turn in turns)
    return len(games), len(turns), expected, came, *bias


def calibration(recorded: Records, player: Player):
    bins: dict[int, list[Row]] = {}
    for turn in recorded.turns[player]:
        if turn["estimate"] is not None:
            bins.setdefault(20 * math.floor(said(turn) / 20), []).append(turn)
    for edge in sorted(bins):
        yield edge, *estimated(recorded, player, bins[edge])


def calibration_in_all(recorded: Records, player: Player):
    turns = [turn for turn in recorded.turns[player] if turn["estimate"] is not None]
    if turns:
        final = recorded.column(player, "score")
        squares = [(said(turn) - final[turn["game"]]) ** 2 for turn in turns]
        yield *estimated(recorded, player, turns), math.sqrt(sum(squares) / len(turns))


TABLES = (
    *(means, ruins_per_game, turns_per_game, ruins_by_turn, ruins_by_empty, powers_by_turn),
    *(ruin_map, magdagdon, dice_placed, dice_per_turn, powers_by_kind, powers_used, power_worth),
    *(calibration, calibration_in_all),
)


@pytest.mark.parametrize("oracle", TABLES, ids=lambda oracle: oracle.__name__)
def test_tables_agree_with_the_rows(oracle, found: Tallies, recorded: Records) -> None:
    table = getattr(estimates, oracle.__name__)(found)
    by_hand.assert_rows(
        table.iter_rows(),
        [(*player, *row) for player in recorded.players for row in oracle(recorded, player)],
    )
    assert table["difficulty"].dtype == pl.Enum(list(recorded.rules))
    assert table["bot"].dtype == pl.Enum(list(recorded.plan.bots))


@pytest.mark.parametrize("name", [*(oracle.__name__ for oracle in TABLES), "percentiles"])
def test_columns_are_those_that_the_docstring_names(name: str, found: Tallies) -> None:
    function = getattr(estimates, name)
    if name == "ruins_by_empty":
        return
    words = function.__doc__.partition("Columns: ")[2].partition("\n\n")[0]
    for column in function(found).columns[2:]:
        assert column in words, column


def test_percentiles_agree_with_the_rows(found: Tallies, recorded: Records) -> None:
    table = estimates.percentiles(found)
    expected = [
        (*player, *row) for player in recorded.players for row in percentiles(recorded, player)
    ]
    by_hand.assert_rows(table.select("difficulty", "bot", "percentile", "score").rows(), expected)
    for difficulty, bot, percent, score, low, high in table.iter_rows():
        if min(percent, 100 - percent) * len(recorded.games[difficulty, bot]) < 1000:
            assert (low, high) == (None, None)
        else:
            assert low <= score <= high
    middle = table.filter(percentile=50)
    widths = [high - low for high, low in zip(middle["high"], middle["low"], strict=True)]
    for width, player in zip(widths, recorded.players, strict=True):
        values = list(recorded.column(player, "score").values())
        usual = 2 * 1.96 * 1.2533 * statistics.stdev(values) / math.sqrt(len(values))
        assert 0.4 * usual < width < 2.2 * usual


def test_placements_of_the_records_are_the_dice_that_the_boards_gained(recorded: Records) -> None:
    for player in recorded.players:
        assert [dice_of(turn) for turn in recorded.turns[player]] == [
            dice_by_board(turn) for turn in recorded.turns[player]
        ]


def test_parts_add_up_to_the_score(found: Tallies, recorded: Records) -> None:
    table = estimates.means(found)
    for difficulty, bot in recorded.players:
        rows = table.filter(difficulty=difficulty, bot=bot).rows(named=True)
        mean = {row["quantity"]: row["mean"] for row in rows}
        score = statistics.mean(recorded.column((difficulty, bot), "score").values())
        assert sum(mean[part] for part in tallies.PARTS) == pytest.approx(score)


@pytest.mark.parametrize("batch", [17])
def test_batches_change_nothing(
    batch: int, run: Path, found: Tallies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "BATCH", batch)
    again = tally(run)
    for name, table in found.tables.items():
        assert again[name].equals(table), name


def options_by_hand(recorded: Records, player: Player, games: int):
    by_turn: dict[int, list[int]] = {}
    for game in sorted(recorded.by_game(player))[:games]:
        for turn in recorded.by_game(player)[game]:
            dice = parse_dice(turn["roll"])
            at = parse_board(turn["before"]), dice, turn["powers_left"], recorded.rules[player[0]]
            position = Position(*at)
            kinds = position.outcomes(), position.powers(), position.ruins()
            by_turn.setdefault(turn["turn"], []).append(sum(len(set(kind)) for kind in kinds))
    for number in sorted(by_turn):
        counts = by_turn[number]
        yield number, len(counts), *mean_and_width(counts), min(counts), max(counts)


@pytest.mark.parametrize("sample", [3, 12])
def test_options_are_those_of_positions(
    sample: int, run: Path, recorded: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "SAMPLE", sample)
    by_hand.assert_rows(
        options.options_per_decision(run).iter_rows(),
        [
            (*player, *row)
            for player in recorded.players
            for row in options_by_hand(recorded, player, sample)
        ],
    )


def powers_by_law(dice: tuple[int, ...], left: int) -> int:
    """Distinct Powers by the values of dice."""
    if not left:
        return 0
    parts = {tuple(d for k, d in enumerate(dice) if m >> k & 1) for m in range(1, 16)}
    return len(set(dice) - {6}) + len(set(dice) - {1}) + len(parts)


def test_options_are_those_of_the_law(run: Path, recorded: Records) -> None:
    table = options.options_per_decision(run).rows(named=True)
    for player in recorded.players:
        turns = [turn for turn in recorded.turns[player] if turn["turn"] >= 6]
        counts: dict[int, list[int]] = {}
        for turn in turns:
            board, dice = parse_board(turn["before"]), parse_dice(turn["roll"])
            placements = len(law.outcomes(board, dice, recorded.rules[player[0]]))
            ruins = 0 if placements else turn["before"].count(".")
            found = placements + ruins + powers_by_law(dice, turn["powers_left"])
            counts.setdefault(turn["turn"], []).append(found)
        rows = [row for row in table if (row["difficulty"], row["bot"]) == player]
        for number, some in counts.items():
            (row,) = [row for row in rows if row["turn"] == number]
            assert row["options"] == pytest.approx(statistics.mean(some))
            assert (row["fewest"], row["most"]) == (min(some), max(some))


def test_one_game_of_one_bot_has_no_intervals(tmp_path: Path) -> None:
    run = by_hand.make_run(tmp_path / "run", {"careful": 1}, rules=[PEACEFUL])
    found, recorded = tally(run), Records(run)
    for oracle in TABLES:
        table = getattr(estimates, oracle.__name__)(found)
        by_hand.assert_rows(
            table.iter_rows(),
            [(*player, *row) for player in recorded.players for row in oracle(recorded, player)],
        )
        if "half_width" in table.columns:
            assert table["half_width"].null_count() == len(table)
    assert estimates.percentiles(found)["low"].null_count() == 9
    assert options.options_per_decision(run)["half_width"].null_count() == len(
        recorded.turns["peaceful", "careful"]
    )


def test_a_bot_without_powers_or_estimates_has_rows_of_nothing(found: Tallies) -> None:
    assert estimates.calibration(found).filter(bot="plain").is_empty()
    assert estimates.power_worth(found).filter(difficulty="nightmare").is_empty()
    kinds = estimates.powers_by_kind(found).filter(difficulty="nightmare")
    assert kinds["uses"].to_list() == [0] * 9
    assert kinds["cost"].null_count() == 9


def test_nothing_recorded_is_one_sentence(tmp_path: Path) -> None:
    write_manifest(tmp_path, Plan(1, 1, 1, {"plain": "1"}, (NIGHTMARE,)))
    for function in (tally, options.options_per_decision):
        with pytest.raises(MagsimError, match=r"there are no \w+ in it yet"):
            function(tmp_path)


def test_games_whose_turns_are_there_alone_do_not_count(tmp_path: Path) -> None:
    run = by_hand.make_run(
        tmp_path / "run", {"careful": 12, "plain": 12}, chunk=5, rules=[PEACEFUL]
    )
    (part,) = run.glob("games/*/bot=plain/000000005-*")
    part.unlink()
    found = tally(run)
    assert found["parts"]["n"].to_list() == [12, 7]
    assert found["lengths"].filter(bot="plain")["n"].sum() == 7
    lengths = found["lengths"].filter(bot="plain")
    turns = sum(row["turns"] * row["n"] for row in lengths.iter_rows(named=True))
    assert found["clusters"].filter(bot="plain")["turns"].item() == turns
