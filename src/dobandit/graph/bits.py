"""Sets of variables as bits of a number: the variable at place i of the order is the bit 1 << i.

Union, intersection and difference of sets of a thousand variables are one operation each, so that questions about a
graph cost as much as the part of the graph that they look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import compress

MANY = 8  # members from which on it is faster to look for them in a text than to take one bit after the other

DENSE = 8  # from one member in so many places on, it is faster to look at all places
_DIGITS = bytes.maketrans(b"01", bytes([0, 1]))


def members(bits: int) -> list[int]:
    """The places of a set, in order.

    >>> members(0b1101)
    [0, 2, 3]
    """
    found: list[int] = []
    if bits.bit_count() > MANY:
        text = bin(bits)[:1:-1]  # the lowest bit comes first
        if bits.bit_count() > len(text) // DENSE:
            return [*compress(range(len(text)), text.encode().translate(_DIGITS))]
        at = text.find("1")
        while at >= 0:
            found.append(at)
            at = text.find("1", at + 1)
        return found
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


def union(near: Sequence[int], bits: int) -> int:
    """All that is near the members of a set, where `near` has a set for every place."""
    found = 0
    if bits.bit_count() > MANY:
        for v in members(bits):
            found |= near[v]
        return found
    while bits:
        low = bits & -bits
        found |= near[low.bit_length() - 1]
        bits ^= low
    return found


def reached(start: int, step: Sequence[int], within: int = -1) -> int:
    """What can be reached from a set by `step`, the sets next to every place, without leaving `within`."""
    found = todo = start & within
    while todo:
        todo = union(step, todo) & within & ~found
        found |= todo
    return found


class Bits:
    """Who is next to whom in a graph, by places."""

    def __init__(
        self,
        variables: Sequence[str],
        parents: Mapping[str, Iterable[str]],
        children: Mapping[str, Iterable[str]],
        siblings: Mapping[str, Iterable[str]],
    ) -> None:
        self._variables = variables
        self.place = {v: i for i, v in enumerate(variables)}
        self.parents, self.children, self.siblings = (
            [self.of(near[v]) for v in variables] for near in (parents, children, siblings)
        )

    def of(self, names: Iterable[str]) -> int:
        """A set of variables of the graph as a number."""
        found = 0
        for v in names:
            found |= 1 << self.place[v]
        return found

    def in_order(self, bits: int) -> tuple[str, ...]:
        """The variables of a set in the order of the graph."""
        return tuple([self._variables[i] for i in members(bits)])

    def names(self, bits: int) -> frozenset[str]:
        return frozenset(self.in_order(bits))

    @cached_property
    def confounded(self) -> int:
        """The variables that share hidden causes with others."""
        return sum(1 << i for i, beside in enumerate(self.siblings) if beside)

    @cached_property
    def ancestral(self) -> list[int]:
        """For every place its variable and all ancestors."""
        found: list[int] = []
        for i, above in enumerate(self.parents):  # parents come before their children
            found.append(1 << i | union(found, above))
        return found

    @cached_property
    def descending(self) -> list[int]:
        """For every place its variable and all descendants."""
        found = [0] * len(self.children)
        for i in reversed(range(len(found))):
            found[i] = 1 << i | union(found, self.children[i])
        return found

    @cached_property
    def components(self) -> list[int]:
        """For every place the c-component of its variable."""
        found = [0] * len(self.siblings)
        for i in range(len(found)):
            if not found[i]:
                component = reached(1 << i, self.siblings)
                for v in members(component):
                    found[v] = component
        return found

    @cached_property
    def tied(self) -> list[int]:
        """For every place the c-component of its variable in the graph of the variables up to it."""
        found: list[int] = []
        latest: dict[int, int] = {}  # by place, the component so far that the place is in; known by its newest member
        for i, beside in enumerate(self.siblings):
            earlier = beside & ((1 << i) - 1)
            component = 1 << i
            while earlier:
                low = (earlier & -earlier).bit_length() - 1
                joined = found[latest[low]]
                component |= joined
                earlier &= ~joined
            for v in members(component):
                latest[v] = i
            found.append(component)
        return found

    def with_parents(self, bits: int) -> int:
        """A set and the parents of its members."""
        return bits | union(self.parents, bits)

    def above(self, bits: int, cut: int = 0) -> int:
        """A set and everything that acts on it, in the graph in which nothing points to `cut`."""
        if not cut:
            found = 0
            while bits:  # from the last one on, since what acts on it needs no look of its own
                found |= self.ancestral[bits.bit_length() - 1]
                bits &= ~found
            return found
        found, todo = bits, bits & ~cut
        while todo:
            todo = union(self.parents, todo) & ~found
            found |= todo
            todo &= ~cut
        return found
