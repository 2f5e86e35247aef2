"""Notebooks without a kernel: their code cells run one after another, in this process."""

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

Cell = dict[str, Any]


def read_cells(path: Path) -> list[Cell]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def outputs(source: str, names: dict[str, Any]) -> list[Cell]:
    """What a code cell prints, then what its last line shows, as a notebook keeps them."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    found: list[Cell] = []
    if printed.getvalue():
        text = lines(printed.getvalue())
        found.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = lines(value._repr_html_())
        found.append(
            {"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"}
        )
    return found
