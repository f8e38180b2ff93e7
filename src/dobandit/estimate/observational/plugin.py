"""The plug-in estimate: frequencies in the place of probabilities, and how much depends on each of them.

Each row P(. | z) of a table is a sample of its own. The derivative of the effect by the cells of a row, together with
the size of the sample, says how uncertain the row makes the effect (the delta method). Rows without data are the other
uncertainty: where one matters, it counts as uniform, and the interval is widened by what it could be at worst. For a
measurement, which has no worst, `gaps` tells what counts and how far off that may be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.errors import MissingCell
from dobandit.estimate.observational.gaps import Gaps
from dobandit.estimate.observational.shared_rows import SharedRows
from dobandit.estimate.observational.spread import Spread
from dobandit.evidence import cells
from dobandit.identification import Estimand, Table

Tables = dict[Table, Array]  # axes: trial, given, variable

TINY = 1e-12  # a probability that stands for zero where a zero would leave the result undefined
NUMBERS = 2**22  # that the trials of one batch may have together: 32 MB


class Rows(NamedTuple):
    """How the result depends on the rows that have data: one number for each row, the range of the outcome being 1."""

    totals: Array  # the size of the sample
    variances: Array  # of a single draw, as the result sees it
    reaches: Array  # between a row that is all of the worst value and one that is all of the best
    thirds: Array | None = None  # third moments of a single draw, where the outcome is a measurement


class Term(NamedTuple):
    """One mean in a sum of means: its factor, its recipe, and the positions of the values that are set."""

    factor: float
    estimand: Estimand
    at: tuple[int, ...]

    def selects(self, found: Array) -> tuple[slice | int, ...]:
        """Where the outcome's distribution is in what the recipe returns; an axis that cannot matter has length one."""
        return (slice(None), *(min(i, length - 1) for i, length in zip(self.at, found.shape[1:], strict=False)))


class PlugIn(NamedTuple):
    """The mean of the outcome after setting the treatment to one value, or the difference of two, in its own units."""

    mean: float
    rows: Rows
    below: float  # how much lower the mean could be for lack of data, as a share of its range
    above: float
    unseen: tuple[MissingCell, ...]  # the rows without data that matter
    covariance: float = 0.0  # what tables that are counted from the same rows add to the squared standard error


def ends(terms: Sequence[Term], worth: Sequence[float]) -> tuple[float, float]:
    """The smallest and the largest value that a sum of means can have."""
    products = [(term.factor * min(worth), term.factor * max(worth)) for term in terms]
    return sum(map(min, products)), sum(map(max, products))


def table_cells(estimand: Estimand, domains: Mapping[str, Sequence[str]]) -> float:
    """How many numbers the tables of a recipe have together."""
    return sum(cells(table.free, domains) for table in estimand.tables)


def plug_in(
    terms: Sequence[Term],
    counts: Mapping[Table, Array],
    worth: Sequence[float],
    shared: SharedRows | None = None,
    spreads: Mapping[Table, Spread] | None = None,
    gaps: Mapping[Table, Gaps] | None = None,
) -> PlugIn:
    """The sum of the terms' means from the counts of their tables.

    Parameters
    ----------
    terms
        One for a mean, two for a difference.
    counts
        The counts of every table of their recipes.
    worth
        The values of the outcome.
    shared
        The rows behind the tables, if the terms have different recipes.
    spreads
        How the outcome varies in the rows of its tables, if it is a measurement.
    gaps
        What counts in the rows of these tables that have no data; in those of others, the uniform distribution.
    """
    tables = dict.fromkeys(table for term in terms for table in term.estimand.tables)
    found = _PlugIn(terms, {t: counts[t][np.newaxis] for t in tables}, np.asarray(worth), gaps or {})
    return found.result(shared, spreads or {})


class _PlugIn:
    def __init__(self, terms: Sequence[Term], counts: Tables, worth: Array, gaps: Mapping[Table, Gaps]) -> None:
        self.terms, self.worth, self.gaps = terms, worth, gaps
        self.lowest, self.highest = ends(terms, worth.tolist())
        self.range = self.highest - self.lowest or 1.0
        self.totals = {t: n.sum(axis=-1, keepdims=True) for t, n in counts.items()}
        with np.errstate(invalid="ignore"):
            self.tables: Tables = {t: n / self.totals[t] for t, n in counts.items()}  # NaN where z was never seen
        self.unseen = self._fill()
        self.mean = self._means(self.tables)[0]

    def result(self, shared: SharedRows | None, spreads: Mapping[Table, Spread]) -> PlugIn:
        found, all_slopes = [], self._slopes()
        for t, slopes in all_slopes.items():
            p, totals = self.tables[t], self.totals[t][..., 0]
            parts = spreads[t].seen_with(slopes) if t in spreads else _spread_of_shares(p, slopes)
            found.append([part[totals > 0] for part in (totals, *parts)])
        totals, variances, reaches, thirds = map(np.concatenate, zip(*found, strict=True))
        below, above = self._worst_cases()
        unseen = [(t, row) for t, rows in self.unseen.items() for row in np.argwhere(rows)[:, 1:].tolist()]
        return PlugIn(
            float(np.clip(self.mean, self.lowest, self.highest)),  # rounding may leave the range
            Rows(totals, variances, reaches, thirds if spreads else None),
            below,
            above,
            tuple(MissingCell(str(t), dict(zip(t.given, row, strict=True))) for t, row in unseen),
            shared.covariance(_first(all_slopes), _first(self.totals)) if shared else 0.0,
        )

    def _means(self, tables: Tables) -> Array:
        """The mean of the outcome for every trial; NaN where it is undefined."""
        total: Array = np.zeros(1)
        for term in self.terms:
            found = term.estimand.evaluate(tables, strict=False)
            total = total + term.factor * (found[term.selects(found)] @ self.worth)
        return total

    # -- rows without data ---------------------------------------------------------------------------------

    def _fill(self) -> dict[Table, Flags]:
        """Fill rows without data, and return those that matter: undefined, each of them alone would undo the
        result. A row that only drops out of an average stays undefined, since a filled one would count there."""
        undefined = {t: np.isnan(p[..., 0]) for t, p in self.tables.items()}
        if not any(rows.any() for rows in undefined.values()):
            return {}
        self.tables = whole = {t: self._whole(t, p) for t, p in self.tables.items()}
        filled = self._means(whole)[0]
        needed, dropped = {}, {}
        for t, rows in undefined.items():
            needed[t], dropped[t] = rows.copy(), rows.copy()
            without = self._with_rows(whole, t, rows, np.nan)
            needed[t][rows] = np.isnan(without)
            dropped[t][rows] = ~np.isnan(without) & (without != filled)
        some = {t: np.where(dropped[t][..., np.newaxis], np.nan, p) for t, p in whole.items()}
        if np.isnan(filled):  # a ratio of zeros
            self.tables = {t: _positive(p) for t, p in whole.items()}
        elif np.isnan(self._means(some)).any():  # they can be spared one by one, but not all together
            return {t: needed[t] | dropped[t] for t in needed}
        else:
            self.tables = some
        return needed

    def _worst_cases(self) -> tuple[float, float]:
        """How much lower and higher the result could be if every row without data were at its worst or best."""
        below = above = 0.0
        for t, rows in self.unseen.items():
            values = self._extremes(t, rows)
            changes = np.stack([self._with_rows(self.tables, t, rows, value) for value in values]) - self.mean
            if np.isnan(changes).any():  # a value brings in another row without data, which is filled then
                defined = self._defined
                others = np.stack([self._with_rows(defined, t, rows, value) for value in _positive(values)])
                changes = np.where(np.isnan(changes), others - self._means(defined), changes)
            below -= float(changes.min(axis=0, initial=0.0).sum()) / self.range
            above += float(changes.max(axis=0, initial=0.0).sum()) / self.range
        return below, above

    def _extremes(self, table: Table, rows: Flags) -> Array:
        """All of one value, or the least and the most that a measurement could be; axes (which, row or one, value)."""
        if table in self.gaps:
            return np.stack([self.gaps[table].shares(side)[rows[0]] for side in (-1, 1)])
        return np.eye(self.tables[table].shape[-1])[:, np.newaxis]

    def _whole(self, table: Table, p: Array) -> Array:
        """The same rows, filled where there are no data."""
        return np.where(np.isnan(p), self.gaps[table].shares() if table in self.gaps else 1 / p.shape[-1], p)

    def _with_rows(self, tables: Tables, table: Table, rows: Flags, values: Array | float) -> Array:
        """The mean with one after the other of these rows of a table replaced by other values, many at a time."""
        places, p = np.argwhere(rows)[:, 1:], tables[table]
        found: Array = np.empty(len(places))
        new = np.broadcast_to(values, (len(places), p.shape[-1]))
        together = max(1, NUMBERS // p.size)
        for start in range(0, len(places), together):
            batch = places[start : start + together]
            changed = np.repeat(p, len(batch), axis=0)
            changed[(np.arange(len(batch)), *batch.T)] = new[start : start + together]
            found[start : start + together] = self._means(tables | {table: changed})
        return found

    @property
    def _defined(self) -> Tables:
        """The tables without zeros and undefined rows, so that every ratio has a value and a derivative."""
        return {t: _positive(self._whole(t, p)) for t, p in self.tables.items()}

    # -- slopes --------------------------------------------------------------------------------------------

    def _slopes(self) -> Tables:
        """How the result would change if the row of a cell were all of the cell's value and the result were linear in
        that row, as a share of the outcome's range. Where a cell would bring in a row without data, it is filled."""
        found, defined = self._gradient(self.tables), self._gradient(self._defined)
        for t, p in self.tables.items():
            slopes = np.where(np.isnan(found[t]), defined[t], found[t])
            slopes -= np.nansum(p * slopes, axis=-1, keepdims=True)
            # One more draw cannot change the result by more than its range, even where a ratio has no derivative.
            found[t] = np.clip(slopes, -self.totals[t] - 1, self.totals[t] + 1)
        return found

    def _gradient(self, tables: Tables) -> Tables:
        total = {t: np.zeros_like(p) for t, p in tables.items()}
        for term in self.terms:
            weights = np.zeros_like(term.estimand.evaluate(tables, strict=False))
            weights[term.selects(weights)] = term.factor * (self.worth - self.worth.min()) / self.range
            for t, slopes in term.estimand.gradient(tables, weights).items():
                total[t] += slopes
        return total


def _spread_of_shares(p: Array, slopes: Array) -> tuple[Array, Array, Array]:
    """The variance, the reach and the third moment of a draw from every row."""
    means = (p * slopes).sum(axis=-1)
    variances = (p * slopes**2).sum(axis=-1) - means**2
    thirds = (p * (slopes - means[..., np.newaxis]) ** 3).sum(axis=-1)
    return np.maximum(variances, 0.0), np.ptp(slopes, axis=-1), thirds


def _first(tables: Tables) -> Tables:
    """The tables of the first trial, the only one here."""
    return {t: p[0] for t, p in tables.items()}


def _positive(p: Array) -> Array:
    """The same rows without zeros."""
    return np.asarray((1 - TINY) * p + TINY / p.shape[-1])
