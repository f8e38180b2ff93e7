"""What a graph is made of, checked: names, edges that join two known variables once, and
no arrows that run in a circle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from dobandit.errors import GraphError, UnknownVariable
from dobandit.graph.names import check_name, quoted
from dobandit.graph.order import causal_order


class Origin(NamedTuple):
    """What the file of a graph said besides its edges: default arms, the default reward, what a reader should know
    of, and the hidden variables, which were projected out."""

    exposures: tuple[str, ...] = ()
    outcome: str | None = None
    notes: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


Edge = tuple[str, str]
Parts = tuple[tuple[str, ...], frozenset[Edge], frozenset[Edge], Origin]
T = TypeVar("T")


def checked(
    directed: Iterable[Edge], bidirected: Iterable[Edge], variables: Iterable[str] | None, origin: Origin | None = None
) -> Parts:
    """The variables in causal order, the directed and the bidirected edges, and where they come from."""
    arrows, pairs = list(map(_pair, directed)), list(map(_pair, bidirected))
    mentioned = dict.fromkeys(name for edge in [*arrows, *pairs] for name in edge)
    names = list(mentioned) if variables is None else list(map(check_name, variables))
    for repeated in _repeats(names):
        raise GraphError(f"variable {quoted(repeated)} is listed twice")
    for name in mentioned.keys() - set(names):
        raise UnknownVariable(name, names)
    pairs = [(a, b) if a <= b else (b, a) for a, b in pairs]
    _check_edges("->", arrows)
    _check_edges("<->", pairs)
    return causal_order(names, arrows), frozenset(arrows), frozenset(pairs), origin or Origin()


def _check_edges(arrow: str, edges: list[Edge]) -> None:
    for a, b in edges:
        if a == b:
            raise GraphError(f"{quoted(a)} {arrow} {quoted(a)} is a self loop; a variable cannot act on itself")
    for a, b in _repeats(edges):
        raise GraphError(f"the edge {quoted(a)} {arrow} {quoted(b)} is given twice")


def _pair(edge: Edge) -> Edge:
    if isinstance(edge, str) or len(edge) != 2:
        raise GraphError(f"an edge is a pair of names, not {edge!r}")
    return check_name(edge[0]), check_name(edge[1])


def _repeats(items: Iterable[T]) -> Iterable[T]:
    seen: set[T] = set()
    for item in items:
        if item in seen:
            yield item
        seen.add(item)
