"""Experiment files: what they ask, and that a wrong one is refused in one sentence."""

import datetime
import json
import operator
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from experiment_files import EFFECT, GRID, STEPS, TOP, read
from hypothesis import event, given, settings
from hypothesis import strategies as st

from magsim.errors import MagsimError
from magsim.experiments.question import MEASURES, VERDICTS, Verdict, keep, kept, read_question
from magsim.rules import DIFFICULTIES, NIGHTMARE, PEACEFUL, SURVIVAL, Rules

SHIPPED = sorted((Path(__file__).parents[1] / "experiments").glob("*.toml"))


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
