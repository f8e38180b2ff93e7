"""Sums of products over many variables, by variable elimination: sum out one variable after the other, each only
over the factors that mention it (Zhang and Poole 1994; Dechter 1996).

The work grows with the widest table on the way, not with 2^n. Which variable goes next is decided greedily: the
one that leaves the smallest table behind. Sums and products are made value by value and in a fixed order, never
by a matrix product, so that the bits of a trial's numbers do not depend on which other trials are in its batch.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.errors import TooDense

MOST_NUMBERS = 2**27  # of one intermediate table, all trials together: 1 GB


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
    near: dict[str, set[str]] = {}
    for scope in scopes:
        for v in scope:
            near.setdefault(v, set()).update(scope)

    def size(v: str) -> int:
        return math.prod(cards[u] for u in near[v])

    sizes = {v: size(v) for v in near if v not in keep}
    while sizes:
        v = min(sizes, key=sizes.__getitem__)
        yield v
        del sizes[v]
        around = near.pop(v) - {v}
        for u in around:
            near[u] = (near[u] | around) - {v}
        sizes.update({u: size(u) for u in around if u in sizes})


def _sum_out(factors: Sequence[Factor], variable: str, cards: Mapping[str, int]) -> Factor:
    """The product of the factors, summed over the variable."""
    axes = tuple(dict.fromkeys(axis for f in factors for axis in f.axes if axis != variable))
    size = max(len(f.values) for f in factors) * math.prod(cards[axis] for axis in axes)
    if size > MOST_NUMBERS:
        raise TooDense(size, MOST_NUMBERS)
    parts = [arranged(f, (*axes, variable)) for f in factors]
    terms = (reduce(np.multiply, (part[..., code] for part in parts)) for code in range(cards[variable]))
    return Factor(axes, reduce(np.add, terms))
