"""Causes before effects: the order of the variables, or the cycle that makes one impossible."""

from __future__ import annotations

import graphlib
import heapq
from collections.abc import Iterable

from dobandit.errors import CycleError


def causal_order(names: list[str], directed: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Kahn's order; among the variables that are ready, the one that was named first."""
    parents: dict[str, list[str]] = {v: [] for v in names}
    for a, b in directed:
        parents[b].append(a)
    sorter = graphlib.TopologicalSorter(parents)
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        loop = error.args[1][1:]  # its first variable comes once more at the end
        first = loop.index(min(loop))
        raise CycleError([*loop[first:], *loop[: first + 1]]) from None
    place = {v: i for i, v in enumerate(names)}
    ready: list[int] = []
    order: list[str] = []
    while sorter.is_active():
        for v in sorter.get_ready():
            heapq.heappush(ready, place[v])
        order.append(names[heapq.heappop(ready)])
        sorter.done(order[-1])
    return tuple(order)
