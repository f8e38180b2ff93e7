"""CSV files, read by the standard library."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from dobandit.errors import DataError
from dobandit.files import cannot_read


class Rows(NamedTuple):
    """How often a row occurs, and the line in which the first one begins."""

    number: int
    line: int


def distinct_rows(path: Path) -> tuple[tuple[str, ...], dict[tuple[str, ...], Rows]]:
    """The header of a CSV file, and its distinct rows."""
    rows: dict[tuple[str, ...], Rows] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            try:
                names = _header(next(reader, []), path)
                before = reader.line_num
                for row in reader:
                    if row and len(row) != len(names):  # a blank line has no fields
                        place = f"{path.name}, line {reader.line_num}"
                        raise DataError(f"{place}: {len(row)} fields, but the header names {len(names)}")
                    if row:
                        number, line = rows.get(tuple(row), (0, before + 1))
                        rows[tuple(row)] = Rows(number + 1, line)
                    before = reader.line_num
            except csv.Error as error:
                raise DataError(f"{path.name}, line {reader.line_num}: {error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path.name}: this is not a text file (UTF-8)") from None
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from None
    return names, rows


def _header(fields: Iterable[str], path: Path) -> tuple[str, ...]:
    names = tuple(field.strip() for field in fields)
    if not any(names):
        raise DataError(f"{path.name}: the file is empty; the first line must name the columns")
    for i, name in enumerate(names):
        if name in names[:i]:
            raise DataError(f"{path.name}, line 1: the column {name!r} is there twice")
    return names
