"""The plug-in estimate: frequencies in the place of probabilities, and how much depends on each of them.

Each row P(. | z) of a table is a sample of its own. The derivative of the effect by the cells of a row, together with
the size of the sample, says how uncertain the row makes the effect (the delta method). Rows without data are the other
uncertainty: where one matters, it counts as uniform, and the interval is widened by what it could be at worst.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.errors import DataError, MissingCell
from dobandit.evidence import MOST_CELLS, cells
from dobandit.identification import Estimand, Table

Tables = dict[Table, Array]  # axes: trial, given, variable

TINY = 1e-12  # a probability that stands for zero where a zero would leave the result undefined
NUMBERS = 2**22  # that the trials of one batch may have together: 32 MB


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


def check_size(estimand: Estimand, domains: Mapping[str, Sequence[str]]) -> None:
    """Refuse an effect whose tables no log could fill, before anything is counted."""
    sizes = {table: cells(table.free, domains) for table in estimand.tables}
    widest, total = max(sizes, key=sizes.__getitem__), sum(sizes.values())
    if total > MOST_CELLS:
        raise DataError(
            f"the effect of {estimand.do} needs tables of {total:.3g} cells, most of them for {widest}; "
            f"at most {MOST_CELLS} are possible: leave variables out of the graph, or join their values"
        )


def plug_in(estimand: Estimand, counts: Mapping[Table, Array], x: int, worth: Sequence[float]) -> PlugIn:
    """E[on | do(do = value number x)] from the counts of the estimand's tables; worth: the values of `on`."""
    return _PlugIn(estimand, {t: counts[t][np.newaxis] for t in estimand.tables}, x, np.asarray(worth)).result()


class _PlugIn:
    def __init__(self, estimand: Estimand, counts: Tables, x: int, worth: Array) -> None:
        self.estimand, self.x, self.worth = estimand, x, worth
        self.range = float(np.ptp(worth)) or 1.0
        self.totals = {t: n.sum(axis=-1, keepdims=True) for t, n in counts.items()}
        with np.errstate(invalid="ignore"):
            self.tables: Tables = {t: n / self.totals[t] for t, n in counts.items()}  # NaN where z was never seen
        self.unseen = self._fill()
        self.mean = self._means(self.tables)[0]

    def result(self) -> PlugIn:
        found = []
        for t, slopes in self._slopes().items():
            p, totals = self.tables[t], self.totals[t][..., 0]
            variances = (p * slopes**2).sum(axis=-1) - (p * slopes).sum(axis=-1) ** 2
            found.append([part[totals > 0] for part in (totals, np.maximum(variances, 0.0), np.ptp(slopes, axis=-1))])
        totals, variances, reaches = map(np.concatenate, zip(*found, strict=True))
        below, above = self._worst_cases()
        unseen = [(t, row) for t, rows in self.unseen.items() for row in np.argwhere(rows)[:, 1:].tolist()]
        return PlugIn(
            float(np.clip(self.mean, self.worth.min(), self.worth.max())),  # rounding may leave the range
            Rows(totals, variances, reaches),
            below,
            above,
            tuple(MissingCell(str(t), dict(zip(t.given, row, strict=True))) for t, row in unseen),
        )

    def _means(self, tables: Tables) -> Array:
        """The mean of the outcome for every trial; NaN where it is undefined."""
        found = self.estimand.evaluate(tables, strict=False)
        return np.asarray(found[:, min(self.x, found.shape[1] - 1)] @ self.worth)

    # -- rows without data ---------------------------------------------------------------------------------

    def _fill(self) -> dict[Table, Flags]:
        """Make rows without data uniform, and return those that matter: undefined, each of them alone would undo the
        result. A row that only drops out of an average stays undefined, since a uniform one would count there."""
        undefined = {t: np.isnan(p[..., 0]) for t, p in self.tables.items()}
        if not any(rows.any() for rows in undefined.values()):
            return {}
        self.tables = uniform = {t: _uniform_where_undefined(p) for t, p in self.tables.items()}
        filled = self._means(uniform)[0]
        needed, dropped = {}, {}
        for t, rows in undefined.items():
            needed[t], dropped[t] = rows.copy(), rows.copy()
            without = self._with_rows(uniform, t, rows, np.nan)
            needed[t][rows] = np.isnan(without)
            dropped[t][rows] = ~np.isnan(without) & (without != filled)
        some = {t: np.where(dropped[t][..., np.newaxis], np.nan, p) for t, p in uniform.items()}
        if np.isnan(filled):  # a ratio of zeros
            self.tables = {t: _positive(p) for t, p in uniform.items()}
        elif np.isnan(self._means(some)).any():  # they can be spared one by one, but not all together
            return {t: needed[t] | dropped[t] for t in needed}
        else:
            self.tables = some
        return needed

    def _worst_cases(self) -> tuple[float, float]:
        """How much lower and higher the result could be if every row without data were all of one value."""
        below = above = 0.0
        for t, rows in self.unseen.items():
            values = np.eye(self.tables[t].shape[-1])
            changes = np.stack([self._with_rows(self.tables, t, rows, value) for value in values]) - self.mean
            if np.isnan(changes).any():  # a value brings in another row without data, which is uniform then
                defined = self._defined
                others = np.stack([self._with_rows(defined, t, rows, value) for value in _positive(values)])
                changes = np.where(np.isnan(changes), others - self._means(defined), changes)
            below -= float(changes.min(axis=0, initial=0.0).sum()) / self.range
            above += float(changes.max(axis=0, initial=0.0).sum()) / self.range
        return below, above

    def _with_rows(self, tables: Tables, table: Table, rows: Flags, values: Array | float) -> Array:
        """The mean with one after the other of these rows of a table replaced by other values, many at a time."""
        places, p = np.argwhere(rows)[:, 1:], tables[table]
        found: Array = np.empty(len(places))
        together = max(1, NUMBERS // p.size)
        for start in range(0, len(places), together):
            batch = places[start : start + together]
            changed = np.repeat(p, len(batch), axis=0)
            changed[(np.arange(len(batch)), *batch.T)] = values
            found[start : start + together] = self._means(tables | {table: changed})
        return found

    @property
    def _defined(self) -> Tables:
        """The tables without zeros and undefined rows, so that every ratio has a value and a derivative."""
        return {t: _positive(p) for t, p in self.tables.items()}

    # -- slopes --------------------------------------------------------------------------------------------

    def _slopes(self) -> Tables:
        """How the result would change if the row of a cell were all of the cell's value and the result were linear in
        that row, as a share of the outcome's range. Where a cell would bring in a row without data, it is uniform."""
        found, defined = self._gradient(self.tables), self._gradient(self._defined)
        for t, p in self.tables.items():
            slopes = np.where(np.isnan(found[t]), defined[t], found[t])
            slopes -= np.nansum(p * slopes, axis=-1, keepdims=True)
            # One more draw cannot change the result by more than its range, even where a ratio has no derivative.
            found[t] = np.clip(slopes, -self.totals[t] - 1, self.totals[t] + 1)
        return found

    def _gradient(self, tables: Tables) -> Tables:
        weights = np.zeros_like(self.estimand.evaluate(tables, strict=False))
        weights[:, min(self.x, weights.shape[1] - 1)] = (self.worth - self.worth.min()) / self.range
        return self.estimand.gradient(tables, weights)


def _uniform_where_undefined(p: Array) -> Array:
    return np.where(np.isnan(p), 1 / p.shape[-1], p)


def _positive(p: Array) -> Array:
    """The same rows without zeros; uniform ones where there are no data."""
    return np.asarray((1 - TINY) * _uniform_where_undefined(p) + TINY / p.shape[-1])
