"""Where everything of a drawn graph lies, in inches from the top left corner: boxes and the curves between them.

The variables of a column are equally wide, and between two columns there is nothing but lines. A line
crosses a column straight in its own lane, and bends only between columns. So no line touches a box
other than the two it joins, whatever the graph.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from dobandit.plots.layers import Cell, Columns, Edge, Grid, Lane, Line, arrange

Point = tuple[float, float]

HEIGHT, TALLEST = 0.36, 1.5  # of a box; it grows with the arrows that end at it
HEADROOM = 0.1  # between the arrowheads at one box
BETWEEN_NODES, BETWEEN_LANES, BESIDE_NODE, IN_BUNDLE = 0.2, 0.13, 0.14, 0.055
NARROWEST_GAP, WIDEST_GAP = 0.6, 2.2  # between columns
RISE = 0.2  # of a `<->` above or below the boxes that it joins
SETTLING = 24  # sweeps until the rows rest


class Box(NamedTuple):
    """The centre and the size of a variable's box."""

    x: float
    y: float
    width: float
    height: float


class Layout(NamedTuple):
    """Boxes, and for every line the control points of its cubic curves: end, 2 controls, joint, 2 controls, ..."""

    boxes: Mapping[str, Box]
    routes: Mapping[Line, tuple[Point, ...]]
    width: float
    height: float


class Exit(NamedTuple):
    """How a `<->` leaves a box: from the top (-1) or the bottom (1), how far from the corner and how high."""

    side: int
    inset: float
    rise: float


def layout(
    nodes: Sequence[str], directed: Iterable[Edge], bidirected: Iterable[Edge], widths: Mapping[str, float]
) -> Layout:
    """A drawing of the graph with `nodes` in causal order; `widths` are those of their boxes."""
    grid = arrange(nodes, directed, bidirected)
    heights = _heights(grid)
    flat = {node: (height / 2, height / 2) for node, height in heights.items()}
    exits = _exits(grid, _rows(grid, flat), widths)
    rows = _rows(grid, _extents(flat, exits))
    ...
