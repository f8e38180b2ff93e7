"""Graphs of any size for the scripts of this folder."""

from __future__ import annotations

import numpy as np

from dobandit.graph import Graph


def tree(n: int) -> Graph:
    """Everything leads to Y by one way, and no variable has more than two parents."""
    rng = np.random.default_rng(n)
    places, edges = ["Y", "Y"], []
    for i in range(1, n):
        below = places.pop(int(rng.integers(len(places))))
        edges.append((f"X{i}", below))
        places += [f"X{i}"] * 2
    return Graph.from_edges(edges)


def confounded_tree(n: int, hidden: int, near: bool = True) -> Graph:
    """The same tree with hidden causes. Near: of a variable and a parent, or of two parents of a variable, so that the
    width does not grow with the graph. Else of any two variables."""
    graph, rng = tree(n), np.random.default_rng(n)
    families = [(v, *graph.in_order(graph.parents(v))) for v in graph.variables if graph.parents(v)]
    pairs: set[tuple[str, str]] = set()
    while len(pairs) < hidden:
        group = families[int(rng.integers(len(families)))] if near else graph.variables
        a, b = sorted(group[int(i)] for i in rng.choice(len(group), 2, replace=False))
        pairs.add((a, b))
    return Graph.from_edges(graph.directed, sorted(pairs), variables=graph.variables)
