"""Optimistic Thompson sampling over pooled tables: every pull informs every arm that the graph lets it inform.

Our own. All data meet in tables P(v | z) that interventions leave unchanged (docs/how-pooling-works.md). One joint draw
of all tables gives one draw of every arm's mean, so that what arms have in common is drawn in common. Two additions:
an arm is never drawn below its mean (optimism, May et al., JMLR 2012), do() least of all; and a pull that is made only
to learn is replaced by an observation where that teaches as much for less.

The spread of the draws is corrected, too. Where there are data it is narrowed, the more of them there are: Thompson
sampling tries again and again what is nearly settled. Where there are none it is widened: a mean over many empty cells
seems to be sure, because independent errors cancel, but the prior may be wrong about all of them in the same direction.

Where variables are set together, arms that others dominate at no higher cost are not pulled to earn, because one of
those others earns as much; do() is still pulled in place of an arm that is pulled to learn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.chance import Chance
from dobandit.estimate.pooled import Added, ArmEstimates, PooledEstimator, Tables, added_up
from dobandit.policies.guard import Guarded, OnPooledEvidence
from dobandit.policies.protocol import DRAW, DRAW_SAYS, DRAWN, OBSERVE, Choice, Reason, View, rows_of, updated
from dobandit.policies.ties import pick
from dobandit.problem import Problem

Times = TypeVar("Times", int, Indices, int | Indices)  # one for all rows, one for each, or either

MOST_ESTIMATES = 4  # of an arm: two choices of formulas, of two each
AHEAD = 1000  # times as many pulls as were made so far are taken to be still to come
FAR, AHEAD_OF_SETS = 1e5, 10  # where variables are set together: so many pulls, or so many times those made so far
TRIED = 25  # pulls of its own up to which the draws of such an arm are not narrowed
MAX_PRIOR_SHIFT = 0.25  # of how far the prior may be off, so much at most is added to all draws, or taken from them
FLOOR = 1e-2  # the least that a pull is taken to lose, of the range of a reward
RANGE = 2.0  # standard deviations that stand for the range of a reward that is a measurement
OBSERVATION_BONUS = 2.0  # an observation informs other arms, too: where single variables are set, it counts so often
RENEW = 10  # weights and what observations teach are recomputed when the pulls have grown by a tenth
HOLD = 1000  # a decision is kept for the next thousandth of the pulls
TOGETHER = 2**22  # numbers of a gradient: rows that are recomputed together, so that memory is enough for many arms


class State(NamedTuple):
    due: Indices  # the time of the next refresh
    weights: Array  # of the estimates; there is room for those of any graph
    as_good: Array  # what an observation teaches about an arm, as a share of what a pull of the arm teaches
    by_prior: Array  # how far the mean of an arm may be off because the prior fills cells that have no data
    narrow: Array  # what is left of the distance of an arm's draw from its mean
    told: Array  # what observations tell about private tables of the given graph, as outcomes on their cells
    ruled_out: Array  # 1 for arms that cannot be the best, whatever the hidden causes are
    refuted: Array  # from here on as in Doubts
    added: Added
    look: Indices


@dataclass(frozen=True)
class CausalThompson(Guarded):
    """Our policy: Thompson sampling in which every outcome informs all arms that the graph connects it with.

    It draws the mean of every arm at random from what is known, and pulls the arm with the highest draw per cost; no
    draw is below the arm's mean. A pull that only serves to learn becomes a plain observation where that teaches as
    much for less money. Draws stay close to the means of arms that are well known. A decision is kept for a thousandth
    of the pulls made so far.

    If the outcomes of an arm contradict the graph, the arm is judged by its own outcomes alone. If outcomes contradict
    an independence that the graph implies, a hidden cause is added. `guard=false` trusts the graph.
    """

    name = "causal-thompson"
    objective = "cumulative"
    reference = "ours; after Thompson, Biometrika 1933, and May et al., JMLR 2012"
    because, measure = DRAWN, DRAW
    measured = f"{DRAW_SAYS}, or the mean itself if that is higher"

    def compile(self, problem: Problem) -> CompiledCausalThompson:
        return CompiledCausalThompson(problem, self.guard)


class CompiledCausalThompson(OnPooledEvidence[State]):
    def start(self, rows: int) -> State:
        arms = len(self.problem.arms)
        weights = np.zeros((rows, MOST_ESTIMATES * arms))
        due, of_arms = np.zeros(rows, dtype=np.intp), np.zeros((rows, arms))
        told = np.zeros((rows, len(self.graphs.given.informing.cells)))
        return State(due, weights, of_arms, of_arms, of_arms, told, of_arms, *self.graphs.no_doubts(rows))

    def next_change(self, state: State) -> tuple[float, float]:
        return state.due.min(), state.look.min() if self.guard else math.inf

    def decide(self, pooled: PooledEstimator, view: View, state: State, chance: Chance) -> Choice[State]:
        state = self._refreshed(pooled, view, state)
        drawn, means = self._drawn_and_means(pooled, view, state, chance)
        index = np.maximum(drawn, means)
        # An observation informs all arms, so do() has the benefit of every doubt: a low draw counts as a high one.
        index[:, OBSERVE] = means[:, OBSERVE] + np.abs(drawn[:, OBSERVE] - means[:, OBSERVE])
        index = pooled.candidates(
            index / view.costs, state.refuted, state.ruled_out > 0 if len(pooled.natural) else None
        )
        arms, info = pick(pooled.without_aliases(index, view.costs, state.refuted), view, chance)
        instead = self._better_observed(view, state, arms, means)
        arms[instead], info.reason[instead] = OBSERVE, Reason.OBSERVATION_TEACHES
        return Choice(arms, _kept_for(view.times), state, info)

    def _refreshed(self, pooled: PooledEstimator, view: View, state: State) -> State:
        """The state, recomputed where evidence has grown by a tenth."""
        due = (state.due <= view.times).nonzero()[0]
        together = max(1, TOGETHER // (len(self.problem.arms) * max(pooled.pool.layout.size, 1)))
        if len(due) == len(state.due) <= together:
            return self._recomputed(pooled, view, state)
        for first in range(0, len(due), together):
            part = due[first : first + together]
            state = updated(state, part, self._recomputed(pooled, view.take(part), rows_of(state, part)))
        return state

    def _recomputed(self, pooled: PooledEstimator, view: View, state: State) -> State:
        tables = pooled.tables_after(view.evidence)
        known = pooled.known(tables)
        due = view.times + 1 + view.times // RENEW
        as_good = _as_good(pooled, view, known.gradients, tables)
        weights = np.zeros(state.weights.shape)
        weights[:, : pooled.pool.estimates] = known.weights.T
        refuted = self.refuted(pooled, view.evidence, state.refuted, known)
        narrow, by_prior = _narrow(view, known, pooled), known.by_prior.T.copy()
        found = pooled.ruled_out(view.evidence, known, view.costs)
        out = np.zeros(refuted.shape) if found is None else found.out.astype(float)
        told = pooled.told(view.evidence, tables) if pooled is self.graphs.given else state.told
        return State(due, weights, as_good, by_prior, narrow, told, out, refuted, state.added, state.look)

    def _drawn_and_means(
        self, pooled: PooledEstimator, view: View, state: State, chance: Chance
    ) -> tuple[Array, Array]:
        """The means of all arms in one draw of the tables, and in their means, both above the worst reward."""
        rows, number = len(view.trials), _draw_number(view.clock)
        shapes = pooled.shapes(view.evidence, state.told if pooled is self.graphs.given else None)
        both = np.concatenate([pooled.conditions.sampled(shapes, chance, view.trials, number), shapes])
        cells = pooled.conditions.normalised(np.ascontiguousarray(both.T))
        weights = state.weights[:, : pooled.pool.estimates].T
        values = pooled.values(cells, np.concatenate([weights, weights], axis=1))
        drawn, means = values[:, :rows].T, values[:, rows:].T
        shift = MAX_PRIOR_SHIFT * (2 * chance.uniforms(view.trials, number, 1, ":prior") - 1)
        drawn = means + state.narrow * (drawn - means) + shift * state.by_prior
        alone = pooled.judged_alone(state.refuted)
        if alone.any():
            own, of_own = pooled.own, pooled.own.known(view.evidence).means
            drawn = np.where(alone, own.sampled(view.evidence, chance, view.trials, number), drawn)
            means = np.where(alone, of_own, means)
        if pooled.is_real:
            worst = pooled.own.worst(view.evidence)
            drawn, means = drawn - worst, means - worst
        return drawn, means

    def _better_observed(self, view: View, state: State, arms: Indices, means: Array) -> Indices:
        """The rows whose arm is pulled only to learn, where an observation teaches as much for less."""
        value = means / view.costs
        able = value if view.affordable.all() else np.where(view.affordable, value, -np.inf)
        greedy = self.levelled(able).argmax(axis=1)
        rows: Indices = ((arms != greedy) & (arms != OBSERVE) & view.affordable[:, OBSERVE]).nonzero()[0]
        if not len(rows):
            return rows
        price, costs, pulled = value[rows, greedy[rows]], view.costs[rows], arms[rows]
        at = np.arange(len(rows))
        floor = FLOOR * RANGE if self.problem.reward_is_real else FLOOR
        loss = np.maximum(price * costs[at, pulled] - means[rows, pulled], 0.0) + floor
        observing = np.maximum(price * costs[:, OBSERVE] - means[rows, OBSERVE], 0.0) + floor
        bonus = OBSERVATION_BONUS if self.problem.sets_single_variables else 1.0
        return np.asarray(rows[bonus * state.as_good[rows, pulled] * loss >= observing])


def _kept_for(times: Times) -> Times:
    """The number of pulls that a decision is kept for which is made after so many pulls."""
    return 1 + times // HOLD


def _draw_number(times: Times) -> Times:
    """Draws are numbered by decisions, because numbers for pulls that need none would be made in vain."""
    since = times % HOLD
    return times - since + since // _kept_for(times)


def _narrow(view: View, known: ArmEstimates, pooled: PooledEstimator) -> Array:
    """What is left of the distance of a draw from the mean.

    With t pulls to come, an arm that is known as well as by n pulls of its own is explored to log(1 + t/n) in place of
    log(1 + t), as in the indices that waste least on arms that are nearly settled (Audibert and Bubeck, COLT 2009;
    Garivier and Cappé, COLT 2011). The latter is what t draws are worth; where a decision is kept for several pulls,
    there are fewer draws, and each has to dare more.

    Where variables are set together, many arms are nearly as good as the best one, and what is lost late is lost on
    these. So their draws are wide until an arm has been tried, and then become narrow faster than they do elsewhere.
    """
    per_pull = (known.variances.T + known.by_prior.T**2) / pooled.reward_variances(known)  # 1/n
    told = view.told.sum(axis=1, keepdims=True)
    if not view.problem.sets_single_variables:
        ahead = np.maximum(FAR, AHEAD_OF_SETS * told)
        return np.asarray(np.minimum(np.log1p(ahead * per_pull) / np.log1p(ahead / TRIED), 1.0))
    ahead = AHEAD * np.maximum(told, 1.0)
    draws = ahead / _kept_for(view.times)[:, np.newaxis]
    return np.asarray(np.sqrt(np.minimum(np.log1p(ahead * per_pull) / np.log1p(draws), 1.0)))


def _as_good(pooled: PooledEstimator, view: View, gradients: Array, tables: Tables) -> Array:
    """By how much an observation reduces the variance of an arm's mean, as a share of what the arm itself does."""
    reduction = pooled.conditions.covariance(tables.cells, gradients, gradients)
    reduction /= (tables.totals + 1) * (tables.totals + 2)
    reached = pooled.expected_per_pull(view.evidence)
    own = added_up(np.moveaxis(reached * reduction, 1, 0))
    by_observing = added_up(np.moveaxis(reached[OBSERVE] * reduction, 1, 0))
    if tables.informed is not None:
        number = tables.informed.number.T
        moved = pooled.informing.moved(tables.informed, gradients) / ((number + 1) * (number + 2))
        by_observing += added_up(np.moveaxis(pooled.observed_shares(view.evidence).T * moved, 1, 0))
    return np.divide(by_observing, own, out=np.zeros(own.shape), where=own > 0).T
