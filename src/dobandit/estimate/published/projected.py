"""The paper's estimator for simple regret: Algorithms 3-5, after Bhattacharyya et al. (2020) and Maiti et al. (2022).

To estimate E[Y | do(X=x)] only X, its c-component C, the parents of C, and Y are needed: the rest is projected out
(Algorithm 4), which leaves C and its parents as they are. In the projection H the effect of x is the Bayes net D_x:
the factors P(v | z) of C as observed, X included, and all others with X set to x (Algorithm 5; z the ordered
effective parents in H). Its mean reward is summed exactly, over the values x' of X inside C too (Algorithm 3).

How well this can be known is limited by the rarest cell (x, z), z the values of Pa~ = C and its parents without X:
q = min_z P(x, z), raised to the power of the size of C.

Everything happens in G[An(Y)]: what does not act on the reward has no effect to be estimated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.elimination import Factor, contract
from dobandit.evidence import MOST_CELLS, CountTable, Layout, cells
from dobandit.problem import Problem


class Reduced(NamedTuple):
    """What is counted for the arms of one variable."""

    component: frozenset[str]
    factors: tuple[CountTable, ...]  # of H, as far as they do not sum to one
    cells: CountTable  # the joint table of X and Pa~


class Projected:
    """Means and rarity of the arms from observations, with axes (row, arm)."""

    def __init__(self, problem: Problem, fewest_rows: float = 1.0) -> None:
        """A cell outside C with fewer rows than `fewest_rows` (t of Algorithm 5) counts as uniform."""
        self._problem, self._fewest_rows = problem, fewest_rows
        self._graph = problem.graph.ancestral_graph(problem.reward)
        reduced = {v: self._reduce(v) for v in problem.intervenable if v in self._graph}
        # The place of every arm that acts on the reward, what it sets, and what is counted for it.
        self._acting = [
            (k, arm.codes(problem.domains), reduced[v])
            for k, arm in enumerate(problem.arms)
            for v in arm.variables
            if v in reduced
        ]
        self._idle = [k for k, arm in enumerate(problem.arms) for v in arm.variables if v not in reduced]
        found = [r for r in reduced.values() if r is not None]
        every = [CountTable(problem.reward), *(t for r in found for t in (*r.factors, r.cells))]
        self.tables = tuple(dict.fromkeys(every))

    def rarity(self, layout: Layout, counts: Array, observations: Array) -> Array:
        """q^k: do() and what does not act on the reward are never rare, what is not identifiable is always."""
        found = np.full((len(counts), len(self._problem.arms)), np.inf)
        for k, do, reduced in self._acting:
            found[:, k] = 0.0
            if reduced is not None:
                own = Factor(reduced.cells.variables, layout.view(counts, reduced.cells)).at(do).values
                rarest = np.rint(own.reshape(len(counts), -1)).min(axis=1)
                found[:, k] = (rarest / np.maximum(observations, 1)) ** len(reduced.component)
        return found

    def means(self, layout: Layout, counts: Array) -> Array:
        """The estimated means; NaN for do(), for what is not identifiable, and where nothing was observed."""
        found = np.full((len(counts), len(self._problem.arms)), np.nan)
        ends = layout.view(counts, CountTable(self._problem.reward))
        observed = ends.sum(axis=1)
        found[:, self._idle] = (ends[:, 1] / np.maximum(observed, 1))[:, np.newaxis]
        for k, do, reduced in self._acting:
            if reduced is not None:
                found[:, k] = contract([self._factor(layout, counts, t, reduced, do) for t in reduced.factors], ())
        return np.where(observed[:, np.newaxis] > 0, found, np.nan)

    def _reduce(self, variable: str) -> Reduced | None:
        """None where X has a child in its own c-component, and where a table would have too many cells."""
        component = self._graph.c_component(variable)
        if self._graph.has_confounded_child(variable):
            return None
        around = self._graph.with_parents(component) - {variable}  # Pa~
        projected = self._graph.project(around | {variable, self._problem.reward})  # Algorithm 4
        factors = tuple(
            CountTable(v, projected.ordered_effective_parents(v))
            for v in projected.needed_factors(self._problem.reward, do=variable)
        )
        *given, last = self._graph.in_order(around | {variable})
        joint = CountTable(last, tuple(given))
        if max(cells(t.variables, self._problem.domains) for t in (*factors, joint)) > MOST_CELLS:
            return None
        return Reduced(component, factors, joint)

    def _factor(self, layout: Layout, counts: Array, table: CountTable, reduced: Reduced, do: dict[str, int]) -> Factor:
        """D_x(v | z) from add-one counts, as a function of what is summed over: Y is 1, and outside C X is x."""
        seen = layout.view(counts, table)
        rows = seen.sum(axis=-1, keepdims=True)
        smoothed = Factor(table.variables, (seen + 1) / (rows + seen.shape[-1]))
        if table.variable in reduced.component:
            return smoothed.at({self._problem.reward: 1})
        trusted = np.where(rows >= self._fewest_rows, smoothed.values, 1 / seen.shape[-1])
        return smoothed._replace(values=trusted).at({self._problem.reward: 1} | do)
