"""Where rows come from: columns or rows in memory, any frame that narwhals reads, CSV and Parquet files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dobandit.errors import DataError
from dobandit.evidence.columns import Columns, columns_of_mapping, columns_of_rows
from dobandit.evidence.delimited import distinct_rows
from dobandit.evidence.fitted import Fitted
from dobandit.evidence.frames import Frame, parquet
from dobandit.evidence.source import Source, Weights

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

# Columns, rows, the path of a file, a frame of any library that narwhals knows, or what a problem reads already.
Data: TypeAlias = "Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | Path | IntoFrame | Fitted"


def open_source(data: Data, weights: Weights = None) -> Source:
    """The source behind whatever was handed in; `weights` is the name of a column, or an array."""
    if isinstance(data, Fitted):
        return data
    if isinstance(data, str | Path):
        return open_file(Path(data), weights)
    if isinstance(data, Mapping):
        return Columns("data", columns_of_mapping(data), weights)
    if isinstance(data, list | tuple):
        return Columns("data", columns_of_mapping(columns_of_rows(data)), weights)
    if weights is None or isinstance(weights, str):
        return Frame(data, weights)
    return Columns(
        "data", Frame(data).everything(), weights
    )  # weights in memory cannot travel to where the frame lives


def open_file(path: Path, weights: Weights = None) -> Source:
    if weights is not None and not isinstance(weights, str):
        raise DataError("weights of a file are the name of one of its columns")
    if path.suffix.lower() in (".parquet", ".pq"):
        return parquet(path, weights)
    names, rows = distinct_rows(path)
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    times, lines = np.array(list(rows.values()), dtype=np.intp).reshape(-1, 2).T
    return Columns(path.name, columns, weights, times, lines)
