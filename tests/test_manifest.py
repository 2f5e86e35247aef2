"""A run's plan: its chunks, its manifest, and what keeps another plan from resuming it."""

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import rules

from magsim import __version__
from magsim.errors import MagsimError
from magsim.manifest import (
    FILE,
    FORMAT,
    Plan,
    current_versions,
    default_chunk,
    default_folder,
    differences,
    read_manifest,
    write_manifest,
)
from magsim.rules import NIGHTMARE, PEACEFUL, SURVIVAL

PLAN = Plan(
    seed=7,
    games=2500,
    chunk=1000,
    bots={"mcts:iterations=500": "magsim 0.1.0", "my_bot.py": "sha256:00ff"},
    rules=(PEACEFUL, NIGHTMARE),
    versions={"magsim": "0.1.0", "numba": "0.61.0", "numpy": "2.2.0"},
)

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
plans = st.builds(
    Plan,
    seed=st.integers(0, 2**64 - 1),
    games=st.integers(1, 10**9),
    chunk=st.integers(1, 10**6),
    bots=st.dictionaries(texts, texts, max_size=3),
    rules=st.lists(rules, max_size=3).map(tuple),
    versions=st.dictionaries(texts, texts, max_size=3),
)


# Plans.


def test_chunks_cover_every_game_once_and_the_last_may_be_smaller():
    assert list(PLAN.chunks()) == [(0, 1000), (1000, 1000), (2000, 500)]
    assert list(dataclasses.replace(PLAN, games=1000).chunks()) == [(0, 1000)]
    assert list(dataclasses.replace(PLAN, games=1).chunks()) == [(0, 1)]


@given(st.integers(1, 5000), st.integers(1, 700))
def test_chunks_are_a_partition_of_the_games(games, chunk):
    chunks = list(dataclasses.replace(PLAN, games=games, chunk=chunk).chunks())
    played = [game for first, size in chunks for game in range(first, first + size)]
    assert played == list(range(games))
    assert all(size <= chunk for _, size in chunks)


@pytest.mark.parametrize(
    ("games", "chunk"),
    [(1, 50), (1000, 50), (1020, 51), (10_000, 500), (20_000, 1000), (10**6, 1000)],
)
def test_a_small_run_has_small_chunks(games, chunk):
    assert default_chunk(games) == chunk


def test_a_plan_notes_the_versions_of_here_and_now():
    plan = Plan(seed=1, games=1, chunk=1, bots={}, rules=())
    assert plan.versions == current_versions()
    assert plan.versions["magsim"].startswith(f"{__version__} sources:")
    assert set(plan.versions) == {"magsim", "numba", "numpy"}


# The folder of a run.


def test_the_folder_says_what_is_played():
    folder = default_folder(PLAN)
    assert folder.parent == Path("results")
    assert folder.name.startswith("mcts-iterations=500+my_bot.py-peaceful+nightmare-2500-seed7-")


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 8},
        {"games": 2501},
        {"bots": {"mcts:iterations=500": "x"}},
        {"bots": {"my_bot.py": "x", "mcts:iterations=500": "x"}},
        {"rules": (PEACEFUL,)},
        {"rules": (dataclasses.replace(PEACEFUL, four=41), NIGHTMARE)},
    ],
    ids=str,
)
def test_another_configuration_has_another_folder(change):
    assert default_folder(dataclasses.replace(PLAN, **change)) != default_folder(PLAN)


@pytest.mark.parametrize("change", [{"chunk": 50}, {"versions": {}}], ids=str)
def test_the_folder_does_not_depend_on_how_it_is_played(change):
    assert default_folder(dataclasses.replace(PLAN, **change)) == default_folder(PLAN)


@given(plans)
def test_a_folder_is_one_plain_name_under_results(plan):
    folder = default_folder(plan)
    assert folder.parent == Path("results")
    assert set(folder.name) <= set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+=-"
    )
    assert len(folder.name) < 150


# The manifest.


def test_a_manifest_is_read_as_it_was_written(tmp_path):
    write_manifest(tmp_path / "some" / "run", PLAN)
    assert read_manifest(tmp_path / "some" / "run") == PLAN
    assert [path.name for path in (tmp_path / "some" / "run").iterdir()] == [FILE]


@given(plan=plans)
def test_every_manifest_is_read_as_it_was_written(tmp_path_factory, plan):
    run = tmp_path_factory.mktemp("run")
    write_manifest(run, plan)
    assert read_manifest(run) == plan
    assert list(read_manifest(run).bots) == list(plan.bots)


def test_a_manifest_holds_all_values_of_the_rules_in_plain_json(tmp_path):
    write_manifest(tmp_path, PLAN)
    table = json.loads((tmp_path / FILE).read_text())
    assert table["format"] == FORMAT
    assert table["seed"] == 7
    assert list(table["bots"]) == ["mcts:iterations=500", "my_bot.py"]
    assert table["rules"][0] == {
        "name": "peaceful",
        "minimum": 2,
        "power_costs": [10, 20, 40],
        "ruin_penalty": 15,
        "straight": 60,
        "four": 40,
        "two_pairs": 20,
        "max_difference": 1,
    }


RELIED = {"mcts:iterations=500": {"peaceful": "solution 00ff"}}


def test_what_bots_rely_on_is_kept_where_they_rely_on_anything(tmp_path):
    plan = dataclasses.replace(PLAN, relied=RELIED)
    for name, each in (("without", PLAN), ("with", plan)):
        write_manifest(tmp_path / name, each)
        assert read_manifest(tmp_path / name) == each
    table = json.loads((tmp_path / "without" / FILE).read_text())
    assert list(table) == ["format", "seed", "games", "chunk", "bots", "rules", "versions"]


def test_a_folder_that_cannot_be_written_is_told_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        write_manifest(tmp_path / "file" / "run", PLAN)


def unreadable(run: Path) -> str:
    with pytest.raises(MagsimError) as error:
        read_manifest(run)
    return str(error.value)


def test_a_folder_without_a_manifest_is_no_run(tmp_path):
    assert unreadable(tmp_path) == f"{tmp_path} is no run: there is no manifest.json in it"
    nowhere = tmp_path / "nowhere"
    assert unreadable(nowhere) == f"{nowhere} is no run: there is no manifest.json in it"


def test_a_file_is_no_run_and_is_named_once(tmp_path):
    file = tmp_path / "afile"
    file.touch()
    assert unreadable(file) == f"{file / FILE} cannot be read: Not a directory"


@pytest.mark.parametrize("text", ["", "{", '{"seed": 7,}', "\0"])
def test_a_manifest_that_is_no_json_cannot_be_read(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    assert unreadable(tmp_path).startswith(f"{tmp_path / FILE} cannot be read: ")


def test_a_manifest_of_another_encoding_cannot_be_read(tmp_path):
    (tmp_path / FILE).write_bytes(b'{"seed": "\xff"}')
    assert unreadable(tmp_path).startswith(f"{tmp_path / FILE} cannot be read: 'utf-8' codec")


def test_a_manifest_of_another_format_is_refused(tmp_path):
    write_manifest(tmp_path, PLAN)
    path = tmp_path / FILE
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    assert unreadable(tmp_path) == f"{path}: its format is not 1, which this version reads"


@pytest.mark.parametrize(
    "table",
    [
        [],
        5,
        "text",
        None,
        {},
        {"format": FORMAT},
        {"format": FORMAT, "rules": []},
        {"format": FORMAT, "rules": [5]},
        {"format": FORMAT, "rules": [{"name": "peaceful"}]},
        {"format": FORMAT, "rules": 5},
        {"format": FORMAT, "seed": 1, "games": 1, "chunk": 1, "bots": {}, "rules": []}
        | {"relied": {"random": "a text"}},
    ],
    ids=str,
)
def test_json_that_is_no_manifest_is_refused(tmp_path, table):
    (tmp_path / FILE).write_text(json.dumps(table))
    assert unreadable(tmp_path).startswith(f"{tmp_path / FILE} is no manifest of a run: ")


@pytest.mark.parametrize("missing", ["seed", "games", "chunk", "bots", "rules", "format"])
def test_a_manifest_without_one_of_its_parts_is_refused(tmp_path, missing):
    write_manifest(tmp_path, PLAN)
    table = json.loads((tmp_path / FILE).read_text())
    del table[missing]
    (tmp_path / FILE).write_text(json.dumps(table))
    assert missing in unreadable(tmp_path)


def test_a_manifest_with_a_part_of_a_later_version_is_refused(tmp_path):
    write_manifest(tmp_path, PLAN)
    table = json.loads((tmp_path / FILE).read_text()) | {"moons": 3}
    (tmp_path / FILE).write_text(json.dumps(table))
    assert "moons" in unreadable(tmp_path)


# Differences.


def test_the_same_plan_has_no_differences():
    assert differences(PLAN, dataclasses.replace(PLAN)) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 8}, ["seed 7 there, 8 here"]),
        ({"games": 10}, ["games 2500 there, 10 here"]),
        ({"chunk": 50}, ["chunk 1000 there, 50 here"]),
        (
            {"seed": 8, "games": 10, "chunk": 50},
            ["seed 7 there, 8 here", "games 2500 there, 10 here", "chunk 1000 there, 50 here"],
        ),
        (
            {"bots": {"mcts:iterations=500": "magsim 0.1.0"}},
            ["bots mcts:iterations=500,my_bot.py there, mcts:iterations=500 here"],
        ),
        (
            {"bots": {"my_bot.py": "sha256:00ff", "mcts:iterations=500": "magsim 0.1.0"}},
            [
                "bots mcts:iterations=500,my_bot.py there, my_bot.py,mcts:iterations=500 here",
            ],
        ),
        (
            {"bots": PLAN.bots | {"my_bot.py": "sha256:0100"}},
            ["bot my_bot.py is sha256:00ff there, sha256:0100 here"],
        ),
        (
            {"rules": (PEACEFUL, SURVIVAL)},
            ["difficulties nightmare only there and survival only here"],
        ),
        ({"rules": (PEACEFUL,)}, ["difficulties nightmare only there"]),
        ({"rules": (NIGHTMARE, PEACEFUL)}, ["difficulties in another order"]),
        (
            {"rules": (PEACEFUL, *(dataclasses.replace(NIGHTMARE, name=n) for n in "abcde"))},
            ["difficulties nightmare only there and a,b,c and 2 more only here"],
        ),
        (
            {"rules": (PEACEFUL, dataclasses.replace(NIGHTMARE, ruin_penalty=20))},
            ["ruin_penalty of nightmare is 15 there, 20 here"],
        ),
        (
            {"rules": (dataclasses.replace(PEACEFUL, power_costs=(1,)), NIGHTMARE)},
            ["power_costs of peaceful is (10, 20, 40) there, (1,) here"],
        ),
        (
            {"versions": PLAN.versions | {"numba": "0.62.0"}},
            ["numba 0.61.0 there, 0.62.0 here"],
        ),
        (
            {"versions": {"magsim": "0.1.0", "numba": "0.61.0", "polars": "1"}},
            ["numpy 2.2.0 there, none here", "polars none there, 1 here"],
        ),
    ],
    ids=str,
)
def test_each_difference_is_put_in_words(change, words):
    assert differences(PLAN, dataclasses.replace(PLAN, **change)) == words


def test_what_a_bot_relies_on_is_a_difference():
    plan = dataclasses.replace(PLAN, relied=RELIED)
    bot = "bot mcts:iterations=500 relies on"
    assert differences(PLAN, plan) == [f"{bot} nothing there, solution 00ff here (peaceful)"]
    other = dataclasses.replace(PLAN, relied={"mcts:iterations=500": {"peaceful": "solution 1"}})
    assert differences(plan, other) == [
        f"{bot} solution 00ff there, solution 1 here (peaceful)",
    ]
    assert differences(plan, dataclasses.replace(plan)) == []


@given(plans, plans, st.sampled_from([field.name for field in dataclasses.fields(Plan)]))
def test_no_difference_goes_without_words(one, other, field):
    mixed = dataclasses.replace(one, **{field: getattr(other, field)})
    same = mixed == one and list(mixed.bots) == list(one.bots)
    assert (differences(one, mixed) == []) == same
