"""What our two policies share: pooled evidence, the recommendation, and the guard against a wrong graph.

The guard makes two checks. An arm whose own rewards contradict what the graph makes of all data is *refuted*: from then
on it is judged by its own rewards alone. That helps only arms that are pulled. So the guard also tests the
independencies that the graph implies on the outcomes of all arms. Where one fails, the hidden cause that would explain
it is *added* to the graph, all data are pooled again, and refuted arms are judged again. An edge too many costs
evidence but never makes an estimate wrong: a correct graph stays correct with it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.chance import Chance
from dobandit.estimate.pooled import Added, ArmEstimates, PooledEstimator, RepairedGraphs
from dobandit.evidence import Evidence
from dobandit.policies.protocol import Choice, Compiled, Info, Policy, S, View, rows_of, updated
from dobandit.policies.ties import levelled, recommended
from dobandit.problem import Problem

AGAIN = 8  # independencies are tested when the number of outcomes has grown by an eighth
FIRST = 20  # outcomes, before which no table could violate one


@dataclass(frozen=True)
class Guarded(Policy):
    """A policy on pooled evidence, with a guard that can be switched off."""

    reads_logs: ClassVar[bool] = True
    needs_range: ClassVar[bool] = False

    guard: bool = True

    @property
    def guards_graph(self) -> bool:
        return self.guard


class OnPooledEvidence(Compiled[S]):
    """A compiled policy on pooled evidence. Its state ends with the fields of `Doubts`."""

    graphs: RepairedGraphs

    def __init__(self, problem: Problem, guard: bool) -> None:
        super().__init__(problem)
        self.graphs, self.guard = RepairedGraphs(problem), guard
        self.tables = self.graphs.given.tables
        self.independencies = self.graphs.given.implied.independencies if guard else ()

    @abstractmethod
    def decide(self, pooled: PooledEstimator, view: View, state: S, chance: Chance) -> Choice[S]:
        """The decision of rows that assume the graph of this estimator."""

    def choose(self, view: View, state: Any, chance: Chance) -> Choice[S]:
        state = self._tested(view, state) if self.guard else state
        if not state.added.any():
            return self.decide(self.graphs.given, view, state, chance)
        rows = len(view.trials)
        arms, repeats, reason = (np.zeros(rows, dtype=np.intp) for _ in range(3))
        index = np.zeros(view.costs.shape)
        for part, pooled, seen in self.graphs.by_graph(view.evidence, state.added):
            choice = self.decide(pooled, replace(view.take(part), evidence=seen), rows_of(state, part), chance)
            state = updated(state, part, choice.state)
            arms[part], repeats[part] = choice.arm, 1 if choice.repeats is None else choice.repeats
            reason[part], index[part] = choice.info.reason, choice.info.index
        return Choice(arms, repeats, state, Info(reason, index))

    def _tested(self, view: View, state: Any) -> Any:
        """The state after a test of the independencies, where it is time for one. Rows with a new graph start over."""
        outcomes = view.told.sum(axis=1).astype(np.intp)
        rows = (state.look <= outcomes).nonzero()[0]
        if not len(rows):
            return state
        seen = view.evidence.take(rows) if len(rows) < len(outcomes) else view.evidence
        added = self.graphs.repaired(seen, state.added[rows])
        changed = np.flatnonzero((added != state.added[rows]).any(axis=1))
        if len(changed):
            fresh: Any = self.start(len(changed))
            state = updated(state, rows[changed], fresh._replace(added=added[changed]))
        look = state.look.copy()
        look[rows] = np.maximum(outcomes[rows] + 1 + outcomes[rows] // AGAIN, FIRST)
        return state._replace(look=look)

    def _doubts(self, view: View, state: Any) -> tuple[Array, Added]:
        """What is refuted and added now."""
        if not self.guard:
            return state.refuted, state.added
        return self.graphs.reconsidered(view.evidence, state.refuted, state.added)

    def refuted(self, pooled: PooledEstimator, evidence: Evidence, before: Array, known: ArmEstimates) -> Array:
        """How far own rewards contradict the graph; 0 where they do not, or without the guard."""
        return pooled.refuted(evidence, before, known) if self.guard else before

    def recommend(self, view: View, state: S) -> Indices:
        found = np.zeros(len(view.trials), dtype=np.intp)
        refuted, added = self._doubts(view, state)
        for rows, pooled, seen in self.graphs.by_graph(view.evidence, added):
            known = pooled.known(pooled.tables_after(seen))
            off = self.refuted(pooled, seen, refuted[rows], known)
            means = np.where(pooled.judged_alone(off), pooled.own.known(seen).means, known.means.T)
            ruled_out = pooled.ruled_out(seen, known, view.costs[rows])
            able = pooled.candidates(means, off, ruled_out and ruled_out.out)
            found[rows] = recommended(self.levelled(able), view.costs[rows])
        return found

    def levelled(self, scores: Array) -> Array:
        """Scores that rounding does not tell apart."""
        return levelled(scores) if self.problem.reward_is_real else scores

    def contradictions(self, view: View, state: S) -> Array:
        found = np.zeros(view.costs.shape)
        refuted, added = self._doubts(view, state)
        for rows, pooled, seen in self.graphs.by_graph(view.evidence, added):
            found[rows] = self.refuted(pooled, seen, refuted[rows], pooled.known(pooled.tables_after(seen)))
        return found

    def violations(self, view: View) -> Array:
        return self.graphs.given.violations(view.evidence) if self.guard else super().violations(view)
