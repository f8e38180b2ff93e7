"""Exact distributions of a world."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from dobandit.arrays import Array
from dobandit.elimination import Factor, Messages, Numbers, arranged, check_size, contract, widest
from dobandit.worlds.tables import Node


def marginal(nodes: Sequence[Node], keep: tuple[str, ...], free: Collection[str] = ()) -> Array:
    """P(keep) with axes (trial, *keep).

    With `free`, some of `keep`, the mechanisms of these variables are cut away and what remains is
    P(the others | do(free = x)) for every x: the truncated product of Pearl (2009).
    """
    wanted = ancestral(nodes, keep, free)
    used = [n for n in nodes if n.name in wanted and n.name not in free]
    return contract([Factor((*n.inputs, n.name), n.table) for n in used], keep)


class SharedEffects:
    """The means of a function of a variable, of its worth, under interventions, which share all that they leave as it
    is."""

    def __init__(self, nodes: Sequence[Node], variable: str, worth: Array) -> None:
        acting = ancestral(nodes, [variable])
        factors = {n.name: Factor((*n.inputs, n.name), n.table) for n in nodes if n.name in acting}
        cards = {n.name: n.card for n in nodes}
        check_size(max(len(n.table) for n in nodes) * widest([f.axes for f in factors.values()], (), cards))
        self._messages = Messages(Numbers(), {**factors, "": Factor((variable,), worth[np.newaxis])}, cards)

    def of(self, do: tuple[str, ...]) -> Array:
        """The means for all values of these variables, which all act: axes (trial, value, value, ...)."""
        return arranged(self._messages.replaced(do, (), do) if do else self._messages.whole, do)


def ancestral(nodes: Sequence[Node], names: Iterable[str], free: Collection[str] = ()) -> set[str]:
    """These variables and everything that acts on them, but not through the inputs of `free`."""
    found = set(names)
    for node in reversed(nodes):  # inputs stand before what reads them
        if node.name in found and node.name not in free:
            found.update(node.inputs)
    return found
