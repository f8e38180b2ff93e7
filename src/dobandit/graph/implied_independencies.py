"""The independencies that a graph implies. Data can contradict them before money is spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from itertools import combinations
from typing import NamedTuple

from dobandit.graph.admg import Graph
from dobandit.graph.names import quoted
from dobandit.graph.separation import closure


class Independence(NamedTuple):
    """a and b are independent given these variables."""

    a: str
    b: str
    given: tuple[str, ...]

    def __str__(self) -> str:
        a, b, *given = map(quoted, (self.a, self.b, *self.given))
        return f"{a} ⫫ {b}" + (f" | {', '.join(given)}" if given else "")


def independencies(graph: Graph) -> Iterator[Independence]:
    """For every two variables that some set separates: that they are independent given a minimal such set.

    >>> [str(i) for i in independencies(Graph("A -> B -> C; A -> D; C <-> D"))]
    ['A ⫫ C | B', 'B ⫫ D | A']
    """
    for a, b in combinations(graph.variables, 2):
        given = separator(graph, a, b, frozenset(graph.variables))
        if given is not None:
            yield Independence(a, b, graph.in_order(given))


def separator(graph: Graph, a: str | frozenset[str], b: str, allowed: frozenset[str]) -> frozenset[str] | None:
    """A minimal set of allowed variables that separates a (or several) and b, the one closest to b, or None.

    If any set does, then so do all allowed ancestors of the two. Among the ancestors, separation is that of an
    undirected graph in which each c-component and its parents are all joined; of the ancestors those are needed
    that b sees first, and of these those that a sees first (van der Zander, Liskiewicz and Textor 2019).
    """
    start = {a} if isinstance(a, str) else set(a)
    within = graph.ancestral([*start, b])
    joined = _joined(graph, within)
    candidates = (within & allowed) - start - {b}
    if b in _seen(joined, start, candidates):
        return None
    near_b = candidates & _seen(joined, {b}, candidates)
    return frozenset(near_b & _seen(joined, start, near_b))


def _joined(graph: Graph, within: frozenset[str]) -> Mapping[str, set[str]]:
    """For each variable those that it is tied to: its c-component among `within`, the parents of that, and their
    other effects."""
    joined: dict[str, set[str]] = {v: set() for v in within}
    for component in graph.subgraph(within).c_components:
        group = graph.with_parents(component)
        for v in group:
            joined[v] |= group
    return joined


def _seen(joined: Mapping[str, set[str]], start: set[str], stops: Set[str]) -> set[str]:
    """Everything that is reached from `start` without passing through `stops`; the stops that are met included."""
    return closure(start, {v: set() if v in stops else near for v, near in joined.items()})
