"""What is believed about tables of a reward that is a measurement: every row has a mean with a normal posterior.

The counts of such a row are the number of its outcomes and the sums of their powers, in the data's own unit
(dobandit.estimate.pooled.own). Its parameters take their places: the weight of the posterior, the mean, and the
variance of a single reward. The prior is that of one outcome at the mean of all rewards, or of a group of rows.
All other tables have Dirichlet posteriors as always.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.chance import Chance
from dobandit.estimate.pooled.own import PRIOR
from dobandit.estimate.pooled.posterior import Conditions
from dobandit.estimate.pooled.skewed import variances
from dobandit.evidence import Layout

WEIGHT = 2 * PRIOR  # outcomes that the prior of a row counts for, as Jeffreys' prior of a share does


class MomentConditions(Conditions):
    """The conditions of all tables where those of the reward have moments."""

    def __init__(self, layout: Layout, groups: Sequence[Indices] = ()) -> None:
        super().__init__(layout, groups)
        self.number = layout.numbers  # the first cell of every row of the reward
        self.measured = self.of_cell[self.number]  # these rows among all conditions
        self.weight = np.full(len(self.number), WEIGHT)  # outcomes that the prior of each of them counts for
        self.counted = np.flatnonzero(~np.isin(self.of_cell, self.measured))  # the cells of all other tables

    def shapes(self, counts: Array) -> Array:
        found, at = counts + PRIOR, self.number
        n, s, q = (counts[:, at + k] for k in range(3))
        centre = np.zeros((len(counts), len(self)))
        if len(self.group):
            centre[:, self.of_cell[self.lost]] = self.group_means(counts).take(self.group, axis=1)
        weight = n + self.weight
        found[:, at], found[:, at + 1] = weight, (s + self.weight * centre[:, self.measured]) / weight
        found[:, at + 2], found[:, at + 3] = variances(n, s, q), 0.0
        return found

    def group_means(self, counts: Array) -> Array:
        number, sums = self.added_up(counts.take(self.lost, axis=1)), self.added_up(counts.take(self.won, axis=1))
        return np.asarray(sums / (number + WEIGHT))

    def sampled(self, shapes: Array, chance: Chance, trials: Indices, number: int | Indices) -> Array:
        found, at = shapes.copy(), self.number
        found[:, self.counted] = chance.gammas(trials, number, np.ascontiguousarray(shapes[:, self.counted]))
        spread = np.sqrt(shapes[:, at + 2] / (shapes[:, at] + 1))
        found[:, at + 1] += spread * chance.normals(trials, number, len(at), ":means")
        return found

    def sums(self, cells: Array) -> Array:
        """For rows of the reward the weight."""
        found = super().sums(cells)
        found[..., self.measured, :] = cells.take(self.number, axis=-2)
        return found

    def normalised(self, cells: Array) -> Array:
        totals = self.sums(cells).take(self.of_cell, axis=-2)
        for k in range(4):
            totals[..., self.number + k, :] = 1.0
        return np.asarray(cells / totals)

    def covariance(self, cells: Array, g: Array, h: Array) -> Array:
        found, mean = super().covariance(cells, g, h), self.number + 1
        parts = g.take(mean, axis=-2) * h.take(mean, axis=-2) * cells.take(self.number + 2, axis=-2)
        found[..., self.measured, :] = parts
        return found

    def errors(self, cells: Array, g: Array) -> tuple[Array, Array]:
        """For a row of the reward the standard deviation of all rewards."""
        parts, off = super().errors(cells, g)
        off[..., self.measured, :] = self.weight[:, np.newaxis] * np.abs(g.take(self.number + 1, axis=-2))
        return parts, off
