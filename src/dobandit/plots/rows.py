"""How high every cell stands: close to its neighbours on both sides, and clear of those above and below."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from dobandit.plots.layers import Cell, Grid, Lane, Line

BETWEEN_NODES, BESIDE_NODE, BETWEEN_LANES, IN_BUNDLE = 0.2, 0.14, 0.13, 0.06
SETTLING, STRAIGHTENING = 40, 4  # sweeps, found by looking: more change nothing that can be seen

Room = Mapping[str, tuple[float, float]]  # what a box needs above and below its middle
Offsets = Mapping[tuple[Line, str], float]  # how far from a box's middle a line leaves it
Limits = Mapping[Cell, list[tuple[Cell, float]]]  # the neighbour of a cell, if any, and how far away it must stay
Run = tuple[Sequence[Cell], float, float]


class Spring(NamedTuple):
    """A cell wants to stand `offset` below another one, this strongly."""

    other: Cell
    offset: float
    strength: float


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
    offsets = [0.0, *accumulate(gaps)]
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


def rows(grid: Grid, room: Room, offsets: Offsets) -> dict[Cell, float]:
    """The height of every cell's middle, counted downwards, in balance between its neighbours."""
    springs = _springs(grid, offsets)
    gaps = _gaps(grid, room)
    y: dict[Cell, float] = {}
    for column, between in zip(grid.columns, gaps, strict=True):
        y.update(zip(column, spaced([0.0] * len(column), between), strict=True))
    for sweep in range(SETTLING):
        for i in sorted(range(len(gaps)), reverse=bool(sweep % 2)):
            wishes, weights = zip(*(_wish(cell, springs[cell], y) for cell in grid.columns[i]), strict=True)
            y.update(zip(grid.columns[i], spaced(wishes, gaps[i], weights), strict=True))
    return y


def _springs(grid: Grid, offsets: Offsets) -> dict[Cell, list[Spring]]:
    springs: dict[Cell, list[Spring]] = defaultdict(list)
    for line, a, b in grid.pieces():
        drop = _offset(line, a, offsets) - _offset(line, b, offsets)
        springs[a].append(Spring(b, -drop, _strength(line, a, b)))
        springs[b].append(Spring(a, drop, _strength(line, b, a)))
    return springs


def _offset(line: Line, cell: Cell, offsets: Offsets) -> float:
    return offsets.get((line, cell), 0.0) if isinstance(cell, str) else 0.0


def _strength(line: Line, cell: Cell, other: Cell) -> float:
    """Long lines should be straight first of all; a `<->` gives way to arrows, and hardly moves a variable."""
    if line.hidden:
        return 0.1 if isinstance(cell, Lane) else 0.001
    return (1.0, 2.0, 8.0)[isinstance(cell, Lane) + isinstance(other, Lane)]


def _wish(cell: Cell, springs: Sequence[Spring], y: Mapping[Cell, float]) -> tuple[float, float]:
    """Where its springs pull a cell, and how strongly; alone it stays where it is."""
    if not springs:
        return y[cell], 0.01
    total = sum(spring.strength for spring in springs)
    return sum(s.strength * (y[s.other] + s.offset) for s in springs) / total, total


def _gaps(grid: Grid, room: Room) -> list[list[float]]:
    return [[_gap(a, b, room) for a, b in pairwise(column)] for column in grid.columns]


def _gap(upper: Cell, lower: Cell, room: Room) -> float:
    """How far apart the middles of two neighbours in a column must be."""
    if isinstance(upper, Lane) and isinstance(lower, Lane):
        a, b = upper.line, lower.line
        alike = a.hidden == b.hidden and (a.left == b.left or a.right == b.right)
        return IN_BUNDLE if alike else BETWEEN_LANES
    below = room[upper][1] if isinstance(upper, str) else 0.0
    above = room[lower][0] if isinstance(lower, str) else 0.0
    return below + above + (BETWEEN_NODES if below and above else BESIDE_NODE)


# -- level lanes -------------------------------------------------------------------------------------


def straightened(grid: Grid, room: Room, offsets: Offsets, y: Mapping[Cell, float]) -> dict[Cell, float]:
    """The lanes of one line after the other at a common height, as far as their neighbours leave room."""
    y = dict(y)
    above, below = defaultdict[Cell, list[tuple[Cell, float]]](list), defaultdict[Cell, list[tuple[Cell, float]]](list)
    for column, between in zip(grid.columns, _gaps(grid, room), strict=True):
        for (a, b), gap in zip(pairwise(column), between, strict=True):
            above[b].append((a, gap))
            below[a].append((b, gap))
    for _ in range(STRAIGHTENING):
        for line, chain in grid.chains.items():
            ends = [y[end] + offsets.get((line, end), 0.0) for end in (line.left, line.right)]
            for run, low, high in _runs(chain[1:-1], above, below, y):
                mean = sum(y[lane] for lane in run) / len(run)
                level = next((end for end in ends if low <= end <= high), min(max(mean, low), high))
                y.update(dict.fromkeys(run, level))
    return y


def _runs(lanes: Sequence[Cell], above: Limits, below: Limits, y: Mapping[Cell, float]) -> Iterator[Run]:
    """The longest stretches of lanes that have some height in common, and the range of it."""
    run: list[Cell] = []
    low, high = -math.inf, math.inf
    for lane in lanes:
        top = max((y[cell] + gap for cell, gap in above[lane]), default=-math.inf)
        bottom = min((y[cell] - gap for cell, gap in below[lane]), default=math.inf)
        if run and max(low, top) > min(high, bottom):
            yield run, low, high
            run, low, high = [], -math.inf, math.inf
        run.append(lane)
        low, high = max(low, top), min(high, bottom)
    if run:
        yield run, low, high
