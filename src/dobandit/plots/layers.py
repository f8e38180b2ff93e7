"""Which column of the drawing a variable belongs to, and which columns its edges pass.

Causes stand left of their effects: a variable's column is the longest path that leads to it. An edge
that passes a column takes a cell in it, a `Lane`, as if it were a variable; so what runs past the
variables has a place of its own and need not run through them (Sugiyama, Tagawa and Toda 1981).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeVar

Edge = tuple[str, str]


class Line(NamedTuple):
    """One edge of the graph, from its left to its right end; `hidden` for `<->`."""

    left: str
    right: str
    hidden: bool


class Lane(NamedTuple):
    """The cell that a line takes in a column that it passes."""

    line: Line
    column: int


Cell = str | Lane
T = TypeVar("T")
Columns = list[list[Cell]]
Neighbours = Mapping[Cell, Sequence[Cell]]


@dataclass(frozen=True)
class Grid:
    """The cells of every column from top to bottom, and the cells that every line visits from left to right."""

    columns: Columns
    chains: Mapping[Line, tuple[Cell, ...]]

    @cached_property
    def place(self) -> Mapping[Cell, int]:
        """The column of every cell."""
        return {cell: i for i, column in enumerate(self.columns) for cell in column}

    def pieces(self) -> Iterator[tuple[Line, Cell, Cell]]:
        """The pieces of every line from column to column; a `<->` inside a column has none, and pulls neither way."""
        for line, chain in self.chains.items():
            yield from ((line, a, b) for a, b in pairwise(chain) if self.place[a] != self.place[b])

    def neighbours(self) -> tuple[Neighbours, Neighbours]:
        """For every cell, the cells that its lines come from on the left, and those they go to on the right."""
        pieces = [(a, b) for _, a, b in self.pieces()]
        return _lists((b, a) for a, b in pieces), _lists(pieces)


def grid(nodes: Sequence[str], directed: Iterable[Edge], bidirected: Iterable[Edge]) -> Grid:
    """The cells of a graph whose `nodes` are given in causal order; its columns are not sorted yet.

    >>> grid(["X", "M", "Y"], [("X", "M"), ("M", "Y"), ("X", "Y")], []).columns[1]
    ['M', Lane(line=Line(left='X', right='Y', hidden=False), column=1)]
    """
    directed, bidirected = list(directed), list(bidirected)
    place = _places(nodes, directed, bidirected)
    lines = [Line(a, b, False) for a, b in directed]
    lines += [Line(a, b, True) if place[a] <= place[b] else Line(b, a, True) for a, b in bidirected]
    chains: dict[Line, tuple[Cell, ...]] = {}
    for line in lines:
        lanes = (Lane(line, column) for column in range(place[line.left] + 1, place[line.right]))
        chains[line] = (line.left, *lanes, line.right)
    columns: Columns = [[] for _ in range(max(place.values()) + 1)]
    for node in nodes:
        columns[place[node]].append(node)
    for lane in (cell for chain in chains.values() for cell in chain if isinstance(cell, Lane)):
        columns[lane.column].append(lane)
    return Grid(columns, chains)


def _places(nodes: Sequence[str], directed: Sequence[Edge], bidirected: Sequence[Edge]) -> dict[str, int]:
    """The column of every variable."""
    parents = _lists((b, a) for a, b in directed)
    children = _lists(directed)
    siblings = _lists([*bidirected, *((b, a) for a, b in bidirected)])
    tied = [node for node in nodes if parents[node] or children[node] or siblings[node]]
    tallest = max(8, math.ceil(math.sqrt(3 * len(nodes))))
    place = _longest_paths(tied, parents, tallest)
    for node in tied:
        if not children[node] and not parents[node]:
            children[node] = siblings[node]
    _pull(place, parents, children, tallest)
    return _with_isolated(place, [node for node in nodes if node not in place])


def _lists(edges: Iterable[tuple[T, T]]) -> dict[T, list[T]]:
    found: dict[T, list[T]] = defaultdict(list)
    for a, b in edges:
        found[a].append(b)
    return found


def _longest_paths(nodes: Sequence[str], parents: Mapping[str, list[str]], tallest: int) -> dict[str, int]:
    """One column after the last cause, or later where that column is already as tall as a page can show."""
    place: dict[str, int] = {}
    filled: Counter[int] = Counter()
    for node in nodes:
        column = max((place[p] + 1 for p in parents[node]), default=0)
        while filled[column] >= tallest:
            column += 1
        place[node] = column
        filled[column] += 1
    return place


def _pull(
    place: dict[str, int], parents: Mapping[str, list[str]], children: Mapping[str, list[str]], tallest: int
) -> None:
    """Moves a variable with fewer causes than effects next to its effects: its lines become shorter."""
    filled = Counter(place.values())
    for node in reversed(list(place)):
        if len(children[node]) > len(parents[node]):
            nearest = min(place[child] for child in children[node]) - 1
            room = (column for column in range(nearest, place[node], -1) if filled[column] < tallest)
            filled[place[node]] -= 1
            place[node] = next(room, place[node])
            filled[place[node]] += 1


def _with_isolated(place: Mapping[str, int], isolated: Sequence[str]) -> dict[str, int]:
    """Closes empty columns, and puts the variables without any edge where there is most room."""
    used = sorted(set(place.values()))
    closed = {node: used.index(column) for node, column in place.items()}
    filled = Counter(closed.values())
    breadth = max(len(used), math.ceil(math.sqrt(len(isolated))))
    for node in isolated:
        closed[node] = min(range(breadth), key=lambda column: filled[column])
        filled[closed[node]] += 1
    return closed
