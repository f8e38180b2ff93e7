"""What the rows of a table of the reward are expected to be, from what each of their conditions adds.

The logit of P(Y=1 | z) is a constant and a main effect of every condition; beforehand an effect is normal with the
standard deviation `EFFECT`, and down to half of that where one of the two outcomes is rare. Rows that differ in a
condition that matters are not taken to be alike: around a single mean, all rows that an arm reads would be pulled in
the same direction, and with them the mean of the arm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.estimate.pooled.own import PRIOR

# From a coin to 73 %. With 3/4 the intervals of the best arm of `wide` were too low, with 5/4 answers for rare rewards
# were more optimistic. Sizes that the data choose are worse on `wide`: one effect is large there, the others are not.
EFFECT = 1.0
STEPS = 25  # of Newton's method; it ends earlier when nothing moves


class Fit(NamedTuple):
    """The most plausible coefficients, the rows' means, and the precision of the prior: axes (trial, coefficient),
    (trial, row) and (trial, coefficient, coefficient)."""

    coefficients: Array
    means: Array
    precision: Array


def differing(means: Array) -> Array:
    """How much rows differ in their log odds where their means are these, as a share of how much they do where they are
    about 1/2. As a share of the mean, rare outcomes would differ twice as much otherwise: an effect that makes 73 % out
    of 50 % would make 5 % out of 2 %."""
    return np.asarray((1 + 4 * means * (1 - means)) / 2)


class MainEffects:
    """A logistic regression of the rows of one table on their conditions, whose codes have axes (condition, row)."""

    def __init__(self, codes: Indices) -> None:
        values = [sorted(set(code.tolist())) for code in codes]
        levels = [code == x for code, some in zip(codes, values, strict=True) if len(some) > 1 for x in some]
        self._design = np.stack([np.ones(codes.shape[1]), *levels], axis=1).astype(float)
        self._precision = np.diag([0.0, *(EFFECT**-2 for _ in levels)])

    def fitted(self, won: Array, lost: Array) -> Fit:
        """To successes and failures with axes (trial, row), by Newton's method. Jeffreys' prior of the constant is
        spread over all rows."""
        share = PRIOR / won.shape[1]
        total = won + lost + 2 * share
        usual = (won + share).sum(axis=1) / total.sum(axis=1)
        precision = self._precision / differing(usual)[:, np.newaxis, np.newaxis] ** 2
        fit = self._fit(np.zeros((len(won), self._design.shape[1])), precision)
        for _ in range(STEPS):
            pull = (fit.coefficients[:, np.newaxis] @ precision)[:, 0]
            slope = (won + share - total * fit.means) @ self._design - pull
            step = np.linalg.solve(self._information(total, fit), slope[..., np.newaxis])[..., 0]
            # A whole step overshoots where nearly all are equal.
            fit = self._fit(fit.coefficients + np.clip(step, -2.0, 2.0), precision)
            if np.abs(step).max(initial=0.0) < 1e-9:
                break
        return fit

    def drawn(self, fit: Fit, told: Array, which: Indices, rng: np.random.Generator) -> Array:
        """Draws of the rows' means about a fit of one trial: axes (draw, row). The rows tell as much as so many
        independent outcomes, axes (case, row), and each draw is of one of these cases."""
        told = np.maximum(told, PRIOR / told.shape[1])
        half = np.linalg.cholesky(np.linalg.inv(self._information(told, fit)))
        errors = rng.standard_normal((len(which), half.shape[-1], 1))
        return self._fit(fit.coefficients + (half[which] @ errors)[..., 0], fit.precision).means

    def _fit(self, coefficients: Array, precision: Array) -> Fit:
        return Fit(coefficients, 1 / (1 + np.exp(-np.clip(coefficients @ self._design.T, -30.0, 30.0))), precision)

    def _information(self, outcomes: Array, fit: Fit) -> Array:
        """The negative second derivative of the logarithm of the posterior."""
        weighed = (outcomes * fit.means * (1 - fit.means))[:, :, np.newaxis] * self._design
        return np.asarray(np.swapaxes(weighed, 1, 2) @ self._design + fit.precision)
