"""CRM-ALG: optimism with back-door adjustment over the parents of each variable.

Maiti, Nair and Sinha (UAI 2022), Algorithm 2 and equations 3-7. Made for graphs without hidden causes; where
there are some, its adjustment set is wrong and its means are confounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import Chance
from dobandit.evidence import CountTable
from dobandit.policies import forced
from dobandit.policies.protocol import OBSERVE, Choice, View
from dobandit.policies.ties import recommended
from dobandit.problem import Problem


class State(NamedTuple):
    beta: Array
    swept: Flags
    seen: Array  # observations behind the two estimates below
    number: Array  # C: how many back-door samples each arm has
    value: Array  # their mean


@dataclass(frozen=True)
class Crm:
    """Index mean + sqrt(2 ln t / (N + C)), blind to costs as published; C back-door samples from the observations.

    Adaptation to costs: none but affordability. The samples are averaged over the random partitions that make
    them, which leaves sum_z P(z) E[Y | x, z] with P(z) from the even and E[Y | x, z] from the odd observations.
    """

    name: ClassVar[str] = "crm"
    objective: ClassVar[str] = "cumulative"
    reference: ClassVar[str] = "Maiti et al., UAI 2022, Algorithm 2"
    ignores_budget: ClassVar[bool] = True

    def tables(self, problem: Problem) -> Sequence[CountTable]:
        return [table for v in problem.intervenable for table in _tables(problem, v)]

    def start(self, problem: Problem, rows: int) -> State:
        empty = np.zeros((rows, len(problem.arms)))
        return State(*forced.start(rows), np.zeros(rows), empty, empty)

    def choose(self, view: View, state: State, chance: Chance) -> Choice:
        state = self.refreshed(view, state)
        means, evidence = self.estimates(view, state)
        index = means + np.sqrt(2 * np.log(view.time + 1) / np.maximum(evidence, 1))
        arms, rule = forced.decide(view, forced.Forced(state.beta, state.swept), index, means, chance)
        return Choice(arms, state._replace(beta=rule.beta, swept=rule.swept))

    def refreshed(self, view: View, state: State) -> State:
        """The state with the back-door samples recomputed in rows that have new observations."""
        now = view.told[:, OBSERVE]
        rows = np.flatnonzero(now != state.seen)
        if not len(rows):
            return state
        number, value = state.number.copy(), state.value.copy()
        number[rows], value[rows] = _backdoor_samples(view, rows)
        return state._replace(seen=now, number=number, value=value)

    def estimates(self, view: View, state: State) -> tuple[Array, Array]:
        evidence = view.told + state.number
        return (view.rewards + state.number * state.value) / np.maximum(evidence, 1), evidence + view.pending

    def recommend(self, view: View, state: State) -> Indices:
        return recommended(self.estimates(view, self.refreshed(view, state))[0], view.costs)


def _tables(problem: Problem, variable: str) -> tuple[CountTable, ...]:
    """E[Y | x, z] from the observations 1, 3, 5, ..., and P(z), variable by variable, from 2, 4, 6, ...

    None for an effect of the reward: adjusting for the reward itself leaves nothing to estimate.
    """
    parents = problem.graph.in_order(problem.graph.parents(variable))
    if problem.reward in parents:
        return ()
    outcome = CountTable(problem.reward, (variable, *parents), every=2, rest=0)
    return (outcome, CountTable(parents[-1], parents[:-1], every=2, rest=1)) if parents else (outcome,)


def _backdoor_samples(view: View, rows: Indices) -> tuple[Array, Array]:
    """C and the mean of the samples, for every arm; C is the smallest number of odd rows with X=x and any z."""
    numbers, values = [np.zeros((len(rows), 1))], [np.zeros((len(rows), 1))]
    counts = view.counts[rows]
    for v in view.problem.intervenable:
        if not (tables := _tables(view.problem, v)):
            nothing = np.zeros((len(rows), len(view.problem.domains[v])))
            numbers.append(nothing)
            values.append(nothing)
            continue
        outcome, *given = tables
        odd = view.layout.view(counts, outcome)
        odd = odd.reshape(len(rows), odd.shape[1], -1, 2)  # (row, x, z, reward)
        total = odd.sum(axis=-1)
        number = np.rint(total.min(axis=-1))
        weights = np.ones((len(rows), 1))
        if given:
            even = view.layout.view(counts, given[0]).reshape(len(rows), -1)
            weights = even / np.maximum(even.sum(axis=-1, keepdims=True), 1)
        means = odd[..., 1] / np.maximum(total, 1)
        value = np.zeros(number.shape)
        for z in range(weights.shape[1]):  # added up one by one: the same bits in every batch
            value += means[..., z] * weights[:, z, np.newaxis]
        numbers.append(number)
        values.append(value)
    return np.concatenate(numbers, axis=1), np.concatenate(values, axis=1)
