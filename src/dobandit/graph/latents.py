"""Hidden variables: projected out and reported where a graph is read, written as variables where a format has no
other word for a hidden cause."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from dobandit.errors import listing
from dobandit.graph.admg import Graph
from dobandit.graph.checking import Edge, Origin
from dobandit.graph.edges import Edges, edges_in_order
from dobandit.graph.names import normal, quoted


def without_latents(graph: Graph, names: Iterable[str], latent: Collection[str], origin: Origin) -> Graph:
    """The graph of the variables that are not latent, in the order of `names`, with a note on the others.

    >>> hidden = without_latents(Graph("U -> {X, Y}"), ["X", "Y", "U"], {"U"}, Origin())
    >>> hidden, hidden.origin.notes
    (Graph('X <-> Y'), ('U is latent and was projected out; it leaves X <-> Y',))
    """
    names = list(names)
    hidden = [name for name in names if name in latent]
    kept = [name for name in names if name not in latent]
    projected = graph.project(kept)
    if hidden:
        origin = origin._replace(notes=(*origin.notes, _note(graph, projected, hidden)), hidden=tuple(hidden))
    # Sort again: in the order of `graph`, variables also waited for hidden parents.
    return Graph.from_edges(projected.directed, projected.bidirected, kept, origin=origin)


def _note(graph: Graph, projected: Graph, hidden: list[str]) -> str:
    directed, bidirected = edges_in_order(projected)
    left = [f"{quoted(a)} -> {quoted(b)}" for a, b in directed if (a, b) not in graph.directed]
    left += [f"{quoted(a)} <-> {quoted(b)}" for a, b in bidirected if b not in graph.siblings(a)]
    names, edges = listing(map(quoted, hidden), len(hidden)), listing(left) if left else "no new edge"
    if len(hidden) == 1:
        return f"{names} is latent and was projected out; it leaves {edges}"
    return f"{names} are latent and were projected out; they leave {edges}"


def hidden_nodes(graph: Edges) -> dict[str, Edge]:
    """A new name for every hidden cause, and the two variables that it acts on.

    >>> hidden_nodes(Graph("X <-> Y; U_X_Y"))
    {'U_X_Y_': ('X', 'Y')}
    """
    found: dict[str, Edge] = {}
    for a, b in edges_in_order(graph)[1]:
        name = normal(f"U_{a}_{b}"[:200].rstrip())
        while name in graph or name in found:
            name += "_"
        found[name] = (a, b)
    return found
