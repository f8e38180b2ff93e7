"""Tables for other programs: CSV, JSON and Parquet files by the ending of their name, and frames."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from dobandit.errors import DobanditError, FileError, needing
from dobandit.evidence.duck import connect, literal
from dobandit.files import replacing
from dobandit.problem import is_numeral

Columns = Mapping[str, NDArray[Any]]
_FORMULA = re.compile(r"'*[=+\-@\t\r]")  # and what the quote was put before
_FIRST = re.compile("\0['=+\\-@\t\r]")  # what such a text begins with, after the sign that is put between texts
_QUOTED = re.compile('[,"\r\n]')
TOGETHER = 10_000  # lines that are written together
FORMS = (".csv", ".json", ".parquet")


def write_table(path: str | os.PathLike[str], columns: Columns) -> None:
    """Write a table to a new file, or replace an old one."""
    if not isinstance(path, str | os.PathLike) or "\0" in os.fsdecode(path):
        raise DobanditError(f"a table is written to a path such as 'out.csv', not {path!r}")
    place = Path(path)
    check_form(place, columns)
    with replacing(place) as draft:
        write_columns(draft, columns)


def check_form(path: Path, names: Collection[str]) -> None:
    """Whether a file of this name can hold columns of these names."""
    form = path.suffix.lower()
    if form not in FORMS:
        raise FileError(f"{path}: the name of a table ends in .csv, .json or .parquet")
    if form == ".parquet" and len({name.lower() for name in names}) < len(names):
        raise FileError(f"{path}: a Parquet file cannot hold names that differ in case only; export to .csv")


def write_columns(path: Path, columns: Columns) -> None:
    """The file itself; what the file system refuses is an OSError."""
    form = path.suffix.lower()
    if form == ".parquet":
        _write_parquet(path, columns)
        return
    with path.open("x", encoding="utf-8", newline="") as out:
        if form == ".json":
            _write_json(out, list(columns), zip(*(column.tolist() for column in columns.values()), strict=True))
        else:
            _write_csv(out, columns)


def _write_csv(out: TextIO, columns: Columns) -> None:
    """The same as by the module csv, in a third of its time."""
    alone = len(columns) == 1
    rows = zip(*(_cells(column, alone) for column in columns.values()), strict=True)
    lines = map(",".join, chain([[_cell(name, alone) for name in columns]], rows))
    while some := list(islice(lines, TOGETHER)):
        out.write("\n".join(some) + "\n")


def _cells(column: NDArray[Any], alone: bool) -> Iterable[str]:
    """A column as it is written. In most, all texts are written as they are, which is checked together."""
    values: list[Any] = column.tolist()
    if column.dtype.kind not in "OU":
        return map(str, values)
    if {*map(type, values)} != {str}:
        return (_cell(value, alone) for value in values)
    texts: set[str] = {*values}
    if alone or _FIRST.search(together := "\0".join(["", *texts])) or _QUOTED.search(together):
        return map({text: _cell(text, alone) for text in texts}.__getitem__, values)
    return values


def _cell(value: Any, alone: bool) -> str:
    """A value, quoted if need be, and such that no spreadsheet computes it. An empty line would be no row."""
    text = "" if value is None else str(_harmless(value))
    is_quoted = _QUOTED.search(text) or (alone and not text)
    return '"{}"'.format(text.replace('"', '""')) if is_quoted else text


def _write_json(out: TextIO, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A list of objects, one in each line."""
    lines = (json.dumps(dict(zip(names, row, strict=True))) for row in rows)
    out.write("[")
    for number, line in enumerate(lines):
        out.write(f"{',' if number else ''}\n {line}")
    out.write("\n]\n")


def _is_formula(value: object) -> bool:
    """Whether a spreadsheet would compute a cell instead of showing it; numbers are what they are."""
    return isinstance(value, str) and _FORMULA.match(value) is not None and not is_numeral(value)


def _harmless(value: Any) -> Any:
    """With a quote before it, which a spreadsheet takes for the sign of a text. To read the value, remove the quote."""
    return f"'{value}" if _is_formula(value) else value


def _write_parquet(path: Path, columns: Columns) -> None:
    with needing("duckdb", "data"):
        import duckdb
    names = ['"{}"'.format(name.replace('"', '""')) for name in columns]
    kinds = map(_kind, columns.values())
    cast = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in zip(names, kinds, strict=True))
    try:
        with connect(path) as base:
            base.register("columns", {name: _texts(column) for name, column in columns.items()})
            base.execute(f"COPY (SELECT {cast} FROM columns) TO {literal(os.path.abspath(path))} (FORMAT parquet)")
    except duckdb.Error as error:
        raise OSError(str(error).splitlines()[0]) from None  # told where the name of the file is known


def _kind(column: NDArray[Any]) -> str:
    """What a column holds, as databases call it; objects are texts or numbers, and None where there is none."""
    if column.dtype.kind != "O":
        return {"i": "BIGINT", "f": "DOUBLE", "U": "VARCHAR"}[column.dtype.kind]
    types = {type(value) for value in column if value is not None}
    return {frozenset([int]): "BIGINT", frozenset([float]): "DOUBLE"}.get(frozenset(types), "VARCHAR")


def _texts(column: NDArray[Any]) -> NDArray[Any]:
    """Objects as texts, which a database reads whatever the first ones are."""
    if column.dtype.kind not in "OU":
        return column
    return np.array([None if value is None else str(value) for value in column], dtype=object)


def frame(columns: Columns) -> Any:
    """A pandas DataFrame, or a polars one where pandas is not installed."""
    for library in ("pandas", "polars"):
        with suppress(ImportError):
            return import_module(library).DataFrame(dict(columns))
    raise DobanditError("a frame needs pandas or polars, and neither is installed: pip install pandas")
