"""Every figure in a report's sentences and tables, recomputed from the rows in plain Python."""

import dataclasses
import statistics
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import by_hand
import pytest
import test_estimates as tables
import test_pairs
from by_hand import Player, Records, mean_and_width, plus_minus, ratio_and_width, share_of
from report_tables import NAMES, assert_table, ranked, without_charts

from magsim.board import CELL_NAMES
from magsim.report import comparison as compared
from magsim.report import run as report
from magsim.report.findings import find
from magsim.report.page import Section

Sections = dict[str, Section]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return by_hand.shared_run(tmp_path_factory)


@pytest.fixture(scope="module")
def recorded(run: Path) -> Records:
    return Records(run)


@pytest.fixture(scope="module")
def sections(run: Path) -> Sections:
    """The sections of the run's report by their first chart."""
    with pytest.MonkeyPatch.context() as patch:
        without_charts(patch)
        return {next(iter(section.charts)): section for section in report.sections(find(run))}


def figure(value: float | None, digits: int = 1) -> str:
    text = "–" if value is None else f"{value:,.{digits}f}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def small(mean: float | None, width: float | None) -> str:
    return plus_minus(mean, width, least=2)


def rate(share: float | None, width: float | None) -> str:
    if share is None:
        return "–"
    return f"{plus_minus(100 * share, None if width is None else 100 * width)} %"


def each(recorded: Records, say: Callable[[Player], str]) -> str:
    told = [f"at {d}, {say((d, ranked(recorded, d)[0]))}" for d in recorded.rules]
    return f"A{'; '.join(told)[1:]}."


def rows(
    recorded: Records, oracle: Callable[[Records, Player], Iterator[tuple]], show: Callable
) -> list[list[str]]:
    """Rows of a table: each of an oracle's, shown after difficulty and bot."""
    return [
        [*player, *show(*row)] for player in recorded.players for row in oracle(recorded, player)
    ]


def rates(recorded: Records, oracle: Callable[[Records, Player], Iterator[tuple]]):
    def show(key: int, n: int, count: int, *_: float) -> list[str]:
        return [f"{key}", f"{n}", f"{count}", share_of(count, n)]

    return rows(recorded, oracle, show)


def score_of(recorded: Records, player: Player) -> str:
    return plus_minus(*mean_and_width(recorded.column(player, "score").values()))


def test_scores(sections: Sections, recorded: Records) -> None:
    section = sections["scores"]
    expected = []
    for player in recorded.players:
        values = list(recorded.column(player, "score").values())
        deviation = figure(statistics.stdev(values))
        expected.append([*player, f"{len(values)}", score_of(recorded, player), deviation])
    (table,) = section.tables
    assert_table(table, expected)

    def say(player: Player) -> str:
        weak = player[0], ranked(recorded, player[0])[-1]
        return (
            f"{player[1]} scores {score_of(recorded, player)} on average and {weak[1]} "
            f"{score_of(recorded, weak)}"
        )

    told = each(recorded, say)
    assert section.caption == f"Points: a{told[1:]}"


def test_percentiles(sections: Sections, recorded: Records) -> None:
    section = sections["percentiles"]
    (table,) = section.tables
    expected = rows(recorded, tables.percentiles, lambda k, score: [f"{k}", f"{figure(score, 0)}"])
    assert [[*row[:3], row[3].partition(" (")[0]] for row in table.rows] == expected
    for difficulty, bot, percent, score in table.rows:
        beyond = min(int(percent), 100 - int(percent)) * len(recorded.games[difficulty, bot])
        assert (" (" in score) == (beyond >= 1000)
    shown = {tuple(row[:3]): row[3] for row in table.rows}

    def say(player: Player) -> str:
        return (
            f"{player[1]} scores {shown[(*player, '5')]} points or less in its worst 5 % of games "
            f"and {shown[(*player, '95')]} or more in its best 5 %"
        )

    assert section.caption == f"{each(recorded, say)} Intervals are by bootstrap."


def part_by_hand(recorded: Records, difficulty: str, part: str) -> tuple[float, float]:
    """By how much the strongest bot earns more by a part than the weakest, game by game."""
    order = ranked(recorded, difficulty)
    strong, weak = (recorded.column((difficulty, order[k]), part) for k in (0, -1))
    return mean_and_width([strong[game] - weak[game] for game in strong if game in weak])


def test_points(sections: Sections, recorded: Records) -> None:
    section = sections["points"]
    expected, told = [], []
    for difficulty in recorded.rules:
        order = ranked(recorded, difficulty)
        gains = {part: part_by_hand(recorded, difficulty, part) for part in NAMES}
        most = max(gains, key=lambda part: gains[part][0])
        for part, gain in gains.items():
            shown = plus_minus(*gain, sign=True)
            expected.append([difficulty, order[0], order[-1], NAMES[part], shown])
            if part == most:
                told.append((order, NAMES[part], shown))
    (table,) = section.tables
    assert_table(table, expected)
    for order, name, shown in told:
        assert f"{order[0]} is ahead of {order[-1]} most by {name}, {shown}" in section.caption


def test_ruins_per_game(sections: Sections, recorded: Records) -> None:
    section = sections["ruins_per_game"]
    means, counts = section.tables

    def made(player: Player) -> list[int]:
        return [board.count("R") for board in recorded.column(player, "board").values()]

    assert_table(
        means,
        [
            [*player, f"{len(made(player))}", small(*mean_and_width(made(player)))]
            for player in recorded.players
        ],
    )
    assert_table(
        counts,
        [
            [*player, f"{number}", f"{n}", share_of(n, len(made(player)))]
            for player in recorded.players
            for number, n in sorted(Counter(made(player)).items())
        ],
    )

    def say(player: Player) -> str:
        none = made(player).count(0)
        without = share_of(none, len(made(player))) if none else "none"
        mean = small(*mean_and_width(made(player)))
        return f"{player[1]} makes {mean} RUINs a game, and {without} of its games have none"

    assert section.caption == each(recorded, say)


def worst(found: Iterator[tuple], games: int) -> tuple:
    """The row with the largest share of those of ten turns and 5 % of the games, or of all."""
    rows = list(found)
    often = [row for row in rows if row[1] >= 10 and 20 * row[1] >= games]
    return max(often or rows, key=lambda row: row[3])


def test_when_ruins_come(sections: Sections, recorded: Records) -> None:
    section = sections["ruins_by_turn"]
    for table, oracle in zip(
        section.tables, (tables.ruins_by_turn, tables.ruins_by_empty), strict=True
    ):
        assert_table(table, rates(recorded, oracle))

    def say(player: Player) -> str:
        games = len(recorded.games[player])
        turn = worst(tables.ruins_by_turn(recorded, player), games)
        empty = worst(tables.ruins_by_empty(recorded, player), games)
        return (
            f"{player[1]} ends turn {turn[0]} with a RUIN most often, in "
            f"{share_of(turn[2], turn[1])} of the games that come to it, and a turn that begins "
            f"with {empty[0]} empty cells, in {share_of(empty[2], empty[1])} of such turns"
        )

    note = " Turns that 5 % of games and 10 games come to are compared."
    assert section.caption == each(recorded, say) + note


def test_where_ruins_fall(sections: Sections, recorded: Records) -> None:
    section = sections["ruin_map"]
    (table,) = section.tables
    found = {player: list(tables.ruin_map(recorded, player)) for player in recorded.players}
    assert_table(
        table,
        [
            [*player, cell, f"{count}", share_of(count, games)]
            for player in recorded.players
            for cell, games, count, *_ in found[player]
        ],
    )

    def say(player: Player) -> str:
        counts = {cell: count for cell, _, count, *_ in found[player]}
        most = max(CELL_NAMES, key=lambda cell: counts[cell])
        least, *ties = (cell for cell in CELL_NAMES if counts[cell] == min(counts.values()))
        others = {0: "", 1: " and 1 other"}.get(len(ties), f" and {len(ties)} others")
        games = len(recorded.games[player])
        return (
            f"{player[1]} makes a RUIN of {most} most often, in {share_of(counts[most], games)} of "
            f"its games, and of {least}{others} least, in {share_of(counts[least], games)}"
        )

    assert section.caption == each(recorded, say)


def test_magdagdon(sections: Sections, recorded: Records) -> None:
    section = sections["magdagdon"]
    (table,) = section.tables
    expected = []
    for player in recorded.players:
        ((_, turns, met, share, width, saved, saved_share, saved_width),) = tables.magdagdon(
            recorded, player
        )
        powers = recorded.rules[player[0]].powers
        rescued = rate(saved_share, saved_width) if powers else "–"
        counts = f"{turns}", f"{met}", rate(share, width), f"{saved}", rescued
        expected.append([*player, *counts])
    assert_table(table, expected)

    def say(player: Player) -> str:
        (row,) = (row for row in expected if (row[0], row[1]) == player)
        told = f"{player[1]} is in MAGDAGDON in {row[4]} of its turns"
        if not recorded.rules[player[0]].powers:
            return f"{told}, without Powers to rescue it"
        return f"{told}, and a Power rescues {row[6]} of these"

    assert section.caption == each(recorded, say)


def test_powers_by_kind_and_turn(sections: Sections, recorded: Records) -> None:
    section = sections["powers_by_kind"]
    kinds, by_turn = section.tables

    def show(kind: str, _: int, uses: int, mean: float, width: float, *more: float) -> list[str]:
        return [kind, f"{uses}", small(mean, width), *map(str, more[:3]), figure(more[3])]

    assert_table(kinds, rows(recorded, tables.powers_by_kind, show))
    assert_table(by_turn, rates(recorded, tables.powers_by_turn))

    def say(player: Player) -> str:
        used = list(tables.each_power(recorded, player))
        if not used:
            return f"{player[1]} uses no Power"
        of_kind = Counter(kind for kind, _, _ in used)
        parts = ", ".join(
            f"{kind} {100 * of_kind[kind] / len(used):.0f} %"
            for kind in ("raise", "lower", "reroll")
        )
        rescuing = sum(turn["magdagdon"] == "rescued" for _, turn, _ in used) / len(used)
        turns = Counter(turn["turn"] for turn in recorded.turns[player] if turn["powers"])
        most = max(sorted(turns), key=lambda turn: turns[turn])
        return (
            f"of the {len(used) / len(recorded.games[player]):.2f} Powers {player[1]} uses a game "
            f"({parts}), {100 * rescuing:.0f} % fall in turns that got out of MAGDAGDON; turn "
            f"{most} sees a Power most often"
        )

    assert section.caption.startswith(each(recorded, say))


def test_what_powers_cost(sections: Sections, recorded: Records) -> None:
    section = sections["powers_used"]
    used, worth = section.tables

    def show_used(number: int, n: int, share: float, low: float, high: float, *more) -> list[str]:
        cost, mean, *difference = more
        ends = f"{100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
        against = plus_minus(*difference, sign=True)
        return [f"{number}", f"{n}", ends, figure(cost), figure(mean), against]

    def show_worth(kind: str, n: int, none: int, cost: float, *difference) -> list[str]:
        return [kind, f"{n}", f"{none}", figure(cost), plus_minus(*difference, sign=True)]

    assert_table(used, rows(recorded, tables.powers_used, show_used))
    assert_table(worth, rows(recorded, tables.power_worth, show_worth))

    def say(player: Player) -> str:
        if not recorded.rules[player[0]].powers:
            return "there are no Powers"
        games = recorded.games[player]
        none = sum(game["used"] == 0 for game in games)
        without = share_of(none, len(games)) if none else "0.0 %"
        told = f"{player[1]} uses no Power in {without} of its games"
        compared = [row for row in tables.power_worth(recorded, player) if row[4] is not None]
        if not compared:
            return told
        kind, _, _, cost, *difference = max(compared, key=lambda row: row[1])
        return (
            f"{told}; its games with a {kind}, paid with {figure(cost)} points a use, score "
            f"{plus_minus(*difference, sign=True)} points against those without a Power"
        )

    assert section.caption.startswith(each(recorded, say))


def test_turns_and_dice(sections: Sections, recorded: Records) -> None:
    section = sections["turns_per_game"]
    lengths, placed = section.tables

    def show_length(turns: int, n: int, share: float, low: float, high: float) -> list[str]:
        ends = f"{100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
        return [f"{turns}", f"{n}", ends]

    def show_dice(dice: int, turns: int, share: float) -> list[str]:
        return [f"{dice}", f"{turns}", f"{100 * share:.1f} %"]

    assert_table(lengths, rows(recorded, tables.turns_per_game, show_length))
    assert_table(placed, rows(recorded, tables.dice_placed, show_dice))

    def say(player: Player) -> str:
        games = recorded.by_game(player).values()
        turns = [len(turns) for turns in games]
        dice = [sum(map(by_hand.dice_of, turns)) for turns in games]
        return (
            f"{player[1]} needs {small(*mean_and_width(turns))} turns a game and places "
            f"{small(*ratio_and_width(dice, turns))} dice a turn"
        )

    note = " A turn that ends with a RUIN places none."
    assert section.caption == each(recorded, say) + note


def test_options(sections: Sections, recorded: Records) -> None:
    section = sections["options"]
    (table,) = section.tables

    def by_hand_of(player: Player) -> list[tuple]:
        return list(tables.options_by_hand(recorded, player, 300))

    found = {player: by_hand_of(player) for player in recorded.players}
    assert_table(
        table,
        [
            [*player, f"{turn}", f"{n}", plus_minus(mean, width), f"{fewest:,}", f"{most:,}"]
            for player in recorded.players
            for turn, n, mean, width, fewest, most in found[player]
        ],
    )

    def say(player: Player) -> str:
        first, most = found[player][0], max(found[player], key=lambda row: row[2])
        told = f"{player[1]} has {plus_minus(*first[2:4])} options in turn 1"
        if most[0] == 1:
            return f"{told}, its most, up to {most[5]:,}"
        return f"{told} and most in turn {most[0]}, {plus_minus(*most[2:4])}, up to {most[5]:,}"

    note = " Counted in the first 300 games of each bot, or all where there are fewer."
    assert section.caption == each(recorded, say) + note


def test_estimates_against_what_came(sections: Sections, recorded: Records) -> None:
    section = sections["calibration"]
    whole, by_bin = section.tables

    def show(_: int, turns: int, estimate: float, final: float, *bias: float) -> list[str]:
        width = bias[1]
        return [f"{turns}", figure(estimate), figure(final), plus_minus(bias[0], width, sign=True)]

    assert_table(
        whole,
        rows(
            recorded,
            tables.calibration_in_all,
            lambda *row: [*show(*row[:-1]), figure(row[-1])],
        ),
    )
    assert_table(
        by_bin,
        rows(recorded, tables.calibration, lambda edge, *row: [f"{edge:,}", *show(*row)]),
    )

    def say(player: Player) -> str:
        for *_, bias, width, error in tables.calibration_in_all(recorded, player):
            word = "too much" if bias > 0 else "too little"
            return (
                f"{player[1]} expects {plus_minus(abs(bias), width)} points {word}, its error is "
                f"{figure(error)} (root mean square)"
            )
        return f"{player[1]} gives no estimates"

    assert section.caption == f"Over all turns: a{each(recorded, say)[1:]}"


def test_bots_against_each_other(sections: Sections, recorded: Records) -> None:
    section = sections["differences"]
    (table,) = section.tables
    found = list(test_pairs.differences_by_hand(recorded))
    assert_table(
        table,
        [
            [*names, f"{n}", plus_minus(mean, width, sign=True), f"± {wide:.1f}", f"{gain:.2f}"]
            for *names, n, mean, width, wide, gain in found
        ],
    )
    told = []
    for difficulty in recorded.rules:
        strong, second, _ = ranked(recorded, difficulty)
        ((bot, mean, width, gain),) = (
            (row[1], row[4], row[5], row[7])
            for row in found
            if row[0] == difficulty and {row[1], row[2]} == {strong, second}
        )
        ahead = plus_minus(mean if bot == strong else -mean, width)
        told.append(
            f"at {difficulty}, {strong} is {ahead} points ahead of {second}; dice of their own "
            f"would take {gain:.2f} times as many games to tell"
        )
    assert section.caption.startswith(f"A{'; '.join(told)[1:]}. With 9 comparisons at once, about ")


def test_luck_and_skill(sections: Sections, recorded: Records) -> None:
    section = sections["variance"]
    (table,) = section.tables
    found = list(test_pairs.variance_by_hand(recorded))
    assert_table(
        table,
        [[row[0], row[1], figure(row[4], 0), f"{100 * row[5]:.1f} %"] for row in found],
    )
    for difficulty, source, _, _, _, share, _, _ in found:
        part = section.caption.partition(f"t {difficulty}, the choice of bot")[2]
        told = {
            "bot": f" explains {100 * share:.1f} % of the variance of scores, dice",
            "dice": f"dice that are good or bad for every bot {100 * share:.1f} %, and",
            "rest": f"what the dice give to one bot and not to another {100 * share:.1f} %",
        }
        assert told[source] in part.partition(" at ")[0]


def test_every_section_has_a_title_a_sentence_and_charts(sections: Sections) -> None:
    found = list(sections.values())
    assert all(isinstance(section, Section) and section.charts for section in found)
    assert len({section.title for section in found}) == len(found) == 14
    names = [name for section in found for name in section.charts]
    assert len(set(names)) == len(names)
    for section in found:
        assert section.caption[0].isupper()
        assert section.caption[-1] in ".)"


def test_without_the_two_strongest_only_the_comparisons_are_counted(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_charts(monkeypatch)
    found = find(run)
    weakest = {difficulty: found.ranked(difficulty)[-1] for difficulty in found.difficulties}
    kept = [
        weakest[row["difficulty"]] in (row["bot"], row["other"])
        for row in found.differences.iter_rows(named=True)
    ]
    frame = found.differences.filter(kept)
    assert len(frame) == 6
    caption = compared.differences(dataclasses.replace(found, differences=frame)).caption
    assert caption.startswith("With 6 comparisons at once, about 0.3 of the 95 % intervals miss")
    single = compared.differences(dataclasses.replace(found, differences=frame[:1]))
    assert single.caption == ""
    assert len(single.tables[0].rows) == 1
