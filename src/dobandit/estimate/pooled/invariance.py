"""Which data may enter which table: the one rule on which all pooling rests.

A table P(V | Z) may hold the outcomes of an arm do(X=x) if setting X leaves P(V | Z) as it is. The graph says when:
draw a regime node F -> X that tells whether X is set or left alone. If F is m-separated from V given Z, then V given
Z is distributed the same in both regimes, so that the arm's outcomes are samples of the very row that observations
fill. Where the separation fails there are models in which the two differ, and the data stay apart: the arm gets a
private table, which is closed to observations. It holds the outcomes of the arm, and by the same rule those of other
arms that have the same effect on the table: both do(X=x) and do(W=w) leave P(V | Z) as it would be if X and W were set
together.

>>> from dobandit.graph import Graph
>>> g = Graph("X -> M -> Y; X <-> Y")
>>> sorted(changed_by(g, "M", ("X",)))  # M still responds to X; setting M itself tells nothing about P(M | X)
['M']
>>> sorted(changed_by(g, "Y", ("X", "M")))  # X tells of the hidden cause, but only if it was not set
['X', 'Y']
>>> sorted(same_effect_as(g, "M", "Y", ("M",)))  # M is confounded with Y through X alone: setting either ends that
['M', 'X']
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from dobandit.evidence import CountTable
from dobandit.graph import Graph, reachable
from dobandit.problem import Problem


@lru_cache(maxsize=2**14)
def changed_by(graph: Graph, variable: str, given: tuple[str, ...]) -> frozenset[str]:
    """The variables whose setting may change P(variable | given)."""
    switched, regimes = _with_regimes(graph)
    connected = reachable(switched, frozenset({variable}), frozenset(given))
    return frozenset(x for x, regime in regimes.items() if regime in connected) | {variable}


@lru_cache(maxsize=2**12)
def same_effect_as(graph: Graph, x: str, variable: str, given: tuple[str, ...]) -> frozenset[str]:
    """The variables whose setting makes P(variable | given) what setting X makes it, where that changes it."""
    others = changed_by(graph, variable, given) - changed_by(graph.without_edges(into=x), variable, given)
    return frozenset({x}) | {w for w in others if x not in changed_by(graph.without_edges(into=w), variable, given)}


@lru_cache(maxsize=256)
def _with_regimes(graph: Graph) -> tuple[Graph, dict[str, str]]:
    """The graph with a regime node above every variable. They do not disturb each other: a node with one edge lies
    inside no path."""
    mark = "_" * (1 + max(len(v) for v in graph.variables))  # longer than any name, so that no name is taken
    regimes = {v: f"{mark}{v}" for v in graph.variables}
    directed = [*graph.directed, *((regime, v) for v, regime in regimes.items())]
    return Graph.from_edges(directed, graph.bidirected, [*regimes.values(), *graph.variables]), regimes


def pooled(problem: Problem, variable: str, given: Iterable[str]) -> CountTable:
    """The table P(variable | given) with the observations and every arm that leaves it unchanged."""
    given = tuple(given)
    changing = changed_by(problem.graph, variable, given)
    arms = tuple(k for k, arm in enumerate(problem.arms) if changing.isdisjoint(arm.variables))
    return CountTable(variable, given, arms=arms)


def private(problem: Problem, variable: str, given: Iterable[str], setting: frozenset[str]) -> CountTable:
    """The table P(variable | given) of those who set one of these variables."""
    arms = tuple(k for k, arm in enumerate(problem.arms) if not setting.isdisjoint(arm.variables))
    return CountTable(variable, tuple(given), arms=arms)
