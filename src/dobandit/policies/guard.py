"""What our two policies share: pooled evidence, the recommendation, and the guard against a wrong graph.

The guard makes two checks. An arm whose own rewards contradict what the graph makes of all data is *refuted*: from then
on it is judged by its own rewards alone. That helps only arms that are pulled. So the guard also tests the
independencies that the graph implies on the outcomes of all arms. Where one fails, the hidden cause that would explain
it is *added* to the graph, all data are pooled again, and refuted arms are judged again. An edge too many costs
evidence but never makes an estimate wrong: a correct graph stays correct with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dobandit.chance import Chance
from dobandit.estimate.weighing import Known
from dobandit.evidence.tally import Tallied
from dobandit.graph.independencies import Independence
from dobandit.policies.pooled import Pooled, own_means, pooled_of
from dobandit.policies.protocol import Arms, Array, Choice, State, View, updated
from dobandit.policies.ties import recommended
from dobandit.problem import Problem

Added = NDArray[np.bool_]  # hidden causes that a row allows for: axes (row, pair)
Indices = NDArray[np.intp]

AGAIN = 8  # promises are looked at when the number of outcomes has grown by an eighth
FIRST = 20  # outcomes, before which no table could break one


@lru_cache(maxsize=256)
def pairs_of(problem: Problem) -> tuple[tuple[str, str], ...]:
    """The pairs of variables that a forgotten hidden cause may act on; none where no cause could be added."""
    if not pooled_of(problem).joint.tables:
        return ()
    return tuple(combinations(problem.graph.in_order(problem.graph.ancestral(problem.reward)), 2))


@lru_cache(maxsize=256)
def _allowing_for(problem: Problem, added: bytes) -> Pooled:
    marks = np.frombuffer(added, dtype=bool).tolist()
    return Pooled(problem.with_hidden_causes([p for p, mark in zip(pairs_of(problem), marks, strict=True) if mark]))


def by_graph(view: View, added: Added) -> Iterator[tuple[Indices, Pooled, View]]:
    """The rows that believe in the same graph, its pool, and what they see."""
    pooled = pooled_of(view.problem)
    if not added.any():
        yield np.arange(len(added)), pooled, view
        return
    kinds, which = np.unique(added, axis=0, return_inverse=True)
    for k, kind in enumerate(kinds):
        rows = np.flatnonzero(which == k)
        part = view.take(rows)
        other = _allowing_for(view.problem, kind.tobytes()) if kind.any() else pooled
        yield rows, other, pooled.translated(part, other) if kind.any() else part


def repaired(view: View, added: Added) -> Added:
    """Every broken promise is explained by a hidden cause, the most broken one first, until all are kept."""
    pooled = pooled_of(view.problem)
    complete = pooled.together(view).sum(axis=1) >= view.told.sum(axis=1) - 0.5  # older studies counted other tables
    while True:
        new = added.copy()
        for rows, other, part in by_graph(view, added):
            broken = other.broken(part)
            for k in np.flatnonzero(broken.any(axis=1) & complete[rows]):
                promise = other.promises.promises[broken[k].argmax()]
                new[rows[k], pairs_of(view.problem).index((promise.a, promise.b))] = True
        if (new == added).all():
            return added
        added = new


def looked(view: View, refuted: Array, added: Added) -> tuple[Array, Added]:
    """What is refuted and added after a look at the promises: a new graph may explain what the old one could not."""
    now = repaired(view, added)
    changed = (now != added).any(axis=1, keepdims=True)
    return np.where(changed, 0.0, refuted), now


class Doubts(NamedTuple):
    """What the guard remembers of every row: part of the state of a policy that has it."""

    refuted: Array  # how far own rewards contradict the graph; 0 where they do not: axes (row, arm)
    added: Added
    look: Indices  # the number of outcomes at the next look at the promises

    @classmethod
    def none(cls, problem: Problem, rows: int) -> Doubts:
        added = np.zeros((rows, len(pairs_of(problem))), dtype=bool)
        return cls(np.zeros((rows, len(problem.arms))), added, np.zeros(rows, dtype=np.intp))


@dataclass(frozen=True)
class OnPooledEvidence:
    """A policy on pooled evidence, with a guard. Its state ends with the fields of `Doubts`."""

    ignores_budget: ClassVar[bool] = True
    starts_from_logs: ClassVar[bool] = True

    guard: bool = True

    def tables(self, problem: Problem) -> Sequence[Tallied]:
        return pooled_of(problem).tables

    def start(self, problem: Problem, rows: int) -> State:
        raise NotImplementedError

    def decide(self, pooled: Pooled, view: View, state: State, chance: Chance) -> Choice:
        """The decision of rows that believe in the graph of the pool."""
        raise NotImplementedError

    def choose(self, view: View, state: State, chance: Chance) -> Choice:
        state = self._watched(view, state) if self.guard else state
        if not state.added.any():
            return self.decide(pooled_of(view.problem), view, state, chance)
        arms = np.zeros(len(view.trials), dtype=np.intp)
        repeats = None
        for rows, pooled, part in by_graph(view, state.added):
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
        added = repaired(view.take(rows) if len(rows) < len(outcomes) else view, state.added[rows])
        changed = np.flatnonzero((added != state.added[rows]).any(axis=1))
        if len(changed):
            fresh = self.start(view.problem, len(changed))._replace(added=added[changed])
            state = updated(state, rows[changed], fresh)
        look = state.look.copy()
        look[rows] = np.maximum(outcomes[rows] + 1 + outcomes[rows] // AGAIN, FIRST)
        return state._replace(look=look)

    def _doubts(self, view: View, state: State) -> tuple[Array, Added]:
        """What is refuted and added now."""
        return looked(view, state.refuted, state.added) if self.guard else (state.refuted, state.added)

    def refuted(self, pooled: Pooled, view: View, before: Array, known: Known) -> Array:
        """How far own rewards contradict the graph; 0 where they do not, or without the guard."""
        return pooled.refuted(view, before, known) if self.guard else before

    def recommend(self, view: View, state: State) -> Arms:
        found = np.zeros(len(view.trials), dtype=np.intp)
        refuted, added = self._doubts(view, state)
        for rows, pooled, part in by_graph(view, added):
            known, _ = pooled.known(part)
            alone = pooled.alone(self.refuted(pooled, part, refuted[rows], known))
            found[rows] = recommended(np.where(alone, own_means(part), known.means.T), part.costs)
        return found

    def contradicted(self, view: View, state: State) -> Array:
        """How far own rewards contradict the graph, for `explain` and `status`."""
        found = np.zeros(state.refuted.shape)
        refuted, added = self._doubts(view, state)
        for rows, pooled, part in by_graph(view, added):
            found[rows] = self.refuted(pooled, part, refuted[rows], pooled.known(part)[0])
        return found

    def promises(self, problem: Problem) -> Sequence[Independence]:
        return pooled_of(problem).promises.promises if self.guard else ()

    def broken(self, view: View) -> Array:
        """How far outcomes are off the promises of the graph that was given; 0 where they keep them."""
        return pooled_of(view.problem).broken(view) if self.guard else np.zeros((len(view.trials), 0))
