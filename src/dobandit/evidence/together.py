"""Several files as one: the same columns in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dobandit.errors import DataError, listing
from dobandit.evidence.grouped import Grouped, Measured
from dobandit.evidence.reading import Reading
from dobandit.evidence.source import Occurrence, Source

_FAR = 1 << 40  # rows of a file; the number of a row of the second file starts from here


class Together:
    """The rows of several sources, one after the other."""

    def __init__(self, name: str, sources: Sequence[Source]) -> None:
        self.name, self._sources, self.columns = name, sources, sources[0].columns
        for source in sources:
            other = sorted(set(source.columns) ^ set(self.columns))
            if other:
                both = f"{source.name} and {sources[0].name}"
                raise DataError(f"{both} have different columns: only one of them has {listing(other)}")
        self.probabilities = any(source.probabilities for source in sources)
        self.notes = tuple(note for source in sources for note in source.notes)

    def group(self, variables: Sequence[str], measure: str | None = None) -> Grouped:
        found = [source.group(variables, measure) for source in self._sources]
        columns = [[v for each in found for v in each.columns[i]] for i in range(len(variables))]
        weights = np.concatenate([each.weights for each in found])
        return Grouped(columns, weights, tuple(variables), self.name, _measured(found) if measure else None)

    def values(self, column: str) -> list[Occurrence]:
        found: dict[object, Occurrence] = {}
        for k, source in enumerate(self._sources):
            for value, rows, *ends in source.values(column):
                start, end = (None if row is None else row + k * _FAR for row in ends)
                _, before, start, _ = found.get(value, (value, 0, start, None))
                found[value] = Occurrence(value, before + rows, start, end)
        return list(found.values())

    def read_as(self, readings: Mapping[str, Reading], complete: Sequence[str] = ()) -> Source:
        return Together(self.name, [source.read_as(readings, complete) for source in self._sources])

    def first(self, columns: Sequence[str]) -> list[list[Any]]:
        return self._sources[0].first(columns)

    def rows_without(self, columns: Sequence[str]) -> int:
        return sum(source.rows_without(columns) for source in self._sources)

    def where(self, row: int) -> str:
        source = self._sources[row // _FAR]
        return f"{source.name}, {source.where(row % _FAR)}"


def _measured(found: Sequence[Grouped]) -> Measured:
    """The measurements of all sources, about the same number."""
    parts = [(each.measured, each.weights) for each in found if each.measured is not None]
    reference = min(part.reference for part, _ in parts)
    powers = np.concatenate([part.about(reference, weights).powers for part, weights in parts], axis=1)
    return Measured(powers, reference, min(part.least for part, _ in parts), max(part.most for part, _ in parts))
