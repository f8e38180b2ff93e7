"""Back-door paths of several variables that are set together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dobandit.graph.admg import Graph


def proper_backdoor(graph: Graph, do: frozenset[str], on: str) -> tuple[Graph, frozenset[str]]:
    """The graph in which every path between what is set and the outcome is a back-door path, and the variables that one
    may adjust for (Perković et al., JMLR 2018).

    A causal path is proper if only its first variable is set. The graph lacks the first edges of these paths; not
    allowed are the variables on them, and everything that these act on.
    """
    after = {v for x in do for v in graph.without_edges(into=do).descendants(x)}
    causal = (after & graph.without_edges(out_of=do).ancestral(on)) - do
    directed = [(a, b) for a, b in graph.directed if not (a in do and b in causal)]
    forbidden = do.union({on}, causal, *(graph.descendants(v) for v in causal))
    return graph._with(graph.variables, directed, graph.bidirected), frozenset(graph.variables) - forbidden
