"""Where everything of a drawn graph lies, in inches: boxes, and the curves between them.

The boxes of a column are equally wide, and between two columns there is nothing but lines. A line
crosses a column level, in its own lane, and bends only between columns. So no line touches a box
other than the two it joins, whatever the graph.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from dobandit.plots.layers import Cell, Edge, Grid, Line, grid
from dobandit.plots.ordering import untangled
from dobandit.plots.rows import rows, spaced

Point = tuple[float, float]
Ends = Mapping[tuple[Line, str], float]

HEIGHT, TALLEST = 0.36, 1.5  # of a box; it grows with the arrows that end at it
HEADROOM = 0.1  # between arrowheads
NARROWEST, WIDEST = 0.6, 2.0  # gaps between columns
RISE = 0.2  # of a `<->` above or below the boxes that it joins


class Box(NamedTuple):
    """The centre and the size of a variable's box."""

    x: float
    y: float
    width: float
    height: float


class Layout(NamedTuple):
    """Boxes, and the control points of every line's cubic curves: end, 2 controls, joint, 2 controls, ..., end."""

    boxes: Mapping[str, Box]
    routes: Mapping[Line, tuple[Point, ...]]


class Exit(NamedTuple):
    """How a `<->` leaves a box: at the top (-1) or the bottom (1), how far from the corner, and how high."""

    side: int
    inset: float
    rise: float


def layout(
    nodes: Sequence[str], directed: Iterable[Edge], bidirected: Iterable[Edge], widths: Mapping[str, float]
) -> Layout:
    """A drawing of the graph with `nodes` in causal order; `widths` are those of their boxes."""
    cells = untangled(grid(nodes, directed, bidirected))
    heights = _heights(nodes, cells)
    half = {node: (height / 2, height / 2) for node, height in heights.items()}
    exits = _exits(cells, rows(cells, half), widths)
    y = rows(cells, _with_exits(half, exits))
    spans = _spans(cells, y, widths)
    place = cells.place()
    boxes = {n: Box(sum(spans[place[n]]) / 2, y[n], spans[place[n]][1] - spans[place[n]][0], heights[n]) for n in nodes}
    drawing = _Drawing(cells, boxes, y, spans, exits)
    return Layout(boxes, {line: drawing.route(line) for line in cells.chains})


def _heights(nodes: Sequence[str], cells: Grid) -> dict[str, float]:
    arrows = defaultdict(int)
    ...
