"""Exact probabilities by variable elimination: sum out one variable after the other, each only over
the tables that mention it (Zhang and Poole 1994; Dechter 1996).

The work grows with the widest table on the way, not with 2^n. Which variable goes next is decided
greedily: the one that leaves the smallest table behind. Sums and products are made value by value
and in a fixed order, never by a matrix product, so that the bits of a trial's numbers do not depend
on which other trials are in its batch.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from dobandit.errors import WorldError
from dobandit.worlds.tables import Array, Node

MOST_NUMBERS = 2**27  # of one intermediate table, all trials together: 1 GB


class Factor(NamedTuple):
    """A function of some variables, with axes (trial, *axes)."""

    axes: tuple[str, ...]
    values: Array


def marginal(nodes: Sequence[Node], keep: tuple[str, ...], free: str | None = None) -> Array:
    """P(keep) with axes (trial, *keep).

    With `free`, one of `keep`, the mechanism of that variable is cut away and what remains is
    P(the others | do(free = x)) for every x: the truncated product of Pearl (2009).
    """
    wanted = ancestral(nodes, keep, free)
    factors = [Factor((*n.inputs, n.name), n.table) for n in nodes if n.name in wanted and n.name != free]
    cards = {n.name: n.card for n in nodes}
    for variable in elimination_order([f.axes for f in factors], keep, cards):
        touching = [f for f in factors if variable in f.axes]
        rest = [f for f in factors if variable not in f.axes]
        factors = [*rest, _sum_out(touching, variable, cards)]
    return reduce(np.multiply, (_arranged(f, keep) for f in factors))


def ancestral(nodes: Sequence[Node], names: Iterable[str], free: str | None = None) -> set[str]:
    """These variables and everything that acts on them, but not through the inputs of `free`."""
    found = set(names)
    for node in reversed(nodes):  # inputs stand before what reads them
        if node.name in found and node.name != free:
            found.update(node.inputs)
    return found


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
    size = len(factors[0].values) * math.prod(cards[axis] for axis in axes)
    if size > MOST_NUMBERS:
        raise WorldError(
            f"this world is too densely connected for exact means: a table of {size:.2g} numbers would be "
            f"needed on the way; at most {MOST_NUMBERS:.2g} are possible"
        )
    parts = [_arranged(f, (*axes, variable)) for f in factors]
    terms = (reduce(np.multiply, (part[..., code] for part in parts)) for code in range(cards[variable]))
    return Factor(axes, reduce(np.add, terms))


def _arranged(factor: Factor, axes: tuple[str, ...]) -> Array:
    """The values with exactly these axes, of length one where the factor does not depend on one."""
    present = [axis for axis in axes if axis in factor.axes]
    values = factor.values.transpose(0, *(1 + factor.axes.index(axis) for axis in present))
    return np.expand_dims(values, tuple(1 + i for i, axis in enumerate(axes) if axis not in factor.axes))
