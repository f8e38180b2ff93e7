"""Columns with names that DuckDB and Spark take for something else: `Sepal.Length` for a column of a table Sepal, `"x"`
for x.

Inside, such a column has a name in which other characters stand for these signs; outside, it has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from dobandit.errors import DataError
from dobandit.evidence.grouped import Grouped
from dobandit.evidence.reading import Reading
from dobandit.evidence.source import Occurrence, Source

T = TypeVar("T")
_SIGNS = {ord(sign): 0xE000 + ord(sign) for sign in '."`*'}  # for private use: no name has them
_BACK = {inside: sign for sign, inside in _SIGNS.items()}


def safe(name: str) -> str:
    """The name of a column inside; most names stay as they are."""
    return name.translate(_SIGNS)


def in_sql(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


def safely_named(relation: Any) -> Any:
    """A relation of DuckDB or a frame of Spark with names that are safe."""
    if all(safe(name) == name for name in relation.columns):
        return relation
    if hasattr(relation, "toDF"):  # Spark
        return relation.toDF(*map(safe, relation.columns))
    return relation.project(", ".join(f"{in_sql(name)} AS {in_sql(safe(name))}" for name in relation.columns))


def with_own_names(source: Source) -> Source:
    """A source whose columns have names that are safe, under their own names."""
    return Renamed(source) if any(_own(name) != name for name in source.columns) else source


class Renamed:
    """A source that is asked by other names."""

    def __init__(self, source: Source) -> None:
        self._source, self.columns = source, tuple(map(_own, source.columns))
        self.name, self.probabilities, self.notes = source.name, source.probabilities, source.notes

    def group(self, variables: Sequence[str], measure: str | None = None) -> Grouped:
        found = _told(lambda: self._source.group(list(map(safe, variables)), safe(measure) if measure else None))
        return replace(found, variables=tuple(variables))

    def values(self, column: str) -> list[Occurrence]:
        return _told(lambda: self._source.values(safe(column)))

    def read_as(self, readings: Mapping[str, Reading], complete: Sequence[str] = ()) -> Source:
        inside = {safe(v): reading._replace(column=safe(reading.column)) for v, reading in readings.items()}
        return Renamed(_told(lambda: self._source.read_as(inside, list(map(safe, complete)))))

    def first(self, columns: Sequence[str]) -> list[list[Any]]:
        return _told(lambda: self._source.first(list(map(safe, columns))))

    def rows_without(self, columns: Sequence[str]) -> int:
        return _told(lambda: self._source.rows_without(list(map(safe, columns))))

    def where(self, row: int) -> str:
        return self._source.where(row)


def _own(text: str) -> str:
    return text.translate(_BACK)


def _told(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except DataError as error:
        raise DataError(_own(str(error))) from None
