"""How high every cell stands: close to its neighbours on both sides, and clear of those above and below."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from dobandit.plots.layers import Cell, Grid, Lane

BETWEEN_NODES, BESIDE_NODE, BETWEEN_LANES, IN_BUNDLE = 0.2, 0.14, 0.13, 0.06
SETTLING = 40

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
    """The height of every cell's middle, counted downwards; the sweeps bring every line nearer to the level."""
    before, after = grid.neighbours()
    gaps = [[_gap(a, b, extents) for a, b in pairwise(column)] for column in grid.columns]
    y: dict[Cell, float] = {}
    for column, between in zip(grid.columns, gaps, strict=True):
        y.update(zip(column, spaced([0.0] * len(column), between), strict=True))
    for sweep in range(SETTLING):
        for i in sorted(range(len(gaps)), reverse=bool(sweep % 2)):
            pulls = [_pull(cell, [*before[cell], *after[cell]], y) for cell in grid.columns[i]]
            wishes, weights = zip(*pulls, strict=True)
            y.update(zip(grid.columns[i], spaced(wishes, gaps[i], weights), strict=True))
    return y


def _pull(cell: Cell, neighbours: Sequence[Cell], y: Mapping[Cell, float]) -> tuple[float, float]:
    """Where the neighbours want a cell to be, and how strongly; alone it stays where it is."""
    if not neighbours:
        return y[cell], 0.01
    weights = [_stiffness(cell, neighbour) for neighbour in neighbours]
    return sum(w * y[n] for w, n in zip(weights, neighbours, strict=True)) / sum(weights), sum(weights)


def _stiffness(a: Cell, b: Cell) -> float:
    """Long lines should be straight first of all; a `<->` gives way to what acts openly."""
    lanes = [cell for cell in (a, b) if isinstance(cell, Lane)]
    return (1.0, 2.0, 8.0)[len(lanes)] * (0.4 if lanes and lanes[0].line.hidden else 1.0)


def _gap(upper: Cell, lower: Cell, extents: Extents) -> float:
    """How far apart the middles of two neighbours in a column must be."""
    if isinstance(upper, str) or isinstance(lower, str):
        both = isinstance(upper, str) and isinstance(lower, str)
        room = extents.get(upper, (0.0, 0.0))[1] + extents.get(lower, (0.0, 0.0))[0]
        return room + (BETWEEN_NODES if both else BESIDE_NODE)
    a, b = upper.line, lower.line
    alike = a.hidden == b.hidden and (a.left == b.left or a.right == b.right)
    return IN_BUNDLE if alike else BETWEEN_LANES
