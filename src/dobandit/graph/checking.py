"""What a graph is made of, checked: names that every format can write, edges that join two known variables once, and
no arrows that run in a circle."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from dobandit.errors import GraphError, UnknownVariable
from dobandit.graph.order import causal_order

NAME = r"[A-Za-z_][A-Za-z0-9_.]*"
RULE = "a name starts with a letter or '_' and goes on with letters, digits, '_' and '.'"


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


def check_name(text: str) -> None:
    """Refuse what cannot be the name of a variable in every format that we read."""
    if not isinstance(text, str) or not re.fullmatch(NAME, text):
        raise GraphError(f"{text!r} cannot be the name of a variable: {RULE}")


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
