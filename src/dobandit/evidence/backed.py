"""A quick reader with a sure one behind it: where the quick one is in doubt, the sure one answers, from then on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from dobandit.evidence.grouped import Grouped
from dobandit.evidence.reading import Reading
from dobandit.evidence.source import Occurrence, Source

T = TypeVar("T")


class InDoubt(Exception):
    """A reader found something that it may not read as it is meant."""


class Backed:
    """A source that is read quickly. Doubts arise while rows are read, so that no reading is spent on a check."""

    def __init__(self, quick: Source, sure: Callable[[], Source]) -> None:
        self._source, self._sure = quick, sure
        self.name, self.columns, self.notes = quick.name, quick.columns, quick.notes
        self.probabilities = quick.probabilities

    def group(self, variables: Sequence[str], measure: str | None = None) -> Grouped:
        return self._answer(lambda source: source.group(variables, measure))

    def values(self, column: str) -> list[Occurrence]:
        return self._answer(lambda source: source.values(column))

    def read_as(self, readings: Mapping[str, Reading], complete: Sequence[str] = ()) -> Source:
        read = self._answer(lambda source: source.read_as(readings, complete))
        return Backed(read, lambda: self._sure().read_as(readings, complete))

    def first(self, columns: Sequence[str]) -> list[list[Any]]:
        return self._answer(lambda source: source.first(columns))

    def rows_without(self, columns: Sequence[str]) -> int:
        return self._answer(lambda source: source.rows_without(columns))

    def where(self, row: int) -> str:
        return self._answer(lambda source: source.where(row))

    def _answer(self, ask: Callable[[Source], T]) -> T:
        try:
            return ask(self._source)
        except InDoubt:
            self._source = self._sure()
            return ask(self._source)
