"""Exact distributions of a world."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from dobandit.arrays import Array
from dobandit.elimination import Factor, contract
from dobandit.worlds.tables import Node


def marginal(nodes: Sequence[Node], keep: tuple[str, ...], free: Collection[str] = ()) -> Array:
    """P(keep) with axes (trial, *keep).

    With `free`, some of `keep`, the mechanisms of these variables are cut away and what remains is
    P(the others | do(free = x)) for every x: the truncated product of Pearl (2009).
    """
    wanted = ancestral(nodes, keep, free)
    used = [n for n in nodes if n.name in wanted and n.name not in free]
    return contract([Factor((*n.inputs, n.name), n.table) for n in used], keep)


def ancestral(nodes: Sequence[Node], names: Iterable[str], free: Collection[str] = ()) -> set[str]:
    """These variables and everything that acts on them, but not through the inputs of `free`."""
    found = set(names)
    for node in reversed(nodes):  # inputs stand before what reads them
        if node.name in found and node.name not in free:
            found.update(node.inputs)
    return found
