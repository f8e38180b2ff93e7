"""Draws of means that stay where the means can be.

The mean of an option that observations do not identify lies inside of its natural bounds, and these inside of the range
of the reward. The posterior of a measured reward knows neither: its draws may say that customers spend less than
nothing. Where they do, the beta distribution between the bounds that has the same mean and variance takes their place.
The order of the draws is kept, and so is how they go together with those of other options.

>>> rng = np.random.default_rng(1)
>>> mean, draws = bounded(50.0, rng.normal(50, 80, 2000), (20.0, 360.0), rng)
>>> print(mean, draws.mean().round(), draws.min().round(), draws.max().round())
50.0 49.0 20.0 360.0
"""

from __future__ import annotations

import numpy as np

from dobandit.arrays import Array

LEAST = 1.0  # weight of a beta distribution, that of Jeffreys' prior: with less, most draws lie at the ends


def bounded(mean: float, draws: Array, ends: tuple[float, float], rng: np.random.Generator) -> tuple[float, Array]:
    """The mean and the draws of one option inside of these ends; unchanged if they are inside."""
    low, high = ends
    if low <= draws.min() and draws.max() <= high:
        return mean, draws
    if not low < mean < high:
        return float(np.clip(mean, low, high)), np.clip(draws, low, high)
    share, variance = (mean - low) / (high - low), draws.var() / (high - low) ** 2
    weight = max(share * (1 - share) / variance - 1, LEAST)
    found = np.sort(rng.beta(weight * share, weight * (1 - share), len(draws)))
    return mean, low + (high - low) * found[draws.argsort().argsort()]
