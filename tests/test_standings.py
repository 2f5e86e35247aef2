"""Where a score stands among recorded games: counted anew in plain Python."""

import shutil
from pathlib import Path

import pytest
from small_runs import make_run

from magsim import records, registry
from magsim.asking import Watch
from magsim.manifest import read_manifest
from magsim.play.standings import Standing, standings
from magsim.rules import NIGHTMARE, PEACEFUL, SURVIVAL, Rules

CHANGED = Rules("survival", 2, (70,), ruin_penalty=20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of several sizes at several rules, the last of a bot that has played it in part."""
    path, watch = tmp_path_factory.mktemp("results"), Watch(600)
    bots = {"weak": registry.load_bot("random")}
    make_run(path / "a", watch, {"strong": 4, "weak": 9}, (SURVIVAL, PEACEFUL), bots, chunk=2)
    make_run(path / "b", watch, {"strong": 7}, (SURVIVAL,), chunk=2)
    make_run(path / "c", watch, {"strong": 5}, (CHANGED, NIGHTMARE), chunk=2)
    make_run(
        path / "d",
        watch,
        {"strong": 6, "third": 12},
        (SURVIVAL,),
        bots | {"third": Third()},
        chunk=2,
    )
    watch.close()
    return path


class Third(registry.installed_class("greedy")):  # type: ignore[misc]
    """Another strength between, under another name."""


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return shutil.copytree(folder, tmp_path / "copy")


def scores(run: Path, law: Rules, bot: str) -> list[int]:
    folder = records.part_folder(run, "games", law.name, bot)
    parts = sorted(folder.glob("*.parquet"))
    return [row["score"] for part in parts for row in records.read_part(part, "games").to_dicts()]


def by_bot(found: list[Standing]) -> dict[str, Standing]:
    assert len({standing.bot for standing in found}) == len(found)
    return {standing.bot: standing for standing in found}


def test_the_run_with_most_games_of_a_bot_counts_and_every_game_of_it(folder: Path) -> None:
    most = {"strong": "b", "weak": "a", "third": "d"}
    games = {bot: scores(folder / run, SURVIVAL, bot) for bot, run in most.items()}
    assert {bot: len(played) for bot, played in games.items()} == {
        "strong": 7,
        "weak": 9,
        "third": 12,
    }
    wanted = {score for played in games.values() for score in played}
    for score in (-1000, 1000, *wanted, *(score + 1 for score in wanted)):
        found = standings(score, SURVIVAL, folder)
        assert [s.bot for s in found] == sorted(most, key=lambda b: sum(games[b]) / len(games[b]))
        for bot, standing in by_bot(found).items():
            below = sum(played < score for played in games[bot])
            equal = games[bot].count(score)
            where = f"{score} among {bot}: {games[bot]}"
            assert (standing.below, standing.equal) == (below, equal), where
            assert (standing.games, standing.run) == (len(games[bot]), folder / most[bot]), where
            assert standing.mean == pytest.approx(sum(games[bot]) / len(games[bot])), where


def test_the_rules_must_be_the_very_same(folder: Path) -> None:
    assert by_bot(standings(0, PEACEFUL, folder)).keys() == {"strong", "weak"}
    assert by_bot(standings(0, CHANGED, folder))["strong"].run == folder / "c"
    assert by_bot(standings(0, SURVIVAL, folder))["strong"].run == folder / "b"
    assert standings(0, Rules("peaceful", 2, (10, 20, 41)), folder) == []


def test_a_percentile_is_the_share_below_and_half_of_the_equal() -> None:
    assert Standing("bot", 8, 3, 2, Path(), 0.0).percentile == 50
    assert Standing("bot", 8, 0, 0, Path(), 0.0).percentile == 0
    assert Standing("bot", 8, 8, 0, Path(), 0.0).percentile == 100


def test_of_a_run_in_progress_the_games_that_are_there_count(copy: Path) -> None:
    # Planned: 12 games in parts of 2; no other run has any of this bot.
    last = next((copy / "d" / "games").glob("*/bot=third/000000010-*.parquet"))
    last.unlink()
    standing = by_bot(standings(0, SURVIVAL, copy))["third"]
    assert (standing.games, standing.run) == (10, copy / "d")
    assert by_bot(standings(0, SURVIVAL, copy))["strong"].games == 7


def test_a_damaged_run_gives_way_to_the_next(copy: Path) -> None:
    part = next((copy / "b" / "games").rglob("*.parquet"))
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    standing = by_bot(standings(0, SURVIVAL, copy))["strong"]
    assert (standing.games, standing.run) == (6, copy / "d")


def test_what_is_no_run_of_ours_is_passed_over(copy: Path) -> None:
    expected = [(s.bot, s.games, s.run.name) for s in standings(0, SURVIVAL, copy)]
    (copy / "notes.txt").touch()
    (copy / "empty").mkdir()
    (copy / "odd" / "manifest.json").mkdir(parents=True)
    for name, text in {"torn": "{", "list": "[]", "other": '{"format": 99}'}.items():
        (copy / name).mkdir()
        (copy / name / "manifest.json").write_text(text)
    nested = shutil.copytree(copy / "d", copy / "empty" / "nested")
    assert read_manifest(nested).games == 12
    bare = copy / "bare"
    bare.mkdir()
    shutil.copy(copy / "d" / "manifest.json", bare)
    foreign = shutil.copytree(copy / "d", copy / "foreign")
    for part in [*(foreign / "games").rglob("*.parquet")]:
        part.rename(part.with_name(f"export-{part.name}"))
    posing = shutil.copytree(copy / "d", copy / "aaa")
    for part in [*(posing / "games").rglob("*.parquet")]:
        content = b"no table"
        part.unlink()
        part.with_name(f"{part.name[:19]}.{records._digest(content)}.parquet").write_bytes(content)
    assert [(s.bot, s.games, s.run.name) for s in standings(0, SURVIVAL, copy)] == expected


def test_where_nothing_is_recorded_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert standings(0, SURVIVAL, tmp_path) == []
    assert standings(0, SURVIVAL, tmp_path / "missing") == []
