"""The expected improvement of a normal variable over zero, as a logarithm, so that no chance is too small to compare.

E[max(g + s N, 0)] = s h(g / s) with h(t) = φ(t) + t Φ(t). For t far below zero h is about φ(t) / t², and both it and
every sum of such numbers underflow; their logarithms do not.
"""

from __future__ import annotations

import math

import numpy as np

from dobandit.arrays import Array
from dobandit.estimate.pooled.circuit import added_up

_LOG_ROOT = 0.5 * math.log(2 * math.pi)


def _log_h(t: Array) -> Array:
    """log h(t) for -30 <= t <= 8."""
    near, far = t[t > -6], t[t <= -6]
    below = np.array([math.erfc(x) for x in (-near / math.sqrt(2)).tolist()]) / 2  # Φ
    # h = φ(t) (1 - |t| Mills(|t|)), and Mills by its continued fraction 1/(a+ 1/(a+ 2/(a+ ...)))
    fraction = -far
    for k in range(80, 0, -1):
        fraction = -far + k / fraction
    found = np.empty(t.shape)
    found[t > -6] = np.log(np.exp(-near * near / 2 - _LOG_ROOT) + near * below)
    found[t <= -6] = -far * far / 2 - _LOG_ROOT + np.log((fraction + far) / fraction)
    return found


_PER_UNIT = 64  # points of the grid; a power of two, so that no place is rounded
_GRID = np.linspace(-30, 8, 38 * _PER_UNIT + 1)
_LEAST, _MOST = float(_GRID[0]), float(_GRID[-1])
_VALUES = _log_h(_GRID)
_SLOPES = np.diff(_VALUES) / np.diff(_GRID)
_NOTHING = 60.0  # exp(-60) of a number is nothing beside it


def log_improvements(gap: Array, spread: Array) -> Array:
    """log Σ E[max(gap + spread N(0, 1), 0)] along the first axis, with a relative error below 1e-4 in the sum.

    >>> log_improvements(np.array([[0.0, -1.0], [-9.0, -9.0]]), np.array([[1.0, 0.1], [1.0, 0.1]])).round(2)
    array([ -0.92, -57.86])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        t = gap / spread
    np.fmax(t, -np.inf, out=t)  # neither a gap nor a spread: nothing to be had
    highest = t.max(axis=0)
    # All terms are divided by the h of the highest t, so that no sum underflows.
    unit = np.where(np.isfinite(highest) | (highest > 0), _log_h_of(np.minimum(highest, _MOST)), 0.0)
    parts = _improvements(gap, spread, t, highest, unit)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(added_up(parts)) + unit)


def _improvements(gap: Array, spread: Array, t: Array, highest: Array, unit: Array) -> Array:
    """E[max(gap + spread N(0, 1), 0)] for t = gap / spread, divided by exp(unit)."""
    counts = t > -np.sqrt(np.minimum(highest, 0.0) ** 2 + 2 * _NOTHING)
    # Others are nothing beside the largest. Where these are most of the terms they are not even made.
    if np.count_nonzero(counts) > t.size / 2:
        found = _log_h_of(t)
        found -= unit
        np.exp(found, out=found)
        found *= spread
        found *= counts
    else:
        found = np.zeros(t.shape)
        parts = np.exp(_log_h_of(t[counts]) - np.broadcast_to(unit, t.shape)[counts])
        found[counts] = parts * np.broadcast_to(spread, t.shape)[counts]
    if (highest > _MOST).any():
        found = np.where(t > _MOST, gap / np.exp(unit), found)
    return np.asarray(found)


def _log_h_of(t: Array) -> Array:
    """log h(t), between the two points of the grid around t, whose places are known because they are equally far apart;
    above the grid anything that is finite."""
    inside = np.clip(t, _LEAST, _MOST)
    place = ((inside - _LEAST) * _PER_UNIT).astype(np.intp)
    np.minimum(place, len(_SLOPES) - 1, out=place)
    inside -= _GRID.take(place)
    inside *= _SLOPES.take(place)
    inside += _VALUES.take(place)
    if len(far := np.flatnonzero(t < _LEAST)):
        np.put(inside, far, _log_h_far_below(t.take(far)))
    return np.asarray(inside)


def _log_h_far_below(t: Array) -> Array:
    """log h(t) for t < -30, by the first terms of its series."""
    with np.errstate(over="ignore"):  # nothing at all
        return np.asarray(-t * t / 2 - _LOG_ROOT - 2 * np.log(-t) + np.log1p(-3 / (t * t)))
