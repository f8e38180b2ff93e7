"""What the observations that happen to agree with an arm say of it.

E[Y | X=x] is E[Y | do(X=x)] where no back-door path from X to Y is open (Pearl's second rule); elsewhere it is
confounded.
"""

from __future__ import annotations

import numpy as np

from dobandit.arrays import Array
from dobandit.evidence import CountTable, Layout
from dobandit.problem import Problem


def has_no_backdoor(problem: Problem) -> bool:
    """Whether no intervenable variable has an open back-door path to the reward."""
    return not any(problem.graph.has_backdoor(v, problem.reward) for v in problem.intervenable)


class Conditional:
    """Means and frequencies of the arms' own values among the observations, with axes (row, arm)."""

    def __init__(self, problem: Problem) -> None:
        self.tables = tuple(CountTable(problem.reward, (v,)) for v in problem.intervenable)
        self._values = [len(problem.domains[v].known) for v in problem.intervenable]

    def agreeing(self, layout: Layout, counts: Array) -> tuple[Array, Array]:
        """For every arm do(X=x) what the observations with X=x earned, as failures and successes; none for do()."""
        pairs = zip(self.tables, self._values, strict=True)
        seen = [layout.view(counts, table)[:, :values] for table, values in pairs]  # (row, value of X, reward)
        both = np.concatenate([np.zeros((len(counts), 1, 2)), *seen], axis=1)
        return both[..., 0], both[..., 1]

    def rarity(self, layout: Layout, counts: Array, observations: Array) -> Array:
        """The share of the observations that agree with each arm; do() is never rare."""
        failures, successes = self.agreeing(layout, counts)
        share = np.rint(failures + successes) / np.maximum(observations, 1)[:, np.newaxis]
        share[:, 0] = np.inf
        return share

    def means(self, layout: Layout, counts: Array) -> Array:
        """The mean reward of the observations that agree with each arm; NaN where there are none, and for do()."""
        failures, successes = self.agreeing(layout, counts)
        with np.errstate(invalid="ignore"):
            return np.asarray(successes / (failures + successes))
