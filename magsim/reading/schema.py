"""The columns of the tables in words, from the one list of them in ``records``."""

from collections.abc import Iterator

import polars as pl

from magsim import records

_HEADS = {"turns": "turns: a row a turn", "games": "games: a row a game"}
_NOTES = (
    f"{' and '.join(records.SCAN_COLUMNS)} are names of folders on disk; "
    "magsim query and magsim.load put them in.",
    "Enum is a text out of a fixed list; magsim query takes it as any other text.",
)


def _type_name(dtype: records.DataType) -> str:
    return "Enum" if isinstance(dtype, pl.Enum) else str(dtype)


def schema_lines() -> Iterator[str]:
    """Each table with its columns, a line each: name, type, meaning."""
    for table, head in _HEADS.items():
        columns = records.SCAN_COLUMNS | records.COLUMNS[table]
        names = max(map(len, columns))
        types = max(len(_type_name(column.dtype)) for column in columns.values())
        yield head
        for name, column in columns.items():
            yield f"  {name:<{names}}  {_type_name(column.dtype):<{types}}  {column.meaning}"
        yield ""
    yield from _NOTES
