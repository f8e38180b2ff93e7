"""Where everything of a drawn graph lies, in inches: boxes, and the curves between them.

The boxes of a column are equally wide, and between two columns there is nothing but lines. A line
crosses a column level, in its own lane, and bends only between columns. So no line touches a box
other than the two it joins, whatever the graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from dobandit.plots.curves import Box, End, Exit, Point, exits, heads_at_the_left, ports, route
from dobandit.plots.layers import Cell, Edge, Grid, Line, grid
from dobandit.plots.ordering import untangled
from dobandit.plots.rows import rows, straightened

HEIGHT, TALLEST = 0.36, 3.2  # of a box; it grows with the arrows that end at it
HEADROOM, TAILROOM = 0.09, 0.06
NARROWEST, WIDEST, SLOPE = 0.55, 2.0, 0.35  # gaps between columns, and how they grow with the climb of the lines


class Layout(NamedTuple):
    """Boxes, and the control points of every line's cubic curves: end, 2 controls, joint, 2 controls, ..., end.

    x grows to the right, y downwards.
    """

    boxes: Mapping[str, Box]
    routes: Mapping[Line, tuple[Point, ...]]


def layout(
    nodes: Sequence[str], directed: Iterable[Edge], bidirected: Iterable[Edge], widths: Mapping[str, float]
) -> Layout:
    """A drawing of the graph with `nodes` in causal order; `widths` are those of their boxes.

    >>> drawing = layout(["X", "Y"], [("X", "Y")], [], {"X": 1.0, "Y": 1.0})
    >>> drawing.boxes["Y"].x - drawing.boxes["X"].x
    1.55
    """
    cells = untangled(grid(nodes, directed, bidirected))
    heights = _heights(nodes, cells)
    half = {node: (height / 2, height / 2) for node, height in heights.items()}
    leaving = exits(cells, rows(cells, half, {}))
    levels = {(line, node): side * (heights[node] / 2 + rise) for (line, node), (side, _, rise) in leaving.items()}
    room = _with_room(half, leaving)
    y = rows(cells, room, levels)
    levels |= ports(cells, heights, y)
    y = straightened(cells, room, levels, y)
    spans = _spans(cells, y, _with_corners(widths, leaving))
    boxes = {node: Box(sum(spans[node]) / 2, y[node], spans[node][1] - spans[node][0], heights[node]) for node in nodes}
    routes = {line: route(line, chain, boxes, y, spans, levels, leaving) for line, chain in cells.chains.items()}
    return Layout(boxes, routes)


def _heights(nodes: Sequence[str], cells: Grid) -> dict[str, float]:
    """Boxes so high that the arrows that end or begin at them stay apart."""
    heads = Counter(node for line in cells.chains for node in heads_at_the_left(line, cells))
    tails = Counter(line.left for line in cells.chains if not line.hidden)
    needed = {node: max(HEADROOM * (heads[node] + 1), TAILROOM * (tails[node] + 1)) for node in nodes}
    return {node: min(max(HEIGHT, height), TALLEST) for node, height in needed.items()}


def _with_corners(widths: Mapping[str, float], leaving: Mapping[End, Exit]) -> dict[str, float]:
    """Boxes so wide that the `<->` at their left and right corners do not mix."""
    wide = dict(widths)
    for (_, node), (_, inset, _) in leaving.items():
        wide[node] = max(wide[node], 2 * inset + 0.12)
    return wide


def _with_room(half: Mapping[str, Point], leaving: Mapping[End, Exit]) -> dict[str, Point]:
    """The room of every box above and below its middle, with that of the `<->` that leave it there."""
    room = dict(half)
    for (_, node), (side, _, rise) in leaving.items():
        above, below = room[node]
        if side < 0:
            room[node] = max(above, half[node][0] + rise), below
        else:
            room[node] = above, max(below, half[node][1] + rise)
    return room


def _spans(cells: Grid, y: Mapping[Cell, float], widths: Mapping[str, float]) -> dict[Cell, Point]:
    """Where the column of every cell begins and ends."""
    climb = [0.0] * len(cells.columns)
    for a, b in (pair for chain in cells.chains.values() for pair in pairwise(chain)):
        climb[cells.place[b]] = max(climb[cells.place[b]], abs(y[a] - y[b]))
    spans: dict[Cell, Point] = {}
    right = 0.0
    for column, steepest in zip(cells.columns, climb, strict=True):
        left = right + min(max(NARROWEST, SLOPE * steepest), WIDEST)
        right = left + max(widths[cell] for cell in column if isinstance(cell, str))
        spans.update(dict.fromkeys(column, (left, right)))
    return spans
