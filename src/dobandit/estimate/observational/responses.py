"""What an effect can be where observations do not identify it: every hidden cause, as a linear program.

A variable responds to its parents by some function, and hidden causes decide by which. The functions of all variables
of a c-component together are a *response type*. A distribution over the response types is all that matters of the
hidden causes: what is observed of the c-component and what would happen after an intervention are both linear in it. So
the largest and the smallest effect that agree with the observations are linear programs (Balke and Pearl 1997), one
c-component at a time. They are sharp if one hidden cause may act on the whole c-component.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from dobandit.arrays import Indices
from dobandit.graph import Graph

MOST_ENTRIES = 2**20  # response types times values of the parents outside: beyond that a program takes too long


@dataclass(frozen=True)
class ResponseTypes:
    """What every response type of a c-component does, for every combination of values of its parents outside.

    Both arrays have the axes (type, values of `outside`) and hold the number of a combination of values, in C order:
    `observed` of all members of the c-component as they happen to be, `changed` of those that are not set, after do.
    Types that do the same are one.
    """

    members: tuple[str, ...]
    left: tuple[str, ...]  # the members that are not set
    outside: tuple[str, ...]
    observed: Indices
    changed: Indices


def number_of_entries(graph: Graph, component: frozenset[str], cards: Mapping[str, int]) -> float:
    """How many response types a c-component has, times the values of its parents outside."""
    outside = graph.with_parents(component) - component
    types = sum(math.log(cards[v]) * math.prod(cards[p] for p in graph.parents(v)) for v in component)
    return math.exp(min(types + sum(math.log(cards[v]) for v in outside), 100.0))


def response_types(
    graph: Graph, component: frozenset[str], cards: Mapping[str, int], do: Mapping[str, int]
) -> ResponseTypes:
    """All response types of a c-component, for an intervention on some of its members.

    Parameters
    ----------
    graph
        The graph.
    component
        One of its c-components; `number_of_entries` says whether its types can be listed.
    cards
        How many values each variable has.
    do
        The members that are set and the numbers of their values.

    Returns
    -------
    ResponseTypes
        What they do.
    """
    members = graph.in_order(component)
    outside = graph.in_order(graph.with_parents(component) - component)
    left = tuple(v for v in members if v not in do)
    shape = (math.prod(_number_of_functions(graph, v, cards) for v in members), math.prod(cards[v] for v in outside))
    full = (*(_number_of_functions(graph, v, cards) for v in members), *(cards[v] for v in outside))
    observed, changed = (
        np.broadcast_to(_combined(_values(graph, members, outside, cards, set_to), of, cards), full).reshape(shape)
        for set_to, of in (({}, members), (do, left))
    )
    distinct = np.unique(np.hstack([observed, changed]), axis=0)
    return ResponseTypes(members, left, outside, distinct[:, : shape[1]], distinct[:, shape[1] :])


def _number_of_functions(graph: Graph, v: str, cards: Mapping[str, int]) -> int:
    """How many functions from the values of its parents to its own values a variable has."""
    return int(cards[v] ** math.prod(cards[p] for p in graph.parents(v)))


def _values(
    graph: Graph, members: tuple[str, ...], outside: tuple[str, ...], cards: Mapping[str, int], do: Mapping[str, int]
) -> dict[str, Indices]:
    """The value of every variable, with an axis for the function of each member and one for each variable outside."""
    axes = [*members, *outside]
    values = {v: _along(np.arange(cards[v]), axes.index(v), len(axes)) for v in outside}
    for v in members:
        parents = graph.in_order(graph.parents(v))
        shape = [cards[p] for p in parents]
        functions = np.array(list(product(range(cards[v]), repeat=math.prod(shape)))).reshape(-1, *shape)
        which = _along(np.arange(len(functions)), axes.index(v), len(axes))
        answer = functions[(which, *(values[p] for p in parents))]
        values[v] = np.full_like(answer, do[v]) if v in do else answer
    return values


def _combined(values: Mapping[str, Indices], of: tuple[str, ...], cards: Mapping[str, int]) -> Indices:
    """The numbers of the combinations of values of these variables."""
    numbers = np.zeros((), dtype=np.intp)
    for v in of:
        numbers = numbers * cards[v] + values[v]
    return numbers


def _along(values: Indices, axis: int, axes: int) -> Indices:
    """Values along one of so many axes."""
    return values.reshape([-1 if i == axis else 1 for i in range(axes)])
