"""The independencies that a graph implies. Data can contradict them before money is spent."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from dobandit.graph.admg import Graph
from dobandit.graph.bits import Bits, members, reached
from dobandit.graph.names import quoted
from dobandit.graph.separation import reachable


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
    bits, names = graph.bits, graph.variables
    for a, first in enumerate(names):
        tied, _ = reachable(bits, 1 << a, 0)  # most pairs of a large graph need no separating set
        for b in range(a + 1, len(names)):
            given = separating(bits, 1 << a, b) if tied >> b & 1 else 0
            if given is not None:
                yield Independence(first, names[b], bits.in_order(given) if given else ())


def number_of_independencies(graph: Graph) -> int:
    """How many there are, without a look at each of them.

    Two variables that are in no c-component with its parents together are separated by some set.

    >>> number_of_independencies(Graph("A -> B -> C; A -> D; C <-> D"))
    2
    """
    bits, number = graph.bits, len(graph.variables)
    near = {
        pair
        for component in dict.fromkeys(bits.components)
        for pair in combinations(members(bits.with_parents(component)), 2)
    }
    return number * (number - 1) // 2 - sum(separating(bits, 1 << a, b) is None for a, b in near)


def separator(graph: Graph, a: str | frozenset[str], b: str, allowed: frozenset[str]) -> frozenset[str] | None:
    """A minimal set of allowed variables that separates a (or several) and b, the one closest to b, or None."""
    bits = graph.bits
    start = bits.of([a] if isinstance(a, str) else a)
    found = separating(bits, start, bits.place[b], bits.of(allowed))
    return None if found is None else bits.names(found)


def separating(graph: Bits, start: int, b: int, allowed: int = -1, without_effects: int = 0) -> int | None:
    """A minimal set of allowed variables that separates the set `start` from the variable at place b, the one closest
    to b, or None. The edges out of `without_effects`, a part of `start`, are left out.

    If any set does, then so do all allowed ancestors of the two. Among the ancestors, separation is that of an
    undirected graph in which each c-component and its parents are all joined; of the ancestors those are needed
    that b sees first, and of these those that a sees first (van der Zander, Liskiewicz and Textor 2019).
    """
    within = graph.ancestral[b]
    for v in members(start):
        within |= graph.ancestral[v]
    joined = _Joined(graph, within, without_effects)
    candidates = within & allowed & ~start & ~(1 << b)
    if joined.seen(start, candidates) >> b & 1:
        return None
    near_b = candidates & joined.seen(1 << b, candidates)
    return near_b & joined.seen(start, near_b) if near_b else 0


class _Joined:
    """The undirected graph among `within`: for each variable those that it is tied to, which are its c-component, the
    parents of that, and their other effects. Only the part that is looked at is made."""

    def __init__(self, graph: Bits, within: int, without_effects: int) -> None:
        self._graph, self._within, self._without = graph, within, without_effects
        self._groups: dict[int, int] = {}

    def seen(self, start: int, stops: int) -> int:
        """Everything that is reached from `start` without passing through `stops`; the stops that are met included."""
        found = todo = start
        while todo:
            new = 0
            for v in members(todo & ~stops):
                new |= self._near(v)
            todo = new & ~found
            found |= todo
        return found

    def _near(self, v: int) -> int:
        found = self._group(v)
        if not self._without >> v & 1:
            for child in members(self._graph.children[v] & self._within):
                found |= self._group(child)
        return found

    def _group(self, v: int) -> int:
        """The c-component of a variable and its parents."""
        if v not in self._groups:
            graph = self._graph
            component = reached(1 << v, graph.siblings, self._within) if graph.siblings[v] else 1 << v
            group = component
            for u in members(component):
                group |= graph.parents[u] & ~self._without
            for u in members(component):
                self._groups[u] = group
        return self._groups[v]
