"""Rows in memory: columns, or mappings of names to values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dobandit.arrays import Array, Flags, Indices
from dobandit.errors import DataError
from dobandit.evidence.grouped import Grouped, Measured
from dobandit.evidence.numbers import as_number
from dobandit.evidence.reading import Reading
from dobandit.evidence.source import FIRST, MOST_WEIGHT, Occurrence, Weights, no_values, require
from dobandit.graph import normal
from dobandit.numerals import amount
from dobandit.problem import is_null

MOST_COMBINATIONS = 1 << 20  # of values of all columns, up to which equal rows are looked for


class Columns:
    """Columns in memory, all of the same length."""

    def __init__(
        self,
        name: str,
        data: Mapping[str, list[Any]],
        weights: Weights = None,
        times: Indices | int = 1,
        first: Indices | None = None,
        where: Callable[[int], str] = "row {}".format,
        notes: tuple[str, ...] = (),
    ) -> None:
        """`times` says how often every row occurs, `first` the number of the first one, `where` where that is."""
        self.name, self._data, self.columns = name, data, tuple(data)
        self._times, self._first, self.where, self.notes = times, first, where, notes
        rows = len(next(iter(data.values()), ()))
        if isinstance(weights, str):
            require([weights], self)
            given = _numbers(data[weights], weights)
        else:
            given = np.ones(rows) if weights is None else _numbers(np.asarray(weights).ravel().tolist(), "weights")
        if len(given) != rows:
            raise DataError(f"weights: {len(given)} numbers for {rows} rows")
        self._weights: Array = given * times
        with np.errstate(over="ignore"):
            if not self._weights.sum() < MOST_WEIGHT:
                raise DataError(f"the weights add up to {amount(MOST_WEIGHT)} or more; divide all of them by a number")
        self.probabilities = bool((given % 1 != 0).any())

    def group(self, variables: Sequence[str], measure: str | None = None) -> Grouped:
        require([*variables, *([measure] if measure else [])], self)
        measured = Measured.of(self._data[measure], self._weights, measure, self.name) if measure else None
        return Grouped([self._data[v] for v in variables], self._weights, tuple(variables), self.name, measured)

    def values(self, column: str) -> list[Occurrence]:
        require([column], self)
        data = self._data[column]
        times = np.broadcast_to(self._times, len(data)).tolist()
        numbers = range(1, len(data) + 1) if self._first is None else self._first.tolist()
        found: dict[Any, Occurrence] = {}
        try:
            for value, number, row in zip(data, times, numbers, strict=True):
                key = value if value == value else math.nan  # one NaN is the same as another here
                _, rows, first, _ = found.get(key, (key, 0, row, row))
                found[key] = Occurrence(key, rows + number, first, row)
        except TypeError:
            raise no_values(self.name, column) from None
        return list(found.values())

    def read_as(self, readings: Mapping[str, Reading], complete: Sequence[str] = ()) -> Columns:
        data = dict(self._data)
        for name, reading in readings.items():
            require([reading.column], self)
            try:
                data[name] = reading.of(self._data[reading.column])
            except TypeError:
                raise no_values(self.name, reading.column) from None
        kept = np.flatnonzero(~_empty(data, complete, len(self._weights)))
        other = copy(self)
        other._data = {name: [column[i] for i in kept.tolist()] for name, column in data.items()} if complete else data
        other.columns, other._weights = tuple(data), self._weights[kept]
        other._times = np.broadcast_to(self._times, len(self._weights))[kept]
        other._first = None if self._first is None else self._first[kept]
        return other

    def first(self, columns: Sequence[str]) -> list[list[Any]]:
        require(columns, self)
        return [list(self._data[column][:FIRST]) for column in columns]

    def rows_without(self, columns: Sequence[str]) -> int:
        empty = _empty(self._data, columns, len(self._weights))
        return int(np.broadcast_to(self._times, len(empty))[empty].sum())


def in_memory(data: Mapping[str, Any], weights: Weights) -> Columns:
    """Sequences of any kind, all of the same length; equal rows of a few small integers are counted here, once."""
    columns = _arrays(data)
    combinations = _combinations(columns.values()) if columns and weights is None else None
    if combinations is None:
        return Columns("data", {name: column.tolist() for name, column in columns.items()}, weights)
    _, first, times = np.unique(combinations, return_index=True, return_counts=True)
    order = np.argsort(first)
    first, times = first[order], times[order]
    distinct = {name: column[first].tolist() for name, column in columns.items()}
    return Columns("data", distinct, times=times, first=first + 1)


def _arrays(data: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    try:
        columns = {normal(str(name)): np.asarray(column) for name, column in data.items()}
        if any(column.ndim != 1 for column in columns.values()) or len({len(c) for c in columns.values()}) > 1:
            raise ValueError
    except ValueError:
        raise DataError("data: every column must be a list of values, all of the same length") from None
    return columns


def _combinations(columns: Iterable[NDArray[Any]]) -> Indices | None:
    """A number for every row, the same for equal rows; none if a column is not of integers, or there are too many."""
    number, size = np.zeros(1, dtype=np.intp), 1
    for column in columns:
        if column.dtype.kind not in "iu" or not len(column):
            return None
        values = column.astype(np.int64)  # differences of small types could overflow
        least = int(values.min())
        span = int(values.max()) - least + 1
        size *= span
        if size > MOST_COMBINATIONS:
            return None
        number = number * span + (values - least)
    return number


def columns_of_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as mappings, turned into columns."""
    if not all(isinstance(row, Mapping) for row in rows):
        raise DataError("data: expected rows that map names to values, or a mapping of columns")
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    for i, row in enumerate(rows):
        for name in names:
            if name not in row:
                raise DataError(f"data: row {i} has no value of {name}")
    return {name: [row[name] for row in rows] for name in names}


def _empty(data: Mapping[str, list[Any]], columns: Iterable[str], rows: int) -> Flags:
    """The rows in which some of these columns have no value."""
    empty = np.zeros(rows, dtype=bool)
    for column in columns:
        empty |= np.fromiter(map(is_null, data[column]), dtype=bool, count=rows)
    return empty


def _numbers(values: Iterable[object], name: str) -> Array:
    """Non-negative numbers, or a sentence about the first that is none."""
    found = []
    for value in values:
        number = as_number(value)
        if not (0 <= number < math.inf):
            raise DataError(f"{name}: a weight is a number that is not negative, not {value!r}")
        found.append(number)
    return np.array(found)
