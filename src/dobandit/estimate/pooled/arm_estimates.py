"""What is known about every arm: its mean, how sure that is, and which cells it depends on.

Where an arm has two estimates, they are weighed so that the variance is least, their covariance included: tables that
both use are not counted twice. Variances are those of the delta method at the posterior means.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.estimate.pooled.circuit import added_up, total
from dobandit.estimate.pooled.pool import Pair, Pool
from dobandit.estimate.pooled.posterior import Conditions

TOGETHER = 2**17  # numbers of gradients: arms whose variances are made together, so that they stay in the cache

TURNED = 128  # cells that are copied at once, so that they stay in the cache


class ArmEstimates(NamedTuple):
    """What the tables say of all arms; the last axis is the row."""

    weights: Array  # of the estimates
    means: Array  # of the arms, as the others below
    variances: Array
    by_prior: Array  # how far the means may be off because the prior fills cells that have no data
    gradients: Array  # axes: arm, cell, row


class ArmEstimator:
    """How the estimates of a pool become the means of its arms."""

    def __init__(self, pool: Pool, conditions: Conditions) -> None:
        self._pool, self._conditions = pool, conditions
        self._in_turn = _in_turn(pool)
        self._several = [k for k, choices in enumerate(pool.choices) if len(choices) > 1]
        self._is_simple = not pool.pairs and not self._several
        self._is_one_each = self._is_simple and pool.choices == [[(k,)] for k in range(pool.arms)]

    def means(self, estimates: Array, weights: Array) -> Array:
        """The weighed estimates of every arm: axes (estimate, ...) become (arm, ...)."""
        if self._is_one_each:
            return estimates
        found = np.zeros((self._pool.arms, *estimates.shape[1:]))
        together = max(1, TOGETHER // max(found[:1].size, 1))
        for arms, places in self._in_turn:
            for first in range(0, len(arms), together):
                part = slice(first, first + together)
                of_arms = estimates.take(places[part], axis=0)
                if not self._is_simple:
                    of_arms *= weights.take(places[part], axis=0)
                found[part if len(arms) == len(found) else arms[part]] += of_arms
        return found

    def known(self, cells: Array, totals: Array) -> ArmEstimates:
        """Everything, from the means of the cells and the totals of the posteriors."""
        values = self._pool.circuit.values(cells)
        estimates, gradients = self._pool.circuit.outputs(values), self._pool.circuit.gradient(values)
        if not self._is_one_each:
            gradients = _one_by_one(gradients)
        weights = self._weights(cells, totals, gradients)
        of_arms = self.means(gradients, weights[:, np.newaxis])
        together = max(1, TOGETHER // max(cells.size, 1))
        parts = [of_arms[first : first + together] for first in range(0, len(of_arms), together)]
        errors = [self._errors(cells, totals, g) for g in parts]
        variances, by_prior = (np.concatenate(of_parts) for of_parts in zip(*errors, strict=True))
        return ArmEstimates(weights, self.means(estimates, weights), variances, by_prior, of_arms)

    def _errors(self, cells: Array, totals: Array, g: Array) -> tuple[Array, Array]:
        """The variance of estimates with these gradients, and how far off they may be because the prior fills the cells
        that have no data yet: axes (..., row).

        The delta method takes the errors of all cells to be independent, so that many empty ones seem to make a sure
        mean. But they are wrong together, if the truth is not what the prior says: there their errors add up.
        """
        parts, off = self._conditions.errors(cells, g)
        parts /= totals + 1
        off /= totals
        return added_up(np.moveaxis(parts, -2, 0)), added_up(np.moveaxis(off, -2, 0))

    def _covariance(self, cells: Array, totals: Array, g: Array, h: Array) -> Array:
        """The covariance of estimates with these gradients: axes (..., row)."""
        parts = self._conditions.covariance(cells, g, h)
        parts /= totals + 1
        return added_up(np.moveaxis(parts, -2, 0))

    def _weights(self, cells: Array, totals: Array, gradients: Array) -> Array:
        weights = np.ones((len(gradients), cells.shape[1]))
        if self._is_simple:
            return weights
        pairs = self._pool.pairs
        if pairs:
            a, b = (np.array(places) for places in zip(*((p.first, p.second) for p in pairs), strict=True))
            share = self._shares(cells, totals, gradients[a], gradients[b], pairs)
            weights[a], weights[b] = share, 1 - share
        for k in self._several:
            self._take_the_best(k, weights, cells, totals, gradients)
        return weights

    def _shares(self, cells: Array, totals: Array, g: Array, h: Array, pairs: list[Pair]) -> Array:
        """The weight of the first estimate of every pair."""
        first, second, both = (self._covariance(cells, totals, a, b) for a, b in ((g, g), (h, h), (g, h)))
        spread = first + second - 2 * both
        share = np.clip((second - both) / np.where(spread > 0, spread, 1.0), 0.0, 1.0)
        overlap = np.array([p.overlap for p in pairs])[:, np.newaxis]
        return np.where(overlap, (first <= second).astype(float), share)

    def _take_the_best(self, k: int, weights: Array, cells: Array, totals: Array, gradients: Array) -> None:
        """Of several estimates of an arm's mean, the one with the smallest error."""
        choices = self._pool.choices[k]
        combined = [total(weights[list(used), np.newaxis] * gradients[list(used)]) for used in choices]
        errors = [self._errors(cells, totals, g) for g in combined]
        best = np.argmin([variance + by_prior**2 for variance, by_prior in errors], axis=0)
        for i, used in enumerate(choices):
            weights[list(used)] *= best == i


def _one_by_one(gradients: Array) -> Array:
    """The same gradients, each of them in one piece of memory, because some will be taken."""
    if gradients.flags.c_contiguous:
        return gradients
    found = np.empty(gradients.shape)
    for first in range(0, gradients.shape[1], TURNED):
        found[:, first : first + TURNED] = gradients[:, first : first + TURNED]
    return found


def _in_turn(pool: Pool) -> list[tuple[Indices, Indices]]:
    """The first estimates of all arms that have one, then the second ones, and so on."""
    of_arm = [[place for used in choices for place in used] for choices in pool.choices]
    found: list[tuple[Indices, Indices]] = []
    for i in range(max(map(len, of_arm), default=0)):
        arms = [k for k, places in enumerate(of_arm) if len(places) > i]
        found.append((np.array(arms), np.array([of_arm[k][i] for k in arms])))
    return found
