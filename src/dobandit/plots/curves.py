"""The curves of a drawn graph: where lines leave and reach boxes, and how they run in between.

`->` leave a box at its right and reach a box at its left border. `<->` leave at the top or the bottom,
so that in a bow they are seen beside the arrow; inside one column they bend around its left border.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dobandit.plots.layers import Cell, Grid, Line
from dobandit.plots.rows import spaced

Point = tuple[float, float]
End = tuple[Line, str]  # a line at one of its variables

RISE, RISE_STEP, RISE_MOST = 0.2, 0.09, 1.0  # of a `<->` above or below a box; of the next one; of all the next ones
INSET, INSET_MOST = 0.13, 0.8  # of a `<->` from the corner of a box, and from the next one
PORTS = 0.1  # between two lines at the left or right border of a box
BULGE, BULGE_SLOPE, BULGE_MOST = 0.2, 0.12, 0.55  # of a `<->` inside a column, growing with its length


class Box(NamedTuple):
    """The centre and the size of a variable's box."""

    x: float
    y: float
    width: float
    height: float


class Exit(NamedTuple):
    """How a `<->` leaves a box: at the top (-1) or the bottom (1), how far from the corner, and how high."""

    side: int
    inset: float
    rise: float


def _inside(line: Line, cells: Grid) -> bool:
    """Whether a line joins two variables of one column; only a `<->` can."""
    return cells.place[line.left] == cells.place[line.right]


def _next_to(node: str, line: Line, cells: Grid) -> Cell:
    """The cell that the line comes from or goes to at one of its ends."""
    chain = cells.chains[line]
    return chain[1] if node == line.left else chain[-2]


# -- at the left and right borders -------------------------------------------------------------------


def heads_at_the_left(line: Line, cells: Grid) -> tuple[str, ...]:
    """The variables at whose left border the line ends with an arrowhead."""
    if not line.hidden:
        return (line.right,)
    return (line.left, line.right) if _inside(line, cells) else ()


def ports(cells: Grid, heights: Mapping[str, float], y: Mapping[Cell, float]) -> dict[End, float]:
    """How far from the middle lines leave and reach the left and right borders: level where possible, and apart."""
    left, right = defaultdict[str, list[Line]](list), defaultdict[str, list[Line]](list)
    for line in cells.chains:
        for node in heads_at_the_left(line, cells):
            left[node].append(line)
        if not line.hidden:
            right[line.left].append(line)
    found: dict[End, float] = {}
    for border in (left, right):
        for node, lines in border.items():
            lines.sort(key=lambda line: _height_of_approach(node, line, cells, y))
            climbs = [y[_next_to(node, line, cells)] - y[node] for line in lines]
            found.update(zip([(line, node) for line in lines], _along(heights[node], climbs), strict=True))
    return found


def _height_of_approach(node: str, line: Line, cells: Grid, y: Mapping[Cell, float]) -> tuple[int, float]:
    """Sorts lines at a border; `<->` inside the column go outside the arrows, the longer around the shorter."""
    climb = y[_next_to(node, line, cells)] - y[node]
    if not line.hidden:
        return 0, climb
    return (-1, -climb) if climb < 0 else (1, -climb)


def _along(height: float, climbs: Sequence[float]) -> list[float]:
    """Lines that can be level are; the others leave from the middle, or beside it."""
    reach = height / 2 - 0.08
    wishes = [climb if abs(climb) <= reach else 0.0 for climb in climbs]
    gap = min(PORTS, 2 * reach / max(1, len(wishes) - 1))
    return spaced(wishes, [gap] * (len(wishes) - 1), low=-reach, high=reach)


# -- at the top and bottom ---------------------------------------------------------------------------


def exits(cells: Grid, y: Mapping[Cell, float]) -> dict[End, Exit]:
    """How every `<->` between columns leaves its two boxes; several at a corner are nested."""
    corners = defaultdict[tuple[str, int, bool], list[Line]](list)
    for line in cells.chains:
        if line.hidden and not _inside(line, cells):
            for node in (line.left, line.right):
                corners[node, _side(node, line, cells, y), node == line.left].append(line)
    found: dict[End, Exit] = {}
    for (node, side, _), lines in corners.items():
        lines.sort(key=lambda line: side * y[_next_to(node, line, cells)])  # the outermost last
        inset = min(INSET, INSET_MOST / len(lines))
        step = min(RISE_STEP, RISE_MOST / len(lines))
        for i, line in enumerate(lines):
            found[line, node] = Exit(side, inset * (i + 1), RISE + step * i)
    return found


def _side(node: str, line: Line, cells: Grid, y: Mapping[Cell, float]) -> int:
    """Above the arrows of the box on that side or below them, as the line is further on; between neighbouring
    columns away from the middle, and the same at both ends, so that in a bow it does not cross the arrow."""
    if len(cells.chains[line]) == 2:
        middle = (min(y.values()) + max(y.values())) / 2
        return -1 if (y[line.left] + y[line.right]) / 2 <= middle + 0.01 else 1
    aim = y[_next_to(node, line, cells)]
    arrows = [other for other in cells.chains if not other.hidden and other[line.index(node)] == node]
    others = [y[_next_to(node, arrow, cells)] for arrow in arrows]
    above, below = sum(other < aim for other in others), sum(other > aim for other in others)
    return -1 if (above, aim) <= (below, y[node]) else 1


# -- in between --------------------------------------------------------------------------------------


def route(
    line: Line,
    chain: Sequence[Cell],
    boxes: Mapping[str, Box],
    y: Mapping[Cell, float],
    spans: Mapping[Cell, Point],
    levels: Mapping[End, float],
    leaving: Mapping[End, Exit],
) -> tuple[Point, ...]:
    """The control points of a line from its left to its right end."""
    first, last = (line, line.left), (line, line.right)
    if first in leaving:
        start = _leave(boxes[line.left], leaving[first], 1)
        stop = _leave(boxes[line.right], leaving[last], -1)[::-1]
    elif spans[line.left] == spans[line.right]:
        return _around(spans[line.left][0], y[line.left] + levels[first], y[line.right] + levels[last])
    else:
        start = [(spans[line.left][1], y[line.left] + levels[first])]
        stop = [(spans[line.right][0], y[line.right] + levels[last])]
    points = list(start)
    for lane in chain[1:-1]:
        (enter, depart), level = spans[lane], y[lane]
        points += [*_bend(points[-1], (enter, level)), *_level(enter, depart, level)]
    return (*points, *_bend(points[-1], stop[0]), *stop[1:])


def _bend(a: Point, b: Point) -> list[Point]:
    """From a to b, level at both ends; without a itself."""
    reach = (b[0] - a[0]) * 0.5
    return [(a[0] + reach, a[1]), (b[0] - reach, b[1]), b]


def _level(left: float, right: float, y: float) -> list[Point]:
    return [(left + (right - left) / 3, y), (right - (right - left) / 3, y), (right, y)]


def _leave(box: Box, leave: Exit, direction: int) -> list[Point]:
    """From the top or bottom of a box to the border of its column, where the curve is level."""
    corner, edge = box.x + direction * box.width / 2, box.y + leave.side * box.height / 2
    x, level = corner - direction * leave.inset, edge + leave.side * leave.rise
    return [
        (x, edge),
        (x, edge + leave.side * leave.rise * 0.7),
        (x + direction * leave.inset * 0.3, level),
        (corner, level),
    ]


def _around(left: float, start: float, stop: float) -> tuple[Point, ...]:
    """A bow to the left of a column."""
    reach = min(BULGE + BULGE_SLOPE * abs(stop - start), BULGE_MOST) * 4 / 3
    return ((left, start), (left - reach, start), (left - reach, stop), (left, stop))
