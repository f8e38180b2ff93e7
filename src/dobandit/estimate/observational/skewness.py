"""Intervals of means of skewed rewards: they reach further to one side."""

from __future__ import annotations

import numpy as np

from dobandit.arrays import Array

MOST_SKEWED = 1.5  # the largest skewness of a mean that is allowed for: that of a mean of few outcomes


def leaning(t: Array, skew: Array) -> Array:
    """How many standard errors the true mean is above that of a sample where, if the rewards were not skewed, it would
    be t: the inverse of Hall's transformation (J. R. Stat. Soc. B 1992). `skew` is the skewness of the sample's mean.

    >>> leaning(np.array([-2.0, 0.0, 2.0]), np.array(0.3)).round(2)
    array([-1.66,  0.05,  2.73])
    """
    small = np.abs(skew) < 1e-6
    safe = np.where(small, 1.0, skew)
    return np.asarray(np.where(small, t, 3 / safe * (1 - np.cbrt(1 - safe * (t + safe / 6)))))
