"""Pooled evidence about all arms, compiled for a problem: what its tables say, and what contradicts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.estimate.pooled.arm_estimates import ArmEstimates, ArmEstimator
from dobandit.estimate.pooled.circuit import total
from dobandit.estimate.pooled.confounding import Learnt
from dobandit.estimate.pooled.consistent_means import LearntMeans
from dobandit.estimate.pooled.dominance import standings
from dobandit.estimate.pooled.expected_counts import ExpectedCounts
from dobandit.estimate.pooled.implied_independencies import ImpliedIndependencies
from dobandit.estimate.pooled.informing import Informing
from dobandit.estimate.pooled.informing_means import InformingMeans
from dobandit.estimate.pooled.joint import Joint
from dobandit.estimate.pooled.moments import MomentConditions
from dobandit.estimate.pooled.natural import USUAL, NaturalBounds, RuledOut
from dobandit.estimate.pooled.own import OwnRewards
from dobandit.estimate.pooled.pool import Pool
from dobandit.estimate.pooled.posterior import Conditions, shared_groups
from dobandit.estimate.pooled.stated import Stated
from dobandit.estimate.pooled.stated_moments import StatedMoments
from dobandit.estimate.pooled.tables import Tables, tables_of
from dobandit.evidence import CountTable, Evidence, Layout
from dobandit.problem import Problem

REFUTED = 4.0  # standard deviations between own rewards and the graph's answer
BY_PRIOR = 0.9  # share of a variance: with more than this from conditions without data, nothing is known yet
LEAST = 1e-3  # outcomes that stand for what observations tell about a cell
PULLS = 10  # own pulls below which an arm cannot refute the graph


class PooledEstimator:
    """The pooled evidence of a problem, compiled. Arrays are (arm, row) or, inside tables, (..., row).

    With `from_joint` it reads outcomes that were counted in the joint table, which may not count those of all arms.
    """

    def __init__(self, problem: Problem, from_joint: bool = False) -> None:
        self.problem = problem
        self.joint = Joint(problem)
        self.pool = Pool(problem, self.joint.arms if from_joint else None)
        # For simple regret, rows without data are taken to be like the others. For cumulative regret they keep the
        # benefit of the doubt: with centred tables causal-thompson lost more late in long runs.
        has_sets = not problem.sets_single_variables
        self._is_centred = problem.objective == "simple"
        groups = shared_groups(self.pool.layout, has_sets) if self._is_centred else ()
        self.is_real = problem.reward_is_real
        self.conditions = (MomentConditions if self.is_real else Conditions)(self.pool.layout, groups)
        self.weighing = ArmEstimator(self.pool, self.conditions)
        self.expected = ExpectedCounts(self.pool, self.conditions)
        self.informing = Informing(self.pool, self.conditions)
        self.means = InformingMeans(self.pool, self.conditions)
        self.natural = NaturalBounds(self.pool)
        self.implied = ImpliedIndependencies(problem, self.joint)
        self.own = OwnRewards(problem)
        self.tables: Sequence[CountTable] = (*self._of_graph, *self.joint.tables)
        self._cells = self.pool.layout.size
        self._predicted = slice(self._cells, self._cells + self.expected.layout.size)
        self._informing = slice(self._predicted.stop, self._predicted.stop + self.informing.layout.size)
        self._natural = slice(self._informing.stop, self._informing.stop + self.natural.layout.size)
        self._means = slice(self._natural.stop, self._natural.stop + self.means.layout.size)
        self._together = self.layout.size - self.joint.layout.size  # where the joint table begins
        self._has_aliases = bool(self.pool.is_alias.any())
        # Only where variables are set together: dominated arms may teach, but are not pulled to earn, nor recommended.
        self._never_best = np.array([one.never_best for one in standings(problem)] if has_sets else [False])

    def translated(self, evidence: Evidence, other: PooledEstimator) -> Evidence:
        """The same outcomes in the tables of another graph."""
        joint = self.together(evidence)
        of_graph = other.joint.counts(joint, other._places, other._together).T
        return replace(evidence, layout=other.layout, counts=np.concatenate([of_graph, joint], axis=1))

    @property
    def _of_graph(self) -> tuple[CountTable, ...]:
        """The tables that depend on the graph."""
        parts = self.pool, self.expected, self.informing, self.natural, self.means, self.own
        return tuple(chain.from_iterable(part.tables for part in parts))

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.problem, self.tables)

    @cached_property
    def _places(self) -> Indices:
        """Where the cells of the joint table belong in the tables of the graph."""
        return self.joint.places(self._of_graph)

    def has_all_outcomes(self, evidence: Evidence) -> Flags:
        """Whether the joint table has all outcomes of its arms: older studies counted other tables."""
        told = evidence.told[:, list(self.joint.arms)].sum(axis=1)
        return np.asarray(self.joint.outcomes(self.together(evidence)) >= told - 0.5)

    def together(self, evidence: Evidence) -> Array:
        """The counts of the joint table."""
        return evidence.counts[:, self._together :]

    def counts(self, evidence: Evidence) -> Array:
        """The counts of the tables that estimates are made of, moments in the data's own unit: axes (row, cell)."""
        counts = evidence.counts[:, : self._cells]
        return self.own.unit(evidence).standard(self.pool.layout, counts) if self.is_real else counts

    def shapes(self, evidence: Evidence, told: Array | None = None) -> Array:
        """The parameters of the posteriors of all tables: axes (row, cell). What observations tell about private tables
        may be known from `told` a while ago, which saves time."""
        if told is None:
            return self._shapes(evidence, self.conditions, False)[0]
        counts, cells = self.counts(evidence), self.informing.cells
        shapes = self.conditions.shapes(counts)
        shapes[:, cells] = counts[:, cells] + told
        self._inform_means(shapes, evidence)
        return shapes

    def told(self, evidence: Evidence, tables: Tables) -> Array:
        """What observations tell about private tables, as outcomes on their cells: axes (row, cell of `informing`)."""
        if tables.informed is None:
            return np.zeros((len(evidence.told), 0))
        return np.maximum(tables.informed.shapes - self.counts(evidence)[:, self.informing.cells], LEAST)

    def tables_after(self, evidence: Evidence) -> Tables:
        """The posteriors of all tables."""
        return tables_of(self.conditions, *self._shapes(evidence, self.conditions, False))

    def known(self, tables: Tables) -> ArmEstimates:
        """What the tables say of all arms."""
        return self.weighing.known(tables.cells, tables.totals)

    def _shapes(self, evidence: Evidence, conditions: Conditions, is_stated: bool) -> tuple[Array, Learnt | None]:
        counts = self.counts(evidence)
        shapes, informed = conditions.shapes(counts), self._informed(evidence, counts, is_stated)
        if informed is not None:
            shapes[:, self.informing.cells] = informed.shapes
        self._inform_means(shapes, evidence)
        return shapes, informed

    def _inform_means(self, shapes: Array, evidence: Evidence) -> None:
        """Put what observations say about means of a measured reward in its place."""
        if len(self.means):
            self.means.inform(shapes, self._learnt_means(evidence), self._seen_means(evidence))

    def _learnt_means(self, evidence: Evidence) -> LearntMeans:
        counts = self.own.unit(evidence).standard(self.means.layout, evidence.counts[:, self._means])
        return self.means.learnt(counts, self.counts(evidence))

    def _seen_means(self, evidence: Evidence) -> Flags:
        """Whether there are observations of the rows of `means`: axes (row, informed)."""
        return self.means.seen(evidence.counts[:, self._means])

    def _informed(self, evidence: Evidence, counts: Array, is_stated: bool) -> Learnt | None:
        """What is known of private tables that observations inform; None if there is no such table."""
        if not len(self.informing):
            return None
        is_centred = is_stated or self._is_centred
        return self.informing.learnt(evidence.counts[:, self._informing], counts, is_centred, is_stated)

    def observed_shares(self, evidence: Evidence) -> Array:
        """The chance that an observation falls on each row that informs private tables: axes (row, informed)."""
        return self.informing.shares(evidence.counts[:, self._informing])

    def values(self, cells: Array, weights: Array) -> Array:
        """The means of all arms for these tables."""
        circuit = self.pool.circuit
        return self.weighing.means(circuit.outputs(circuit.values(cells)), weights)

    def expected_per_pull(self, evidence: Evidence) -> Array:
        """The chance that an outcome of an arm falls on a condition of a table that it may enter: (arm, z, row)."""
        return self.expected.per_pull(evidence.counts[:, self._predicted])

    def stated(self, evidence: Evidence) -> ArmEstimates:
        """The estimates for a study's answers, whatever prior a policy explores with."""
        conditions, weighing = self._stated
        tables = tables_of(conditions, *self._shapes(evidence, conditions, True))
        return weighing.known(tables.cells, tables.totals)

    def stated_draws(self, evidence: Evidence, known: ArmEstimates, number: int, rng: np.random.Generator) -> Array:
        """Draws of all means from that posterior, for a batch of one row: axes (arm, draw)."""
        conditions, weighing = self._stated
        counts, circuit = self.counts(evidence), self.pool.circuit
        informed = self._informed(evidence, counts, True)
        other = informed and (self.informing.cells, self.informing.drawn_shapes(informed, number, rng))
        cells, worth = conditions.drawn(counts, number, rng, other), np.maximum(counts[0], 1.0)
        if len(self.means):
            means, seen = self._learnt_means(evidence), self._seen_means(evidence)[0]
            at = self.means.number[seen]
            cells[at + 1], worth[at] = self.means.drawn(means, number, rng)[seen], means.weights[0, seen]
        draws = weighing.means(circuit.outputs(circuit.values(cells)), np.repeat(known.weights, number, axis=1))
        if isinstance(conditions, StatedMoments):
            return conditions.leant(draws, counts, worth, known.means, known.gradients)
        return draws

    def rests_on_prior(self, evidence: Evidence, known: ArmEstimates) -> Flags:
        """The arms about which next to nothing is known: their uncertainty comes from conditions without any data. Axes
        (row, arm)."""
        conditions, _ = self._stated
        tables = tables_of(conditions, *self._shapes(evidence, conditions, True))
        parts = conditions.covariance(tables.cells, known.gradients, known.gradients)
        parts = np.moveaxis(parts / (tables.totals + 1), -2, 0)
        is_empty = conditions.sums(np.ascontiguousarray(self.counts(evidence).T)) <= 0
        if tables.informed is not None:
            is_empty[self.informing.conditions] &= self.informing.seen(evidence.counts[:, self._informing]).T <= 0
        is_empty[self.means.conditions] &= ~self._seen_means(evidence).T
        return np.asarray(total(np.where(is_empty[:, np.newaxis], parts, 0.0)) > BY_PRIOR * total(parts)).T

    @cached_property
    def _stated(self) -> tuple[Stated | StatedMoments, ArmEstimator]:
        conditions = (StatedMoments if self.is_real else Stated)(self.problem, self.pool.layout)
        return conditions, ArmEstimator(self.pool, conditions)

    def refuted(self, evidence: Evidence, before: Array, known: ArmEstimates) -> Array:
        """How many standard deviations the own rewards of an arm are from what the graph makes of all data, where
        that is too many; once refuted, an arm stays so. Axes (row, arm)."""
        known = self._without_guess(evidence, known)
        own, answer = self.own.known(evidence), known.means.T if self.is_real else np.clip(known.means.T, 0.0, 1.0)
        # Own rewards are a part of all data. So under a right graph the variance of the difference is that of the own
        # mean less that of the pooled one (Hausman, Econometrica 1978), and at most the former. A few pulls that
        # all came out alike seem to have none, so it is not less than what the graph expects.
        expected = np.ones(answer.shape) if self.is_real else answer * (1 - answer)
        variance = np.maximum(own.variances, expected) / (evidence.told + 2)
        z = np.abs(own.means - answer) / np.sqrt(variance + known.by_prior.T**2)
        is_refuted = (evidence.told >= PULLS) & (z > REFUTED) & ~self.pool.has_none
        return np.where(is_refuted | (before > 0), np.maximum(z, before), 0.0)

    def _without_guess(self, evidence: Evidence, known: ArmEstimates) -> ArmEstimates:
        """The estimates from own rewards alone where observations only allow a guess about means of a measured reward.
        That may be off by many standard deviations, and then own rewards do not contradict the graph."""
        if not len(self.means):
            return known
        shapes, cells = self.shapes(evidence), self.means.number
        plain = self.conditions.shapes(self.counts(evidence))
        shapes[:, cells], shapes[:, cells + 1] = plain[:, cells], plain[:, cells + 1]
        tables = tables_of(self.conditions, shapes, None)
        return self.weighing.known(tables.cells, tables.totals)

    def reward_variances(self, known: ArmEstimates) -> Array:
        """The variance of a single reward of every arm: axes (row, arm)."""
        if self.is_real:
            return np.ones(known.means.T.shape)
        mean = np.clip(known.means.T, 0.02, 0.98)
        return np.asarray(mean * (1 - mean))

    def judged_alone(self, refuted: Array) -> Flags:
        """The arms that are judged by their own rewards."""
        return np.asarray(self.pool.has_none | (refuted > 0))

    def violations(self, evidence: Evidence) -> Array:
        """How far outcomes are off the implied independencies; 0 where they agree. Axes (row, independence)."""
        return self.implied.violations(self.together(evidence))

    def candidates(self, means: Array, refuted: Array, ruled_out: Flags | None) -> Array:
        """Means that are never the largest for arms that are ruled out, and for those that cannot be the only best, as
        long as nothing contradicts the graph that says so: axes (row, arm)."""
        if ruled_out is not None:
            means = np.where(ruled_out, -np.inf, means)
        if not self._never_best.any():
            return means
        trusted = ~(refuted > 0).any(axis=1, keepdims=True)
        return np.where(self._never_best & trusted, -np.inf, means)

    def natural_ends(self, evidence: Evidence) -> tuple[Array, Array]:
        """The means that agree with the observations, at level 0.95, of the arms `natural.arms`: axes (row, arm)."""
        return self.natural.ends(evidence.counts[:, self._natural], evidence, USUAL)

    def ruled_out(self, evidence: Evidence, known: ArmEstimates, costs: Array) -> RuledOut | None:
        """The arms that cannot be the best, whatever the hidden causes are; None where all arms are identifiable. Where
        every pull has to earn its cost, only an arm that costs no more rules out another one."""
        if not len(self.natural):
            return None
        means, errors = known.means.T, np.sqrt(known.variances.T + known.by_prior.T**2)
        if self.is_real:
            unit = self.own.unit(evidence)
            centre, scale = unit.centre[:, np.newaxis], np.where(unit.is_known, unit.scale, np.inf)[:, np.newaxis]
            means, errors = centre + unit.scale[:, np.newaxis] * means, scale * errors
        prices = costs if self.problem.objective == "cumulative" else None
        return self.natural.ruled_out(evidence.counts[:, self._natural], evidence, means, errors, prices)

    def from_log(self, evidence: Evidence, known: ArmEstimates) -> Array:
        """How far the means of answers follow the observations of what their arms set: by this share of any change of
        these. NaN for arms whose tables observations enter as a whole. Axes (row, arm)."""
        parts = [np.zeros((2, *known.means.shape))]
        if (informed := self._informed(evidence, self.counts(evidence), True)) is not None:
            parts.append(np.stack(self.informing.followed(informed, known.gradients)))
        if len(self.means):
            parts.append(np.stack(self.means.followed(self._learnt_means(evidence), known.gradients)))
        spans, followed = np.sum(parts, axis=0)
        return np.asarray(np.where(spans > 0, followed / np.where(spans > 0, spans, 1.0), np.nan)).T

    def without_aliases(self, scores: Array, costs: Array, refuted: Array) -> Array:
        """Scores that are never the best for arms that the graph says to have the same mean as an earlier one (as do(),
        if they do not act on the reward), and that are not cheaper, unless their own rewards show the opposite."""
        if not self._has_aliases:
            return scores
        is_useless = self.pool.is_alias & (costs >= costs[:, self.pool.alias_of]) & (refuted == 0)
        return np.where(is_useless, -np.inf, scores)
