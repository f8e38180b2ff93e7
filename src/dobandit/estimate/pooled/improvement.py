"""The expected improvement of a normal variable over zero, as a logarithm, so that no chance is too small to compare.

E[max(g + s N, 0)] = s h(g / s) with h(t) = φ(t) + t Φ(t). For t far below zero h is about φ(t) / t², and both it and
every sum of such numbers underflow; their logarithms do not.
"""

from __future__ import annotations

import math

import numpy as np

from dobandit.arrays import Array
from dobandit.estimate.pooled.circuit import total

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
_NOTHING = 60.0  # exp(-60) of a number is nothing beside it


def log_improvements(gap: Array, spread: Array) -> Array:
    """log Σ E[max(gap + spread N(0, 1), 0)] along the last axis, with a relative error below 1e-4 in the sum.

    >>> log_improvements(np.array([[0.0, -9.0], [-1.0, -9.0]]), np.array([[1.0, 1.0], [0.1, 0.1]])).round(2)
    array([ -0.92, -57.86])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        t = gap / spread
    t[np.isnan(t)] = -np.inf  # neither a gap nor a spread: nothing to be had
    # Most terms are nothing beside the largest, and no bit of the sum changes if they are left out.
    least = -np.sqrt(np.minimum(t.max(axis=-1, keepdims=True), 0.0) ** 2 + 2 * _NOTHING)
    some = np.flatnonzero(t > least)
    logs = np.full(t.shape, -np.inf)
    logs.ravel()[some] = _log_improvement(*(a.ravel()[some] for a in np.broadcast_arrays(gap, spread, t)))
    top = logs.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(total(np.moveaxis(np.exp(logs - top), -1, 0))) + top[..., 0])


def _log_improvement(gap: Array, spread: Array, t: Array) -> Array:
    """log E[max(gap + spread N(0, 1), 0)] with t = gap / spread, by interpolation."""
    found: Array = np.interp(t, _GRID, _VALUES)
    if len(far := np.flatnonzero(t < _GRID[0])):
        found[far] = _log_h_far_below(t[far])
    sure = t > _GRID[-1]
    with np.errstate(divide="ignore"):
        return np.where(sure, np.log(np.where(sure, gap, 1.0)), found + np.log(spread))


def _log_h_far_below(t: Array) -> Array:
    """log h(t) for t < -30, by the first terms of its series."""
    return np.asarray(-t * t / 2 - _LOG_ROOT - 2 * np.log(-t) + np.log1p(-3 / (t * t)))
