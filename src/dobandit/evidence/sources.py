"""Where rows come from: columns or rows in memory, any frame that narwhals reads, files, several files, a pipe."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from dobandit.errors import DataError, FileError
from dobandit.evidence.backed import Backed
from dobandit.evidence.columns import Columns, columns_of_rows, in_memory
from dobandit.evidence.contents import fetch
from dobandit.evidence.delimited import Delimited
from dobandit.evidence.dialect import find_dialect
from dobandit.evidence.duck import csv_frame
from dobandit.evidence.frames import Frame
from dobandit.evidence.jsonlines import json_lines
from dobandit.evidence.parquet import parquet
from dobandit.evidence.renamed import safe, safely_named, with_own_names
from dobandit.evidence.short_fields import short_fields
from dobandit.evidence.source import Source, Weights
from dobandit.evidence.texts import read_text
from dobandit.evidence.together import Together

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

Place = str | Path
# Columns, rows, the path of a file or several of them, a frame of any library that narwhals knows, or an open source.
Data: TypeAlias = "Mapping[str, Any] | Sequence[Mapping[str, Any]] | Place | Sequence[Place] | IntoFrame | Source"


def open_source(data: Data, weights: Weights = None) -> Source:
    """The source behind whatever was handed in; `weights` is the name of a column, or an array."""
    if _is_source(data):
        return data
    if isinstance(data, str | Path):
        return open_file(data, weights)
    if isinstance(data, Mapping):
        return in_memory(data, weights)
    if isinstance(data, list | tuple):
        if data and all(isinstance(each, str | Path) for each in data):
            return _open_files([Path(each) for each in data], f"{len(data)} files", weights)
        return in_memory(columns_of_rows(data), weights)
    if weights is None or isinstance(weights, str):
        if type(data).__name__ == "DuckDBPyRelation" or type(data).__module__.startswith("pyspark."):
            return with_own_names(Frame(safely_named(data), weights and safe(weights)))
        return Frame(data, weights)
    # Weights in memory cannot travel to where the frame lives.
    return Columns("data", Frame(data).everything(), weights)


def open_file(path: Place, weights: Weights = None) -> Source:
    """A file, all files that a pattern such as `logs/*.csv` matches, or standard input (`-`)."""
    if not any(sign in str(path) for sign in "*?["):
        return _open_one(Path(path), weights)
    try:
        exists = Path(path).exists()
    except (OSError, ValueError):
        exists = True  # why it cannot be read is told when it is opened
    if exists:
        return _open_one(Path(path), weights)
    found = sorted(map(Path, glob.glob(str(path), recursive=True)))
    if not found:
        raise FileError(f"{path}: no file matches this pattern")
    return _open_files(found, Path(path).name, weights)


def _open_files(paths: Sequence[Path], name: str, weights: Weights) -> Source:
    if len({path.resolve() for path in paths}) < len(paths):
        raise FileError(f"{name}: a file is given twice, and its rows would count twice")
    return Together(name, [_open_one(path, weights) for path in paths])


def _open_one(path: Path, weights: Weights) -> Source:
    if weights is not None and not isinstance(weights, str):
        raise DataError("weights of a file are the name of one of its columns")
    contents = fetch(path)
    if contents.is_parquet:
        return parquet(contents, weights)
    text = read_text(contents)
    if path.name.lower().removesuffix(".gz").removesuffix(".zst").endswith((".jsonl", ".ndjson")):
        return json_lines(text, weights)
    return _open_csv(Delimited(text, find_dialect(text)), weights)


def _open_csv(file: Delimited, weights: str | None) -> Source:
    """A CSV file, for the quickest of three readers that can read it."""
    sure = cache(lambda: file.columns(weights))

    @cache
    def database() -> Source:
        frame = csv_frame(file, weights)
        return sure() if frame is None else Backed(frame, sure)

    return database() if weights else Backed(short_fields(file), database)


def _is_source(data: object) -> TypeGuard[Source]:
    """By its shape. A frame may have columns of any name, but they are no methods, and `columns` is no tuple."""
    return callable(getattr(data, "group", None)) and isinstance(getattr(data, "columns", None), tuple)
