"""Causes before effects: the order of the variables, or the cycle that makes one impossible."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping

from dobandit.errors import CycleError


def causal_order(names: list[str], directed: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Kahn's order; among the variables that are ready, the one that was named first."""
    children: dict[str, list[str]] = {v: [] for v in names}
    waiting = dict.fromkeys(names, 0)
    for a, b in directed:
        children[a].append(b)
        waiting[b] += 1
    place = {v: i for i, v in enumerate(names)}
    ready = [place[v] for v in names if not waiting[v]]
    order: list[str] = []
    while ready:
        order.append(names[heapq.heappop(ready)])
        for child in children[order[-1]]:
            waiting[child] -= 1
            if not waiting[child]:
                heapq.heappush(ready, place[child])
    if len(order) < len(names):
        raise CycleError(_cycle({v for v in names if waiting[v]}, children))
    return tuple(order)


def _cycle(stuck: set[str], children: Mapping[str, list[str]]) -> list[str]:
    """A cycle among the variables that Kahn's order could not place: every one of them has a stuck
    parent, so walking upwards must return to where it has been."""
    parent = {child: node for node in stuck for child in children[node] if child in stuck}
    walk: dict[str, None] = {}
    node = min(stuck)
    while node not in walk:
        walk[node] = None
        node = parent[node]
    upwards = list(walk)
    loop = upwards[upwards.index(node) :][::-1]
    first = loop.index(min(loop))
    return [*loop[first:], *loop[:first], loop[first]]
