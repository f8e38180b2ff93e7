"""A picture of a graph for terminals.

Variables stand on a staircase in causal order. From each one a lane runs down, and arrows leave it
to the right for the variables it acts on; dashed lines at the right tie what a hidden cause acts on.
A lane that is merely passed stays whole (`│`), a lane that joins an arrow bends into it (`├`, `└`, `┼`, `┴`).
"""

from __future__ import annotations

import unicodedata

from dobandit.graph.edges import Edges
from dobandit.graph.text import write

STEP = 3


def draw(graph: Edges, width: int = 100) -> str:
    """The staircase, or the plain text of the graph where the staircase would not fit into `width`.

    >>> from dobandit.graph import Graph
    >>> print(draw(Graph("X -> M -> Y; X <-> Y")))
    X ╌╌╌╌╌╌╌╌╮
    └▶ M      ╎
       └▶ Y ╌╌╯
    """
    if STEP * (len(graph.variables) - 1) > width:
        return write(graph)
    row = {v: i for i, v in enumerate(graph.variables)}
    last_child = {v: max((row[c] for c in graph.children(v)), default=-1) for v in graph.variables}
    lines = [_stair(graph, v, row, last_child) for v in graph.variables]
    edge_of_page = max(map(_width, lines), default=0) + 3
    hidden = _hidden_lanes(sorted(sorted((row[a], row[b])) for a, b in graph.bidirected), len(lines))
    for i, lane in enumerate(hidden):
        ends = [column for column, sign in enumerate(lane) if sign in "╮╯"]
        if ends:
            dashed = [("╌" if sign == " " else sign) for sign in lane[: ends[-1]]]
            lane = [*dashed, *lane[ends[-1] :]]
            lines[i] += " " + "╌" * (edge_of_page - _width(lines[i]) - 1)
        lines[i] = (lines[i] + " " * (edge_of_page - _width(lines[i])) + "".join(lane)).rstrip()
    if max(map(_width, lines), default=0) > width:
        return write(graph)
    return "\n".join(lines)


def _hidden_lanes(pairs: list[list[int]], rows: int) -> list[list[str]]:
    """The right margin, row by row: every pair gets the first lane that is free where it runs."""
    lanes: list[list[str]] = []
    for top, bottom in pairs:
        lane = next((lane for lane in lanes if not "".join(lane[top : bottom + 1]).strip()), None)
        if lane is None:
            lane = [" "] * rows
            lanes.append(lane)
        lane[top : bottom + 1] = ["╮", *"╎" * (bottom - top - 1), "╯"]
    return [list(" ".join(lane[i] for lane in lanes)) for i in range(rows)]


def _stair(graph: Edges, node: str, row: dict[str, int], last_child: dict[str, int]) -> str:
    """One row: the lanes of earlier variables, the arrow into this variable, its name."""
    cells: list[str] = []
    arrow = False
    for lane in graph.variables[: row[node]]:
        joins, goes_on = lane in graph.parents(node), last_child[lane] > row[node]
        if joins:
            sign = {(False, True): "├", (False, False): "└", (True, True): "┼", (True, False): "┴"}[arrow, goes_on]
            arrow = True
        else:
            sign = "│" if goes_on else "─" if arrow else " "
        cells.append(sign + ("─" if arrow else " ") * (STEP - 1))
    line = "".join(cells)
    return (line[:-2] + "▶ " if arrow else line) + node


def _width(text: str) -> int:
    """The columns that a terminal needs: two for a Chinese or Japanese sign, none for a mark on a letter."""
    return sum(0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF") for sign in text)
