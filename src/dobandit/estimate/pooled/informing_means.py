"""Which private tables of a measured reward observations tell something about, and the counts that say what.

They are found as `informing` finds others, and their rows have the priors of `consistent_means`.
"""

from __future__ import annotations

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.estimate.pooled.consistent_means import (
    LearntMeans,
    MeanRows,
    SeenMeans,
    drawn_means,
    learnt_means,
    mean_priors,
)
from dobandit.estimate.pooled.informing import informed_tables, padded, settings_of
from dobandit.estimate.pooled.pool import Pool
from dobandit.estimate.pooled.posterior import Conditions
from dobandit.estimate.pooled.skewed import usual_weight
from dobandit.evidence import MOMENTS, Layout


class InformingMeans:
    """The priors of the private tables of a measured reward. `tables` are the counts that they need; `number` and
    `conditions` are the places of their rows in the pool: their first cells, and the rows themselves."""

    def __init__(self, pool: Pool, conditions: Conditions) -> None:
        informed = list(informed_tables(pool, moments=True))
        self.tables = tuple(dict.fromkeys(t for one in informed for t in (one.seen, one.settings)))
        self.layout = Layout(pool.problem, self.tables)
        none, start = np.zeros(0, dtype=np.intp), conditions.start
        places = [pool.layout.place[one.private] for one in informed]
        lengths = [int(start[k + 1] - start[k]) for k in places]
        self.conditions = np.concatenate([none, *(np.arange(start[k], start[k + 1]) for k in places)])
        self.number = conditions.first[self.conditions]
        first = (self.layout.slice(one.seen) for one in informed)
        self._seen = np.concatenate([none, *(np.arange(at.start, at.stop, 1 + MOMENTS) for at in first)])
        groups = [settings_of(pool.problem, self.layout, one) for one in informed]
        settings = np.concatenate([none, *(np.full(len(group), group.shape[1]) for group, _ in groups)])
        table, begin = np.repeat(np.arange(len(places)), lengths), np.cumsum([0, *lengths])[:-1]
        beside = np.bincount(table, minlength=len(places)).take(table) // settings
        self.rows = MeanRows(settings, beside, table, begin)
        self._as_set = np.concatenate([none, *(group[np.arange(len(group)), own] for group, own in groups)])
        self._all = padded([group for group, _ in groups], self.layout.size)

    def __len__(self) -> int:
        return len(self.conditions)

    def learnt(self, counts: Array, own: Array) -> LearntMeans:
        """What is known of the rows after these counts of `tables` and of the pool, with axes (batch, cell) and moments
        in the data's own unit."""
        seen, pulled = _moments(counts, self._seen), _moments(own, self.number)
        filled = np.concatenate([counts, np.zeros((len(counts), 1))], axis=1)
        as_set, everything = counts.take(self._as_set, axis=1), filled.take(self._all, axis=1).sum(axis=2)
        found = SeenMeans(seen[0], seen[1], seen[2], as_set, everything)
        usual = np.array([[usual_weight(*one)] for one in np.moveaxis(seen + pulled, 1, 0)])
        return learnt_means(mean_priors(found, self.rows), self.rows, pulled[:3], usual)

    def drawn(self, known: LearntMeans, number: int, rng: np.random.Generator) -> Array:
        """Draws of the means: axes (row, draw)."""
        return drawn_means(known, self.rows, number, rng)

    def followed(self, known: LearntMeans, gradients: Array) -> tuple[Array, Array]:
        """How far functions with these gradients, axes (arm, cell, batch), follow all rows together, and by how much of
        that what is seen: axes (arm, batch)."""
        spans = np.abs(gradients.take(self.number + 1, axis=1))
        return spans.sum(axis=1), (spans * known.follows.T).sum(axis=1)

    def seen(self, counts: Array) -> Flags:
        """Whether observations inform each row: axes (batch, row). Those that they do not inform stay as they are."""
        return np.asarray(counts.take(self._seen, axis=1) > 0)

    def inform(self, shapes: Array, known: LearntMeans, seen: Flags) -> None:
        """Put what is known in its place among the parameters of all tables: axes (batch, cell)."""
        for cells, found in ((self.number, known.weights), (self.number + 1, known.means)):
            shapes[:, cells] = np.where(seen, found, shapes[:, cells])


def _moments(counts: Array, first: Indices) -> Array:
    """The number of rewards and the sums of their powers, of rows with these first cells: axes (power, batch, row)."""
    return np.stack([counts.take(first + k, axis=1) for k in range(1 + MOMENTS)])
