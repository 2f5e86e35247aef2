"""Experiment files: what they ask, and that a wrong one is refused in one sentence."""

import datetime
import json
import operator
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from magsim.errors import MagsimError
from magsim.experiments.question import (
    MEASURES,
    VERDICTS,
    Question,
    Verdict,
    keep,
    kept,
    read_question,
)
from magsim.rules import DIFFICULTIES, NIGHTMARE, PEACEFUL, SURVIVAL, Rules

SHIPPED = sorted((Path(__file__).parents[1] / "experiments").glob("*.toml"))

TOP = """
question = "How much?"
bots = ["one", "two:depth=2"]
games = 7
"""
STEPS = '[verdict]\nkind = "steps"\n'
EFFECT = '[verdict]\nkind = "effect"\n'


def read(tmp_path: Path, text: str) -> Question:
    file = tmp_path / "asked.toml"
    file.write_text(text, encoding="utf-8")
    return read_question(file)


def refusal(tmp_path: Path, text: str) -> str:
    """The one sentence with which a file is refused, without the file's name."""
    with pytest.raises(MagsimError) as caught:
        read(tmp_path, text)
    where, file, message = str(caught.value).partition("asked.toml")
    assert where.startswith("experiment file")
    assert file
    assert "\n" not in message
    return message


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_shipped_files_can_be_read(file: Path) -> None:
    question = read_question(file)
    names = [rules.name for rules in question.rules]
    assert len(set(names)) == len(names) >= 1
    assert question.name == file.stem
    assert question.games >= 1000
    labels = [(point.difficulty, point.label) for point in question.points]
    assert len(set(labels)) == len(labels)
    for point in question.points:
        assert point.rules.name.startswith(point.difficulty)


def test_files_are_shipped() -> None:
    assert {file.stem for file in SHIPPED} >= {"ladder", "opening", "power_price", "skill"}
    kinds = {read_question(file).verdict.kind for file in SHIPPED}
    assert kinds == set(VERDICTS)


def test_what_is_not_said_has_a_default(tmp_path: Path) -> None:
    question = read(tmp_path, TOP + STEPS)
    assert (question.seed, question.axes) == (1, ())
    assert question.rules == list(DIFFICULTIES.values())
    assert question.verdict == Verdict("steps", "score", "score", 0.0)
    assert [point.label for point in question.points] == list(DIFFICULTIES)
    assert (question.bots, question.games, question.text) == ("one,two:depth=2", 7, "How much?")


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ('"survival"', ["survival"]),
        ('["survival"]', ["survival"]),
        ('["nightmare", "peaceful"]', ["nightmare", "peaceful"]),
        ('"nightmare,peaceful"', ["nightmare", "peaceful"]),
        ('"all"', list(DIFFICULTIES)),
    ],
)
def test_difficulties_are_one_a_list_or_all(tmp_path: Path, said: str, names: list[str]) -> None:
    question = read(tmp_path, f"{TOP}difficulty = {said}\n{STEPS}")
    assert [rules.name for rules in question.rules] == names


@pytest.mark.parametrize("text", ["", "[grid]\n", "grid = {}\n"])
def test_an_empty_grid_is_the_published_rules(tmp_path: Path, text: str) -> None:
    question = read(tmp_path, TOP + text + STEPS)
    assert question.rules == list(DIFFICULTIES.values())
    assert [point.values for point in question.points] == [{}, {}, {}]


def test_a_grid_is_every_combination(tmp_path: Path) -> None:
    grid = "[grid]\nfour = [40, 0]\nruin_penalty = [1, 2, 3]\n"
    question = read(tmp_path, f'{TOP}difficulty = ["survival", "nightmare"]\n{grid}{EFFECT}')
    assert question.axes == ("four", "ruin_penalty")
    expected = list(product((SURVIVAL, NIGHTMARE), (40, 0), (1, 2, 3)))
    for point, (base, four, penalty) in zip(question.points, expected, strict=True):
        name = f"{base.name}+four={four}+ruin_penalty={penalty}"
        assert point.rules == Rules(
            name, base.minimum, base.power_costs, ruin_penalty=penalty, four=four
        )
        assert point.difficulty == base.name
        assert point.values == {"four": four, "ruin_penalty": penalty}
        assert point.label == f"four={four}, ruin_penalty={penalty}"


def test_a_grid_sets_how_many_powers_and_what_each_costs(tmp_path: Path) -> None:
    grid = "[grid]\npowers = [0, 1, 4]\npower_cost = [5, 70]\n"
    question = read(tmp_path, f'{TOP}difficulty = "peaceful"\n{grid}{EFFECT}')
    costs = [(), (), (5,), (70,), (5, 5, 5, 5), (70, 70, 70, 70)]
    assert [rules.power_costs for rules in question.rules] == costs


def test_powers_alone_keep_their_prices_and_prices_alone_their_number(tmp_path: Path) -> None:
    fewer = read(tmp_path, f'{TOP}difficulty = "peaceful"\n[grid]\npowers = [3, 2, 0]\n{EFFECT}')
    assert [rules.power_costs for rules in fewer.rules] == [(10, 20, 40), (10, 20), ()]
    priced = read(tmp_path, f"{TOP}[grid]\npower_cost = [8, 9]\n{EFFECT}")
    assert [rules.power_costs for rules in priced.rules] == [
        *((8, 8, 8), (9, 9, 9), (8,), (9,), (), ())
    ]


def test_prices_may_be_lists(tmp_path: Path) -> None:
    grid = "[grid]\npower_costs = [[], [7], [30, 60]]\n"
    question = read(tmp_path, f'{TOP}difficulty = "survival"\n{grid}{EFFECT}')
    assert [rules.power_costs for rules in question.rules] == [(), (7,), (30, 60)]
    assert [point.label for point in question.points] == [
        *("power_costs=[]", "power_costs=[7]", "power_costs=[30,60]")
    ]


def test_points_have_labels_and_change_what_they_name(tmp_path: Path) -> None:
    points = """
    difficulty = ["survival", "peaceful"]
    [[points]]
    label = " as  published "
    [[points]]
    label = "harsh, żółw"
    ruin_penalty = 30
    powers = 1
    """
    question = read(tmp_path, TOP + points + EFFECT)
    assert question.axes == ("points",)
    assert [point.label for point in question.points] == ["as published", "harsh, żółw"] * 2
    harsh = [point.rules for point in question.points if point.label == "harsh, żółw"]
    assert [(rules.ruin_penalty, rules.power_costs) for rules in harsh] == [
        (30, (70,)),
        (30, (10,)),
    ]
    assert question.points[0].rules.name == "survival+as published"
    assert question.points[2].rules.power_costs == PEACEFUL.power_costs


def test_verdicts_take_their_measures(tmp_path: Path) -> None:
    grid = "[grid]\nfour = [1, 2]\n"
    for measure in MEASURES:
        verdict = f'[verdict]\nkind = "threshold"\nmeasure = "{measure}"\nbelow = -1.5\n'
        found = read(tmp_path, TOP + grid + verdict).verdict
        assert found == Verdict("threshold", measure, below=-1.5)
    verdict = '[verdict]\nkind = "crossing"\nmeasure = "ruins"\nother = "powers"\n'
    assert read(tmp_path, TOP + grid + verdict).verdict == Verdict("crossing", "ruins", "powers")


GRID = "[grid]\nfour = [20, 40]\n"

REFUSED = {
    "no bots": ('question = "?"\ngames = 1\n' + STEPS, "bots is missing"),
    "no verdict": (TOP, "verdict is missing"),
    "a wrong key": (TOP + "seeds = 1\n" + STEPS, "unknown key 'seeds'; did you mean 'seed'?"),
    "a far key": (TOP + "zzz = 1\n" + STEPS, "unknown key 'zzz' (known: question, bots, games,"),
    "an empty question": (TOP.replace("How much?", " ") + STEPS, "question = ' ' is to be a text"),
    "a number of a question": (TOP.replace('"How much?"', "3") + STEPS, "question = 3 is to be"),
    "empty bots": (TOP.replace('["one", "two:depth=2"]', "[]") + STEPS, "bots = [] is to be"),
    "a bot of no name": (TOP.replace('"one"', '" "') + STEPS, "is to be a text or a list of texts"),
    "a number of a bot": (TOP.replace('"one"', "1") + STEPS, "bots = [1, 'two:depth=2'] is to be"),
    "half a game": (TOP.replace("7", "0.5") + STEPS, "games = 0.5 is to be a whole number, 1 to"),
    "no games": (TOP.replace("7", "0") + STEPS, "games = 0 is to be a whole number, 1 to"),
    "true games": (TOP.replace("7", "true") + STEPS, "games = True is to be a whole number"),
    "games of a text": (TOP.replace("7", '"7"') + STEPS, "games = '7' is to be a whole number"),
    "too many games": (TOP.replace("7", "4294967296") + STEPS, "1 to 4294967295"),
    "a low seed": (TOP + "seed = -1\n" + STEPS, "seed = -1 is to be a whole number, 0 to"),
    "a true seed": (TOP + "seed = true\n" + STEPS, "seed = True is to be a whole number"),
    "an unknown difficulty": (
        TOP + 'difficulty = "survivel"\n' + STEPS,
        "unknown difficulty 'survivel'; did you mean 'survival'? (known: peaceful,",
    ),
    "no difficulty": (TOP + "difficulty = []\n" + STEPS, "difficulty = [] is to be a text or a"),
    "a difficulty twice": (
        TOP + 'difficulty = ["survival", "survival"]\n' + STEPS,
        "difficulty = ['survival', 'survival'] names a difficulty twice",
    ),
    "a difficulty of a number": (TOP + "difficulty = 3\n" + STEPS, "difficulty = 3 is to be"),
    "a grid and points": (
        TOP + GRID + '[[points]]\nlabel = "a"\n' + EFFECT,
        "it has a grid and points; one of them is allowed",
    ),
    "a grid of a number": (TOP + "grid = 3\n" + EFFECT, "grid = 3 is to be a table of lists"),
    "a grid of tables": (TOP + "[[grid]]\nfour = [1]\n" + EFFECT, "is to be a table of lists"),
    "an axis of nothing": (TOP + "[grid]\nfour = []\n" + EFFECT, "four = [] is to be a list of"),
    "an axis of a number": (TOP + "[grid]\nfour = 3\n" + EFFECT, "four = 3 is to be a list of"),
    "a wrong axis": (
        TOP + "[grid]\nruin_penaltie = [1]\n" + EFFECT,
        "unknown key 'ruin_penaltie'; did you mean 'ruin_penalty'?",
    ),
    "an axis near a price": (
        TOP + "[grid]\npower_csot = [1]\n" + EFFECT,
        "unknown key 'power_csot'; did you mean 'power_cost'?",
    ),
    "the name as an axis": (TOP + '[grid]\nname = ["a"]\n' + EFFECT, "unknown key 'name'"),
    "a value twice": (
        TOP + 'difficulty = "survival"\n[grid]\nfour = [20, 40, 20]\n' + EFFECT,
        "the point survival+four=20 is there twice",
    ),
    "a value true": (TOP + "[grid]\nfour = [20, true]\n" + EFFECT, "four = True is to be a whole"),
    "a value of a half": (TOP + "[grid]\nfour = [20.0]\n" + EFFECT, "four = 20.0 is to be a whole"),
    "a value of a text": (TOP + '[grid]\nfour = ["20"]\n' + EFFECT, "four = '20' is to be a whole"),
    "a value of a table": (TOP + "[grid]\nfour = [{a = 1}]\n" + EFFECT, "is to be a whole number"),
    "a value of a list": (TOP + "[grid]\nfour = [[1]]\n" + EFFECT, "four = [1] is to be a whole"),
    "a value too high": (TOP + "[grid]\nminimum = [5]\n" + EFFECT, "a whole number from 1 to 4"),
    "a value below zero": (TOP + "[grid]\nfour = [-1]\n" + EFFECT, "from 0 to 1000"),
    "too many Powers": (TOP + "[grid]\npowers = [10]\npower_cost = [1]\n" + EFFECT, "0 to 9"),
    "a price too high": (TOP + "[grid]\npower_cost = [1001]\n" + EFFECT, "0 to 1000"),
    "Powers of no price": (
        TOP + "[grid]\npowers = [0, 1]\n" + EFFECT,
        "powers = 1, but nightmare prices 0; say with power_cost what each costs",
    ),
    "two ways of prices": (
        TOP + "[grid]\npower_costs = [[1]]\npowers = [1]\n" + EFFECT,
        "power_costs goes with neither powers nor power_cost",
    ),
    "prices true": (TOP + "[grid]\npower_costs = [[true]]\n" + EFFECT, "a list of up to 9 whole"),
    "too many points": (
        TOP + f"[grid]\nfour = {list(range(400))}\n" + EFFECT,
        "1,200 points; up to 1,000 are allowed",
    ),
    "points beyond counting": (
        TOP
        + "[grid]\n"
        + "\n".join(f"{key} = {list(range(900))}" for key in ("four", "straight", "two_pairs"))
        + f"\nruin_penalty = {list(range(900))}\n"
        + EFFECT,
        "1,968,300,000,000 points; up to 1,000 are allowed",
    ),
    "no points": (TOP + "points = []\n" + STEPS, "points are to be written as [[points]]"),
    "one point as a table": (
        TOP + '[points]\nlabel = "a"\n' + EFFECT,
        "points are to be written as [[points]]",
    ),
    "points of numbers": (
        TOP + "points = [1]\n" + EFFECT,
        "points are to be written as [[points]]",
    ),
    "a point of no label": (
        TOP + '[[points]]\nlabel = "a"\n[[points]]\nfour = 1\n' + EFFECT,
        "the label of point 2 is missing",
    ),
    "a label of a number": (TOP + "[[points]]\nlabel = 1\n" + EFFECT, "label of a point = 1 is"),
    "a label with a slash": (TOP + '[[points]]\nlabel = "a/b"\n' + EFFECT, "no '+', no '/' and"),
    "a label with a plus": (TOP + '[[points]]\nlabel = "a+b"\n' + EFFECT, "no '+', no '/' and"),
    "a label with a bell": (TOP + '[[points]]\nlabel = "a\\u0007"\n' + EFFECT, "can be printed"),
    "a long label": (
        TOP + f'[[points]]\nlabel = "{"ż" * 60}"\n' + EFFECT,
        "is too long for the name of a folder",
    ),
    "a label twice": (
        TOP + '[[points]]\nlabel = "a"\n[[points]]\nlabel = "a "\nfour = 1\n' + EFFECT,
        "the point peaceful+a is there twice",
    ),
    "a wrong key of a point": (
        TOP + '[[points]]\nlabel = "a"\nfuor = 1\n' + EFFECT,
        "unknown key 'fuor'; did you mean 'four'?",
    ),
    "a table in a point": (
        TOP + '[[points]]\nlabel = "a"\n[points.four]\nb = 1\n' + EFFECT,
        "four = {'b': 1} is to be a whole number",
    ),
    "a verdict of a text": (TOP + 'verdict = "steps"\n', "verdict is to be a table with a kind"),
    "a verdict of no kind": (
        TOP + '[verdict]\nmeasure = "score"\n',
        "is to be a table with a kind",
    ),
    "a wrong kind": (
        TOP + '[verdict]\nkind = "efect"\n',
        "unknown verdict 'efect'; did you mean 'effect'? (known: steps, spacing,",
    ),
    "a number of a kind": (TOP + "[verdict]\nkind = 3\n", "unknown verdict 3 (known: steps"),
    "a list of kinds": (TOP + '[verdict]\nkind = ["steps"]\n', "unknown verdict ['steps']"),
    "a table of kinds": (TOP + "[verdict]\nkind = {a = 1}\n", "unknown verdict {'a': 1}"),
    "a measure too much": (
        TOP + STEPS + 'measure = "score"\n',
        "verdict 'steps' takes nothing else, not 'measure'",
    ),
    "a level too much": (
        TOP + GRID + EFFECT + "below = 1\n",
        "'effect' takes measure, not 'below'",
    ),
    "a wrong measure": (
        TOP + GRID + EFFECT + 'measure = "scroe"\n',
        "unknown measure 'scroe'; did you mean 'score'? (known: score, base,",
    ),
    "a list of measures": (
        TOP + GRID + EFFECT + 'measure = ["score"]\n',
        "unknown measure ['score",
    ),
    "a number of a measure": (TOP + GRID + EFFECT + "measure = 3\n", "unknown measure 3"),
    "below true": (
        TOP + GRID + '[verdict]\nkind = "threshold"\nbelow = true\n',
        "below = True is to be a number",
    ),
    "below nan": (TOP + GRID + '[verdict]\nkind = "threshold"\nbelow = nan\n', "below = nan is to"),
    "below inf": (TOP + GRID + '[verdict]\nkind = "threshold"\nbelow = -inf\n', "below = -inf is"),
    "below too much": (
        TOP + GRID + f'[verdict]\nkind = "threshold"\nbelow = 1{"0" * 400}\n',
        "is to be a number, up to 1,000,000 either way",
    ),
    "a measure against itself": (
        TOP + GRID + '[verdict]\nkind = "crossing"\nmeasure = "ruins"\nother = "ruins"\n',
        "verdict 'crossing' needs a measure and an other, not 'ruins' twice",
    ),
    "a threshold of nothing": (
        TOP + GRID + '[verdict]\nkind = "threshold"\n',
        "verdict 'threshold' needs below, a number",
    ),
    "a threshold of no grid": (
        TOP + '[verdict]\nkind = "threshold"\nbelow = 1\n',
        "verdict 'threshold' needs a grid of whole numbers",
    ),
    "a threshold of points": (
        TOP + '[[points]]\nlabel = "a"\n[verdict]\nkind = "threshold"\nbelow = 1\n',
        "verdict 'threshold' needs a grid of whole numbers",
    ),
    "a threshold along lists": (
        TOP + '[grid]\npower_costs = [[1], [2]]\n[verdict]\nkind = "threshold"\nbelow = 1\n',
        "verdict 'threshold' needs a grid of whole numbers",
    ),
    "an effect of one point": (
        TOP + "[grid]\nfour = [20]\n" + EFFECT,
        "verdict 'effect' needs two points or more at each difficulty",
    ),
    "an effect of no grid": (TOP + EFFECT, "needs two points or more at each difficulty"),
    "a spacing of two": (
        TOP + 'difficulty = ["survival", "nightmare"]\n[verdict]\nkind = "spacing"\n',
        "verdict 'spacing' needs three difficulties and no grid",
    ),
    "a spacing of a grid": (
        TOP + GRID + '[verdict]\nkind = "spacing"\n',
        "verdict 'spacing' needs three difficulties and no grid",
    ),
    "the cost of a grid": (
        TOP + GRID + '[verdict]\nkind = "cost"\n',
        "verdict 'cost' needs difficulties and no grid",
    ),
    "no TOML": (TOP + "games = 8\n", "is no TOML: "),
    "a number too long": (TOP.replace("7", "1" * 5000) + STEPS, "4300 digits"),
    "a number too long to print": (TOP.replace("7", "0x" + "f" * 5000) + STEPS, "4300 digits"),
    "a nest": (TOP + f"seed = {'[' * 5000}{']' * 5000}\n" + STEPS, "is no TOML: "),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_file_is_refused_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    assert message in refusal(tmp_path, text)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.toml"):
        with pytest.raises(MagsimError, match="cannot be read: "):
            read_question(path)
    (tmp_path / "odd.toml").write_bytes(b'question = "\xff"\n')
    with pytest.raises(MagsimError, match="cannot be read: "):
        read_question(tmp_path / "odd.toml")


def test_a_run_keeps_its_file_and_reads_it_again(tmp_path: Path) -> None:
    question = read(tmp_path, TOP + GRID + EFFECT)
    (tmp_path / "run").mkdir()
    keep(tmp_path / "asked.toml", tmp_path / "run")
    file = kept(tmp_path / "run")
    assert file is not None
    assert read_question(file) == question
    keep(file, tmp_path / "run")
    assert kept(tmp_path / "run") == file
    with pytest.raises(MagsimError, match="cannot be written"):
        keep(tmp_path / "asked.toml", tmp_path / "gone")


def test_another_file_takes_the_place_of_the_kept_one_even_where_a_kill_comes_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(tmp_path, TOP + GRID + EFFECT)
    (tmp_path / "run").mkdir()
    keep(tmp_path / "asked.toml", tmp_path / "run")
    other = (tmp_path / "asked.toml").rename(tmp_path / "other.toml")

    def kill(*_words: object, **_more: object) -> None:
        raise KeyboardInterrupt

    for step in ("unlink", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(Path, step, kill)
            with pytest.raises(KeyboardInterrupt):
                keep(other, tmp_path / "run")
        assert kept(tmp_path / "run") is not None, step
    keep(other, tmp_path / "run")
    assert [file.name for file in (tmp_path / "run" / "experiment").iterdir()] == ["other.toml"]


def to_toml(value: Any) -> str:
    """A value as TOML, tables inline; texts are JSON's but for DEL."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list():
            return f"[{', '.join(map(to_toml, value))}]"
        case dict():
            entries = (f"{to_toml(key)} = {to_toml(entry)}" for key, entry in value.items())
            return f"{{{', '.join(entries)}}}"
    return str(value)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
words = st.sampled_from(
    [*DIFFICULTIES, "all", "a,b", *MEASURES, *VERDICTS, "one", "minimum", "powers", "power_cost"]
)
scalars = st.one_of(
    st.booleans(),
    st.integers(-5, 1200),
    st.integers(),
    st.floats(),
    st.just(datetime.date(2024, 2, 29)),
    texts,
    words,
)
keys = st.one_of(
    st.sampled_from(["four", "minimum", "powers", "power_cost", "power_costs", "label", "kind"]),
    st.sampled_from(["measure", "other", "below", "max_difference", "name"]),
    texts,
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=6,
)
small = st.integers(0, 5)
grids = st.dictionaries(
    st.sampled_from(["four", "straight", "powers", "power_cost", "max_difference"]),
    st.lists(small, min_size=1, max_size=3, unique=True),
    max_size=3,
)
points = st.lists(
    st.fixed_dictionaries({"label": texts}, optional={"four": small, "power_cost": small}),
    max_size=3,
)
verdicts = st.fixed_dictionaries(
    {"kind": st.sampled_from([*VERDICTS])},
    optional={
        "measure": st.sampled_from([*MEASURES]),
        "other": st.sampled_from([*MEASURES]),
        "below": st.floats() | st.integers(),
    },
)
sane = st.fixed_dictionaries(
    {"question": st.just("?"), "bots": st.just("one"), "games": small, "verdict": verdicts},
    optional={
        "seed": small,
        "difficulty": words | st.lists(words, max_size=3),
        "grid": grids,
        "points": points,
    },
)
top = st.sampled_from(
    ["question", "bots", "games", "seed", "difficulty", "grid", "points", "verdict", "more"]
)
tables = st.builds(operator.or_, sane, st.dictionaries(top, values, max_size=1))


@settings(max_examples=120)
@given(tables)
def test_any_table_is_a_question_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, table: dict[str, Any]
) -> None:
    text = "\n".join(f"{key} = {to_toml(value)}" for key, value in table.items())
    tomllib.loads(text)
    refused = ""
    try:
        question = read(tmp_path_factory.getbasetemp(), text)
    except MagsimError as error:
        refused = str(error)
        event("refused")
    if refused:
        assert "asked.toml" in refused
        assert "\n" not in refused
    else:
        names = [rules.name for rules in question.rules]
        assert len(set(names)) == len(names) > 0
