"""A page: sections with a chart, a sentence and tables, written as HTML and as Markdown.

What the sections say is not known here. A page is written whole beside its folder and then moved
there, so that a report is complete or as it was before.
"""

import base64
import html
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.figure import Figure

from magsim.charts.style import save
from magsim.errors import MagsimError

HTML, MARKDOWN, CHARTS = "report.html", "report.md", "charts"
OURS = {HTML, MARKDOWN, CHARTS}
"""All that there is in the folder of a report."""
_TEMPORARY = ".report."

_CSS = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem;
  color: #1a1a1a; background: #fff; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 3rem; }
img { width: 100%; height: auto; }
figure { margin: 1rem 0; } figcaption { max-width: 60rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #888; } .word { text-align: left; overflow-wrap: anywhere; }
details { margin: 1rem 0; overflow-x: auto; } code { overflow-wrap: anywhere; }
.verdict { font-size: 1.15rem; border-left: .3rem solid #0072b2; padding-left: 1rem; }
""".strip()


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts; the first ``words`` columns are words, the others figures."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 2


@dataclass(frozen=True, slots=True)
class Section:
    """One thing shown: charts by name, the sentence under them, the tables behind them."""

    title: str
    caption: str
    charts: dict[str, Figure] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A report: a title, what was played, a verdict if there is one, and sections."""

    title: str
    intro: str
    command: str
    """That plays the same again; empty where no one command does."""
    sections: tuple[Section, ...]
    verdict: str = ""


def _html_table(table: Table) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        words = table.words
        return "".join(
            f"<{tag}{' class=word' if k < words else ''}>{html.escape(cell)}</{tag}>"
            for k, cell in enumerate(cells)
        )

    body = "\n".join(f"<tr>{row(cells, 'td')}</tr>" for cells in table.rows)
    return (
        f"<details><summary>{html.escape(table.title)}</summary>\n<table>\n"
        f"<tr>{row(table.head, 'th')}</tr>\n{body}\n</table></details>"
    )


def to_html(page: Page, folder: Path) -> str:
    """The page as one self-contained file; its charts lie in ``folder``."""
    parts = [
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8>",
        '<meta name=viewport content="width=device-width">',
        f"<title>{html.escape(page.title)}</title>\n<style>{_CSS}</style></head><body>",
        f"<h1>{html.escape(page.title)}</h1>",
    ]
    if page.verdict:
        parts.append(f"<p class=verdict>{html.escape(page.verdict)}</p>")
    parts.append(f"<p>{html.escape(page.intro)}</p>")
    if page.command:
        parts.append(f"<p><code>{html.escape(page.command)}</code></p>")
    for section in page.sections:
        parts.append(f"<h2>{html.escape(section.title)}</h2>\n<figure>")
        for name in section.charts:
            svg = base64.b64encode((folder / f"{name}.svg").read_bytes()).decode()
            alt = html.escape(section.caption, quote=True)
            parts.append(f'<img src="data:image/svg+xml;base64,{svg}" alt="{alt}">')
        parts.append(f"<figcaption>{html.escape(section.caption)}</figcaption></figure>")
        parts += [_html_table(table) for table in section.tables]
    return "\n".join([*parts, "</body></html>\n"])


def _markdown(text: str) -> str:
    """A text with the signs that Markdown would take as its own made plain."""
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, f"\\{sign}")
    return text


def _markdown_table(table: Table) -> str:
    def row(cells: Sequence[str]) -> str:
        return f"| {' | '.join(_markdown(cell) for cell in cells)} |"

    rule = "|" + "".join("---|" if k < table.words else "---:|" for k in range(len(table.head)))
    lines = [row(table.head), rule, *(row(cells) for cells in table.rows)]
    return "\n".join([f"{_markdown(table.title)}:", "", *lines])


def to_markdown(page: Page) -> str:
    """The page as Markdown beside its folder of charts."""
    parts = [f"# {_markdown(page.title)}"]
    if page.verdict:
        parts.append(f"**{_markdown(page.verdict)}**")
    parts.append(_markdown(page.intro))
    if page.command:
        parts.append(f"```sh\n{page.command}\n```")
    for section in page.sections:
        parts.append(f"## {_markdown(section.title)}")
        parts += [f"![{_markdown(section.title)}]({CHARTS}/{name}.svg)" for name in section.charts]
        parts.append(_markdown(section.caption))
        parts += [_markdown_table(table) for table in section.tables]
    return "\n\n".join(parts) + "\n"


def check_folder(folder: Path) -> None:
    """Check that a report may be written into a folder: that it is new, empty or of a report.

    Raises:
        MagsimError: if it holds something else, or cannot be read.
    """
    try:
        if not folder.exists():
            return
        if not folder.is_dir():
            raise MagsimError(f"{folder} is no folder: choose another one for the report")
        found = {path.name for path in folder.iterdir() if not _is_leftover(path)}
        charts = folder / CHARTS
        drawn = charts.iterdir() if charts.is_dir() else ()
        foreign = found - OURS or any(path.suffix not in (".png", ".svg") for path in drawn)
    except OSError as error:
        reason = error.strerror or error
        raise MagsimError(f"{folder} cannot be used for the report: {reason}") from error
    whole = MARKDOWN in found and len(found) > 1  # the shipped ones have no HTML
    if foreign or (found and not whole):
        raise MagsimError(
            f"{folder} holds something that is no report: choose another folder for it"
        )


def _is_leftover(path: Path) -> bool:
    """Whether a folder is what a kill left of a report being written."""
    return path.name.startswith(_TEMPORARY)


def write(page: Page, folder: Path) -> None:
    """Write a page and its charts into ``folder``, in place of a report that is there.

    Raises:
        MagsimError: if the folder holds something else, or cannot be written; what was there stays.
    """
    check_folder(folder)
    temporary = folder / f"{_TEMPORARY}{os.getpid()}"
    created = not folder.exists()
    try:
        charts = temporary / CHARTS
        charts.mkdir(parents=True)
        for section in page.sections:
            for name, figure in section.charts.items():
                save(figure, charts, name)
        (temporary / HTML).write_text(to_html(page, charts), encoding="utf-8")
        (temporary / MARKDOWN).write_text(to_markdown(page), encoding="utf-8")
        _swap(temporary, folder)
    except OSError as error:
        raise MagsimError(f"{folder} cannot be written: {error.strerror or error}") from error
    finally:
        for leftover in folder.glob(f"{_TEMPORARY}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        if created and folder.exists() and not any(folder.iterdir()):
            folder.rmdir()


def _swap(new: Path, folder: Path) -> None:
    """Move a new report into its folder; if that fails midway, the old one goes back."""
    old = new / "before"
    old.mkdir()
    there = [name for name in sorted(OURS) if (folder / name).exists()]
    try:
        for name in there:
            (folder / name).rename(old / name)
        for name in sorted(OURS):
            (new / name).rename(folder / name)
    except BaseException:
        for name in there:
            if (old / name).exists():
                _remove(folder / name)
                (old / name).rename(folder / name)
        raise


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
