"""The expected improvement of a normal variable over zero, as a logarithm, so that no chance is too small to compare.

E[max(g + s N, 0)] = s h(g / s) with h(t) = φ(t) + t Φ(t). For t far below zero h is about φ(t) / t², and both it and
every sum of such numbers underflow; their logarithms do not.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_LOG_ROOT = 0.5 * math.log(2 * math.pi)


def _log_h(t: float) -> float:
    """log h(t) for -30 <= t <= 8."""
    if t > -6:
        return math.log(math.exp(-t * t / 2 - _LOG_ROOT) + t * 0.5 * math.erfc(-t / math.sqrt(2)))
    # h = φ(t) (1 - |t| Mills(|t|)), and Mills by its continued fraction 1/(a+ 1/(a+ 2/(a+ ...)))
    a, fraction = -t, -t
    for k in range(80, 0, -1):
        fraction = a + k / fraction
    return -t * t / 2 - _LOG_ROOT + math.log((fraction - a) / fraction)


_GRID = np.linspace(-30, 8, 38 * 64 + 1)
_VALUES = np.array([_log_h(float(t)) for t in _GRID])


def log_improvement(gap: Array, spread: Array) -> Array:
    """log E[max(gap + spread N(0, 1), 0)], by interpolation, with a relative error below 1e-4 in the expectation.

    >>> log_improvement(np.array([0.0, -1.0]), np.array([1.0, 0.1])).round(2)
    array([ -0.92, -57.86])
    """
    positive = spread > 0
    s = np.where(positive, spread, 1.0)
    t = gap / s
    found: Array = np.interp(t, _GRID, _VALUES)
    if len(far := np.flatnonzero(t < -30)):
        found.ravel()[far] = _log_h_far_below(t.ravel()[far])
    if len(far := np.flatnonzero(t > 8)):
        found.ravel()[far] = np.log(t.ravel()[far])
    found += np.log(s)
    if not positive.all():
        with np.errstate(divide="ignore"):
            found = np.where(positive, found, np.log(np.maximum(gap, 0.0)))
    return found


def _log_h_far_below(t: Array) -> Array:
    """log h(t) for t < -30, by the first terms of its series."""
    return np.asarray(-t * t / 2 - _LOG_ROOT - 2 * np.log(-t) + np.log1p(-3 / (t * t)))
