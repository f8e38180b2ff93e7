"""CRM-ALG: optimism with back-door adjustment over the parents of each variable.

Maiti, Nair and Sinha (UAI 2022), Algorithm 2 and equations 3-7. Made for graphs without hidden causes; where
there are some, its adjustment set is wrong and its means are confounded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.chance import Chance
from dobandit.evidence import CountTable, Layout
from dobandit.policies.forced import JoinedSamples, State, decide
from dobandit.policies.protocol import Choice, Optimistic, View
from dobandit.problem import Problem


@dataclass(frozen=True)
class Crm(Optimistic):
    """The largest mean + sqrt(2 ln t / (N + C)), with N own pulls and C back-door samples from the observations.

    Costs only decide which arms are affordable, as published. The samples are averaged over the random partitions that
    make them, which leaves sum_z P(z) E[Y | x, z] with P(z) from the even and E[Y | x, z] from the odd observations.
    """

    name = "crm"
    objective = "cumulative"
    reference = "Maiti et al., UAI 2022, Algorithm 2"
    single_variables_only = True

    def compile(self, problem: Problem) -> CompiledCrm:
        return CompiledCrm(problem)


class CompiledCrm(JoinedSamples):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._tables = {v: _tables(problem, v) for v in problem.intervenable}
        self.tables = [table for tables in self._tables.values() for table in tables]

    def choose(self, view: View, state: State, chance: Chance) -> Choice[State]:
        state = self.refreshed(view, state, chance)
        means, evidence = self.estimates(view, state)
        index = means + np.sqrt(2 * np.log(view.time + 1) / np.maximum(evidence, 1))
        return decide(view, state, index, means, chance)

    def samples(self, view: View, rows: Indices, chance: Chance | None) -> tuple[Array, Array]:
        """C and the mean of the samples, for every arm; C is the smallest number of odd rows with X=x and any z."""
        counts, none = view.counts[rows], np.zeros((len(rows), 1))
        found = [(none, none)]
        for v, tables in self._tables.items():
            width = len(self.problem.domains[v].known)
            samples, means = _of_variable(view.layout, counts, *tables) if tables else np.zeros((2, len(rows), width))
            found.append((samples[:, :width], means[:, :width]))
        numbers, values = zip(*found, strict=True)
        return np.concatenate(numbers, axis=1), np.concatenate(values, axis=1)


def _of_variable(
    layout: Layout, counts: Array, outcome: CountTable, given: CountTable | None = None
) -> tuple[Array, Array]:
    """C and the mean of the samples for every value of a variable."""
    odd = layout.view(counts, outcome)
    odd = odd.reshape(len(counts), odd.shape[1], -1, 2)  # (row, x, z, reward)
    total = odd.sum(axis=-1)
    weights = np.ones((len(counts), 1))
    if given is not None:
        even = layout.view(counts, given).reshape(len(counts), -1)
        weights = even / np.maximum(even.sum(axis=-1, keepdims=True), 1)
    means = odd[..., 1] / np.maximum(total, 1)
    value = np.zeros(total.shape[:2])
    for z in range(weights.shape[1]):  # added up one by one: the same bits in every batch
        value += means[..., z] * weights[:, z, np.newaxis]
    return np.rint(total.min(axis=-1)), value


def _tables(problem: Problem, variable: str) -> tuple[CountTable, ...]:
    """E[Y | x, z] from the observations 1, 3, 5, ..., and P(z), variable by variable, from 2, 4, 6, ...

    None for an effect of the reward: adjusting for the reward itself leaves nothing to estimate.
    """
    parents = problem.graph.in_order(problem.graph.parents(variable))
    if problem.reward in parents:
        return ()
    outcome = CountTable(problem.reward, (variable, *parents), every=2, rest=0)
    return (outcome, CountTable(parents[-1], parents[:-1], every=2, rest=1)) if parents else (outcome,)
