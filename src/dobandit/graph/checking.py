"""What a graph is made of, checked: every edge joins two known variables once, and no arrows run in a circle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from dobandit.errors import GraphError, UnknownVariable
from dobandit.graph.names import check_name
from dobandit.graph.order import causal_order
from dobandit.graph.origin import Origin

Edge = tuple[str, str]
Parts = tuple[tuple[str, ...], frozenset[Edge], frozenset[Edge], Origin]
T = TypeVar("T")


def checked(
    directed: Iterable[Edge], bidirected: Iterable[Edge], variables: Iterable[str] | None, origin: Origin | None = None
) -> Parts:
    """The variables in causal order, the directed and the bidirected edges, and where they come from."""
    arrows, pairs = list(map(_pair, directed)), list(map(_pair, bidirected))
    mentioned = dict.fromkeys(name for edge in [*arrows, *pairs] for name in edge)
    names = list(mentioned) if variables is None else list(variables)
    for name in names:
        check_name(name)
    for repeated in _repeats(names):
        raise GraphError(f"variable {repeated} is listed twice")
    for name in mentioned.keys() - set(names):
        raise UnknownVariable(name, names)
    pairs = [(a, b) if a <= b else (b, a) for a, b in pairs]
    _check_edges("->", arrows)
    _check_edges("<->", pairs)
    return causal_order(names, arrows), frozenset(arrows), frozenset(pairs), origin or Origin()


def _check_edges(arrow: str, edges: list[Edge]) -> None:
    for a, b in edges:
        if a == b:
            raise GraphError(f"{a} {arrow} {a} is a self loop; a variable cannot act on itself")
    for a, b in _repeats(edges):
        raise GraphError(f"the edge {a} {arrow} {b} is given twice")


def _pair(edge: Edge) -> Edge:
    if isinstance(edge, str) or len(edge) != 2:
        raise GraphError(f"an edge is a pair of names, not {edge!r}")
    return (edge[0], edge[1])


def _repeats(items: Iterable[T]) -> Iterable[T]:
    seen: set[T] = set()
    for item in items:
        if item in seen:
            yield item
        seen.add(item)
