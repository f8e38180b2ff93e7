"""Cut points of bins from data: quantiles, rounded to numbers that people can read and remember."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dobandit.arrays import Array

BINS = 4  # quarters, unless another number is asked for
UNEVEN = 0.75  # rounding may leave the smallest bin this share of its rows, and no less
DIGITS = 6  # steps of rounding below the size of the numbers


def cut_points(numbers: Array, rows: Array, bins: int = BINS) -> list[float]:
    """Cut points that split these rows into so many bins of about the same size, or fewer where a number is frequent.

    Parameters
    ----------
    numbers
        Different numbers in increasing order, at least two.
    rows
        How many rows have each of them.
    bins
        The number of bins.

    Returns
    -------
    list of float
        Increasing cut points, none at or below the smallest number.

    >>> cut_points(np.arange(18.0, 90.0), np.ones(72))
    [35.0, 55.0, 70.0]
    >>> cut_points(np.array([0.0, 10.3, 99.9, 250.2]), np.array([70, 10, 10, 10]))  # most rows have a zero
    [10.0]
    """
    exact = _quantiles(numbers, rows, bins)
    smallest = UNEVEN * _shares(numbers, rows, exact).min()
    for step in _steps(exact):
        rounded = np.unique(np.round(np.round(exact / step) * step, 12))
        if len(rounded) == len(exact) and _shares(numbers, rows, rounded).min() >= smallest:
            return [float(cut) for cut in rounded]
    return [float(cut) for cut in exact]


def _quantiles(numbers: Array, rows: Array, bins: int) -> Array:
    """The number at which each quantile is reached; where the smallest one reaches it, the number after that."""
    below = np.cumsum(rows) / rows.sum()
    places = np.searchsorted(below, np.arange(1, bins) / bins, side="right")
    return np.unique(numbers[np.clip(places, 1, len(numbers) - 1)])


def _shares(numbers: Array, rows: Array, cuts: Array) -> Array:
    counts = np.bincount(np.searchsorted(cuts, numbers, side="right"), rows, len(cuts) + 1)
    return np.asarray(counts / rows.sum())


def _steps(cuts: Array) -> Iterator[float]:
    """From coarse to fine: 500, 200, 100, 50, ..."""
    size = math.ceil(math.log10(max(float(np.abs(cuts).max()), 1e-300)))
    for power in range(size, size - DIGITS, -1):
        yield from (5 * 10.0**power, 2 * 10.0**power, 10.0**power)
