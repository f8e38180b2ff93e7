"""Runs the example notebooks without Jupyter: `python -m tests.notebooks` writes their outputs again.

A cell shows what it prints, and the value of its last line: as a picture if it is a figure, else by its `_repr_html_`,
`_repr_latex_` and repr.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
from base64 import b64encode
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the outputs that its cells really have."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, number = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            outputs = _outputs("".join(cell["source"]), names, number)
            cell = {**cell, "execution_count": number, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    tree, printed, value = ast.parse(source), io.StringIO(), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())})
    if value is not None:
        shown = {"data": _shown(value), "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        found.append(shown)
    return found


def _shown(value: Any) -> dict[str, Any]:
    if hasattr(value, "savefig"):
        from dobandit.plots import to_bytes

        return {"image/png": b64encode(to_bytes(value, "png")).decode(), "text/plain": ["<Figure>"]}
    forms = {"text/html": "_repr_html_", "text/latex": "_repr_latex_"}
    rich = {form: lines(getattr(value, name)()) for form, name in forms.items() if hasattr(value, name)}
    return {**rich, "text/plain": lines(repr(value))}


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def texts(notebook: dict[str, Any]) -> list[Any]:
    """What is compared: printed texts and reprs. Pictures differ in their bytes from machine to machine."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    return [output.get("text") or output["data"]["text/plain"] for output in outputs]


if __name__ == "__main__":
    for path in NOTEBOOKS:
        path.write_text(json.dumps(executed(read(path)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
