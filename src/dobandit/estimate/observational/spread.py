"""How a measurement varies in the rows of a table: from the data, whatever range it might have had."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array


class Spread(NamedTuple):
    """The variance and the third central moment of the measurement in every row of its table, axes (given...), and the
    variance inside the rows taken together."""

    variances: Array
    thirds: Array
    usual: float

    @property
    def varies(self) -> bool:
        return self.usual > 0

    def seen_with(self, slopes: Array) -> tuple[Array, Array, Array]:
        """The variance, the reach and the third moment of a single draw as a result sees it that has these slopes, axes
        (trial, given..., end). A quarter of the squared reach is what a row without much data is taken to vary: here as
        much as the rows do on average."""
        slope = slopes[..., 1] - slopes[..., 0]
        reaches = 2 * np.abs(slope) * np.sqrt(self.usual)
        return self.variances * slope**2, reaches, self.thirds * slope**3


def spread_of(moments: Array, scale: float) -> Spread:
    """From the numbers of rows and sums of powers above any reference; `scale` is one unit of the result.

    >>> spread_of(np.array([[4.0, 4.0, 8.0, 16.0]]), scale=2.0)  # 0, 0, 2 and 2, of a range of 2
    Spread(variances=array([0.25]), thirds=array([0.]), usual=0.25)
    """
    n, s, q, c = np.moveaxis(moments, -1, 0)
    number = np.maximum(n, np.finfo(float).tiny)
    mean = s / number
    squares = np.maximum(q - s * mean, 0.0)
    squares = np.where(squares > 1e-14 * np.maximum(q, 0.0), squares, 0.0)
    thirds = c - 3 * mean * q + 2 * n * mean**3
    usual = float(squares.sum() / max(n.sum(), np.finfo(float).tiny))
    return Spread(squares / number / scale**2, thirds / number / scale**3, usual / scale**2)
