"""What our two policies share: pooled evidence, the recommendation, and the guard against a wrong graph.

The guard makes two checks. An arm whose own rewards contradict what the graph makes of all data is *refuted*: from then
on it is judged by its own rewards alone. That helps only arms that are pulled. So the guard also tests the
independencies that the graph implies on the outcomes of all arms. Where one fails, the hidden cause that would explain
it is *added* to the graph, all data are pooled again, and refuted arms are judged again. An edge too many costs
evidence but never makes an estimate wrong: a correct graph stays correct with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.chance import Chance
from dobandit.estimate.pooled import (
    Added,
    ArmEstimates,
    PooledEstimator,
    by_graph,
    looked,
    own_means,
    pooled_of,
    repaired,
)
from dobandit.evidence import CountTable, Evidence
from dobandit.graph import Independence
from dobandit.policies.protocol import Choice, State, View, updated
from dobandit.policies.ties import recommended
from dobandit.problem import Problem

AGAIN = 8  # promises are looked at when the number of outcomes has grown by an eighth
FIRST = 20  # outcomes, before which no table could break one


@dataclass(frozen=True)
class OnPooledEvidence:
    """A policy on pooled evidence, with a guard. Its state ends with the fields of `Doubts`."""

    ignores_budget: ClassVar[bool] = True
    starts_from_logs: ClassVar[bool] = True

    guard: bool = True

    def tables(self, problem: Problem) -> Sequence[CountTable]:
        return pooled_of(problem).tables

    def start(self, problem: Problem, rows: int) -> State:
        raise NotImplementedError

    def decide(self, pooled: PooledEstimator, view: View, state: State, chance: Chance) -> Choice:
        """The decision of rows that believe in the graph of the pool."""
        raise NotImplementedError

    def choose(self, view: View, state: State, chance: Chance) -> Choice:
        state = self._watched(view, state) if self.guard else state
        if not state.added.any():
            return self.decide(pooled_of(view.problem), view, state, chance)
        arms = np.zeros(len(view.trials), dtype=np.intp)
        repeats = None
        for rows, pooled, seen in by_graph(view.problem, view.evidence, state.added):
            part = replace(view.take(rows), evidence=seen)
            choice = self.decide(pooled, part, type(state)(*(field[rows] for field in state)), chance)
            arms[rows], state = choice.arms, updated(state, rows, choice.state)
            if choice.repeats is not None:
                repeats = np.zeros_like(arms) if repeats is None else repeats
                repeats[rows] = choice.repeats
        return Choice(arms, state, repeats)

    def _watched(self, view: View, state: State) -> State:
        """The state after a look at the promises, where it is time for one. Rows with a new graph start over."""
        outcomes = view.told.sum(axis=1).astype(np.intp)
        rows = (state.look <= outcomes).nonzero()[0]
        if not len(rows):
            return state
        seen = view.evidence.take(rows) if len(rows) < len(outcomes) else view.evidence
        added = repaired(view.problem, seen, state.added[rows])
        changed = np.flatnonzero((added != state.added[rows]).any(axis=1))
        if len(changed):
            fresh = self.start(view.problem, len(changed))._replace(added=added[changed])
            state = updated(state, rows[changed], fresh)
        look = state.look.copy()
        look[rows] = np.maximum(outcomes[rows] + 1 + outcomes[rows] // AGAIN, FIRST)
        return state._replace(look=look)

    def _doubts(self, view: View, state: State) -> tuple[Array, Added]:
        """What is refuted and added now."""
        return (
            looked(view.problem, view.evidence, state.refuted, state.added)
            if self.guard
            else (state.refuted, state.added)
        )

    def refuted(self, pooled: PooledEstimator, evidence: Evidence, before: Array, known: ArmEstimates) -> Array:
        """How far own rewards contradict the graph; 0 where they do not, or without the guard."""
        return pooled.refuted(evidence, before, known) if self.guard else before

    def recommend(self, view: View, state: State) -> Indices:
        found = np.zeros(len(view.trials), dtype=np.intp)
        refuted, added = self._doubts(view, state)
        for rows, pooled, seen in by_graph(view.problem, view.evidence, added):
            known, _ = pooled.known(seen)
            alone = pooled.alone(self.refuted(pooled, seen, refuted[rows], known))
            found[rows] = recommended(np.where(alone, own_means(seen), known.means.T), view.costs[rows])
        return found

    def contradicted(self, view: View, state: State) -> Array:
        """How far own rewards contradict the graph, for `explain` and `status`."""
        found = np.zeros(state.refuted.shape)
        refuted, added = self._doubts(view, state)
        for rows, pooled, seen in by_graph(view.problem, view.evidence, added):
            found[rows] = self.refuted(pooled, seen, refuted[rows], pooled.known(seen)[0])
        return found

    def promises(self, problem: Problem) -> Sequence[Independence]:
        return pooled_of(problem).promises.promises if self.guard else ()

    def broken(self, view: View) -> Array:
        """How far outcomes are off the promises of the graph that was given; 0 where they keep them."""
        return pooled_of(view.problem).broken(view.evidence) if self.guard else np.zeros((len(view.trials), 0))
