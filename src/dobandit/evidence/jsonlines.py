"""JSON lines: one object in each line, its keys the columns. A key that is not there is a missing value."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dobandit.errors import DataError
from dobandit.evidence.columns import Columns
from dobandit.evidence.source import Weights
from dobandit.evidence.texts import Text
from dobandit.files import unique_keys


def json_lines(text: Text, weights: Weights) -> Columns:
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    with text.opened() as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                rows.append(_row(line, f"{text.name}, line {number}"))
                lines.append(number)
    names = dict.fromkeys(name for row in rows for name in row)
    if not names:
        raise DataError(f"{text.name}: the file is empty; every line must be an object that maps names to values")
    data = {name: [row.get(name) for row in rows] for name in names}
    packed = f", {text.contents.packed}" if text.contents.packed else ""
    note = f"read {text.name} as JSON lines: encoding {text.encoding}{packed}"
    first = np.arange(1, len(rows) + 1)
    return Columns(text.name, data, weights, 1, first, lambda row: f"line {lines[row - 1]}", (note,))


def _row(line: str, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        what = str(error).split(": line")[0]
        raise DataError(f"{place}: this is not a JSON object in one line: {what[:1].lower()}{what[1:]}") from None
    if not isinstance(row, dict):
        raise DataError(f'{place}: expected an object that maps names to values, such as {{"X": 1, "Y": 0}}')
    return row
