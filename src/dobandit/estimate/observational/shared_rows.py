"""What two recipes have in common: their tables are counted from the same rows, so their errors are not independent.

One row moves the estimate by the slope of its cell divided by the size of the cell's sample, in every table at once.
The squares of these moves add up to the variance of the estimate. Within one recipe each conditional is a sample of its
own, and only the squares within a table count. What this file adds is the products of the moves in different tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy as np

from dobandit.arrays import Array
from dobandit.evidence import Domains, Source, read_sample
from dobandit.identification import Table

Ends = tuple[float, float]


class SharedRows:
    """The rows behind some tables."""

    def __init__(self, source: Source, tables: Iterable[Table], domains: Domains, between: Mapping[str, Ends]) -> None:
        variables = dict.fromkeys(v for t in tables for v in (*t.given, t.variable))
        self.sample, self.between = read_sample(source, variables, domains, between), between

    def covariance(self, slopes: Mapping[Table, Array], totals: Mapping[Table, Array]) -> float:
        """What the products of different tables add to the squared standard error.

        Both arrays have the axes of their table; the last one of `totals` has length one.
        """
        moves = [self._at(t, slopes[t]) / self._rows(t, totals[t])[:, 0] for t in slopes]
        return 2 * sum(float(self.sample.weights @ (a * b)) for a, b in combinations(moves, 2))

    def _rows(self, table: Table, cells: Array) -> Array:
        """P(. | z) for the z of every row of the data."""
        found = cells[tuple(self.sample.codes[v] for v in table.given)]
        return np.broadcast_to(found, (len(self.sample.weights), cells.shape[-1]))

    def _at(self, table: Table, cells: Array) -> Array:
        """The number in the cell of every row of the data; that of a measurement lies between those of its ends."""
        found = self._rows(table, cells)
        if table.variable not in self.between:
            return np.take_along_axis(found, self.sample.codes[table.variable][:, np.newaxis], axis=1)[:, 0]
        low, high = self.between[table.variable]
        share = (self.sample.numbers[table.variable] - low) / (high - low)
        return (1 - share) * found[:, 0] + share * found[:, 1]
