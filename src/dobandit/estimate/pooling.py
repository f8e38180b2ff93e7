"""Which data may enter which table: the one rule on which all pooling rests.

A table P(V | Z) may hold the outcomes of an arm do(X=x) if setting X leaves P(V | Z) as it is. The graph says when:
draw a regime node F -> X that tells whether X is set or left alone. If F is m-separated from V given Z, then V given
Z is distributed the same in both regimes, so that the arm's outcomes are samples of the very row that observations
fill. Where the separation fails there are models in which the two differ, and the data stay apart: the arm gets a
private table, which holds its own outcomes only.

>>> from dobandit.graph import Graph
>>> g = Graph("X -> M -> Y; X <-> Y")
>>> sorted(changed_by(g, "M", ("X",)))  # M still answers to X as it always did; whoever sets M itself learns nothing
['M']
>>> sorted(changed_by(g, "Y", ("X", "M")))  # X tells of the hidden cause, but only if nobody set it
['X', 'Y']
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from dobandit.evidence.tally import Tallied
from dobandit.graph import Graph
from dobandit.graph.separation import reachable
from dobandit.problem import Problem


@lru_cache(maxsize=2**14)
def changed_by(graph: Graph, variable: str, given: tuple[str, ...]) -> frozenset[str]:
    """The variables whose setting may change P(variable | given)."""
    switched, regimes = _with_regimes(graph)
    connected = reachable(switched, frozenset({variable}), frozenset(given))
    return frozenset(x for x, regime in regimes.items() if regime in connected) | {variable}


@lru_cache(maxsize=256)
def _with_regimes(graph: Graph) -> tuple[Graph, dict[str, str]]:
    """The graph with a regime node above every variable. They do not disturb each other: a node with one edge lies
    inside no path."""
    mark = "_" * (1 + max(len(v) for v in graph.variables))  # longer than any name, so that no name is taken
    regimes = {v: f"{mark}{v}" for v in graph.variables}
    directed = [*graph.directed, *((regime, v) for v, regime in regimes.items())]
    return Graph.from_edges(directed, graph.bidirected, [*regimes.values(), *graph.variables]), regimes


def pooled(problem: Problem, variable: str, given: Iterable[str]) -> Tallied:
    """The table P(variable | given) with the observations and every arm that leaves it unchanged."""
    given = tuple(given)
    changing = changed_by(problem.graph, variable, given)
    arms = tuple(k for k, arm in enumerate(problem.arms) if arm.variable not in changing)
    return Tallied(variable, given, arms=arms)


def private(variable: str, given: Iterable[str], arm: int) -> Tallied:
    """The table of one arm's own outcomes."""
    return Tallied(variable, tuple(given), arms=(arm,))
