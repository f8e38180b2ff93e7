"""Pooled evidence about all arms, compiled for a problem: what its tables say, and what contradicts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from dobandit.estimate.expected_counts import ExpectedCounts
from dobandit.estimate.joint import Joint
from dobandit.estimate.pool import Pool
from dobandit.estimate.posterior import PRIOR, Conditions, shared_groups
from dobandit.estimate.promises import Promises
from dobandit.estimate.stated import Stated
from dobandit.estimate.weighing import Known, Weighing
from dobandit.evidence.tally import Layout, Tallied
from dobandit.policies.protocol import Array, View
from dobandit.problem import Problem

REFUTED = 4.0  # standard deviations between own rewards and the graph's answer
PULLS = 10  # own pulls below which an arm cannot refute the graph


class Pooled:
    """The pooled evidence of a problem, compiled. Arrays are (arm, row) or, inside tables, (..., row)."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.pool = Pool(problem)
        # For simple regret, rows without data are taken to be like the others. For cumulative regret they keep the
        # benefit of the doubt: with centred tables causal-thompson lost more late in long runs.
        groups = shared_groups(self.pool.layout) if problem.objective == "simple" else ()
        self.conditions = Conditions(self.pool.layout, groups)
        self.weighing = Weighing(self.pool, self.conditions)
        self.expected = ExpectedCounts(self.pool, self.conditions)
        self.joint = Joint(problem)
        self.promises = Promises(problem, self.joint)
        self.tables: Sequence[Tallied] = (*self.pool.tables, *self.expected.tables, *self.joint.tables)
        self._cells = self.pool.layout.size
        self._together = self._cells + self.expected.layout.size  # where the joint table begins
        self._has_aliases = bool(self.pool.is_alias.any())

    def translated(self, view: View, other: Pooled) -> View:
        """The view of somebody who has the same outcomes in the tables of another graph."""
        joint = self.together(view)
        of_graph = other.joint.counts(joint, other._places, other._together)
        evidence = replace(view.evidence, layout=other.layout, counts=np.concatenate([of_graph, joint], axis=1))
        return replace(view, problem=other.problem, evidence=evidence)

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.problem, self.tables)

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """Where the cells of the joint table belong in the tables of the graph."""
        return self.joint.places((*self.pool.tables, *self.expected.tables))

    def together(self, view: View) -> Array:
        """The counts of the joint table."""
        return view.counts[:, self._together :]

    def shapes(self, view: View) -> Array:
        """The parameters of the Dirichlet posteriors of all tables: axes (row, cell)."""
        return self.conditions.shapes(view.counts[:, : self._cells])

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
        return self.expected.per_pull(view.counts[:, self._cells : self._together])

    def stated(self, view: View) -> Known:
        """What people are told of all arms, whatever prior a policy explores with."""
        conditions, weighing = self._stated
        shapes = np.ascontiguousarray(conditions.shapes(view.counts[:, : self._cells]).T)
        return weighing.known(conditions.normalised(shapes), conditions.sums(shapes))

    def stated_draws(self, view: View, known: Known, number: int, rng: np.random.Generator) -> Array:
        """Draws of all means from that posterior, for a batch of one row: axes (arm, draw)."""
        conditions, weighing = self._stated
        cells = conditions.drawn(view.counts[:, : self._cells], number, rng)
        circuit = self.pool.circuit
        return weighing.means(circuit.outputs(circuit.values(cells)), np.repeat(known.weights, number, axis=1))

    @cached_property
    def _stated(self) -> tuple[Stated, Weighing]:
        conditions = Stated(self.problem, self.pool.layout)
        return conditions, Weighing(self.pool, conditions)

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
        """How far outcomes are off the promises of the graph; 0 where they keep them. Axes (row, promise)."""
        return self.promises.broken(self.together(view))

    def without_idle(self, scores: Array, view: View, refuted: Array) -> Array:
        """Scores that are never the best for arms that the graph says to be as good as do(), and that are not cheaper,
        unless they have shown the opposite."""
        if not self._has_aliases:
            return scores
        idle = self.pool.is_alias & (view.costs >= view.costs[:, :1]) & (refuted == 0)
        return np.where(idle, -np.inf, scores)


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
