"""Questions in SQL about a run: polars SQL over its tables ``turns`` and ``games``.

Answers may be far larger than memory: CSV and JSON are streamed to their end, and a table shows the
first rows only. The parts of the tables that a query names are made sure of before it runs. What
polars finds wrong is told in one sentence, and so is a part that is damaged.
"""

import errno
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, BinaryIO, TypeVar, cast

import polars as pl
from polars import selectors
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from magsim import records
from magsim.errors import MagsimError, first_line
from magsim.manifest import read_manifest

SHOWN = 100
"""Rows of a table; more are for a file or another program."""
_REASON = 300
_WIDEST = 10_000
_SETTLE = 0.3
"""Seconds in which polars' own threads have noticed an interrupt, and had their say on it."""

Result = TypeVar("Result")

_TOKEN = re.compile(
    r"""
    (?P<comment> --[^\n]* | /\*(?:(?!/\*|\*/).)*\*/ )
  | (?P<text> '(?:[^']|'')*' | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$ )
  | (?P<quoted> "(?:[^"]|"")*" | `[^`]*` )
  | [\w@\#][\w@\#$]*
    """,
    re.DOTALL | re.VERBOSE,
)
"""What a query's words, texts and comments are; of comments, those without another in them."""
_FOREIGN = re.compile(r"\b((?:read|scan)_\w+)\s*\(", re.IGNORECASE)
"""Functions that stand for a table in another file."""


def printable(text: str) -> str:
    """The text with everything that would move a terminal's cursor or colours escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class Question:
    """A query over a run, planned but not yet answered.

    Raises:
        MagsimError: if there is no run, a part is damaged, or the query cannot be answered.
    """

    def __init__(self, run: Path, text: str) -> None:
        plan = read_manifest(run)
        _check_select(text)
        named = [name for name in records.TABLES if re.search(rf"\b{name}\b", text, re.IGNORECASE)]
        records.check_parts(run, plan, named)
        frames = {table: _as_texts(records.scan(run, table, plan)) for table in records.TABLES}
        context = pl.SQLContext(frames)
        self.frame = _told(lambda: context.execute(text))
        _told(self.frame.collect_schema)

    def first(self, rows: int) -> pl.DataFrame:
        """The first rows of the answer.

        Raises:
            MagsimError: if it cannot be answered.
        """
        return _told(lambda: self.frame.head(rows).collect(engine="streaming"))

    def write(self, form: str, out: BinaryIO) -> None:
        """Write the whole answer as ``csv``, or as ``json`` with an object a line.

        Raises:
            BrokenPipeError: if the reader went away.
            MagsimError: if it cannot be answered or written.
        """
        pipe = _Pipe(out)
        sink = self.frame.sink_csv if form == "csv" else self.frame.sink_ndjson
        try:
            _told(lambda: sink(cast(IO[bytes], pipe), engine="streaming"))
            out.flush()
        except (MagsimError, OSError) as error:
            refused = pipe.refused or error
            if isinstance(refused, BrokenPipeError):
                raise BrokenPipeError(errno.EPIPE, "nobody reads any more") from None
            if isinstance(refused, OSError):
                reason = refused.strerror or refused
                raise MagsimError(f"the answer cannot be written: {reason}") from error
            raise


def _told(work: Callable[[], Result]) -> Result:
    """What polars makes of some work, with nothing on standard error.

    Raises:
        MagsimError: for what it finds wrong.
    """
    try:
        with records.quiet():
            return _interruptible(work)
    except records.READ_ERRORS as error:
        raise MagsimError(_sentence(error)) from error


def _interruptible(work: Callable[[], Result]) -> Result:
    """The result of some work of polars, which Ctrl-C ends in one clean ``KeyboardInterrupt``.

    In the main thread polars raises one and Python another right after it, in the midst of tidying
    up; so the work is done beside it.
    """
    try:
        with ThreadPoolExecutor(1) as beside:
            return beside.submit(work).result()
    except KeyboardInterrupt:
        time.sleep(_SETTLE)
        raise


class _Pipe:
    """Passes bytes on, and keeps the error that stopped it: polars tells it as one of its own."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.refused: OSError | None = None

    def write(self, data: bytes) -> int:
        """Pass bytes on."""
        try:
            return self._out.write(data)
        except OSError as error:
            self.refused = error
            raise

    def flush(self) -> None:
        """Pass on what is kept back."""


def _bare(token: re.Match[str]) -> str:
    """A word as it is, quoted or not; nothing of comments and texts."""
    if token["comment"]:
        return " "
    if token["text"]:
        return "''"
    return token[0][1:-1] if token["quoted"] else token[0]


def _check_select(text: str) -> None:
    """Refuse what does not ask the run: statements that change tables, tables of other files.

    Raises:
        MagsimError: if the text is empty, its first word is neither SELECT nor WITH, or it reads a
            file.
    """
    bare = _TOKEN.sub(_bare, text).strip()
    if not bare:
        raise MagsimError("the query is empty: write one such as 'SELECT * FROM games LIMIT 5'")
    word = bare.lstrip("( \t\r\n").split(maxsplit=1)[:1]
    if not word or word[0].upper() not in ("SELECT", "WITH"):
        raise MagsimError(
            f"a query begins with SELECT or WITH, not with {''.join(word)[:40]!r}: "
            "it reads a run and changes nothing"
        )
    foreign = _FOREIGN.search(bare)
    if foreign:
        raise MagsimError(
            f"a query reads the tables {' and '.join(records.TABLES)} of the run, and no other "
            f"file by {printable(foreign[1][:40])}()"
        )


def _as_texts(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Enumerations as plain texts, so that all of SQL's text functions take them."""
    return frame.with_columns(selectors.enum().cast(pl.String))


def _sentence(error: BaseException) -> str:
    reason = printable(first_line(error))[:_REASON].rstrip(" .:")
    if isinstance(error, pl.exceptions.ColumnNotFoundError):
        reason = reason.partition("; valid columns")[0]
        known = "; ".join(
            f"{table}: {', '.join([*records.SCAN_COLUMNS, *columns])}"
            for table, columns in records.COLUMNS.items()
        )
    else:
        known = f"tables: {', '.join(records.TABLES)}; magsim schema lists their columns"
    return f"the query cannot be answered: {reason} ({known})"


def _cell(value: object) -> Text:
    match value:
        case None:
            return Text("null", style="dim")
        case bool():
            return Text(str(value).lower())
        case float():
            return Text(f"{value:.7g}")
    return Text(printable(str(value)))


def table(rows: pl.DataFrame) -> Table:
    """Rows of an answer as a table; floats to seven digits, texts as they are, none taken apart."""
    drawn = Table(box=box.SIMPLE_HEAD)
    for name, dtype in rows.schema.items():
        drawn.add_column(
            Text(printable(name)),
            justify="right" if dtype.is_numeric() else "left",
            no_wrap=True,
            overflow="ignore",
        )
    for row in rows.iter_rows():
        drawn.add_row(*map(_cell, row))
    return drawn


def print_table(rows: pl.DataFrame) -> None:
    """Print rows to standard output, each on one line however wide it is."""
    drawn = table(rows)
    wide = Console(width=_WIDEST)
    needed = wide.measure(drawn).maximum
    Console(highlight=False, width=max(needed, Console().width)).print(drawn, soft_wrap=True)
