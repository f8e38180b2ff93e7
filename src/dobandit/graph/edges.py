"""The variables and edges of a graph, and who is next to whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from dobandit.errors import UnknownVariable
from dobandit.graph.bits import Bits
from dobandit.graph.checking import Edge, Origin
from dobandit.graph.names import normal

Nodes = str | Iterable[str]


@dataclass(frozen=True)
class Edges:
    """Edges of both kinds between variables in causal order."""

    variables: tuple[str, ...]
    directed: frozenset[Edge]
    bidirected: frozenset[Edge]
    origin: Origin = field(compare=False)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The variables that were marked as hidden where the graph was read: they were projected out, and
        `origin.notes` says which edges they leave."""
        return self.origin.hidden

    def parents(self, node: str) -> frozenset[str]:
        return self._parents[self._known(node)]

    def children(self, node: str) -> frozenset[str]:
        return self._children[self._known(node)]

    def siblings(self, node: str) -> frozenset[str]:
        """Variables that share a hidden cause with this one by a single `<->` edge."""
        return self._siblings[self._known(node)]

    def ancestors(self, node: str) -> frozenset[str]:
        return self.ancestral(node) - {self._known(node)}

    def descendants(self, node: str) -> frozenset[str]:
        place = self.bits.place[self._known(node)]
        return self.bits.names(self.bits.descending[place] & ~(1 << place))

    def ancestral(self, nodes: Nodes) -> frozenset[str]:
        """The smallest set that holds these variables and every parent of a member."""
        above = 0
        for v in self._known_set(nodes):
            above |= self.bits.ancestral[self.bits.place[v]]
        return self.bits.names(above)

    @cached_property
    def bits(self) -> Bits:
        """The same graph as sets of places, for questions that are asked often."""
        return Bits(self.variables, self._parents, self._children, self._siblings)

    @cached_property
    def _parents(self) -> Mapping[str, frozenset[str]]:
        return _neighbours(self.variables, ((b, a) for a, b in self.directed))

    @cached_property
    def _children(self) -> Mapping[str, frozenset[str]]:
        return _neighbours(self.variables, self.directed)

    @cached_property
    def _siblings(self) -> Mapping[str, frozenset[str]]:
        return _neighbours(self.variables, [*self.bidirected, *((b, a) for a, b in self.bidirected)])

    def in_order(self, nodes: Nodes) -> tuple[str, ...]:
        """These variables in the order of the graph."""
        return self.bits.in_order(self.bits.of(self._known_set(nodes)))

    def with_parents(self, nodes: Nodes) -> frozenset[str]:
        """These variables and their parents."""
        wanted = self._known_set(nodes)
        return wanted.union(*(self._parents[v] for v in wanted))

    def _known(self, node: str) -> str:
        """The variable of this name, however its letters are composed."""
        if node in self._parents:
            return node
        if node not in self:
            raise UnknownVariable(node, self.variables, self.origin.hidden)
        return normal(node)

    def _known_set(self, nodes: Nodes) -> frozenset[str]:
        return frozenset(map(self._known, [nodes] if isinstance(nodes, str) else nodes))

    @cached_property
    def _hash(self) -> int:
        return hash((self.variables, self.directed, self.bidirected))

    def __hash__(self) -> int:  # a graph is the key of many questions
        return self._hash

    def __contains__(self, node: object) -> bool:
        return isinstance(node, str) and normal(node) in self._parents


def edges_in_order(graph: Edges) -> tuple[list[Edge], list[Edge]]:
    """The directed and the bidirected edges, sorted by the order of the variables."""
    place = {v: i for i, v in enumerate(graph.variables)}

    def by_place(edge: Edge) -> tuple[int, int]:
        return place[edge[0]], place[edge[1]]

    pairs = [(a, b) if place[a] < place[b] else (b, a) for a, b in graph.bidirected]
    return sorted(graph.directed, key=by_place), sorted(pairs, key=by_place)


def _neighbours(variables: Iterable[str], edges: Iterable[Edge]) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {v: set() for v in variables}
    for a, b in edges:
        found[a].add(b)
    return {v: frozenset(nodes) for v, nodes in found.items()}
