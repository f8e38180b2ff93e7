"""Latent projection: the graph that is left when some variables are hidden.

Hiding one variable H joins its neighbours: every parent of H acts on every child of H, and every
two variables that H acted on, or that shared a hidden cause with it, now share one. Hiding several
is hiding them one by one, in any order (Verma and Pearl 1990).
"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dobandit.graph.admg import Graph
    from dobandit.graph.checking import Edge


def project(graph: Graph, keep: frozenset[str]) -> tuple[set[Edge], set[Edge]]:
    """The directed and the bidirected edges among `keep` once everything else is hidden."""
    parents = {v: set(graph.parents(v)) for v in graph.variables}
    children = {v: set(graph.children(v)) for v in graph.variables}
    siblings = {v: set(graph.siblings(v)) for v in graph.variables}
    for hidden in graph.variables:
        if hidden in keep:
            continue
        above, below, beside = parents.pop(hidden), children.pop(hidden), siblings.pop(hidden)
        for v in above:
            children[v].discard(hidden)
        for v in below:
            parents[v].discard(hidden)
        for v in beside:
            siblings[v].discard(hidden)
        for a, b in product(above, below):
            children[a].add(b)
            parents[b].add(a)
        for a, b in [*combinations(below, 2), *product(beside, below)]:
            if a != b:
                siblings[a].add(b)
                siblings[b].add(a)
    directed = {(a, b) for a, found in children.items() for b in found}
    bidirected = {(a, b) for a, found in siblings.items() for b in found if a < b}
    return directed, bidirected
