"""Wilson's score interval, for any mean that is computed from tables of frequencies.

For k successes in n rows, Wilson (1927) takes all shares from which k/n deviates by at most z standard errors. His
interval stays inside [0, 1], is never a point, shrinks with n, and both of its ends rise with k. It differs in two
things from k/n plus or minus z standard errors, and both carry over to sums of products of frequencies:

- The variance of a single row, p (1 - p), is averaged with the largest possible one, 1/4, as if z² more rows had
  shown that. So a table in which only one value was seen is not taken for certain.
- The mean is pulled to the middle of the range, and more so if it is close to an end or if its error is large.

A measurement has no range that is known for certain, so its own variance and skewness decide: where few outcomes are
large and most are nothing, such as revenue, the mean of a sample is more often too low than too high.

For a mean of zeros and ones the result is Wilson's interval. For large samples it agrees with the delta method. The
difference of two means is one more such mean, whose range is twice as wide.
"""

from __future__ import annotations

import math

import numpy as np

from dobandit.estimate.observational.plugin import PlugIn, Rows
from dobandit.estimate.observational.skewness import MOST_SKEWED, leaning


def deviations(level: float) -> float:
    """The standard deviations between the middle of a normal variable and the ends of its interval at this level."""
    from statistics import NormalDist  # a study that asks needs none, and it takes long to import

    return NormalDist().inv_cdf(0.5 + level / 2)


def interval(found: PlugIn, lowest: float, highest: float, level: float) -> tuple[float, float]:
    """The interval of a mean in the units of the outcome, which lies between `lowest` and `highest`.

    At level 0 it is as wide as the lack of data makes it, and a point where nothing is missing.
    """
    width = highest - lowest
    share = (found.mean - lowest) / width if width else 0.5
    z = deviations(level)
    squared = max(squared_error(found.rows, z) + z * z * found.covariance, 0.0)
    is_measured = found.rows.thirds is not None
    down, up = leaning_distances(found.rows, squared, z) if is_measured else score_distances(share, squared)
    low, high = found.mean - width * (down + found.below), found.mean + width * (up + found.above)
    return (low, high) if is_measured else (max(low, lowest), min(high, highest))


def leaning_distances(rows: Rows, squared: float, z: float) -> tuple[float, float]:
    """How far the lower and the upper end are from the mean of a measurement whose squared error is given."""
    if squared <= 0 or rows.thirds is None:
        return 0.0, 0.0
    error = math.sqrt(squared) / z
    skew = float((rows.thirds / np.maximum(rows.totals, 1) ** 2).sum()) / error**3
    below, above = leaning(np.array([-z, z]), np.array(max(min(skew, MOST_SKEWED), -MOST_SKEWED)))
    return error * -float(below), error * float(above)


def squared_error(rows: Rows, z: float) -> float:
    """The square of z standard errors of the mean."""
    variances = (rows.totals * rows.variances + z * z * rows.reaches**2 / 4) / (rows.totals + z * z)
    return z * z * float((variances / np.maximum(rows.totals, 1)).sum())


def score_distances(share: float, squared: float) -> tuple[float, float]:
    """How far the lower and the upper end are from a share whose squared error is given.

    The pull towards the middle is what makes this Wilson's interval, if the error is that of a share of n rows. Here
    no successes in 100 rows, with z = 2, so that the upper end is 4 / 104:

    >>> rows = Rows(np.array([100.0]), np.array([0.0]), np.array([1.0]))
    >>> score_distances(0.0, squared_error(rows, z=2.0))
    (0.0, 0.038461538461538464)
    """
    if squared == 0:
        return 0.0, 0.0
    variance = share * (1 - share)
    both = variance + squared
    pull = 2 * squared / (both + math.sqrt(both**2 + (1 - 4 * variance) * squared))
    half, shift = math.sqrt(squared * (1 - pull)), (0.5 - share) * pull
    return max(half - shift, 0.0), max(half + shift, 0.0)
