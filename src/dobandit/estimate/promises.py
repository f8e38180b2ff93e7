"""What the graph promises about observations, and whether these keep it.

Where a graph leaves out an edge between two variables, it usually promises that they are independent given some others.
A hidden cause that somebody forgot breaks such a promise, and plain observations show it, long before an arm that looks
bad by mistake is ever pulled.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dobandit.estimate.independence import FEWEST
from dobandit.evidence.tally import Layout, Tallied
from dobandit.graph.independencies import Independence, separator
from dobandit.problem import Problem

Array = NDArray[np.float64]

BROKEN = 5.0  # standard deviations: a promise is looked at again and again, and there are many
MOST_VARIABLES = 12  # of a graph that is watched; the promises of larger ones are for `dobandit check --data`
MOST_CELLS = 64  # of a promise's table: a larger one takes too long to fill


class Promises:
    """The promises about what acts on the reward, and the tables of observations that tell if they are kept."""

    def __init__(self, problem: Problem) -> None:
        self.promises = tuple(_promises(problem))
        self.tables = tuple(_table(p, problem.reward) for p in self.promises)
        self.layout = Layout(problem, self.tables)

    def broken(self, counts: Array) -> Array:
        """How many standard deviations the observations are off each promise, where that is too many, else 0.

        Counts of the tables have axes (row, cell), the result has (row, promise).
        """
        found = np.zeros((len(counts), len(self.tables)))
        for k, table in enumerate(self.tables):
            found[:, k] = _deviation(self.layout.view(counts, table))
        return np.where(found > BROKEN, found, 0.0)


def _promises(problem: Problem) -> list[Independence]:
    """One for every two variables that others separate, the reward never being among these: no table can have it as a
    condition."""
    graph, reward = problem.graph, problem.reward
    acting = [v for v in graph.variables if v in graph.ancestral(reward)]
    if len(acting) > MOST_VARIABLES:
        return []
    found = []
    for a, b in combinations(acting, 2):
        given = separator(graph, a, b, frozenset(acting) - {reward})
        if given is not None and _size(problem, [a, b, *given]) <= MOST_CELLS:
            found.append(Independence(a, b, tuple(v for v in graph.variables if v in given)))
    return found


def _table(promise: Independence, reward: str) -> Tallied:
    """The counts of the one variable by the other and the rest; the reward can only be counted itself."""
    a, b, given = promise
    return Tallied(a, (*given, b)) if a == reward else Tallied(b, (*given, a))


def _size(problem: Problem, variables: list[str]) -> int:
    return math.prod(2 if v == problem.reward else len(problem.domains[v]) for v in variables)


def _deviation(counts: Array) -> Array:
    """Pearson's statistic of independence of the last two variables given the others, in every row as standard
    deviations of a normal variable (Wilson and Hilferty 1931). Strata with too few rows do not count."""
    rows, (b, a) = len(counts), counts.shape[-2:]
    strata = counts.reshape(rows, -1, b, a)
    number = strata.sum(axis=(2, 3), keepdims=True)
    expected = strata.sum(axis=3, keepdims=True) * strata.sum(axis=2, keepdims=True) / np.maximum(number, 1.0)
    enough = expected.min(axis=(2, 3)) >= FEWEST
    parts = ((strata - expected) ** 2 / np.maximum(expected, 1.0)).sum(axis=(2, 3))
    statistic, freedom = (parts * enough).sum(axis=1), np.maximum(enough.sum(axis=1) * (a - 1) * (b - 1), 1)
    spread = 2 / (9 * freedom)
    return np.asarray((np.cbrt(statistic / freedom) - (1 - spread)) / np.sqrt(spread))
