"""What the graph promises about outcomes, and whether these keep it.

Where a graph leaves out an edge between two variables, it usually promises that they are independent given some others.
A hidden cause that somebody forgot breaks such a promise, and what is seen along the way shows it, long before an arm
that looks bad by mistake is ever pulled.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dobandit.estimate.circuit import total
from dobandit.estimate.independence import FEWEST
from dobandit.estimate.joint import Joint
from dobandit.evidence.tally import Tallied
from dobandit.graph.independencies import Independence, separator
from dobandit.problem import Problem

Array = NDArray[np.float64]

BROKEN = 5.0  # standard deviations: a promise is looked at again and again, and there are many


class Promises:
    """The promises about what acts on the reward; none where nobody counts all outcomes together.

    What a graph promises of observations it promises of the outcomes of every arm, too: an intervention cuts paths and
    opens none. So the outcomes of each arm are judged by themselves, and the verdicts added up.
    """

    def __init__(self, problem: Problem, joint: Joint) -> None:
        self.promises = tuple(_promises(problem)) if joint.tables else ()
        self._tables = [_table(promise, problem) for promise in self.promises]
        self._joint = joint

    def broken(self, counts: Array) -> Array:
        """How many standard deviations the outcomes are off each promise, where that is too many, else 0.

        The counts are those of the joint table, with axes (row, cell); the result has axes (row, promise).
        """
        found = np.zeros((len(counts), len(self.promises)))
        if not self.promises:
            return found
        whole = self._joint.whole(counts)
        number = whole.reshape(*whole.shape[:2], -1).sum(axis=2)
        whole = whole[:, number.max(axis=0) >= 4 * FEWEST]  # other arms have no stratum that counts
        for k, table in enumerate(self._tables if whole.size else ()):
            found[:, k] = _deviation(self._joint.of(whole, table))
        return np.where(found > BROKEN, found, 0.0)


def _promises(problem: Problem) -> list[Independence]:
    """One for every two variables that others separate, the reward never being among these: no table can have it as a
    condition."""
    graph, reward = problem.graph, problem.reward
    acting = [v for v in graph.variables if v in graph.ancestral(reward)]
    found = []
    for a, b in combinations(acting, 2):
        given = separator(graph, a, b, frozenset(acting) - {reward})
        if given is not None:
            found.append(Independence(a, b, tuple(v for v in graph.variables if v in given)))
    return found


def _table(promise: Independence, problem: Problem) -> Tallied:
    """The counts of the one variable by the other and the rest; the reward can only be counted itself."""
    a, b, given = promise
    counted, by = (a, b) if a == problem.reward else (b, a)
    return Tallied(counted, (*given, by), arms=tuple(range(len(problem.arms))), by_arm=True)


def _deviation(counts: Array) -> Array:
    """Pearson's statistic of independence of the last two variables given the others, in every row as standard
    deviations of a normal variable (Wilson and Hilferty 1931). Strata with too few rows do not count."""
    rows, (b, a) = len(counts), counts.shape[-2:]
    table = np.moveaxis(counts, (-2, -1), (0, 1)).reshape(b, a, rows, -1)  # rows and strata last: long, fast loops
    by_a = total(table)
    by_b, number = total(np.moveaxis(table, 1, 0)), total(by_a)
    expected = by_b[:, np.newaxis] * by_a / np.maximum(number, 1.0)
    enough = expected.min(axis=(0, 1)) >= FEWEST
    parts = total(((table - expected) ** 2 / np.maximum(expected, 1.0)).reshape(b * a, rows, -1))
    statistic = np.add.accumulate(parts * enough, axis=1)[:, -1]  # one by one: then strata without rows change no bit
    freedom = np.maximum(enough.sum(axis=1) * (a - 1) * (b - 1), 1)
    spread = 2 / (9 * freedom)
    return np.asarray((np.cbrt(statistic / freedom) - (1 - spread)) / np.sqrt(spread))
