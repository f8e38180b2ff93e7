"""m-separation: which independencies a graph with hidden causes implies.

A path is blocked by a set if it passes through a member that is no collider, or through a collider
that is not in the set and has no descendant there. Walking the graph and remembering only whether
the last edge arrived with an arrowhead finds everything that is not blocked, in linear time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dobandit.graph.admg import Graph


def closure(start: Iterable[str], step: Mapping[str, Iterable[str]]) -> set[str]:
    """Everything that can be reached from `start` by `step`, the start included."""
    reached = set(start)
    todo = list(reached)
    while todo:
        new = set(step[todo.pop()]) - reached
        reached |= new
        todo += new
    return reached


def reachable(graph: Graph, start: frozenset[str], given: frozenset[str]) -> set[str]:
    """The variables that are m-connected to `start` given `given`."""
    opens = graph.ancestral(given)  # a collider lets through if it or a descendant is given
    todo = [(node, False) for node in start]  # (variable, did the last edge point at it?)
    seen = set(todo)
    while todo:
        node, pointed_at = todo.pop()
        steps: list[tuple[str, bool]] = []
        if node not in given:
            steps += [(child, True) for child in graph.children(node)]
        if node in opens if pointed_at else node not in given:
            steps += [(parent, False) for parent in graph.parents(node)]
            steps += [(sibling, True) for sibling in graph.siblings(node)]
        new = set(steps) - seen
        seen |= new
        todo += new
    return {node for node, _ in seen}
