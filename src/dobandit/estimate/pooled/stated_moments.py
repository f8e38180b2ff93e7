"""The posterior behind a study's answers where the reward is a measurement (compare `stated` for one with two values).

The prior of a table of the reward is worth one outcome at the mean of the table, which its rows share: a row without
data is taken to be like the others, and a row with data to be as they show it. A prior that is worth more, even if the
data say how much, pulls all rows that an arm reads in the same direction. Where rewards vary a lot, rows look alike
although the arms differ, and the means of arms that do would be brought together.
"""

from __future__ import annotations

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.estimate.pooled.moments import MomentConditions
from dobandit.estimate.pooled.skewed import USUAL, leant, third_moments, usual_weight, variances
from dobandit.estimate.pooled.stated import stated_groups
from dobandit.evidence import Layout
from dobandit.problem import Problem


class StatedMoments(MomentConditions):
    """The posterior of all tables, for answers; the rows of those of the reward are centred."""

    def __init__(self, problem: Problem, layout: Layout) -> None:
        groups = [group.rows for group in stated_groups(problem, layout)]
        super().__init__(layout, groups)
        place = np.zeros(len(self), dtype=np.intp)
        place[self.measured] = np.arange(len(self.measured))
        self._groups = [place[rows] for rows in groups]  # every row of the reward is in one
        for rows in self._groups:
            self.weight[rows] /= len(rows)

    def errors(self, cells: Array, g: Array) -> tuple[Array, Array]:
        """As for every posterior, but a row is expected to be off by its own standard deviation."""
        parts, off = super().errors(cells, g)
        off[..., self.measured, :] *= np.sqrt(cells.take(self.number + 2, axis=-2))
        return parts, off

    def drawn(
        self, counts: Array, number: int, rng: np.random.Generator, informed: tuple[Indices, Array] | None = None
    ) -> Array:
        """Draws of all tables after these counts, which have one row; some cells may have other parameters, which are
        `informed` by observations. Axes (cell, draw)."""
        found = np.repeat(self.shapes(counts), number, axis=0)
        if informed is not None:
            found[:, informed[0]] = informed[1]
        found[:, self.counted] = rng.standard_gamma(found[:, self.counted]) + np.finfo(float).tiny
        for rows in self._groups:
            found[:, self.number[rows] + 1] += self._errors(counts, rows, number, rng)
        return self.normalised(np.ascontiguousarray(found.T))

    def _errors(self, counts: Array, rows: Indices, number: int, rng: np.random.Generator) -> Array:
        """How far the means of a group of rows may be off: axes (draw, row). The mean of all rows, which stands for
        those without data, is as uncertain as a single outcome, and so is such a row beside it. Draws follow Student's
        distribution, because the variance is estimated, too."""
        n, s, q, c = (counts[0, self.number[rows] + k] for k in range(4))
        spread, weight = variances(n, s, q, usual_weight(n, s, q, c)), self.weight[rows]
        usual = (n + USUAL) @ spread / (n + USUAL).sum()
        of_centre = np.sqrt(usual) * rng.standard_normal((number, 1)) * weight / (n + weight)
        of_rows = np.sqrt(spread / np.maximum(n, 1.0)) * rng.standard_t(n + USUAL, (number, len(n)))
        return np.asarray(of_centre + of_rows)

    def leant(self, draws: Array, counts: Array, worth: Array, means: Array, gradients: Array) -> Array:
        """Draws of the means of arms, with axes (arm, draw), leaning as their rewards do. `worth`, by cell, are the
        outcomes that a row counts for: more than its own where observations inform it."""
        thirds = np.zeros(len(draws))
        for rows in self._groups:
            n, s, q, c = (counts[0, self.number[rows] + k] for k in range(4))
            of_rows = third_moments(n, s, q, c) / worth[self.number[rows]] ** 2
            thirds += gradients[:, self.number[rows] + 1, 0] ** 3 @ of_rows
        return leant(draws.T, means[:, 0], thirds).T
