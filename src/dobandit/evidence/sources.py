"""Where rows come from: columns or rows in memory, any frame that narwhals reads, CSV and Parquet files.

A source is asked one kind of question only: how often does each combination of values of these
variables occur (and what does a measurement add up to there)? So a database counts where its rows
live, and only counts come back.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dobandit.arrays import Array
from dobandit.errors import DataError, DobanditError, MissingExtra, listing
from dobandit.evidence.grouped import Grouped, Measured
from dobandit.files import cannot_read

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

Weights = str | ArrayLike | None  # the name of a column, or a number for every row
# Columns, rows, the path of a file, or a frame of any library that narwhals knows.
Data: TypeAlias = "Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | Path | IntoFrame"


class Source(Protocol):
    """Rows that can be counted."""

    name: str
    columns: tuple[str, ...]
    probabilities: bool  # whether the weights are no whole numbers, so that they may be probabilities

    def group(self, variables: Sequence[str], measure: str | None = None) -> Grouped:
        """Every combination of values of these columns that occurs, with its total weight, and, for a column of
        measurements, their weighted sum."""
        ...


def open_source(data: Data, weights: Weights = None) -> Source:
    """The source behind whatever was handed in; `weights` is the name of a column, or an array."""
    if isinstance(data, str | Path):
        return open_file(Path(data), weights)
    if isinstance(data, Mapping):
        return Columns("data", _columns_of_mapping(data), weights)
    if isinstance(data, list | tuple):
        return Columns("data", _columns_of_mapping(_columns_of_rows(data)), weights)
    if weights is None or isinstance(weights, str):
        return Frame(data, weights)
    return Columns(
        "data", Frame(data).everything(), weights
    )  # weights in memory cannot travel to where the frame lives


def open_file(path: Path, weights: Weights = None) -> Source:
    if weights is not None and not isinstance(weights, str):
        raise DataError("weights of a file are the name of one of its columns")
    if path.suffix.lower() in (".parquet", ".pq"):
        return _parquet(path, weights)
    names, rows = _distinct_rows(path)
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Columns(path.name, columns, weights, np.array(list(rows.values()), dtype=float))


class Columns:
    """Columns in memory, all of the same length."""

    def __init__(
        self, name: str, data: Mapping[str, list[Any]], weights: Weights = None, times: Array | float = 1.0
    ) -> None:
        """`times` says how often every row occurs."""
        self.name, self._data, self.columns = name, data, tuple(data)
        rows = len(next(iter(data.values()), ()))
        if isinstance(weights, str):
            _require([weights], self)
            given = _numbers(data[weights], weights)
        else:
            given = np.ones(rows) if weights is None else _numbers(np.asarray(weights).ravel().tolist(), "weights")
        if len(given) != rows:
            raise DataError(f"weights: {len(given)} numbers for {rows} rows")
        self._weights: Array = given * times
        self.probabilities = bool((given % 1 != 0).any())

    def group(self, variables: Sequence[str], measure: str | None = None) -> Grouped:
        _require([*variables, *([measure] if measure else [])], self)
        measured = Measured.of(self._data[measure], self._weights, measure, self.name) if measure else None
        return Grouped([self._data[v] for v in variables], self._weights, tuple(variables), self.name, measured)


class Frame:
    """A pandas, polars, pyarrow, DuckDB, PySpark or Dask frame, through narwhals."""

    def __init__(self, data: Any, weights: str | None = None, name: str = "data") -> None:
        try:
            import narwhals as nw
        except ImportError:
            raise MissingExtra("narwhals", "data") from None
        self.name = name
        try:
            self._frame = nw.from_native(data).lazy()
        except TypeError:
            raise DataError(f"data: expected columns, rows or a data frame, not {type(data).__name__}") from None
        schema = self._frame.collect_schema()
        self.columns: tuple[str, ...] = tuple(schema.names())
        if not all(isinstance(column, str) for column in self.columns):
            raise DataError(f"{name}: the names of the columns must be texts")
        self._weights = weights
        self.probabilities = False
        if weights is not None:
            _require([weights], self)
            if not schema[weights].is_numeric():
                raise DataError(f"{weights}: weights are numbers that are not negative")
            self._check_weights(weights)

    def _check_weights(self, weights: str) -> None:
        import narwhals as nw

        w = nw.col(weights)
        asked = {"low": w.min(), "missing": w.null_count(), "total": w.sum(), "broken": (w % 1 != 0).sum()}
        (low, missing, total, broken), *_ = self._fetched(self._frame.select(**asked))
        if missing or (low is not None and not (low >= 0 and math.isfinite(total))):
            raise DataError(f"{weights}: weights are numbers that are not negative, and none may be missing")
        self.probabilities = bool(broken)

    def group(self, variables: Sequence[str], measure: str | None = None) -> Grouped:
        import narwhals as nw

        _require([*variables, *([measure] if measure else [])], self)
        frame, asked = self._frame, {"number of rows": nw.len()}
        if self._weights is not None:
            asked["total weight"] = nw.col(self._weights).sum()
        if measure is not None:
            if not frame.collect_schema()[measure].is_numeric():
                raise DataError(f"{self.name}: column {measure} has texts, and numbers are needed")
            y = nw.col(measure)
            weighted = y if self._weights is None else y * nw.col(self._weights)
            frame = frame.with_columns(weighted.alias("what is measured"))
            asked |= {"total measured": nw.col("what is measured").sum(), "least measured": y.min()}
            asked |= {"most measured": y.max(), "number measured": y.count()}
        rows = self._fetched(frame.group_by(*variables).agg(**asked) if variables else frame.select(**asked))
        columns = list(map(list, zip(*rows, strict=True))) or [[] for _ in range(len(variables) + len(asked))]
        values, numbers = columns[: len(variables)], [np.array(c, dtype=float) for c in columns[len(variables) :]]
        measured = None
        if measure is not None:
            sums, least, most, present = numbers[-4:]
            measured = Measured.checked(sums, least, most, numbers[0] - present, measure, self.name)
        return Grouped(values, numbers[0 if self._weights is None else 1], tuple(variables), self.name, measured)

    def everything(self) -> dict[str, list[Any]]:
        rows = self._fetched(self._frame)
        return {name: [row[i] for row in rows] for i, name in enumerate(self.columns)}

    def _fetched(self, frame: Any) -> list[tuple[Any, ...]]:
        """The rows of a small frame; whatever goes wrong inside a database is told in one sentence."""
        try:
            native = frame.to_native()
            if hasattr(native, "fetchall"):  # DuckDB, which would otherwise need pyarrow
                return list(native.fetchall())
            return list(frame.collect().iter_rows())
        except DobanditError:
            raise
        except Exception as error:
            what = (str(error) or type(error).__name__).splitlines()[0]
            raise DataError(f"{self.name}: the rows cannot be counted: {what}") from None


def _parquet(path: Path, weights: str | None) -> Source:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("duckdb", "data") from None
    try:
        path.open("rb").close()
    except OSError as error:
        raise cannot_read(path, error) from None
    literally = re.sub(r"[*?\[]", lambda sign: f"[{sign[0]}]", str(path))  # a path, not a pattern
    try:
        return Frame(duckdb.connect().read_parquet(literally), weights, path.name)
    except duckdb.Error as error:
        raise DataError(f"{path.name}: not a Parquet file: {str(error).splitlines()[0]}") from None


def _distinct_rows(path: Path) -> tuple[tuple[str, ...], Counter[tuple[str, ...]]]:
    """The header of a CSV file, and how often each row occurs in it."""
    rows: Counter[tuple[str, ...]] = Counter()
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            try:
                names = _header(next(reader, []), path)
                for row in reader:
                    if row and len(row) != len(names):  # a blank line has no fields
                        place = f"{path.name}, line {reader.line_num}"
                        raise DataError(f"{place}: {len(row)} fields, but the header names {len(names)}")
                    if row:
                        rows[tuple(row)] += 1
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


def _columns_of_mapping(data: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Sequences of any kind as lists, all of the same length."""
    try:
        columns = {str(name): np.asarray(column) for name, column in data.items()}
        if any(column.ndim != 1 for column in columns.values()) or len({len(c) for c in columns.values()}) > 1:
            raise ValueError
    except ValueError:
        raise DataError("data: every column must be a list of values, all of the same length") from None
    return {name: column.tolist() for name, column in columns.items()}


def _columns_of_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as mappings, turned into columns."""
    if not all(isinstance(row, Mapping) for row in rows):
        raise DataError("data: expected rows that map names to values, or a mapping of columns")
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    for i, row in enumerate(rows):
        for name in names:
            if name not in row:
                raise DataError(f"data: row {i} has no value of {name}")
    return {name: [row[name] for row in rows] for name in names}


def _require(names: Iterable[str], source: Source) -> None:
    for name in names:
        if name not in source.columns:
            raise DataError(f"{source.name}: there is no column {name}; the columns are {listing(source.columns)}")


def _numbers(values: Iterable[object], name: str) -> Array:
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
