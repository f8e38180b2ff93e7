"""c-components (the groups that hidden causes tie together) and effective parents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dobandit.graph.separation import closure

if TYPE_CHECKING:
    from dobandit.graph.admg import Graph


def c_components(graph: Graph) -> tuple[frozenset[str], ...]:
    found: list[frozenset[str]] = []
    seen: set[str] = set()
    for node in graph.variables:
        if node not in seen:
            found.append(frozenset(closure({node}, graph._siblings)))
            seen |= found[-1]
    return tuple(found)


def effective_parents(graph: Graph, node: str) -> frozenset[str]:
    """T_j and its parents without V_j, T_j = the component of V_j inside {V_1..V_j}. Printed without the
    restriction to predecessors (eq. 3 of the paper), the product of P(V_j | Z_j) is not a distribution."""
    upto = frozenset(graph.variables[: graph.variables.index(node) + 1])
    tied = closure({node}, {v: graph.siblings(v) & upto for v in upto})
    return graph.with_parents(tied) - {node}


def needed_factors(graph: Graph, y: str, do: frozenset[str]) -> tuple[str, ...]:
    """The reward's factor, and upwards from it those of the conditions of a needed factor."""
    conditions = {v: graph.effective_parents(v) - (do - graph.c_component(v)) for v in graph.variables}
    return graph.in_order(closure({y}, conditions))
