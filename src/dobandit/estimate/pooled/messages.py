"""The effects of many arms from one product of tables, with shared partial sums.

Summing out the variables of a product one by one makes a tree: what is left of a variable's tables, a message, goes to
the variable among its neighbours that is summed out next. Messages can be sent both ways along the tree, each computed
once. An arm changes few tables, close to each other in the tree; its effect needs these, those between them, and the
messages that come in from the rest, which all arms share. So on a tree of bounded width the work for all arms grows
as the number of variables (Shafer and Shenoy 1990; Darwiche 2003).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

from dobandit.elimination import elimination_order
from dobandit.estimate.pooled.circuit import Circuit, Function


def contract(
    circuit: Circuit, functions: Sequence[Function], keep: Collection[str], cards: Mapping[str, int]
) -> Function:
    """The product of the functions, summed over all variables but `keep`."""
    left = list(functions)
    for variable in elimination_order([f.axes for f in left], keep, cards):
        touching = [f for f in left if variable in f.axes]
        left = [f for f in left if variable not in f.axes] + [circuit.sum_out(touching, {variable})]
    return circuit.sum_out(left, ())


def widest(scopes: Iterable[tuple[str, ...]], keep: Collection[str], cards: Mapping[str, int]) -> int:
    """The size of the largest table on the way when the variables are summed out."""
    left = [frozenset(s) for s in scopes]
    most = max(math.prod(cards[v] for v in s) for s in left)
    for variable in elimination_order([tuple(s) for s in scopes], keep, cards):
        joined = frozenset[str]().union(*(s for s in left if variable in s))
        most = max(most, math.prod(cards[v] for v in joined))
        left = [s for s in left if variable not in s] + [joined - {variable}]
    return most


class Messages:
    """The tree of a product of functions, each known by a name, and the messages along it.

    The place of a variable in the order of summing out names its part of the tree; the root is the last.
    """

    def __init__(self, circuit: Circuit, functions: Mapping[str, Function], cards: Mapping[str, int]) -> None:
        self._circuit, self._functions, self._cards = circuit, functions, cards
        self._order = list(elimination_order([f.axes for f in functions.values()], (), cards))
        place = {v: i for i, v in enumerate(self._order)}
        self._home = {name: min((place[v] for v in f.axes), default=-1) for name, f in functions.items()}
        self._parent: dict[int, int] = {}
        self._up: list[Function] = []
        for i, variable in enumerate(self._order):
            self._up.append(circuit.sum_out([*self._held(i), *(self._up[c] for c in self._children(i))], {variable}))
            if self._up[i].axes:
                self._parent[i] = min(place[v] for v in self._up[i].axes)

    @property
    def whole(self) -> Function:
        """The sum over everything."""
        return contract(self._circuit, [*self._up[-1:], *self._held(-1)], (), self._cards)

    def replaced(self, gone: Collection[str], new: Sequence[Function], keep: Collection[str]) -> Function:
        """The sum over all variables but `keep`, with other functions in the place of some.

        A new function must read nothing that the one in its place did not, except `keep`.
        """
        hull, top = self._hull({self._home[name] for name in gone})
        kept = [self._functions[name] for name, i in self._home.items() if i in hull and name not in gone]
        messages = [self._up[c] for i in hull for c in self._children(i) if c not in hull]
        above = [self._down[top]] if top in self._down else []
        return contract(self._circuit, [*kept, *new, *messages, *above], keep, self._cards)

    @cached_property
    def _down(self) -> dict[int, Function]:
        """What comes from above, for every place but the root."""
        found: dict[int, Function] = {}
        for i in sorted(self._parent, reverse=True):
            above = self._parent[i]
            parts = [*self._held(above), *(self._up[c] for c in self._children(above) if c != i)]
            parts += [found[above]] if above in found else []
            over = {a for f in parts for a in f.axes} - set(self._up[i].axes)
            found[i] = self._circuit.sum_out(parts, over) if parts else Function((), self._circuit.constant_one)
        return found

    def _hull(self, places: set[int]) -> tuple[list[int], int]:
        """The smallest part of the tree that connects some places, and its top."""
        hull, tops = set(places), set(places)
        while len(tops) > 1:
            lowest = min(tops)
            tops = (tops - {lowest}) | {self._parent[lowest]}
            hull |= tops
        return sorted(hull), max(hull)

    def _held(self, i: int) -> list[Function]:
        return [self._functions[name] for name, home in self._home.items() if home == i]

    def _children(self, i: int) -> list[int]:
        return [c for c, parent in self._parent.items() if parent == i]
