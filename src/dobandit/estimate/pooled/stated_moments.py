"""The posterior behind a study's answers where the reward is a measurement (compare `stated` for one with two values).

The rows of a table of the reward have means around the mean of the table, and how far they are from it is unknown:
every weight of a grid is as likely as the others beforehand, and the data decide. Draws of a mean follow Student's
distribution, because the variance is estimated, too, and lean as the rewards do: where few outcomes are large and most
are nothing, such as revenue, the mean of a sample is more often too low than too high (Hall, J. R. Stat. Soc. B 1992).
"""

from __future__ import annotations

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.estimate.observational import MOST_SKEWED, leaning
from dobandit.estimate.pooled.moments import MomentConditions
from dobandit.estimate.pooled.own import USUAL, variances
from dobandit.estimate.pooled.stated import stated_groups
from dobandit.evidence import Layout
from dobandit.problem import Problem

WEIGHTS = 4.0 ** np.arange(7)  # outcomes that the mean of the table counts for in a row: from hardly alike to alike


class StatedMoments(MomentConditions):
    """The posterior of all tables, for answers; the rows of those of the reward are centred."""

    def __init__(self, problem: Problem, layout: Layout) -> None:
        groups = stated_groups(problem, layout)
        super().__init__(layout)
        place = np.zeros(len(self), dtype=np.intp)
        place[self.measured] = np.arange(len(self.measured))
        self._groups = [place[rows] for rows in groups]  # every row of the reward is in one

    def shapes(self, counts: Array) -> Array:
        """As for every posterior, with the most plausible weight: the geometric mean."""
        found, at = super().shapes(counts), self.number
        n, s = counts[:, at], counts[:, at + 1]
        weights, centres = np.ones(n.shape), np.zeros(n.shape)
        for rows in self._groups:
            chances, means = self._plausible(counts, rows)
            weights[:, rows] = np.exp(chances @ np.log(WEIGHTS))[:, np.newaxis]
            centres[:, rows] = means[:, np.newaxis]
        found[:, at], found[:, at + 1] = n + weights, (s + weights * centres) / (n + weights)
        return found

    def by_prior(self, cells: Array, g: Array) -> Array:
        """As for every posterior, but a row is expected to be off by its own standard deviation."""
        found = super().by_prior(cells, g)
        found[..., self.measured, :] *= np.sqrt(cells.take(self.number + 2, axis=-2))
        return found

    def drawn(self, counts: Array, number: int, rng: np.random.Generator) -> Array:
        """Draws of all tables after these counts, which have one row: axes (cell, draw)."""
        found = np.repeat(self.shapes(counts), number, axis=0)
        found[:, self.counted] = rng.standard_gamma(found[:, self.counted]) + np.finfo(float).tiny
        for rows in self._groups:
            found[:, self.number[rows] + 1] = self._means(counts, rows, number, rng)
        return self.normalised(np.ascontiguousarray(found.T))

    def _means(self, counts: Array, rows: Indices, number: int, rng: np.random.Generator) -> Array:
        """Draws of the means of a group of rows: axes (draw, row)."""
        n, s, q, c = (counts[0, self.number[rows] + k] for k in range(4))
        chances, (mean_seen,) = self._plausible(counts, rows)
        spread = variances(n, s, q)
        usual = (n + USUAL) @ spread / (n + USUAL).sum()
        weight = rng.choice(WEIGHTS, (number, 1), p=chances[0])
        # A row of n outcomes tells as much about the mean of all rows as so many independent ones:
        told = (n * (weight + 1) / (n + weight)).sum(axis=1, keepdims=True)
        centre = mean_seen + np.sqrt(usual / (told + 1)) * rng.standard_normal((number, 1))
        means, errors = (s + weight * centre) / (n + weight), np.sqrt(spread / (n + weight))
        skew = np.clip(skewness(n, s, q, c) / np.sqrt(n + weight), -MOST_SKEWED, MOST_SKEWED)
        return np.asarray(means + errors * leaning(rng.standard_t(n + USUAL, means.shape), skew))

    def _plausible(self, counts: Array, rows: Indices) -> tuple[Array, Array]:
        """The posterior probability of every weight for a group of rows, and its mean: axes (row, weight), (row)."""
        n, s, q = (counts[:, self.number[rows] + k] for k in range(3))
        means = s.sum(axis=1) / (n.sum(axis=1) + 1)
        spread = variances(n, s, q)
        off = np.where(n > 0, s / np.maximum(n, 1.0) - means[:, np.newaxis], 0.0) ** 2
        likelihoods = []
        for weight in WEIGHTS:
            variance = spread * (1 / np.maximum(n, 1.0) + 1 / weight)
            likelihoods.append(-0.5 * np.where(n > 0, np.log(variance) + off / variance, 0.0).sum(axis=1))
        logs = np.stack(likelihoods, axis=-1)
        chances = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return np.asarray(chances / chances.sum(axis=-1, keepdims=True)), np.asarray(means)


def skewness(n: Array, s: Array, q: Array, c: Array) -> Array:
    """The skewness of rewards from their number and the sums of their powers; that of few is taken to be that of all
    rows together."""
    mean = s / np.maximum(n, 1.0)
    thirds = c - 3 * mean * q + 2 * n * mean**3
    usual = thirds.sum() / max(n.sum(), 1.0)
    return np.asarray((thirds + USUAL * usual) / (n + USUAL) / variances(n, s, q) ** 1.5)
