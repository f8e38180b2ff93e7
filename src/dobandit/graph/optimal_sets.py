"""Which sets of variables are worth setting: those that are best in some model of the graph.

Setting more is not always better: a variable that hidden causes tie to the reward may do best when it is left alone,
because its natural value carries information about the hidden cause. Lee and Bareinboim (NeurIPS 2018) call the sets
that can be best *possibly-optimal minimal intervention sets* (POMIS) and list them by two notions. The *territory* of
the reward Y is the smallest set that holds Y and is closed under hidden common causes and under descendants, both among
the ancestors of Y. Its *border* is the set of its other parents. A set is possibly optimal if and only if it is the
border of Y after some variables were set. Where some variables cannot be set, the same holds in the graph from which
they are projected out (Lee and Bareinboim, AAAI 2019).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dobandit.errors import GraphError
from dobandit.graph.admg import Graph
from dobandit.graph.files import GraphLike, as_graph

Set = frozenset[str]


def possibly_optimal(graph: GraphLike, reward: str, settable: Iterable[str] | None = None) -> frozenset[Set]:
    """The sets of variables for which some setting may be the only best one, in some model of the graph.

    Every other set is no better than one of these, or has the same effects as a smaller one. Costs are not considered.

    Parameters
    ----------
    graph
        A graph, or its text.
    reward
        The variable whose mean is to be made large or small.
    settable
        The variables that may be set; by default all but the reward.

    Returns
    -------
    frozenset of frozensets of str
        The sets; the empty set stands for plain observation, ``do()``.

    Examples
    --------
    Without hidden causes, setting all parents of the reward is best:

    >>> sorted(map(sorted, possibly_optimal("Z -> X -> Y; W -> Y", reward="Y")))
    [['W', 'X']]

    With one, leaving X alone or moving it from outside may be better than setting it:

    >>> sorted(map(sorted, possibly_optimal("Z -> X -> Y; X <-> Y", reward="Y")))
    [['X'], ['Z']]
    """
    whole = as_graph(graph)
    can_be_set = set(whole.variables) - {reward} if settable is None else set(settable)
    if reward in can_be_set:
        raise GraphError(f"the reward {reward} cannot be set; leave it out of settable")
    return frozenset(_borders(whole.project(can_be_set | {reward}), reward))


def _borders(graph: Graph, reward: str) -> Iterator[Set]:
    """The border after nothing was set, and those after some of the territory was set."""
    territory, border = territory_and_border(graph, reward)
    yield border
    last_first = list(reversed(graph.in_order(territory - {reward})))
    yield from _inner_borders(_within(graph, territory, border), reward, last_first, [])


def _inner_borders(graph: Graph, reward: str, order: list[str], passed: list[str]) -> Iterator[Set]:
    """The borders after some variables of `order` were set, where those of `passed` stay as they are: a border that
    holds one of them was found where it was set. (Lee and Bareinboim 2018, Algorithm 1.)"""
    for i, variable in enumerate(order):
        untouched = [*passed, *order[:i]]
        territory, border = territory_and_border(graph.without_edges(into=variable), reward)
        if border.isdisjoint(untouched):
            yield border
            left = [v for v in order[i + 1 :] if v in territory]
            yield from _inner_borders(_within(graph, territory, border), reward, left, untouched)


def territory_and_border(graph: Graph, reward: str) -> tuple[Set, Set]:
    """The territory of the reward (in the paper: its minimal unobserved confounders' territory) and its border.

    >>> territory, border = territory_and_border(Graph("Z -> X -> Y; X <-> Y"), "Y")
    >>> sorted(territory), sorted(border)
    (['X', 'Y'], ['Z'])
    """
    above = graph.ancestral_graph(reward)
    territory, size = {reward}, 0
    while len(territory) > size:
        size = len(territory)
        territory = set().union(*(above.c_component(v) for v in territory))
        territory |= set().union(*(above.descendants(v) for v in territory))
    parents = set().union(*(above.parents(v) for v in territory))
    return frozenset(territory), frozenset(parents - territory)


def _within(graph: Graph, territory: Set, border: Set) -> Graph:
    """The graph of the territory when its border is set."""
    return graph.without_edges(into=border).subgraph(territory | border)
