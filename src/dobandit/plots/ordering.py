"""In which order the cells of a column stand, so that few lines cross."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from dobandit.plots.layers import Cell, Columns, Grid, Neighbours

SWEEPS = 12


def untangled(grid: Grid) -> Grid:
    """The grid with the fewest crossings that a few sweeps to the right and back find."""
    before, after = grid.neighbours()
    columns = [_lanes_in_the_middle(column) for column in grid.columns]
    best = min(columns, grid.columns, key=lambda order: crossings(order, after))
    fewest = crossings(best, after)
    for sweep in range(SWEEPS):
        columns = _by_means(columns, after, backwards=True) if sweep % 2 else _by_means(columns, before)
        columns = [_swapped(i, columns, before, after) for i in range(len(columns))]
        if (count := crossings(columns, after)) < fewest:
            best, fewest = columns, count
    return Grid(best, grid.chains)


def crossings(columns: Columns, after: Neighbours) -> int:
    """How many pairs of pieces of lines cross between neighbouring columns."""
    count = 0
    for left, right in pairwise(columns):
        place = {cell: i for i, cell in enumerate(right)}
        seen: list[int] = []
        for cell in left:
            ends = [place[neighbour] for neighbour in after[cell]]
            count += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return count


def _lanes_in_the_middle(column: list[Cell]) -> list[Cell]:
    """Where to start from: among equally good orders, lines run through the middle rather than around."""
    nodes = [cell for cell in column if isinstance(cell, str)]
    lanes = [cell for cell in column if not isinstance(cell, str)]
    half = (len(nodes) + 1) // 2
    return [*nodes[:half], *lanes, *nodes[half:]]


def _by_means(columns: Columns, neighbours: Neighbours, backwards: bool = False) -> Columns:
    """Every column in turn, sorted by where the neighbours stand in the column sorted before."""
    result = list(columns)
    height = {cell: (i + 0.5) / len(column) for column in columns for i, cell in enumerate(column)}
    for i in sorted(range(len(columns)), reverse=backwards):
        means = {cell: _mean(neighbours[cell], height, height[cell]) for cell in columns[i]}
        result[i] = sorted(columns[i], key=means.__getitem__)
        height.update((cell, (k + 0.5) / len(result[i])) for k, cell in enumerate(result[i]))
    return result


def _mean(cells: Sequence[Cell], height: Mapping[Cell, float], otherwise: float) -> float:
    return sum(height[cell] for cell in cells) / len(cells) if cells else otherwise


def _swapped(i: int, columns: Columns, before: Neighbours, after: Neighbours) -> list[Cell]:
    """One column in which neighbours changed places wherever that alone removes crossings."""
    column = list(columns[i])
    place = {cell: k for side in (columns[i - 1 : i], columns[i + 1 : i + 2]) for c in side for k, cell in enumerate(c)}
    for k in range(len(column) - 1):
        upper, lower = column[k], column[k + 1]
        now = sum(_inversions(place, side[upper], side[lower]) for side in (before, after))
        then = sum(_inversions(place, side[lower], side[upper]) for side in (before, after))
        if then < now:
            column[k : k + 2] = lower, upper
    return column


def _inversions(place: Mapping[Cell, int], upper: Iterable[Cell], lower: Sequence[Cell]) -> int:
    return sum(place[u] > place[v] for u in upper for v in lower)
