"""Random models with hidden causes, and everything about them by brute force: the oracle of the tests.

Nothing here uses the code that it checks, but for the graph that it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dobandit.graph import Graph
from dobandit.identification import Table

Array = NDArray[np.float64]


def random_admg(rng: np.random.Generator, smallest: int = 3, largest: int = 7) -> Graph:
    """Any ADMG: shuffled names, so that the order of names says nothing about the order of causes."""
    n = int(rng.integers(smallest, largest + 1))
    names = [f"V{i}" for i in rng.permutation(n)]
    pairs = [(names[i], names[j]) for i in range(n) for j in range(i + 1, n)]
    arrows, hidden = rng.uniform(0.2, 0.7), rng.uniform(0.05, 0.4)
    return Graph.from_edges(
        [pair for pair in pairs if rng.random() < arrows],
        [pair for pair in pairs if rng.random() < hidden],
        sorted(names),
    )


@dataclass(frozen=True)
class Model:
    """A structural model: one hidden cause for every `<->`, one table for every variable."""

    graph: Graph
    cards: Mapping[str, int]
    hidden: Mapping[tuple[str, str], Array]
    tables: Mapping[str, Array]  # axes: parents (sorted), hidden causes (sorted), the variable itself

    def joint(self, do: Mapping[str, int] | None = None) -> Array:
        """P(v | do) over all observed variables in graph order, by multiplying everything out."""
        do = do or {}
        axes: list[object] = [*self.graph.variables, *sorted(self.graph.bidirected)]
        total: Array = np.ones([1] * len(axes))
        for pair, prior in self.hidden.items():
            total = total * _spread(prior, [pair], axes)
        for v in self.graph.variables:
            inputs: list[object] = [*sorted(self.graph.parents(v)), *self._causes(v), v]
            table = self.tables[v]
            if v in do:
                table = np.zeros_like(table)
                table[..., do[v]] = 1.0
            total = total * _spread(table, inputs, axes)
        observed: Array = total.sum(axis=tuple(range(len(self.graph.variables), len(axes))))
        return observed

    def _causes(self, v: str) -> list[tuple[str, str]]:
        return sorted(pair for pair in self.graph.bidirected if v in pair)


def random_model(
    graph: Graph, rng: np.random.Generator, values: tuple[int, ...] = (2,), deterministic: float = 0.0
) -> Model:
    """Dirichlet tables; a variable is a deterministic function of its inputs with the given probability."""
    cards = {v: int(rng.choice(values)) for v in graph.variables}
    hidden = {pair: rng.dirichlet([2.0] * int(rng.integers(2, 4))) for pair in sorted(graph.bidirected)}
    tables = {}
    for v in graph.variables:
        causes = sorted(pair for pair in graph.bidirected if v in pair)
        shape = [*(cards[p] for p in sorted(graph.parents(v))), *(len(hidden[c]) for c in causes)]
        if shape and rng.random() < deterministic:
            tables[v] = np.eye(cards[v])[rng.integers(cards[v], size=shape)]
        else:
            tables[v] = rng.dirichlet(np.ones(cards[v]), size=shape)
    return Model(graph, cards, hidden, tables)


def conditional(joint: Array, graph: Graph, table: Table) -> Array:
    """P(v | z) from a joint distribution over the graph's variables, with a leading axis of one trial."""
    names = [*table.given, table.variable]
    others = tuple(i for i, v in enumerate(graph.variables) if v not in names)
    left = [v for v in graph.variables if v in names]
    marginal = joint.sum(axis=others).transpose([left.index(v) for v in names])
    given = marginal.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        ratio: Array = np.where(given > 0, marginal / given, np.nan)
    return ratio[np.newaxis]


def marginal(joint: Array, graph: Graph, variable: str) -> Array:
    axis = graph.variables.index(variable)
    result: Array = joint.sum(axis=tuple(i for i in range(joint.ndim) if i != axis))
    return result


def _spread(table: Array, inputs: list[object], axes: list[object]) -> Array:
    """The table with its axes at their places among all axes."""
    order = sorted(range(len(inputs)), key=lambda i: axes.index(inputs[i]))
    shape = [1] * len(axes)
    for i in order:
        shape[axes.index(inputs[i])] = table.shape[i]
    return table.transpose(order).reshape(shape)
