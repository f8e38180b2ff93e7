"""Sums of products over many variables, by variable elimination: sum out one variable after the other, each only
over the factors that mention it (Zhang and Poole 1994; Dechter 1996).

The work grows with the widest table on the way, not with 2^n. Which variable goes next is decided greedily: the
one that leaves the smallest table behind. Sums and products are made value by value and in a fixed order, never
by a matrix product, so that the bits of a trial's numbers do not depend on which other trials are in its batch.

Where many sums differ in few factors, they share the rest (`Messages`). What is left of a variable's factors when it is
summed out, a message, goes to the variable among its neighbours that is summed out next. Messages can be sent both ways
along the tree that this makes, each computed once. A sum with other factors needs these, those between them in the
tree, and the messages that come in from the rest. So on a tree of bounded width the work for all of them grows as the
number of variables (Shafer and Shenoy 1990; Darwiche 2003).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from heapq import heapify, heappop, heappush
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from dobandit.arrays import Array
from dobandit.errors import TooDense
from dobandit.memory import memory_limit

BYTES = 8  # of a number


class Factor(NamedTuple):
    """A function of some variables, with axes (trial, *axes)."""

    axes: tuple[str, ...]
    values: Array

    def at(self, codes: Mapping[str, int]) -> Factor:
        """The function of the other variables when these have values that are known.

        >>> Factor(("A", "B"), np.array([[[1.0, 0.0], [0.5, 0.5]]])).at({"A": 1, "C": 0})
        Factor(axes=('B',), values=array([[0.5, 0.5]]))
        """
        place = (slice(None), *(codes.get(axis, slice(None)) for axis in self.axes))
        return Factor(tuple(axis for axis in self.axes if axis not in codes), self.values[place])


def contract(factors: Sequence[Factor], keep: tuple[str, ...]) -> Array:
    """The product of the factors, summed over all variables but `keep`: axes (trial, *keep).

    An axis has length one where nothing depends on its variable.

    >>> chain = [Factor(("A",), np.array([[0.2, 0.8]])), Factor(("A", "B"), np.array([[[1.0, 0.0], [0.5, 0.5]]]))]
    >>> contract(chain, ("B",))
    array([[0.6, 0.4]])
    """
    cards = {axis: size for f in factors for axis, size in zip(f.axes, f.values.shape[1:], strict=True)}
    left = list(factors)
    for variable in elimination_order([f.axes for f in left], keep, cards):
        touching = [f for f in left if variable in f.axes]
        left = [f for f in left if variable not in f.axes] + [_sum_out(touching, variable, cards)]
    return reduce(np.multiply, (arranged(f, keep) for f in left), np.ones((1,) * (1 + len(keep))))


def arranged(factor: Factor, axes: tuple[str, ...]) -> Array:
    """The values with exactly these axes, of length one where the factor does not depend on one."""
    present = [axis for axis in axes if axis in factor.axes]
    values = factor.values.transpose(0, *(1 + factor.axes.index(axis) for axis in present))
    return np.expand_dims(values, tuple(1 + i for i, axis in enumerate(axes) if axis not in factor.axes))


def elimination_order(
    scopes: Sequence[tuple[str, ...]], keep: Collection[str], cards: Mapping[str, int]
) -> Iterator[str]:
    """All variables but `keep`, each time the one whose neighbours span the smallest table.

    >>> list(elimination_order([("A", "B"), ("B", "C"), ("C", "Y")], ["Y"], dict.fromkeys("ABCY", 2)))
    ['A', 'B', 'C']
    """
    return (variable for variable, _ in _eliminated(scopes, keep, cards))


def _eliminated(
    scopes: Sequence[tuple[str, ...]], keep: Collection[str], cards: Mapping[str, int]
) -> Iterator[tuple[str, int]]:
    """The same, with the size of the table that joins the variable and its neighbours."""
    place, near = dict[str, int](), list[int]()  # by place, the neighbours as bits: many variables may share a table
    for scope in scopes:
        at = [place.setdefault(v, len(place)) for v in scope]
        near += [0] * (len(place) - len(near))
        shared = sum([1 << i for i in {*at}])
        for i in at:
            near[i] |= shared
    names, number, alike = list(place), len(place), dict[int, int]()  # the variables with so many values
    values = [cards[v] or 1 for v in names]  # a variable whose values are not known yet has none
    for i, card in enumerate(values):
        alike[card] = alike.get(card, 0) | 1 << i

    def cells(variables: int) -> int:
        found = 1
        for card, some in alike.items():
            found *= card ** (variables & some).bit_count()
        return found

    sizes = [0 if v in keep else cells(around) for v, around in zip(names, near, strict=True)]
    queue = [size * number + i for i, size in enumerate(sizes) if size]  # pairs as numbers, which compare faster
    heapify(queue)
    while queue:
        smallest, i = divmod(heappop(queue), number)
        if sizes[i] != smallest:
            continue  # it is gone, or its table has another size by now
        yield names[i], smallest
        sizes[i] = 0
        left = around = near[i] ^ (1 << i)
        while left:
            lowest = left & -left
            left ^= lowest
            u = lowest.bit_length() - 1
            new = around & ~near[u]
            near[u] = (near[u] | around) ^ (1 << i)
            if sizes[u]:
                sizes[u] = sizes[u] // values[i] * (cells(new) if new else 1)
                heappush(queue, sizes[u] * number + u)


def check_size(numbers: int) -> None:
    """Refuse a table that is too large before it is made."""
    if numbers > (most := memory_limit() // BYTES):
        raise TooDense(numbers, most)


def widest(
    scopes: Iterable[tuple[str, ...]], keep: Collection[str], cards: Mapping[str, int], enough: float = math.inf
) -> int:
    """The size of the largest table on the way when all variables but `keep` are summed out; or of the first one that
    is larger than `enough`."""
    scopes = list(scopes)
    most = max(math.prod(cards[v] for v in s) for s in scopes)
    if most <= enough:
        for _, size in _eliminated(scopes, keep, cards):
            most = max(most, size)
            if most > enough:
                break
    return most


def _sum_out(factors: Sequence[Factor], variable: str, cards: Mapping[str, int]) -> Factor:
    """The product of the factors, summed over the variable."""
    axes = tuple(dict.fromkeys(axis for f in factors for axis in f.axes if axis != variable))
    check_size(max(len(f.values) for f in factors) * math.prod(cards[axis] for axis in axes))
    parts = [arranged(f, (*axes, variable)) for f in factors]
    terms = (reduce(np.multiply, (part[..., code] for part in parts)) for code in range(cards[variable]))
    return Factor(axes, reduce(np.add, terms))


class HasAxes(Protocol):
    """A function of some variables."""

    @property
    def axes(self) -> tuple[str, ...]: ...


F = TypeVar("F", bound=HasAxes)


class Sums(Protocol[F]):
    """How functions are multiplied and summed: as numbers, or as nodes of a circuit."""

    def sum_out(self, functions: Sequence[F], over: Collection[str]) -> F:
        """The product of the functions, summed over some variables."""

    def constant(self) -> F:
        """The function that is one."""


class Numbers:
    """Sums of factors as numbers."""

    def sum_out(self, functions: Sequence[Factor], over: Collection[str]) -> Factor:
        kept = tuple(dict.fromkeys(axis for f in functions for axis in f.axes if axis not in over))
        return Factor(kept, contract(functions, kept))

    def constant(self) -> Factor:
        return Factor((), np.ones(1))


def summed(sums: Sums[F], functions: Sequence[F], keep: Collection[str], cards: Mapping[str, int]) -> F:
    """The product of the functions, summed over all variables but `keep`."""
    left = list(functions)
    for variable in elimination_order([f.axes for f in left], keep, cards):
        touching = [f for f in left if variable in f.axes]
        left = [f for f in left if variable not in f.axes] + [sums.sum_out(touching, {variable})]
    return sums.sum_out(left, ())


class Messages(Generic[F]):
    """The tree of a product of functions, each known by a name, and the messages along it.

    The place of a variable in the order of summing out names its part of the tree; the root is the last.
    """

    def __init__(self, sums: Sums[F], functions: Mapping[str, F], cards: Mapping[str, int]) -> None:
        self._sums, self._functions, self._cards = sums, functions, cards
        order = list(elimination_order([f.axes for f in functions.values()], (), cards))
        place = {v: i for i, v in enumerate(order)}
        self._home = {name: min((place[v] for v in f.axes), default=-1) for name, f in functions.items()}
        self._rank = {name: i for i, name in enumerate(functions)}
        self._held: dict[int, list[str]] = {i: [] for i in range(-1, len(order))}
        for name, i in self._home.items():
            self._held[i].append(name)
        self._parent: dict[int, int] = {}
        self._children: list[list[int]] = [[] for _ in order]
        self._up: list[F] = []
        for i, variable in enumerate(order):
            self._up.append(sums.sum_out(self._gathered(i), {variable}))
            if self._up[i].axes:
                self._parent[i] = min(place[v] for v in self._up[i].axes)
                self._children[self._parent[i]].append(i)

    @property
    def whole(self) -> F:
        """The sum over everything."""
        return summed(self._sums, [*self._up[-1:], *map(self._functions.__getitem__, self._held[-1])], (), self._cards)

    def replaced(self, gone: Collection[str], new: Sequence[F], keep: Collection[str]) -> F:
        """The sum over all variables but `keep`, with other functions in the place of some.

        A new function must read nothing that the one in its place did not, except `keep`.
        """
        return summed(self._sums, self.around(gone, new), keep, self._cards)

    def around(self, gone: Collection[str], new: Sequence[F]) -> list[F]:
        """What is left to be multiplied and summed when others are in the place of some functions."""
        hull, top = self._hull({self._home[name] for name in gone})
        held = sorted((name for i in hull for name in self._held[i] if name not in gone), key=self._rank.__getitem__)
        kept = [self._functions[name] for name in held]
        messages = [self._up[c] for i in hull for c in (self._children[i] if i >= 0 else ()) if c not in hull]
        above = [self._down[top]] if top in self._down else []
        return [*kept, *new, *messages, *above]

    def _gathered(self, i: int, without: int | None = None) -> list[F]:
        """The functions at a place and the messages from below, but for one."""
        held = [self._functions[name] for name in self._held[i]]
        return [*held, *(self._up[c] for c in self._children[i] if c != without)]

    @cached_property
    def _down(self) -> dict[int, F]:
        """What comes from above, for every place but the root."""
        found: dict[int, F] = {}
        for i in sorted(self._parent, reverse=True):
            above = self._parent[i]
            parts = self._gathered(above, without=i)
            parts += [found[above]] if above in found else []
            over = {a for f in parts for a in f.axes} - set(self._up[i].axes)
            found[i] = self._sums.sum_out(parts, over) if parts else self._sums.constant()
        return found

    def _hull(self, places: set[int]) -> tuple[list[int], int]:
        """The smallest part of the tree that connects some places, and its top."""
        hull, tops = set(places), set(places)
        while len(tops) > 1:
            lowest = min(tops)
            tops = (tops - {lowest}) | {self._parent[lowest]}
            hull |= tops
        return sorted(hull), max(hull)
