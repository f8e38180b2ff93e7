"""Where rows come from: columns in memory, any frame that narwhals reads, CSV and Parquet files.

A source is asked one kind of question only: how often does each combination of values of these
variables occur? So a database counts where its rows live, and only counts come back.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dobandit.errors import DataError, FileProblem, MissingExtra, listing
from dobandit.evidence.grouped import Grouped


class Source(Protocol):
    """Rows that can be counted."""

    name: str
    columns: tuple[str, ...]

    def group(self, variables: Sequence[str]) -> Grouped:
        """Every combination of values of these columns that occurs, with its total weight."""
        ...


def open_source(data: object, weights: object = None) -> Source:
    """The source behind whatever was handed in; `weights` is the name of a column, or an array."""
    if isinstance(data, str | Path):
        return open_file(Path(data), weights)
    if isinstance(data, Mapping):
        return Columns(data, weights)
    return Frame(data, weights)


def open_file(path: Path, weights: object = None) -> Source:
    if path.suffix.lower() in (".parquet", ".pq"):
        return _parquet(path, weights)
    return Csv(path, weights)


class Columns:
    """A mapping of column names to sequences of the same length."""

    name = "data"

    def __init__(self, data: Mapping[str, Any], weights: object = None) -> None:
        self._data = {str(name): np.asarray(column) for name, column in data.items()}
        self.columns = tuple(self._data)
        lengths = {len(column) if column.ndim == 1 else -1 for column in self._data.values()}
        if len(lengths) > 1 or -1 in lengths:
            raise DataError("data: every column must be a list of values, all of the same length")
        self._weights = _weights(weights, self._data, max(lengths, default=0))

    def group(self, variables: Sequence[str]) -> Grouped:
        _require(variables, self)
        return Grouped([_texts(self._data[v]) for v in variables], self._weights, tuple(variables), self.name)


class Csv:
    """A CSV file with a header, read once as distinct rows and their numbers."""

    def __init__(self, path: Path, weights: object = None) -> None:
        self.name = path.name
        if weights is not None and not isinstance(weights, str):
            raise DataError("weights of a file are the name of one of its columns")
        self.columns: tuple[str, ...] = ()
        self._rows: Counter[tuple[str, ...]] = Counter()
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                self._read(csv.reader(file, strict=True), path)
        except UnicodeDecodeError:
            raise DataError(f"{path.name}: this is not a text file (UTF-8)") from None
        except OSError as error:
            raise FileProblem(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
        self._weight_column = weights
        if weights is not None:
            _require([weights], self)

    def _read(self, reader: Any, path: Path) -> None:
        """Header and rows; `reader.line_num` is the place of whatever is wrong."""
        try:
            self.columns = tuple(name.strip() for name in next(reader, ()))
            if not any(self.columns):
                raise DataError(f"{path.name}: the file is empty; the first line must name the columns")
            for i, name in enumerate(self.columns):
                if name in self.columns[:i]:
                    raise DataError(f"{path.name}, line 1: the column {name!r} is there twice")
            for row in reader:
                if len(row) != len(self.columns):
                    if not row:
                        continue  # a blank line
                    place, named = f"{path.name}, line {reader.line_num}", len(self.columns)
                    raise DataError(f"{place}: {len(row)} fields, but the header names {named}")
                self._rows[tuple(row)] += 1
        except csv.Error as error:
            raise DataError(f"{path.name}, line {reader.line_num}: {error}") from None

    def group(self, variables: Sequence[str]) -> Grouped:
        _require(variables, self)
        places = [self.columns.index(v) for v in variables]
        found: Counter[tuple[str, ...]] = Counter()
        for row, number in self._rows.items():
            weight = 1.0 if self._weight_column is None else self._weight(row)
            found[tuple(row[i] for i in places)] += number * weight  # type: ignore[assignment]
        columns = [list(column) for column in zip(*found, strict=True)] or [[] for _ in variables]
        return Grouped(columns, np.array(list(found.values()), dtype=float), tuple(variables), self.name)

    def _weight(self, row: tuple[str, ...]) -> float:
        text = row[self.columns.index(str(self._weight_column))]
        return float(_numbers([text], str(self._weight_column))[0])


class Frame:
    """A pandas, polars, pyarrow, DuckDB, PySpark or Dask frame, through narwhals."""

    def __init__(self, data: object, weights: object = None, name: str = "data") -> None:
        try:
            import narwhals as nw
        except ImportError:
            raise MissingExtra("narwhals", "data") from None
        self.name = name
        try:
            frame = nw.from_native(data)  # type: ignore[call-overload]
        except TypeError:
            raise DataError(f"data: expected a mapping of columns or a data frame, not {type(data).__name__}") from None
        self._frame = frame.lazy()
        self.columns: tuple[str, ...] = tuple(self._frame.collect_schema().names())
        if weights is not None and not isinstance(weights, str):
            raise DataError("weights of a data frame are the name of one of its columns")
        if weights is not None:
            _require([weights], self)
        self._weights = weights

    def group(self, variables: Sequence[str]) -> Grouped:
        import narwhals as nw

        _require(variables, self)
        total = nw.len() if self._weights is None else nw.col(self._weights).sum()
        if not variables:
            table = self._frame.select(total.alias("weight of rows")).collect()
        else:
            table = self._frame.group_by(*variables).agg(total.alias("weight of rows")).collect()
        columns = [table[v].to_list() for v in variables]
        weights = np.array(table["weight of rows"].to_list(), dtype=float)
        return Grouped(columns, weights, tuple(variables), self.name)


def _parquet(path: Path, weights: object) -> Source:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("duckdb", "data") from None
    try:
        if not path.is_file():
            raise FileProblem(f"{path}: cannot be read: no such file")
        return Frame(duckdb.connect().read_parquet(str(path)), weights, path.name)
    except duckdb.Error as error:
        raise DataError(f"{path.name}: not a Parquet file: {str(error).splitlines()[0]}") from None


def _require(names: Iterable[str], source: Source) -> None:
    for name in names:
        if name not in source.columns:
            raise DataError(f"{source.name}: there is no column {name}; the columns are {listing(source.columns)}")


def _texts(column: NDArray[Any]) -> list[object]:
    return list(column.tolist())


def _weights(weights: object, data: Mapping[str, NDArray[Any]], rows: int) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(rows)
    if isinstance(weights, str):
        if weights not in data:
            raise DataError(f"data: there is no column {weights} to take the weights from")
        return _numbers(data[weights].tolist(), weights)
    found = _numbers(np.asarray(weights).ravel().tolist(), "weights")
    if len(found) != rows:
        raise DataError(f"weights: {len(found)} numbers for {rows} rows")
    return found


def _numbers(values: Iterable[object], name: str) -> NDArray[np.float64]:
    """Non-negative numbers, or a sentence about the first that is none."""
    found = []
    for value in values:
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            number = math.nan
        if not (0 <= number < math.inf):
            raise DataError(f"{name}: a weight is a number that is not negative, not {value!r}")
        found.append(number)
    return np.array(found)
