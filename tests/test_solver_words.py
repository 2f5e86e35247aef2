"""The word of a class against readable counterparts: arrays of 4×4, and the law in plain Python."""

from itertools import pairwise, product
from random import Random

import numpy as np
import pytest
from reachable import images, random_board, random_rules

from magsim import rules as law
from magsim.board import (
    CELLS,
    LINES,
    NEIGHBOURS,
    RUIN,
    SIDES,
    cell_value,
    empty_cells,
    format_board,
    is_number,
    parse_board,
    with_cell,
)
from magsim.engine import empty_mask
from magsim.rules import Rules
from magsim.solver import words
from magsim.solver.classes import class_word, fitting, mask_tables, ruined, turned
from magsim.solver.lines import Lines, line_tables
from magsim.solver.words import DEAD, FREE, INVERSE, SYMMETRIES

MASKS = mask_tables()
VALUES = range(1, SIDES + 1)
SOME_WORDS = [int(w) for w in np.random.default_rng(1).integers(-(2**63), 2**63, 50)]


def nibbles(word: int) -> np.ndarray:
    return np.array([word >> 4 * cell & 15 for cell in range(CELLS)]).reshape(4, 4)


def naive_image(symmetry: int, square: np.ndarray) -> np.ndarray:
    square = square.T if symmetry & 4 else square
    square = square[::-1] if symmetry & 1 else square
    return square[:, ::-1] if symmetry & 2 else square


def bits_of(mask: int) -> int:
    return int(MASKS.bits[mask])


@pytest.mark.parametrize("symmetry", range(SYMMETRIES))
def test_an_image_is_that_of_a_square(symmetry: int) -> None:
    for word in SOME_WORDS:
        expected = naive_image(symmetry, nibbles(word))
        assert (nibbles(words.image(symmetry, word)) == expected).all()


def test_the_symmetries_are_a_group() -> None:
    (word,) = SOME_WORDS[:1]
    all_images = [words.image(symmetry, word) for symmetry in range(SYMMETRIES)]
    assert len(set(all_images)) == SYMMETRIES
    for one, other in product(range(SYMMETRIES), repeat=2):
        composed = words.image(one, words.image(other, word))
        assert composed in all_images
        assert (composed == word) == (INVERSE[other] == one)


def test_the_least_image_is_the_least_of_those_allowed() -> None:
    for word in SOME_WORDS:
        for symmetries in (0b1, 0b11, 0b10001, 0b11111111):
            allowed = [s for s in range(SYMMETRIES) if symmetries >> s & 1]
            least = min(words.image(s, word) for s in allowed)
            assert words.least_image(word, symmetries) == least


def test_masks_know_their_images() -> None:
    for mask in Random(2).sample(range(1 << CELLS), 200):
        square = nibbles(bits_of(mask))
        assert mask == sum(int(bit) << cell for cell, bit in enumerate(square.ravel()))
        found = [
            sum(int(bit) << cell for cell, bit in enumerate(naive_image(s, square).ravel()))
            for s in range(SYMMETRIES)
        ]
        assert MASKS.canonical[mask] == min(found)
        assert found[MASKS.symmetry[mask]] == min(found)
        kept = [s for s in range(SYMMETRIES) if found[s] == mask]
        assert MASKS.stabiliser[mask] == sum(1 << s for s in kept)


def test_neighbours_are_those_of_the_board() -> None:
    for mask in Random(3).sample(range(1 << CELLS), 200):
        around = {n for cell in range(CELLS) if mask >> cell & 1 for n in NEIGHBOURS[cell]}
        assert words.neighbours(bits_of(mask)) == sum(1 << 4 * cell for cell in around)


def test_columns_are_read_from_the_top() -> None:
    for word in SOME_WORDS:
        for k in range(4):
            expected = sum(int(n) << 4 * row for row, n in enumerate(nibbles(word)[:, k]))
            assert words.column(word, k) == expected


# ------------------------------------------------------------------- what a class keeps of a board

Kept = int | str | frozenset[int] | None


def what_matters(board: int, rules: Rules) -> list[Kept]:
    """What a class keeps of each cell, by the readable law."""
    found: list[Kept] = []
    numbers = any(is_number(cell_value(board, cell)) for cell in range(CELLS))
    legal = {die: law.legal_cells(board, die, rules) for die in VALUES}
    for cell in range(CELLS):
        value = cell_value(board, cell)
        if value == 0:
            dice = frozenset(die for die in VALUES if cell in legal[die])
            beside = any(is_number(cell_value(board, n)) for n in NEIGHBOURS[cell])
            free = not numbers or (not beside and cell in open_cells(board, rules))
            found.append("free" if free else dice or "dead")
        else:
            lines = [line for line in LINES if cell in line]
            matters = is_number(value) and any(can_earn(board, line, rules) for line in lines)
            found.append(value if matters else None)
    return found


def open_cells(board: int, rules: Rules) -> set[int]:
    """The empty cells on which a number may come some day, whatever the dice."""
    empty = set(empty_cells(board))
    reached = {c for die in VALUES for c in law.legal_cells(board, die, rules)}
    blocked = {
        c for c in empty - reached if any(is_number(cell_value(board, n)) for n in NEIGHBOURS[c])
    }
    while more := {c for c in empty - reached - blocked if reached & set(NEIGHBOURS[c])}:
        reached |= more
    return reached


def can_earn(board: int, line: tuple[int, ...], rules: Rules) -> bool:
    """Whether an unfinished line can still be filled so that it earns points."""
    if not any(cell_value(board, cell) == 0 for cell in line):
        return False
    reached = open_cells(board, rules)
    choices = []
    for cell in line:
        value = cell_value(board, cell)
        beside = [cell_value(board, n) for n in NEIGHBOURS[cell]]
        fit = [
            die
            for die in VALUES
            if all(abs(die - b) <= rules.max_difference for b in beside if is_number(b))
        ]
        choices.append([value] if value else fit if cell in reached else [])
    for filled in product(*choices):
        apart = max(abs(a - b) for a, b in pairwise(filled))
        if apart <= rules.max_difference and rules.bonuses.get(law.line_bonus(filled) or "", 0) > 0:
            return True
    return False


def unfolded(word: int, mask: int, lines: Lines) -> list[Kept]:
    """A word in the terms of ``what_matters``."""
    found: list[Kept] = []
    for cell in range(CELLS):
        code = word >> 4 * cell & 15
        if mask >> cell & 1:
            fits = frozenset(die for die in VALUES if lines.fits[code] >> die & 1)
            found.append({FREE: "free", DEAD: "dead"}.get(code, fits))
        else:
            found.append(code or None)
    return found


def told(board: int, rules: Rules) -> str:
    return f"{format_board(board)} under {rules}"


def drawn(seed: int) -> tuple[Rules, Lines, Random]:
    random = Random(seed)
    rules = random_rules(random)
    if random.random() < 0.3:
        rules = Rules("bare", rules.minimum, (), 15, 0, 40, 0, rules.max_difference)
    return rules, line_tables(rules), random


@pytest.mark.parametrize("seed", range(12))
def test_a_class_keeps_what_matters(seed: int) -> None:
    rules, lines, random = drawn(seed)
    for _ in range(12):
        board = random_board(rules, random, random.randint(1, 15))
        mask = empty_mask(board)
        word = class_word(board, bits_of(mask), lines)
        assert unfolded(word, mask, lines) == what_matters(board, rules), told(board, rules)


@pytest.mark.parametrize("seed", range(12))
def test_steps_between_classes_are_steps_between_boards(seed: int) -> None:
    """A whole game die by die: the word, the dice that fit, the points, and after a RUIN."""
    rules, lines, random = drawn(100 + seed)
    board, word = 0, 0
    while empty := empty_cells(board):
        for cell in empty:
            lawful = sum(1 << die for die in VALUES if cell in law.legal_cells(board, die, rules))
            assert fitting(word, cell, lines) == lawful, told(board, rules)
        steps = [(die, cell) for die in VALUES for cell in law.legal_cells(board, die, rules)]
        if steps and random.random() < 0.85:
            die, cell = random.choice(steps)
            after = with_cell(board, cell, die)
            bits = bits_of(empty_mask(after))
            raw = words.placed(word, bits, cell, die, lines.step)
            earned = law.score(after, rules).total - law.score(board, rules).total
            assert words.points(raw, bits, cell, die, lines.bonus) == earned, told(board, rules)
            word = words.normalised(raw, bits, lines.live)
        else:
            cell = random.choice(empty)
            after = with_cell(board, cell, RUIN)
            bits = bits_of(empty_mask(after))
            word = ruined(word, bits, cell, lines)
        board = after
        assert word == class_word(board, bits, lines), told(board, rules)


@pytest.mark.parametrize("seed", range(4))
def test_the_images_of_a_board_are_in_one_class(seed: int) -> None:
    rules, lines, random = drawn(200 + seed)
    for _ in range(25):
        board = random_board(rules, random, random.randint(0, 15))
        found = set()
        for turn in images(board):
            mask = empty_mask(turn)
            word = turned(class_word(turn, bits_of(mask), lines), mask, MASKS)
            found.add((int(MASKS.canonical[mask]), word))
        assert len(found) == 1, told(board, rules)


def test_a_board_of_ruins_is_the_word_0_and_no_other() -> None:
    lines = line_tables(law.NIGHTMARE)
    for text in ("..../..../..../....", "R.R./..../.R../...R"):
        board = parse_board(text)
        assert class_word(board, bits_of(empty_mask(board)), lines) == 0
    for text in ("R1R./RRR./.R../...R", "6R../R.../..../...."):  # every empty cell is cut off
        board = parse_board(text)
        assert class_word(board, bits_of(empty_mask(board)), lines) != 0


@pytest.mark.parametrize("difference", range(SIDES))
def test_the_codes_of_cells_are_their_intervals(difference: int) -> None:
    """Whatever numbers come next to a cell, the code knows what fits beside all of them."""
    lines = line_tables(Rules("", 2, (), max_difference=difference))
    for beside in product(VALUES, repeat=3):
        code = FREE
        for value in beside:
            code = int(lines.step[code, value])
        fits = [die for die in VALUES if all(abs(die - v) <= difference for v in beside)]
        assert lines.fits[code] == sum(1 << die for die in fits), beside
        assert (code == DEAD) == (not fits)


def test_lines_earn_what_the_law_says() -> None:
    rules = Rules("", 2, (), straight=61, four=43, two_pairs=22, max_difference=5)
    lines = line_tables(rules)
    for line in product(range(8), repeat=4):
        expected = rules.bonuses.get(law.line_bonus(line) or "", 0)
        assert lines.bonus[sum(v << 4 * k for k, v in enumerate(line))] == expected, line
