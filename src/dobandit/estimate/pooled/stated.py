"""The posterior behind a study's answers: for the tables of the reward it learns from the data how alike the rows are.

The rows P(Y | z) of a table have a beta prior around what their conditions lead to expect (`main_effects`), and the
weight of that prior is unknown: if the rows are as expected, each tells about the others. Every weight of a grid is as
likely as the others beforehand; the data decide (the likelihood is beta-binomial). So the posterior is centred on the
data, whatever prior a policy explores with; benchmarks/calibration.py compares it with the truth. Where a table belongs
to the arms that set X, rows with another value of X say nothing about an arm that has not been tried, so they are
centred apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.estimate.pooled.main_effects import MainEffects, differing
from dobandit.estimate.pooled.own import PRIOR
from dobandit.estimate.pooled.posterior import OBSERVED, Conditions, rows_of_reward
from dobandit.evidence import Layout
from dobandit.problem import Problem

# Outcomes that what is expected of a row counts for, where that is 1/2: from hardly right to right.
WEIGHTS: Array = 2.0 ** np.arange(7, dtype=np.float64)


class Stated(Conditions):
    """The posterior of all tables, for answers; the rows of those of the reward are centred."""

    def __init__(self, problem: Problem, layout: Layout) -> None:
        groups = [group for group in stated_groups(problem, layout) if len(group.rows) > 1]
        super().__init__(layout, [group.rows for group in groups])
        self._effects = [MainEffects(group.codes) for group in groups]
        self._rows = [np.flatnonzero(self.group == k) for k in range(len(groups))]  # of every group, among centred ones

    def shapes(self, counts: Array) -> Array:
        """As for every posterior, with the most plausible weight: the geometric mean."""
        found = counts + PRIOR
        if len(self.group):
            means = self.expected(counts)
            usual = np.exp((self.plausible(counts, means) * np.log(WEIGHTS)).sum(axis=-1)).take(self.group, axis=1)
            weights = _weights(usual, means)
            found[:, self.won] = counts[:, self.won] + weights * means
            found[:, self.lost] = counts[:, self.lost] + weights * (1 - means)
        return found

    def errors(self, cells: Array, g: Array) -> tuple[Array, Array]:
        """As for every posterior, but a row is expected to be off by its own standard deviation: where success is
        rare, that is much less than a coin's."""
        parts = self.covariance(cells, g, g)
        return parts, self._off(parts)

    def drawn(
        self, counts: Array, number: int, rng: np.random.Generator, informed: tuple[Indices, Array] | None = None
    ) -> Array:
        """Draws of all tables after these counts, which have one row; some cells may have other parameters, which are
        `informed` by observations. Axes (cell, draw)."""
        shapes = np.repeat(counts + PRIOR, number, axis=0)
        won, lost = counts[:, self.won], counts[:, self.lost]
        plausible = self.plausible(counts, self.expected(counts))[0] if len(self.group) else ()
        for rows, effects, chances in zip(self._rows, self._effects, plausible, strict=True):
            which, seen = rng.choice(len(WEIGHTS), number, p=chances), (won + lost)[:, rows]
            fit = effects.fitted(won[:, rows], lost[:, rows])
            # A row of n outcomes tells as much about what is expected of all rows as so many independent ones:
            weights = _weights(WEIGHTS[:, np.newaxis], fit.means)
            mean = effects.drawn(fit, seen * (weights + 1) / (seen + weights), which, rng)
            weight = _weights(WEIGHTS[which, np.newaxis], mean)
            shapes[:, self.won[rows]] = won[:, rows] + weight * mean
            shapes[:, self.lost[rows]] = lost[:, rows] + weight * (1 - mean)
        if informed is not None:
            shapes[:, informed[0]] = informed[1]
        drawn = rng.standard_gamma(shapes) + np.finfo(float).tiny  # a shape near zero may give zeros only
        return self.normalised(np.ascontiguousarray(drawn.T))

    def expected(self, counts: Array) -> Array:
        """The mean that is expected of every centred row: axes (trial, row)."""
        won, lost = counts[:, self.won], counts[:, self.lost]
        found = [e.fitted(won[:, r], lost[:, r]).means for e, r in zip(self._effects, self._rows, strict=True)]
        return np.concatenate(found, axis=1)

    def plausible(self, counts: Array, means: Array) -> Array:
        """The posterior probability of every weight, for every group: axes (trial, group, weight)."""
        won, lost = counts[:, self.won], counts[:, self.lost]
        likelihoods = [
            self.added_up(log_rising(won, k * means) + log_rising(lost, k * (1 - means)) - log_rising(won + lost, k))
            for k in (_weights(weight, means) for weight in WEIGHTS)
        ]
        logs = np.stack(likelihoods, axis=-1)
        chances = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return np.asarray(chances / chances.sum(axis=-1, keepdims=True))


class Group(NamedTuple):
    """Rows of a table that are centred together."""

    rows: Indices
    codes: Indices  # of their conditions: axes (condition, row)


def stated_groups(problem: Problem, layout: Layout) -> list[Group]:
    """The rows of every table of the reward, apart for each value of what its arms set."""
    found = []
    for table, rows in rows_of_reward(layout):
        is_private = OBSERVED not in table.arms
        setting = {v for k in table.arms for v in problem.arms[k].variables} if is_private else set()
        sizes = [len(problem.domains[v]) for v in table.given]
        codes, value = np.indices(sizes).reshape(len(sizes), len(rows)), np.zeros(len(rows), dtype=np.intp)
        for v, size, code in zip(table.given, sizes, codes, strict=True):
            value = value * size + code if v in setting else value
        found += [Group(rows[value == x], codes[:, value == x]) for x in sorted(set(value.tolist()))]
    return found


def _weights(weights: Array | float, means: Array) -> Array:
    """How many outcomes these weights stand for where so much is expected, so that rows differ in their log odds as
    main effects do. With the same number everywhere, rows would differ the more from each other, as a multiple, the
    rarer success is."""
    return np.asarray(weights / (4 * means * (1 - means) * differing(means) ** 2))


def log_rising(n: Array, a: Array) -> Array:
    """log Γ(a + n) - log Γ(a): for whole n the logarithm of a (a+1) ... (a+n-1). Both at once take less time."""
    above = a + n
    after, before = log_gamma(np.stack([above, np.broadcast_to(a, above.shape)]))
    return np.asarray(after - before)


def log_gamma(x: Array) -> Array:
    """log Γ(x) for x > 0, by Stirling's series beyond 8, with a relative error below 1e-10.

    >>> log_gamma(np.array([0.5, 5.0, 100.0])).round(6)
    array([  0.572365,   3.178054, 359.134205])
    """
    shifted, ends = x + 8.0, x * (x + 7.0)
    below = ends * (ends + 6.0) * (ends + 10.0) * (ends + 12.0)  # x (x+1) ... (x+7), in pairs from both ends
    squared = shifted * shifted
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * squared)) / squared) / squared) / shifted
    return np.asarray((shifted - 0.5) * np.log(shifted) - shifted + 0.5 * np.log(2 * np.pi) + series - np.log(below))
