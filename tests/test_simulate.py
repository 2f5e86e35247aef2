"""Whole games: same dice for everyone, the same rows however asked for, the law all along."""

import dataclasses
from contextlib import suppress
from functools import cache

import numpy as np
import pytest

from magsim import dice, engine
from magsim import rules as law
from magsim.asking import Watch
from magsim.board import EMPTY_BOARD, empty_cells, format_board, with_cell
from magsim.bot import Answers, Bot, Position, Positions, format_position
from magsim.decision import POWER_KINDS, Decision, Power, Ruin
from magsim.engine import HANDS
from magsim.rules import DIFFICULTIES, NIGHTMARE, PEACEFUL, SURVIVAL, Rules
from magsim.simulate import ACCEPTED, PLACED, RESCUED, Games, Played, PowerFirst, Turns, play_games

SEED = 11
EVERY_DIFFICULTY = pytest.mark.parametrize("rules", DIFFICULTIES.values(), ids=DIFFICULTIES)


class Moody(Bot):
    """Uses Powers and places dice by its own randomness alone."""

    spec = "moody"

    def decide(self, position: Position) -> Decision:
        if position.powers_left and self.random.random() < 0.3:
            return self.random.choice(position.powers())
        found = position.outcomes()
        if found:
            place = position.placement(self.random.choice(found))
            return dataclasses.replace(place, estimate=self.random.randrange(300))
        return self.random.choice(position.ruins())


class Sparing(Bot):
    """Uses no Power, and places as few dice as it may."""

    spec = "sparing"

    def decide(self, position: Position) -> Decision:
        if position.in_magdagdon():
            return position.ruins()[0]
        return min(position.placements(), key=lambda place: len(place.placements))


class Batched(Moody):
    """The same bot by another interface: it gets many positions at once."""

    def decide_batch(self, positions: Positions) -> Answers:
        return super().decide_batch(positions)


def play(bot: Bot, rules: Rules, first: int = 0, games: int = 40, seed: int = SEED) -> Played:
    watch = Watch(600)
    try:
        return play_games(bot, rules, seed, first, games, watch)
    finally:
        watch.close()


@cache
def moody_games(rules: Rules) -> Played:
    return play(Moody(), rules, games=200)


def rows(table: Turns | Games) -> list[tuple[object, ...]]:
    """A table as rows that compare equal where they are, NaN to NaN."""
    columns = []
    for field in dataclasses.fields(table):
        column = getattr(table, field.name)
        texts = map(format_board, column.tolist()) if field.name == "board" else map(str, column)
        columns.append([f"{field.name}={text}" for text in texts])
    return list(zip(*columns, strict=True))


def rolls_by_turn(turns: Turns) -> dict[tuple[int, int], int]:
    keys = zip(turns.game.tolist(), turns.turn.tolist(), strict=True)
    return dict(zip(keys, turns.roll.tolist(), strict=True))


# Same dice for everyone.


def test_every_bot_at_every_difficulty_sees_the_roll_of_the_seed_game_and_turn():
    played = [
        play(PowerFirst(), PEACEFUL),
        play(Moody(), PEACEFUL),
        play(Moody(), SURVIVAL),
        play(Sparing(), NIGHTMARE),
        play(Sparing(), PEACEFUL),
    ]
    used = [tuple(each.games.powers.sum(axis=0)) for each in played]
    assert len(set(used)) == 4, "the two that never use a Power aside, they differ in Powers"
    for each in played:
        for (game, turn), roll in rolls_by_turn(each.turns).items():
            lawful = dice.rolls(SEED, np.array([game], np.uint64), turn)[0]
            assert HANDS[roll] == tuple(lawful), (game, turn)


def test_games_that_last_longer_see_the_same_rolls_until_the_others_end():
    short, long = play(Moody(), PEACEFUL), play(Sparing(), PEACEFUL)
    assert long.games.turns.sum() > short.games.turns.sum()
    one, other = rolls_by_turn(short.turns), rolls_by_turn(long.turns)
    common = one.keys() & other.keys()
    assert len(common) > 100
    assert {key: one[key] for key in common} == {key: other[key] for key in common}


def test_another_seed_rolls_other_dice():
    one, other = (rolls_by_turn(play(Sparing(), PEACEFUL, seed=seed).turns) for seed in (1, 2))
    common = one.keys() & other.keys()
    assert sum(one[key] == other[key] for key in common) < len(common) / 10


# The same rows however they are asked for.


@pytest.mark.parametrize("sizes", [[40], [1] * 40, [7, 1, 19, 13]], ids=["one", "single", "uneven"])
def test_chunks_play_the_same_games(sizes):
    whole = play(Batched(), PEACEFUL)
    turns, games, first = [], [], 0
    for size in sizes:
        part = play(Batched(), PEACEFUL, first, size)
        turns += rows(part.turns)
        games += rows(part.games)
        first += size
    assert turns == rows(whole.turns)
    assert games == rows(whole.games)


def test_a_bot_with_its_own_randomness_plays_the_same_again_in_any_batch():
    one, again, batched = (play(bot, PEACEFUL) for bot in (Moody(), Moody(), Batched()))
    assert rows(one.turns) == rows(again.turns) == rows(batched.turns)


def test_a_bots_randomness_is_that_of_its_spec_and_seed():
    class Other(Moody):
        spec = "moody:option=1"

    moody, other = play(Moody(), NIGHTMARE), play(Other(), NIGHTMARE)
    first = moody.turns.turn == 1
    assert rows(moody.turns) != rows(other.turns)
    assert (moody.turns.roll[first] == other.turns.roll[other.turns.turn == 1]).all()
    assert rows(moody.turns) != rows(play(Moody(), NIGHTMARE, seed=SEED + 1).turns)


def test_a_batch_of_positions_is_answered_row_by_row():
    turns = moody_games(PEACEFUL).turns
    rows = np.flatnonzero(turns.turn[:100] < turns.turn[1:101])  # the game goes on after these
    keys = rows.astype(np.uint64)
    positions = Positions(turns.board[rows], turns.roll[rows + 1], rows % 2, keys, PEACEFUL)
    together = Moody().decide_batch(positions)
    for row in range(len(positions)):
        alone = Moody().decide_batch(positions.rows(row, row + 1))
        assert alone.decisions[0] == together.decisions[row], positions.position(row)


# No peeking, no meddling.


class Vandal(Batched):
    """Answers as the other, and then overwrites all that it was ever given."""

    def __post_init__(self) -> None:
        self.given: list[Positions] = []

    def decide_batch(self, positions: Positions) -> Answers:
        answers = super().decide_batch(positions)
        self.given.append(positions)
        for given in self.given:
            arrays = (given.boards, given.hands, given.powers_left, given.keys)
            for array in (*arrays, given.values.near, given.values.power_costs):
                with suppress(ValueError):  # it may be read-only
                    array[...] = 3
        return answers


def test_a_bot_that_overwrites_its_positions_changes_nothing():
    """The rules have a name of their own, so that no other test is to suffer."""
    rules = dataclasses.replace(PEACEFUL, name="vandalised")
    assert rows(play(Vandal(), rules).turns) == rows(play(Moody(), PEACEFUL).turns)


class Changer(Batched):
    """Overwrites its answers of the last time while it is asked anew."""

    def __post_init__(self) -> None:
        self.last: Answers | None = None

    def decide_batch(self, positions: Positions) -> Answers:
        if self.last is not None:
            self.last.decisions[:] = -1
            self.last.estimates[:] = np.inf
        self.last = super().decide_batch(positions)
        return self.last


def test_a_bot_that_changes_its_answers_afterwards_changes_nothing():
    assert rows(play(Changer(), PEACEFUL).turns) == rows(play(Moody(), PEACEFUL).turns)


class Diary(Moody):
    """Keeps all positions it was asked."""

    def __post_init__(self) -> None:
        self.asked: list[str] = []
        self.keys: list[int] = []

    def decide_batch(self, positions: Positions) -> Answers:
        self.keys += positions.keys.tolist()
        self.asked += [str(positions.position(row)) for row in range(len(positions))]
        return super().decide_batch(positions)


def test_a_bot_is_asked_the_positions_of_its_games_and_no_key_twice():
    diary = Diary()
    played = play(diary, PEACEFUL)
    lawful = []
    for game in range(40):
        for step in turns_of(played, game):
            lawful += [
                format_position(step.before, hand, step.powers_left - k)
                for k, hand in enumerate(step.hands)
            ]
    assert sorted(diary.asked) == sorted(lawful)
    assert len(set(diary.keys)) == len(diary.keys)
    assert played.decisions == len(diary.asked) - 1  # the first may have had to load its code


# The law all along.


@dataclasses.dataclass
class Step:
    """One recorded turn, with its Powers followed by the readable law and the dice."""

    before: int
    after: int
    powers_left: int
    powers: list[Power]
    hands: list[tuple[int, ...]]
    """The roll, and the dice after each Power."""
    row: int


def turns_of(played: Played, game: int) -> list[Step]:
    turns, before, steps = played.turns, EMPTY_BOARD, []
    for row in np.flatnonzero(turns.game == game):
        hands = [HANDS[turns.roll[row]]]
        codes = turns.powers[row][turns.powers[row] >= 0]
        powers = [Power(POWER_KINDS[code >> 8], HANDS[code & 255]) for code in codes]
        rerolls = 0
        for power in powers:
            rerolls += power.kind == "reroll"
            games = np.array([game], np.uint64)
            thrown = dice.dice(SEED, games, int(turns.turn[row]), rerolls)[0, : len(power.dice)]
            hands.append(law.power_dice(hands[-1], power, thrown.tolist()))
        after = int(turns.board[row])
        steps.append(Step(before, after, int(turns.powers_left[row]), powers, hands, row))
        before = after
    return steps


@EVERY_DIFFICULTY
def test_every_turn_is_lawful(rules):
    """Powers, dice, placements in order or a RUIN, and whether MAGDAGDON came (R4, R12-R19)."""
    played = moody_games(rules)
    turns = played.turns
    for game in range(60):
        for step in turns_of(played, game):
            row = step.row
            where = f"game {game}, turn {turns.turn[row]}: {format_board(step.before)}"
            for k, power in enumerate(step.powers):
                law.check_power(step.hands[k], step.powers_left - k, power)
            assert HANDS[turns.hand[row]] == step.hands[-1], where
            staged = step.before
            for cell in turns.cells[row][turns.cells[row] >= 0].tolist():
                die = step.after >> 4 * cell & 15
                assert law.is_legal_cell(staged, die, cell, rules), where
                staged = with_cell(staged, cell, die)
            magdagdon = [law.in_magdagdon(step.before, hand, rules) for hand in step.hands]
            if turns.ruin[row] >= 0:
                ruin = Ruin(int(turns.ruin[row]))
                staged = law.check_ruin(staged, step.hands[-1], ruin, rules)
                assert turns.magdagdon[row] == ACCEPTED, where
            else:
                assert turns.magdagdon[row] == (RESCUED if any(magdagdon) else PLACED), where
            assert format_board(staged) == format_board(step.after), where


def test_all_three_ways_with_magdagdon_occur_in_these_games():
    ways = np.bincount(moody_games(PEACEFUL).turns.magdagdon, minlength=3)
    assert min(ways[[PLACED, RESCUED, ACCEPTED]]) >= 5


@EVERY_DIFFICULTY
def test_powers_are_spent_once(rules):
    played = moody_games(rules)
    for game in range(200):
        left, kinds = rules.powers, [0, 0, 0]
        for step in turns_of(played, game):
            assert step.powers_left == left, game
            left -= len(step.powers)
            for power in step.powers:
                kinds[POWER_KINDS.index(power.kind)] += 1
        assert left >= 0
        assert played.games.powers[game].tolist() == kinds


@EVERY_DIFFICULTY
def test_a_game_ends_exactly_when_its_board_is_full(rules):
    played = moody_games(rules)
    for game in range(200):
        boards = [step.after for step in turns_of(played, game)]
        assert [law.is_over(board) for board in boards] == [False] * (len(boards) - 1) + [True]
        assert played.games.turns[game] == len(boards)
        assert format_board(int(played.games.board[game])) == format_board(boards[-1])


@EVERY_DIFFICULTY
def test_scores_are_lawful_after_every_turn_and_at_the_end(rules):
    played = moody_games(rules)
    for game in range(200):
        used = 0
        for step in turns_of(played, game):
            used += len(step.powers)
            score = law.score(step.after, rules, used)
            assert played.turns.score[step.row] == score.total, format_board(step.after)
        parts = [score.base, score.straights, score.fours, score.two_pairs, score.ruins]
        assert played.games.parts[game].tolist() == parts, format_board(step.after)


def test_turns_are_numbered_from_1_by_game():
    turns = moody_games(PEACEFUL).turns
    counts = moody_games(PEACEFUL).games.turns
    numbered = [(game, turn) for game in range(200) for turn in range(1, counts[game] + 1)]
    assert list(zip(turns.game.tolist(), turns.turn.tolist(), strict=True)) == numbered


def test_game_indices_may_start_anywhere():
    played = play(Moody(), PEACEFUL, first=10**9, games=3)
    assert played.games.game.tolist() == [10**9, 10**9 + 1, 10**9 + 2]
    assert set(played.turns.game.tolist()) == set(played.games.game.tolist())


def test_the_estimate_of_a_turn_is_that_of_its_last_decision():
    """Moody gives one with a placement only, a whole number."""
    turns = moody_games(PEACEFUL).turns
    placed = turns.ruin < 0
    assert np.isnan(turns.estimate[~placed]).all()
    assert (turns.estimate[placed] == turns.estimate[placed].round()).all()
    assert len(np.unique(turns.estimate[placed])) > 100


# Rules that the published ones do not reach.


@pytest.mark.parametrize(
    "rules",
    [
        Rules("one", minimum=1, power_costs=(0,) * 9, max_difference=0),
        Rules("four", minimum=4, power_costs=(), max_difference=0),
        Rules("loose", minimum=4, power_costs=(5,), max_difference=5),
    ],
    ids=lambda rules: rules.name,
)
def test_variants_play_to_the_end(rules):
    played = play(Moody(), rules, games=20)
    assert all(law.is_over(board) for board in played.games.board.tolist())
    assert (played.games.powers.sum(axis=1) <= rules.powers).all()
    for game in range(20):
        for step in turns_of(played, game):
            placed = len(empty_cells(step.before)) - len(empty_cells(step.after))
            required = law.required_minimum(step.before, rules)
            assert played.turns.ruin[step.row] >= 0 or required <= placed <= 4, step


def test_hands_of_the_records_are_four_dice():
    turns = moody_games(SURVIVAL).turns
    for column in (turns.roll, turns.hand):
        assert (column >= engine.FIRST_ROLL).all()
        assert (column < len(HANDS)).all()
