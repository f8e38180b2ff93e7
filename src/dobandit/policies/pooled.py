"""What our two policies share: pooled evidence about all arms, and the guard against a wrong graph.

An arm whose own rewards contradict what the graph makes of all data is *refuted*: from then on it is judged by its own
rewards alone. That helps only arms that are pulled, so observations are watched, too: whether they keep what the graph
promises about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dobandit.estimate.lessons import Lessons
from dobandit.estimate.pool import Pool
from dobandit.estimate.posterior import PRIOR, Conditions
from dobandit.estimate.promises import Promises
from dobandit.estimate.weighing import Known, Weighing
from dobandit.evidence.tally import Tallied
from dobandit.graph.independencies import Independence
from dobandit.policies.protocol import Arms, Array, State, View
from dobandit.policies.ties import recommended
from dobandit.problem import Problem

REFUTED = 4.0  # standard deviations between own rewards and the graph's answer
PULLS = 10  # own pulls below which an arm cannot refute the graph


class Pooled:
    """The pooled evidence of a problem, compiled. Arrays are (arm, row) or, inside tables, (..., row)."""

    def __init__(self, problem: Problem) -> None:
        self.pool = Pool(problem)
        self.conditions = Conditions(self.pool.layout)
        self.weighing = Weighing(self.pool, self.conditions)
        self.lessons = Lessons(self.pool, self.conditions)
        self.promises = Promises(problem)
        self.tables: Sequence[Tallied] = (*self.pool.tables, *self.lessons.tables, *self.promises.tables)
        self.only_watched = frozenset(self.promises.tables).difference(self.pool.tables, self.lessons.tables)
        self._cells = self.pool.layout.size
        self._watched = self._cells + self.lessons.layout.size  # where the tables of the promises begin
        self._has_aliases = bool(self.pool.is_alias.any())

    def shapes(self, view: View) -> Array:
        """The parameters of the Dirichlet posteriors of all tables: axes (row, cell)."""
        return view.counts[:, : self._cells] + PRIOR

    def cells(self, view: View) -> Array:
        """The posterior means of all tables: axes (cell, row)."""
        return self.conditions.normalised(np.ascontiguousarray(self.shapes(view).T))

    def known(self, view: View) -> tuple[Known, Array]:
        """What the tables say of all arms, and the totals of their posteriors."""
        totals = self.conditions.sums(np.ascontiguousarray(self.shapes(view).T))
        return self.weighing.known(self.cells(view), totals), totals

    def values(self, cells: Array, weights: Array) -> Array:
        """The means of all arms for these tables."""
        circuit = self.pool.circuit
        return self.weighing.means(circuit.outputs(circuit.values(cells)), weights)

    def met(self, view: View) -> Array:
        """The chance that an outcome of an arm falls on a condition of a table that it may enter: (arm, z, row)."""
        return self.lessons.of_arms(self.lessons.of_observing(view.counts[:, self._cells : self._watched]))

    def refuted(self, view: View, before: Array, known: Known) -> Array:
        """How many standard deviations the own rewards of an arm are from what the graph makes of all data, where
        that is too many; once refuted, an arm stays so. Axes (row, arm)."""
        own, answer = own_means(view), np.clip(known.means.T, 0.0, 1.0)
        # Own rewards are a part of all data. So under a right graph the variance of the difference is that of the own
        # mean less that of the pooled one (Hausman, Econometrica 1978), and at most the former. A few pulls that
        # all came out alike seem to have none, so it is not less than what the graph expects.
        variance = np.maximum(own * (1 - own), answer * (1 - answer)) / (view.told + 2)
        z = np.abs(own - answer) / np.sqrt(variance + known.by_prior.T**2)
        is_refuted = (view.told >= PULLS) & (z > REFUTED) & ~self.pool.has_none
        return np.where(is_refuted | (before > 0), np.maximum(z, before), 0.0)

    def alone(self, refuted: Array) -> NDArray[np.bool_]:
        """The arms that are judged by their own rewards."""
        return np.asarray(self.pool.has_none | (refuted > 0))

    def broken(self, view: View) -> Array:
        """How far observations are off the promises of the graph; 0 where they keep them. Axes (row, promise)."""
        return self.promises.broken(view.counts[:, self._watched :])

    def without_idle(self, scores: Array, view: View, refuted: Array) -> Array:
        """Scores that are never the best for arms that the graph says to be as good as do(), and that are not cheaper,
        unless they have shown the opposite."""
        if not self._has_aliases:
            return scores
        idle = self.pool.is_alias & (view.costs >= view.costs[:, :1]) & (refuted == 0)
        return np.where(idle, -np.inf, scores)


@dataclass(frozen=True)
class OnPooledEvidence:
    """What our policies have in common: tables, the recommendation, and the guard. Their states have `refuted`."""

    ignores_budget: ClassVar[bool] = True
    starts_from_logs: ClassVar[bool] = True

    guard: bool = True

    def tables(self, problem: Problem) -> Sequence[Tallied]:
        return pooled_of(problem).tables

    def recommend(self, view: View, state: State) -> Arms:
        pooled = pooled_of(view.problem)
        known, _ = pooled.known(view)
        alone = pooled.alone(self.refuted(pooled, view, state, known))
        return recommended(np.where(alone, own_means(view), known.means.T), view.costs)

    def refuted(self, pooled: Pooled, view: View, state: State, known: Known) -> Array:
        """How far own rewards contradict the graph; 0 where they do not, or where nobody looks."""
        refuted: Array = state.refuted
        return pooled.refuted(view, refuted, known) if self.guard else refuted

    def contradicted(self, view: View, state: State) -> Array:
        """The same, for somebody who asks from outside."""
        pooled = pooled_of(view.problem)
        return self.refuted(pooled, view, state, pooled.known(view)[0])

    def promises(self, problem: Problem) -> Sequence[Independence]:
        return pooled_of(problem).promises.promises if self.guard else ()

    def broken(self, view: View) -> Array:
        """How far observations are off the promises of the graph; 0 where they keep them."""
        return pooled_of(view.problem).broken(view) if self.guard else np.zeros((len(view.trials), 0))


_compiled = lru_cache(maxsize=64)(Pooled)
_latest: list[tuple[Problem, Pooled]] = []


def pooled_of(problem: Problem) -> Pooled:
    """What is compiled for a problem. The latest one is at hand without looking at its contents, at every decision."""
    if not _latest or _latest[0][0] is not problem:
        _latest[:] = [(problem, _compiled(problem))]
    return _latest[0][1]


def own_means(view: View) -> Array:
    """The posterior mean of every arm's own rewards."""
    return (view.rewards + PRIOR) / (view.told + 2 * PRIOR)
