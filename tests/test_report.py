"""Reports as files: whole, self-contained, the same each time, and sane for odd runs."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from small_runs import make_run

from magsim.asking import Watch
from magsim.cli import main
from magsim.errors import MagsimError
from magsim.report.page import Page, Section, Table, to_markdown, write
from magsim.report.run import report_run
from magsim.rules import NIGHTMARE, SURVIVAL, Rules

pytestmark = pytest.mark.usefixtures("workers_stay")

ODD_NAMES = ("mcts:iterations=100000:seed=18446744073709", "a|b<c>&$x$_\\frac{1}{2}`*", "棋.py")


def magsim(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


class _Checker(HTMLParser):
    """Follows tags as they open and close, and notes what is loaded from where."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sources: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def check(folder: Path) -> _Checker:
    """Check that a report is whole: no open tags, nothing from elsewhere, no missing chart."""
    checker = _Checker()
    checker.feed((folder / "report.html").read_text(encoding="utf-8"))
    assert not checker.open
    assert all(source.startswith("data:image/svg+xml;base64,") for source in checker.sources)
    text = (folder / "report.md").read_text(encoding="utf-8")
    linked = re.findall(r"!\[[^]]*\]\(([^)]*)\)", text)
    assert len(linked) == len(checker.sources) > 0
    drawn = sorted((folder / "charts").iterdir())
    assert sorted(folder / name for name in linked) == [p for p in drawn if p.suffix == ".svg"]
    assert len(drawn) == 2 * len(linked)
    for word in ("nan", "inf", "None", "null"):
        assert not re.search(rf"\b{word}\b", checker.text), word
    return checker


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a report in it."""
    watch = Watch(600)
    run = make_run(tmp_path_factory.mktemp("run") / "r", watch, {"one": 20, "two": 15})
    result = magsim("report", run)
    assert (result.exit_code, result.stderr) == (0, f"Report {run / 'report' / 'report.html'}\n")
    return run


def test_a_report_is_whole_and_the_same_each_time(run: Path, tmp_path: Path) -> None:
    check(run / "report")
    assert magsim("report", run, "--out", tmp_path / "again").exit_code == 0
    files = [path.relative_to(run / "report") for path in (run / "report").rglob("*.*")]
    assert sorted(files) == sorted(p.relative_to(tmp_path / "again") for p in tmp_path.rglob("*.*"))
    for file in files:
        assert (run / "report" / file).read_bytes() == (tmp_path / "again" / file).read_bytes()
    problems = magsim("verify", run, "--sample", 1, "--jobs", 1).stderr
    assert "report" not in problems  # the missing games of one bot are another matter


def test_a_report_names_the_games_and_the_command_that_repeats_it(run: Path) -> None:
    text = (run / "report" / "report.md").read_text(encoding="utf-8")
    assert "15 to 20 games of each of 2 bots (one, two)" in text
    assert "magsim tournament --bots one,two --games 20" in text


@pytest.mark.parametrize(
    ("games", "rules"),
    [({"one": 1}, (NIGHTMARE,)), (dict.fromkeys(ODD_NAMES, 2), (SURVIVAL, NIGHTMARE))],
)
def test_odd_runs_make_sane_reports(
    watch: Watch, tmp_path: Path, games: dict[str, int], rules: tuple[Rules, ...]
) -> None:
    folder = report_run(make_run(tmp_path / "run", watch, games, rules))
    text = check(folder).text
    assert all(name in text for name in games)


def test_what_is_no_report_is_left_alone(run: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    result = magsim("report", run, "--out", tmp_path / "mine")
    assert result.exit_code == 2
    assert "holds something that is no report" in result.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["mine", "thesis.txt"]
    result = magsim("report", run, "--out", tmp_path / "mine" / "thesis.txt")
    assert (result.exit_code, "is no folder" in result.stderr) == (2, True)


def test_a_report_without_its_html_is_written_anew(tmp_path: Path) -> None:
    """As those in ``results/`` are, of which Markdown and SVG are kept."""
    folder = tmp_path / "report"
    write(Page("old", "intro", "command", ()), folder)
    (folder / "report.html").unlink()
    write(Page("new", "intro", "command", ()), folder)
    assert (folder / "report.html").is_file()
    assert "new" in (folder / "report.md").read_text()


def test_a_folder_with_more_than_a_report_is_left_alone(run: Path, tmp_path: Path) -> None:
    page = Page("old", "intro", "command", ())
    write(page, tmp_path / "report")
    (tmp_path / "report" / "notes.txt").write_text("mine")
    result = magsim("report", run, "--out", tmp_path / "report")
    assert (result.exit_code, "is no report" in result.stderr) == (2, True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "report.md").write_text("mine")
    assert magsim("report", run, "--out", tmp_path / "other").exit_code == 2
    assert (tmp_path / "other" / "report.md").read_text() == "mine"
    result = magsim("report", run, "--out", tmp_path / ("a" * 300))
    assert (result.exit_code, "Traceback" in result.output) == (2, False)


def test_a_move_that_fails_midway_leaves_the_old_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(Page("old", "intro", "command", ()), tmp_path / "report")
    before = {path.name for path in (tmp_path / "report").iterdir()}
    move, moved = Path.rename, []

    def failing(path: Path, target: Path) -> Path:
        moved.append(path)
        if len(moved) == 5:
            raise KeyboardInterrupt
        return move(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(KeyboardInterrupt):
        write(Page("new", "intro", "command", ()), tmp_path / "report")
    assert {path.name for path in (tmp_path / "report").iterdir()} == before
    assert "# old" in (tmp_path / "report" / "report.md").read_text()


def test_a_report_of_damaged_or_missing_parts_is_refused(watch: Watch, tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", watch, {"one": 5}, (NIGHTMARE,))
    (part,) = run.glob("turns/*/*/*.parquet")
    content = part.read_bytes()
    part.write_bytes(content[:-1])
    result = magsim("report", run)
    assert (result.exit_code, "is damaged" in result.stderr) == (2, True)
    part.unlink()
    result = magsim("report", run)
    assert (result.exit_code, "turns of bot one, nightmare" in result.stderr) == (2, True)


def test_a_report_of_nothing_is_one_sentence(tmp_path: Path) -> None:
    result = magsim("report", tmp_path)
    assert result.exit_code == 2
    assert result.stderr == f"magsim: {tmp_path} is no run: there is no manifest.json in it\n"


def test_a_report_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page("old", "intro", "command", ())
    write(page, tmp_path / "report")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("magsim.report.page.to_html", full)
    with pytest.raises(MagsimError, match="No space left"):
        write(page, tmp_path / "report")
    assert "# old" in (tmp_path / "report" / "report.md").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_markdown_takes_no_sign_of_a_name_as_its_own() -> None:
    table = Table("t", ["bot"], [["a|b*c_"]], words=1)
    text = to_markdown(Page("t", "i", "c", (Section("s", "c", {}, (table,)),)))
    assert "| a\\|b\\*c\\_ |" in text
