"""How high every cell stands: close to its neighbours on both sides, and clear of those above and below."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from dobandit.plots.layers import Cell, Grid, Lane, Neighbours

BETWEEN_NODES, BESIDE_NODE, BETWEEN_LANES, IN_BUNDLE = 0.2, 0.14, 0.13, 0.06
SETTLING = 30

Extents = Mapping[Cell, tuple[float, float]]  # how much room a cell needs above and below its middle


def spaced(
    wishes: Sequence[float],
    gaps: Sequence[float],
    weights: Sequence[float] | None = None,
    low: float = -math.inf,
    high: float = math.inf,
) -> list[float]:
    """The positions nearest to the wishes (weighted least squares) that keep their order and these gaps.

    Without the gaps this is isotonic regression, so they are taken off first and put back at the end;
    neighbours that would change places are pooled at their mean.

    >>> spaced([0.0, 0.0, 5.0], gaps=[1.0, 1.0])
    [-0.5, 0.5, 5.0]
    """
    offsets = [0.0, *accumulate(gaps)][: len(wishes)]
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for wish, offset, weight in zip(wishes, offsets, weights or [1.0] * len(wishes), strict=True):
        mean, count = wish - offset, 1
        while pools and pools[-1][0] > mean:
            above, its_weight, its_count = pools.pop()
            mean = (above * its_weight + mean * weight) / (its_weight + weight)
            weight, count = weight + its_weight, count + its_count
        pools.append((mean, weight, count))
    flat = [min(max(mean, low), high - offsets[-1]) for mean, _, count in pools for _ in range(count)]
    return [value + offset for value, offset in zip(flat, offsets, strict=True)]


def rows(grid: Grid, extents: Extents) -> dict[Cell, float]:
    """The height of every cell's middle, 0 at the top; found by sweeping over the columns until they rest."""
    before, after = grid.neighbours()
    gaps = [[_gap(a, b, extents) for a, b in pairwise(column)] for column in grid.columns]
    y: dict[Cell, float] = {}
    for column, between in zip(grid.columns, gaps, strict=True):
        y.update(zip(column, spaced([0.0] * len(column), between), strict=True))
    for sweep in range(SETTLING):
        both = sweep >= SETTLING // 2
        for i in sorted(range(len(gaps)), reverse=bool(sweep % 2)):
            ...
    top = min(height - extents[cell][0] for cell, height in y.items())
    return {cell: height - top for cell, height in y.items()}
