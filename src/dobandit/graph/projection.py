"""Latent projection: the graph that is left when some variables are hidden (Verma and Pearl 1990).

A variable acts on another one if a path of arrows leads there through hidden variables alone. Two variables share a
hidden cause if such paths lead to both of them from the same hidden variable, or from the two ends of a `<->`.
"""

from __future__ import annotations

from dobandit.graph.bits import Bits, members, reached, union


def project(graph: Bits, keep: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The directed and the bidirected edges among `keep`, by places, once everything else is hidden."""
    directed: list[tuple[int, int]] = []
    bidirected: list[tuple[int, int]] = []
    for v in members(keep):
        hidden = reached(graph.parents[v] & ~keep, graph.parents, ~keep)
        directed += [(cause, v) for cause in members((graph.parents[v] | union(graph.parents, hidden)) & keep)]
        sources = hidden | graph.siblings[v] | union(graph.siblings, hidden)
        below = reached(sources & ~keep, graph.children, ~keep)
        beside = (sources | union(graph.children, below)) & keep
        bidirected += [(v, other) for other in members(beside >> v + 1 << v + 1)]
    return directed, bidirected
