"""What the arms' own rewards say, and the unit that rewards are counted in.

A reward with two values is 0 or 1, as far as estimates are concerned, and its mean says how much it varies. Any other
reward is counted in the data's own unit: the mean of all rewards that are known is 0, and their standard deviation 1.
So nothing depends on the range that a reward might have had, on where its zero lies, or on the currency. Before two
different rewards are known there is no unit yet, and one that is as good as any stands in for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.chance import Chance
from dobandit.estimate.pooled.skewed import USUAL, leant, third_moments, usual_weight, variances
from dobandit.evidence import MOMENTS, CountTable, Evidence, Layout, own_rewards
from dobandit.problem import Problem

PRIOR = 0.5  # Jeffreys
ROUNDING = 1e-14  # a variance this small beside the mean square is none


class Own(NamedTuple):
    """The posterior mean of every arm's own rewards, and the variance of a single one: axes (row, arm)."""

    means: Array
    variances: Array


class Unit(NamedTuple):
    """The unit of every row of a batch."""

    centre: Array  # the mean of all rewards, as policies see them
    scale: Array  # their standard deviation; 1 where it is not known
    above: Array  # the centre, above the reference of the moments
    worst: Array  # the worst reward, in this unit
    is_known: Array  # whether two different rewards are known
    has_rewards: Array  # whether one is

    def standard(self, layout: Layout, counts: Array) -> Array:
        """Counts of tables with axes (row, cell), their moments in this unit."""
        found, at = layout.moved(counts, -self.above), layout.numbers
        for power in (1, 2, 3):
            found[:, at + power] /= self.scale[:, np.newaxis] ** power
        return found


class OwnRewards:
    """The own rewards of the arms of a problem; `tables` are what they need beside what all evidence has."""

    def __init__(self, problem: Problem) -> None:
        self.is_real = problem.reward_is_real
        self.tables: tuple[CountTable, ...] = (own_rewards(problem),) if self.is_real else ()
        self._layout = Layout(problem, self.tables)

    def unit(self, evidence: Evidence) -> Unit:
        """The unit of a reward that is a measurement."""
        n, s, q, _ = np.moveaxis(self._cells(evidence).sum(axis=1), -1, 0)
        number = np.maximum(n, 1.0)
        above, square = s / number, q / number
        variance = square - above**2
        is_known = variance > ROUNDING * square
        scale = np.sqrt(np.where(is_known, variance, 1.0))
        centre = np.where(n > 0, evidence.reference, 0.0) + above
        worst = np.where(is_known, (evidence.worst - centre) / scale, -1.0)
        return Unit(centre, scale, above, worst, is_known, n > 0)

    def known(self, evidence: Evidence) -> Own:
        """What is known of the arms, in the unit of the rewards."""
        if not self.is_real:
            means = (evidence.rewards + PRIOR) / (evidence.told + 2 * PRIOR)
            return Own(means, means * (1 - means))
        n, s, q, _ = self.moments(evidence)
        return Own(s / (n + 2 * PRIOR), variances(n, s, q))

    def worst(self, evidence: Evidence) -> Array:
        """The worst reward in the unit, with an axis for the arms."""
        return self.unit(evidence).worst[:, np.newaxis] if self.is_real else np.zeros((1, 1))

    def sampled(self, evidence: Evidence, chance: Chance, trials: Indices, number: int | Indices) -> Array:
        """A draw of every arm's mean, for the decision of this number."""
        if not self.is_real:
            parameters = np.concatenate([evidence.rewards + PRIOR, evidence.told - evidence.rewards + PRIOR], axis=1)
            won, lost = np.split(chance.gammas(trials, number, parameters, ":own"), 2, axis=1)
            return np.asarray(won / (won + lost))
        own = self.known(evidence)
        normals = chance.normals(trials, number, own.means.shape[1], ":own")
        return np.asarray(own.means + np.sqrt(own.variances / (evidence.told + 2)) * normals)

    def drawn(self, evidence: Evidence, number: int, rng: np.random.Generator) -> Array:
        """Draws of every arm's mean for a batch of one row: axes (draw, arm)."""
        if not self.is_real:
            won, lost = evidence.rewards + PRIOR, evidence.told - evidence.rewards + PRIOR
            return rng.beta(won, lost, (number, won.shape[1]))
        means, (n, s, q, c) = self.known(evidence).means, self.moments(evidence)
        number_told, freedom = evidence.told + 1, evidence.told + USUAL
        spread = variances(n, s, q, usual_weight(n, s, q, c))
        draws = means + np.sqrt(spread / number_told) * rng.standard_t(freedom, (number, means.size))
        return leant(draws, means[0], (third_moments(n, s, q, c) / number_told**2)[0])

    def moments(self, evidence: Evidence) -> Array:
        """The number of rewards and the sums of their powers, in their unit: axes (power, row, arm)."""
        if not self.is_real:
            return np.stack([evidence.told, *[evidence.rewards] * MOMENTS])
        counts = self._cells(evidence).reshape(len(evidence.counts), -1)
        standard = self.unit(evidence).standard(self._layout, counts)
        return np.moveaxis(standard.reshape(len(counts), -1, 1 + MOMENTS), -1, 0)

    def _cells(self, evidence: Evidence) -> Array:
        """The moments of all arms: axes (row, arm, power)."""
        return evidence.layout.view(evidence.counts, self.tables[0])
