"""The plug-in estimate: frequencies in the place of probabilities, and how far off that may be.

The variance is the delta method's. Each row P(. | z) of a table is a sample of its own; nudging one
cell after the other, each in a trial of its own, gives the slope of the effect in every cell, and
the sampling variance of the rows does the rest. Rows without data are the other uncertainty: where
one matters, it counts as uniform, and the interval is widened by what it could be at worst.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dobandit.errors import MissingCell
from dobandit.identification import Estimand, Table

Array = NDArray[np.float64]
Counts = Mapping[Table, Array]  # axes: given, variable

NUDGE = 1e-6
BATCH = 256


class PlugIn(NamedTuple):
    """The mean of the outcome after setting the treatment to one value, in the outcome's own units."""

    mean: float
    variance: float
    below: float  # how much lower the mean could be for lack of data
    above: float
    unseen: tuple[MissingCell, ...]  # the rows without data that matter


def plug_in(estimand: Estimand, counts: Counts, x: int, worth: Sequence[float]) -> PlugIn:
    """E[on | do(do = value number x)] from the counts of the estimand's tables; worth: the values of `on`."""
    frequencies = {table: _frequencies(counts[table]) for table in estimand.tables}
    unseen = list(_needed(estimand, frequencies, x))
    filled = {t: np.where(np.isnan(p), 1 / p.shape[-1], p) for t, p in frequencies.items()}
    mean = float(_means(estimand, {t: p[np.newaxis] for t, p in filled.items()}, x, worth)[0])
    variance = sum(_variance(estimand, filled, counts, t, x, worth, mean) for t in estimand.tables)
    extremes = [_extremes(estimand, filled, table, row, x, worth) for table, row in unseen]
    return PlugIn(
        mean,
        variance,
        sum(mean - low for low, _ in extremes),
        sum(high - mean for _, high in extremes),
        tuple(MissingCell(str(t), dict(zip(t.given, row, strict=True))) for t, row in unseen),
    )


def _frequencies(counts: Array) -> Array:
    """P(v | z); NaN where z was never seen."""
    totals = counts.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        found: Array = np.where(totals > 0, counts / totals, np.nan)
    return found


def _means(estimand: Estimand, tables: Mapping[Table, Array], x: int, worth: Sequence[float]) -> Array:
    """The mean of the outcome for every trial; NaN where it is undefined."""
    found = estimand.evaluate(tables, strict=False)
    means: Array = found[:, min(x, found.shape[1] - 1)] @ np.asarray(worth)
    return means


def _needed(estimand: Estimand, frequencies: Mapping[Table, Array], x: int) -> Iterator[tuple[Table, tuple[int, ...]]]:
    """The rows without data whose other factors are not zero: undefined alone, they undo the result."""
    rest = {t: np.where(np.isnan(p), 1 / p.shape[-1], p)[np.newaxis] for t, p in frequencies.items()}
    for table, p in frequencies.items():
        for row in np.argwhere(np.isnan(p[..., 0])):
            place = tuple(map(int, row))
            alone = rest[table].copy()
            alone[(0, *place)] = np.nan
            found = estimand.evaluate({**rest, table: alone}, strict=False)
            if np.isnan(found[:, min(x, found.shape[1] - 1)]).any():
                yield table, place


def _variance(
    estimand: Estimand,
    filled: Mapping[Table, Array],
    counts: Counts,
    table: Table,
    x: int,
    worth: Sequence[float],
    mean: float,
) -> float:
    """What the sampling of one table adds to the variance of the mean."""
    totals = counts[table].sum(axis=-1)
    shape = filled[table].shape
    slopes = np.zeros(shape)
    cells = np.argwhere(np.broadcast_to(totals[..., np.newaxis] > 0, shape))
    for start in range(0, len(cells), BATCH):
        batch = cells[start : start + BATCH]
        nudged = np.repeat(filled[table][np.newaxis], len(batch), axis=0)
        nudged[(np.arange(len(batch)), *batch.T)] += NUDGE
        tables = {t: p[np.newaxis] for t, p in filled.items()} | {table: nudged}
        slopes[tuple(batch.T)] = (_means(estimand, tables, x, worth) - mean) / NUDGE
    # Half a count for every row is shared out among its values, so that a row in which only one value
    # was seen is not taken for certain.
    p = (counts[table] + 0.5) / (totals + 0.5 * shape[-1])[..., np.newaxis]
    spread = (p * slopes**2).sum(axis=-1) - (p * slopes).sum(axis=-1) ** 2
    return float((spread / np.maximum(totals, 1)).sum())


def _extremes(
    estimand: Estimand,
    filled: Mapping[Table, Array],
    table: Table,
    row: tuple[int, ...],
    x: int,
    worth: Sequence[float],
) -> tuple[float, float]:
    """The smallest and largest mean that a row without data could lead to: it is certain of one value."""
    values = filled[table].shape[-1]
    certain = np.repeat(filled[table][np.newaxis], values, axis=0)
    np.moveaxis(certain, 0, -2)[row] = np.eye(values)
    means = _means(estimand, {t: p[np.newaxis] for t, p in filled.items()} | {table: certain}, x, worth)
    return float(means.min()), float(means.max())
