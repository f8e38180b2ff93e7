"""The plug-in estimate: frequencies in the place of probabilities, and how far off that may be.

The variance is the delta method's. Each row P(. | z) of a table is a sample of its own; nudging one
cell after the other, each in a trial of its own, gives the slope of the effect in every cell, and
the sampling variance of the rows does the rest. Rows without data are the other uncertainty: where
one matters, it counts as uniform, and the interval is widened by what it could be at worst.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dobandit.errors import DataError, MissingCell
from dobandit.identification import Estimand, Table

Array = NDArray[np.float64]
Counts = Mapping[Table, Array]  # axes: given, variable
Place = tuple[Table, tuple[int, ...]]  # a row of a table

NUDGE = 1e-6
NUMBERS = 2**22  # that the trials of one batch may have together
MOST_CELLS = 2**14  # of all tables of a recipe: more than any log fills


class PlugIn(NamedTuple):
    """The mean of the outcome after setting the treatment to one value, in the outcome's own units."""

    mean: float
    variance: float
    below: float  # how much lower the mean could be for lack of data
    above: float
    unseen: tuple[MissingCell, ...]  # the rows without data that matter


def check_size(estimand: Estimand, cards: Mapping[str, int]) -> None:
    """Refuse a recipe whose tables no log could fill, before anybody counts."""
    widest = max(estimand.tables, key=lambda t: float(np.prod([float(cards[v]) for v in t.free])))
    cells = sum(float(np.prod([float(cards[v]) for v in t.free])) for t in estimand.tables)
    if cells > MOST_CELLS:
        raise DataError(
            f"the effect of {estimand.do} needs tables of {cells:.3g} cells, most of them for {widest}; "
            f"at most {MOST_CELLS} are possible: leave variables out of the graph, or join their values"
        )


def plug_in(estimand: Estimand, counts: Counts, x: int, worth: Sequence[float]) -> PlugIn:
    """E[on | do(do = value number x)] from the counts of the estimand's tables; worth: the values of `on`."""
    return _PlugIn(estimand, counts, x, worth).result()


class _PlugIn:
    def __init__(self, estimand: Estimand, counts: Counts, x: int, worth: Sequence[float]) -> None:
        self.estimand, self.counts, self.x, self.worth = estimand, counts, x, np.asarray(worth)
        self.tables = {table: _frequencies(counts[table]) for table in estimand.tables}
        self.unseen = self._fill_what_matters()

    def result(self) -> PlugIn:
        mean = float(self.means({})[0])
        variance = sum(self._variance(table, mean) for table in self.tables)
        extremes = list(self._extremes())
        return PlugIn(
            mean,
            variance,
            sum(mean - low for low, _ in extremes),
            sum(high - mean for _, high in extremes),
            tuple(MissingCell(str(t), dict(zip(t.given, row, strict=True))) for t, row in self.unseen),
        )

    def means(self, changed: Mapping[Table, Array]) -> Array:
        """The mean of the outcome for every trial of the changed tables; NaN where it is undefined."""
        tables = {t: p[np.newaxis] for t, p in self.tables.items()} | dict(changed)
        found = self.estimand.evaluate(tables, strict=False)
        means: Array = found[:, min(self.x, found.shape[1] - 1)] @ self.worth
        return means

    def _fill_what_matters(self) -> list[Place]:
        """Make the rows without data uniform that the result needs; the others stay undefined, beside a zero
        or outside an average. A row is needed if it alone, undefined, undoes the result."""
        undefined = [
            (t, tuple(map(int, row))) for t, p in self.tables.items() for row in np.argwhere(np.isnan(p[..., 0]))
        ]
        if not undefined or not np.isnan(self.means({})).any():
            return []
        holes, self.tables = self.tables, {t: np.where(np.isnan(p), 1 / p.shape[-1], p) for t, p in self.tables.items()}
        without = self._each(undefined, lambda size: np.full(size, np.nan))
        needed = [place for place, mean in without if np.isnan(mean)]
        some = {t: p.copy() for t, p in holes.items()}
        for table, row in needed:
            some[table][row] = self.tables[table][row]
        everything, self.tables = self.tables, some
        if np.isnan(self.means({})).any():  # rows that can be spared one by one, but not all together
            self.tables, needed = everything, undefined
        return needed

    def _each(self, places: Sequence[Place], row_of: Callable[[int], Array]) -> Iterator[tuple[Place, float]]:
        """The mean with one row after the other replaced, many at a time; `row_of` makes a row of a given size."""
        for table in self.tables:
            own = [place for place in places if place[0] == table]
            together = max(1, NUMBERS // self.tables[table].size)
            for start in range(0, len(own), together):
                batch = own[start : start + together]
                changed = np.repeat(self.tables[table][np.newaxis], len(batch), axis=0)
                for trial, (_, row) in enumerate(batch):
                    changed[(trial, *row)] = row_of(changed.shape[-1])
                yield from zip(batch, self.means({table: changed}).tolist(), strict=True)

    def _variance(self, table: Table, mean: float) -> float:
        """What the sampling of one table adds to the variance of the mean."""
        counts, p = self.counts[table], self.tables[table]
        totals = counts.sum(axis=-1)
        slopes = np.zeros(p.shape)
        cells = np.argwhere(np.broadcast_to(totals[..., np.newaxis] > 0, p.shape))
        together = max(1, NUMBERS // p.size)
        for start in range(0, len(cells), together):
            batch = cells[start : start + together]
            nudged = np.repeat(p[np.newaxis], len(batch), axis=0)
            nudged[(np.arange(len(batch)), *batch.T)] += NUDGE
            slopes[tuple(batch.T)] = (self.means({table: nudged}) - mean) / NUDGE
        # Half a count for every value, so that a row in which only one value was seen is not taken for certain.
        likely = (counts + 0.5) / (totals + 0.5 * p.shape[-1])[..., np.newaxis]
        spread = (likely * slopes**2).sum(axis=-1) - (likely * slopes).sum(axis=-1) ** 2
        return float((np.maximum(spread, 0.0) / np.maximum(totals, 1)).sum())  # rounding may fall below zero

    def _extremes(self) -> Iterator[tuple[float, float]]:
        """For every row without data the smallest and largest mean that it could lead to, if certain of a value."""
        found: dict[Place, list[float]] = {place: [] for place in self.unseen}
        for value in range(max((self.tables[t].shape[-1] for t, _ in self.unseen), default=0)):
            able = [place for place in self.unseen if value < self.tables[place[0]].shape[-1]]
            for place, mean in self._each(able, partial(_certain, value)):
                found[place].append(mean)
        for means in found.values():
            yield min(means), max(means)


def _frequencies(counts: Array) -> Array:
    """P(v | z); NaN where z was never seen."""
    totals = counts.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        found: Array = np.where(totals > 0, counts / totals, np.nan)
    return found


def _certain(value: int, size: int) -> Array:
    """The distribution that is certain of one value."""
    return np.asarray(np.eye(size)[value])
