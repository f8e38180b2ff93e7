"""What is believed about the cells of tables: every row P(. | z) has a Dirichlet posterior, Jeffreys' prior being 1/2
for every value.

Centred, the rows of a pooled table of the reward have a prior of the same weight around the mean of the whole table.
Many rows are seen seldom or never; where success is rare, a row that counts as a coin would look better than all that
is known, and be recommended. A private table has outcomes only while somebody pulls the arm: a bad start must not speak
for rows that were not seen.

All arrays have the rows of the batch as their last axis and are added up in a fixed order, so that the bits of a
row do not depend on its company.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dobandit.evidence.tally import Layout

Array = NDArray[np.float64]

PRIOR = 0.5  # Jeffreys
OBSERVED = 0  # the place of do() among the arms


class Conditions:
    """The conditions z of all tables: whose cells belong together."""

    def __init__(self, layout: Layout, centred: bool = False) -> None:
        cards = [shape[-1] for shape in layout.shapes]
        numbers = [int(np.prod(shape[:-1])) for shape in layout.shapes]
        self.table = np.repeat(np.arange(len(cards)), numbers)  # of every condition
        self.card = np.array(cards, dtype=np.intp)[self.table]
        self.first = np.concatenate([[0], np.cumsum(self.card)[:-1]]).astype(np.intp) if len(cards) else self.table
        self.of_cell = np.repeat(np.arange(len(self.card)), self.card)
        self.start = np.concatenate([[0], np.cumsum(numbers)]).astype(np.intp)  # of every table's conditions
        self._all_binary = bool((self.card == 2).all())
        shared = [k for k in layout.reward_tables if numbers[k] > 1 and OBSERVED in layout.tables[k].arms]
        tables = shared if centred else []
        sizes = [numbers[k] for k in tables]
        starts = [np.arange(layout.offsets[k], layout.offsets[k + 1], 2) for k in tables]
        self._lost = np.concatenate([np.zeros(0, dtype=np.intp), *starts])  # cells of these tables
        self._won = self._lost + 1
        self._begin = np.cumsum([0, *sizes[:-1]])  # of each of them
        self._of_cell = np.repeat(np.arange(len(sizes)), sizes)

    def __len__(self) -> int:
        return len(self.card)

    def shapes(self, counts: Array) -> Array:
        """The parameters of the posteriors after these counts: axes (row, cell)."""
        found = counts + PRIOR
        if len(self._won):
            won, lost = (
                np.add.reduceat(counts.take(cells, axis=1), self._begin, axis=1) for cells in (self._won, self._lost)
            )
            above = 2 * PRIOR * (won + PRIOR) / (won + lost + 2 * PRIOR) - PRIOR
            found[:, self._won] += above.take(self._of_cell, axis=1)
            found[:, self._lost] -= above.take(self._of_cell, axis=1)
        return found

    def sums(self, cells: Array) -> Array:
        """Sums over the values of each condition; axes (..., cell, row) become (..., condition, row)."""
        if self._all_binary:
            return np.asarray(cells[..., 0::2, :] + cells[..., 1::2, :])
        found = cells.take(self.first, axis=-2)
        for code in range(1, int(self.card.max(initial=1))):
            has = np.flatnonzero(self.card > code)
            found[..., has, :] += cells.take(self.first[has] + code, axis=-2)
        return found

    def normalised(self, cells: Array) -> Array:
        """Cells that sum to one for every condition."""
        return np.asarray(cells / self.sums(cells).take(self.of_cell, axis=-2))

    def by_prior(self, g: Array) -> Array:
        """How far functions with these gradients may be off where the prior stands for a condition: its standard
        deviation if all values are equally likely, times this over the posterior's total."""
        uniform = np.broadcast_to(1 / self.card[self.of_cell][:, np.newaxis], g.shape)
        spread = np.sqrt(np.maximum(self.covariance(uniform, g, g), 0.0))
        return np.asarray(PRIOR * self.card[:, np.newaxis] * spread)

    def covariance(self, cells: Array, g: Array, h: Array) -> Array:
        """Σ_v p g h - (Σ_v p g)(Σ_v p h) for every condition, of gradients with axes (..., cell, row).

        Divided by one more than the Dirichlet's total, it is the condition's part of the covariance of two functions
        of the tables with these gradients (delta method).
        """
        weighed = cells * g
        if h is g:
            return np.asarray(self.sums(weighed * g) - self.sums(weighed) ** 2)
        return np.asarray(self.sums(weighed * h) - self.sums(weighed) * self.sums(cells * h))
