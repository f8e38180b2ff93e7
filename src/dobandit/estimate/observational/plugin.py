"""The plug-in estimate: frequencies in the place of probabilities, and how much depends on each of them.

Each row P(. | z) of a table is a sample of its own. Adding one more draw to it, of one value after the
other, gives the slope of the effect in every cell; with the size of the sample these slopes make the
interval. Rows without data are the other uncertainty: where one matters, it counts as uniform, and the
interval is widened by what it could be at worst.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.errors import DataError, MissingCell
from dobandit.identification import Estimand, Table

Counts = Mapping[Table, Array]  # axes: given, variable
Place = tuple[Table, tuple[int, ...]]  # a row of a table

SMALLEST_STEP = 1e-6  # of a slope: below it rounding would show
TINY = 1e-12  # a probability that stands for zero where a zero would leave the result undefined
NUMBERS = 2**22  # that the trials of one batch may have together
MOST_CELLS = 2**14  # of all tables of a recipe: more than any log fills


class Rows(NamedTuple):
    """How the result depends on the rows that have data: one number for each row, the range of the outcome being 1."""

    totals: Array  # the size of the sample
    variances: Array  # of a single draw, as the result sees it
    reaches: Array  # between a row that is all of the worst value and one that is all of the best


class PlugIn(NamedTuple):
    """The mean of the outcome after setting the treatment to one value, in the outcome's own units."""

    mean: float
    rows: Rows
    below: float  # how much lower the mean could be for lack of data, as a share of the outcome's range
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
        self.unseen = self._fill()
        self.mean = float(self.means({})[0])

    def result(self) -> PlugIn:
        below = above = 0.0
        seen = []
        for table, p in self.tables.items():
            slopes, totals = self._slopes(table), self.counts[table].sum(axis=-1)
            worst, best = slopes.min(axis=-1, initial=0.0), slopes.max(axis=-1, initial=0.0)
            variances = (p * slopes**2).sum(axis=-1) - (p * slopes).sum(axis=-1) ** 2
            seen.append([part[totals > 0] for part in (totals, variances, best - worst)])
            below -= float(worst[totals == 0].sum())
            above += float(best[totals == 0].sum())
        totals, variances, reaches = map(np.concatenate, zip(*seen, strict=True))
        return PlugIn(
            float(np.clip(self.mean, self.worth.min(), self.worth.max())),  # rounding may leave the range
            Rows(totals, np.maximum(variances, 0.0), reaches),
            below,
            above,
            tuple(MissingCell(str(t), dict(zip(t.given, row, strict=True))) for t, row in self.unseen),
        )

    def means(self, changed: Mapping[Table, Array]) -> Array:
        """The mean of the outcome for every trial of the changed tables; NaN where it is undefined."""
        tables = {t: p[np.newaxis] for t, p in self.tables.items()} | dict(changed)
        found = self.estimand.evaluate(tables, strict=False)
        means: Array = found[:, min(self.x, found.shape[1] - 1)] @ self.worth
        return means

    # -- rows without data ---------------------------------------------------------------------------------

    def _fill(self) -> list[Place]:
        """Make rows without data uniform, and return those that matter: undefined, each of them alone would undo the
        result. A row that only drops out of an average stays undefined, since a uniform one would count there."""
        undefined = [
            (t, tuple(map(int, row))) for t, p in self.tables.items() for row in np.argwhere(np.isnan(p[..., 0]))
        ]
        if not undefined:
            return []
        self.tables = {t: _uniform_where_undefined(p) for t, p in self.tables.items()}
        filled = self.means({})[0]
        without = list(self._without(undefined))
        needed = [place for place, mean in without if np.isnan(mean)]
        dropped = [place for place, mean in without if mean != filled and not np.isnan(mean)]
        for table, row in dropped:
            self.tables[table][row] = np.nan
        if np.isnan(self.means({})).any():  # they can be spared one by one, but not all together
            needed += dropped
            self.tables = {t: _uniform_where_undefined(p) for t, p in self.tables.items()}
        if np.isnan(filled):  # a ratio of zeros
            self.tables = {t: _positive(p) for t, p in self.tables.items()}
        return needed

    def _without(self, places: Sequence[Place]) -> Iterator[tuple[Place, float]]:
        """The result with one row after the other undefined, many at a time."""
        for table, p in self.tables.items():
            own = [place for place in places if place[0] == table]
            together = max(1, NUMBERS // p.size)
            for start in range(0, len(own), together):
                batch = own[start : start + together]
                changed = np.repeat(p[np.newaxis], len(batch), axis=0)
                for trial, (_, row) in enumerate(batch):
                    changed[(trial, *row)] = np.nan
                yield from zip(batch, self.means({table: changed}).tolist(), strict=True)

    # -- slopes --------------------------------------------------------------------------------------------

    def _slopes(self, table: Table) -> Array:
        """How the result would change if the row of a cell were all of the cell's value, as a share of the outcome's
        range: found from one draw more, so that for a row without data it is the very result of that."""
        p, totals = self.tables[table], self.counts[table].sum(axis=-1, keepdims=True)
        slopes = np.zeros(p.shape)
        steps = np.broadcast_to(np.maximum(1 / (totals + 1), SMALLEST_STEP), p.shape)
        cells = np.argwhere(~np.isnan(p))
        together = max(1, NUMBERS // p.size)
        for start in range(0, len(cells), together):
            batch = cells[start : start + together]
            trial, step = np.arange(len(batch)), steps[tuple(batch.T)]
            moved = np.repeat(p[np.newaxis], len(batch), axis=0)
            moved[(trial, *batch[:, :-1].T)] *= 1 - step[:, np.newaxis]
            moved[(trial, *batch.T)] += step
            slopes[tuple(batch.T)] = self._changes(table, moved) / step
        return slopes / (np.ptp(self.worth) or 1.0)

    def _changes(self, table: Table, moved: Array) -> Array:
        """What other numbers in a table change in the result. Where they bring in a row without data, it is uniform."""
        found = self.means({table: moved}) - self.mean
        undefined = np.isnan(found)
        if undefined.any():
            found[undefined] = self.means(self._defined | {table: _positive(moved[undefined])})
            found[undefined] -= self.means(self._defined)
        return found

    @cached_property
    def _defined(self) -> dict[Table, Array]:
        return {t: _positive(p)[np.newaxis] for t, p in self.tables.items()}


def _frequencies(counts: Array) -> Array:
    """P(v | z); NaN where z was never seen."""
    totals = counts.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        found: Array = np.where(totals > 0, counts / totals, np.nan)
    return found


def _uniform_where_undefined(p: Array) -> Array:
    return np.where(np.isnan(p), 1 / p.shape[-1], p)


def _positive(p: Array) -> Array:
    """The same rows without zeros; uniform ones where there are no data."""
    found: Array = (1 - TINY) * _uniform_where_undefined(p) + TINY / p.shape[-1]
    return found
