"""How far a mean of skewed rewards may be off, and to which side.

Where few outcomes are large and most are nothing, such as revenue, the mean of a sample is more often too low than too
high. So draws of a mean lean as the rewards do (Hall, J. R. Stat. Soc. B 1992). Only the mean of an arm as a whole
leans: it is a sum over rows of tables, whose errors partly cancel, so that its skewness is much less than that of a
row's mean.
"""

from __future__ import annotations

import numpy as np

from dobandit.arrays import Array
from dobandit.estimate.observational import MOST_SKEWED, leaning

USUAL = 8.0  # outcomes that the spread of all rewards counts for beside a row's or an arm's own


def usual_weight(n: Array, s: Array, q: Array, c: Array) -> float:
    """The outcomes that the spread of all rewards counts for in answers, from the number of rewards and the sums of
    their first three powers. A few skewed rewards say little about their spread: many customers who bought nothing do
    not show that all customers spend alike. Their kurtosis is at least the square of their skewness (Pearson 1916), and
    their variance is known only after several times as many outcomes."""
    total = max(n.sum(), 1.0)
    mean = s.sum() / total
    skewness = c.sum() / total - 3 * mean * q.sum() / total + 2 * mean**3  # the variance of all rewards is 1
    return max(USUAL, float(skewness**2))


def variances(n: Array, s: Array, q: Array, usual: Array | float = USUAL) -> Array:
    """The variance of a single reward from the number of rewards and the sums of their first two powers, in the unit in
    which the variance of all rewards is 1: where there are few, they are taken to vary as all do."""
    within = np.maximum(q - s**2 / np.maximum(n, 1.0), 0.0)
    return np.asarray((within + usual) / (n + usual))


def third_moments(n: Array, s: Array, q: Array, c: Array) -> Array:
    """The third central moment of a single reward from the number of rewards and the sums of their first three powers;
    where there are few, it is taken to be that of all of them together."""
    mean, weight = s / np.maximum(n, 1.0), usual_weight(n, s, q, c)
    thirds = c - 3 * mean * q + 2 * n * mean**3
    usual = thirds.sum() / max(n.sum(), 1.0)
    return np.asarray((thirds + weight * usual) / (n + weight))


def leant(draws: Array, means: Array, thirds: Array) -> Array:
    """Draws of means with axes (draw, arm), which are symmetric around these means, as rewards with these third
    central moments make them lean."""
    spread = draws.std(axis=0)
    safe = np.where(spread > 0, spread, 1.0)
    skew = np.clip(thirds / safe**3, -MOST_SKEWED, MOST_SKEWED)
    return np.asarray(means + spread * leaning((draws - means) / safe, skew))
