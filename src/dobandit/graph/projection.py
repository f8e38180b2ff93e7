"""Latent projection: the graph that is left when some variables are hidden.

Hiding one variable H joins its neighbours: every parent of H acts on every child of H, and every
two variables that H acted on, or that shared a hidden cause with it, now share one. Hiding several
is hiding them one by one, in any order (Verma and Pearl 1990).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dobandit.graph.admg import Graph
    from dobandit.graph.checking import Edge


def project(graph: Graph, keep: frozenset[str]) -> tuple[set[Edge], set[Edge]]:
    """The directed and the bidirected edges among `keep` once everything else is hidden."""
    parents = {v: set(graph.parents(v)) for v in graph.variables}
    children = {v: set(graph.children(v)) for v in graph.variables}
    siblings = {v: set(graph.siblings(v)) for v in graph.variables}
    gone: set[str] = set()
    for hidden in graph.variables:
        if hidden not in keep:
            gone.add(hidden)
            above, below, beside = (near[hidden] - gone for near in (parents, children, siblings))
            for v in above:
                children[v] |= below
            for v in below:
                parents[v] |= above
                siblings[v] |= (below | beside) - {v}
            for v in beside:
                siblings[v] |= below - {v}
    directed = {(a, b) for a in keep for b in children[a] & keep}
    return directed, {(a, b) for a in keep for b in siblings[a] & keep if a < b}
