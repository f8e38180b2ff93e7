"""Expected value of information over pooled tables: pull what should improve the recommendation most.

Our own. All data meet in tables P(v | z) that interventions leave unchanged (docs/how-pooling-works.md). For every arm
it is computed how far some money spent on it would move the differences between the leader's mean and the others', and
by how much the best mean is expected to grow by that: the knowledge gradient (Frazier, Powell and Dayanik 2008) over
arms whose means are correlated. Whom a pull informs is decided by the graph, so a cheap observation often wins.

A few pulls may be worth nothing where many would change everything. So small and large sums are considered,
and the score of an arm is that of its best sum per cost (KG(*) of Frazier and Powell, Decision Analysis 2010).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import Chance
from dobandit.estimate.pooled import ArmEstimates, Doubts, PooledEstimator, Tables, added_up, log_improvements
from dobandit.policies.expected_spreads import Information, OwnRewards, spreads, spreads_in_parts
from dobandit.policies.guard import Guarded, OnPooledEvidence
from dobandit.policies.protocol import OBSERVE, Choice, Reason, View
from dobandit.policies.ties import levelled, pick, recommended
from dobandit.problem import Problem

CHUNK = 0.05  # of the money spent so far: the smallest sum that a decision thinks of spending
MULTIPLES = (1.0, 4.0, 16.0)  # of that sum
HOLD = 50  # a decision is kept for the next fiftieth of the pulls
TOGETHER = 2**17  # numbers of a gradient: rows that are judged together, so that they stay in the cache


@dataclass(frozen=True)
class CausalExplore(Guarded):
    """Our policy: the arm whose pulls are expected to improve the final recommendation most for the same money.

    It recommends the arm with the highest posterior mean, at any time. A decision is kept for a fiftieth of the pulls
    made so far.

    If the outcomes of an arm contradict the graph, the arm is judged by its own outcomes alone. If outcomes contradict
    an independence that the graph implies, a hidden cause is added. `guard=false` trusts the graph.
    """

    name = "causal-explore"
    objective = "simple"
    reference = "ours; after Frazier, Powell and Dayanik, SIAM J. Control Optim. 2008"
    because = (
        "Chosen to find out whether {contest}: {cost} of budget is expected to raise the value of the final decision "
        "by {gain}."
    )
    measure = "gain per 100 spent"
    measured = "by how much the mean of the final choice is expected to grow if 100 is spent on this option"

    def index_in_units(self, index: Array, costs: Array, scale: float) -> Array:
        """The expected gain per 100 spent: the index is its logarithm per unit of money, unless there is none."""
        return np.zeros(len(index)) if (index == -costs).all() else np.asarray(100 * scale * np.exp(index))

    def compile(self, problem: Problem) -> CompiledCausalExplore:
        return CompiledCausalExplore(problem, self.guard)


class CompiledCausalExplore(OnPooledEvidence[Doubts]):
    def start(self, rows: int) -> Doubts:
        return self.graphs.no_doubts(rows)

    def decide(self, pooled: PooledEstimator, view: View, state: Doubts, chance: Chance) -> Choice[Doubts]:
        together = _rows_together(pooled)
        parts = [slice(first, first + together) for first in range(0, len(view.trials), together)]
        found = [self._judged(pooled, view.take(part), state.refuted[part]) for part in parts]
        refuted, score = (np.concatenate(of_parts) for of_parts in zip(*found, strict=True))
        hopeless = np.asarray(~np.isfinite(np.where(view.affordable, score, -np.inf)).any(axis=1))
        # Where no affordable arm is informative, the cheapest one is as good as any.
        arms, info = pick(np.where(hopeless[:, np.newaxis], -view.costs, score), view, chance)
        info.reason[hopeless] = Reason.NOTHING_TEACHES
        return Choice(arms, 1 + view.times // HOLD, state._replace(refuted=refuted), info)

    def _judged(self, pooled: PooledEstimator, view: View, before: Array) -> tuple[Array, Array]:
        """What own rewards refute, and what every arm is expected to gain: axes (row, arm)."""
        tables = pooled.tables_after(view.evidence)
        known = pooled.known(tables)
        refuted = self.refuted(pooled, view.evidence, before, known)
        return refuted, log_gains(pooled, view, tables, known, refuted)


def log_gains(pooled: PooledEstimator, view: View, tables: Tables, known: ArmEstimates, refuted: Array) -> Array:
    """By how much the mean of the recommended arm is expected to grow per unit of money that is spent on an arm, as a
    logarithm: axes (row, arm). Arms that own rewards refute are judged by these alone."""
    alone = pooled.judged_alone(refuted)
    means = np.where(alone, pooled.own.known(view.evidence).means, known.means.T)
    ruled_out = pooled.ruled_out(view.evidence, known, view.costs)
    candidates = partial(pooled.candidates, refuted=refuted, ruled_out=ruled_out and ruled_out.out)
    able = candidates(pooled.without_aliases(means, view.costs, refuted))
    leader = recommended(levelled(able) if pooled.is_real else able, view.costs)
    gap = candidates(means) - means[np.arange(len(leader)), leader][:, np.newaxis]
    # The others are not recommended, whatever is learnt. Of those that are ruled out, other rows may have others.
    rivals = np.flatnonzero(np.isfinite(pooled.candidates(means, refuted, None)).any(axis=0))
    information = _information(pooled, view, known.gradients, tables, leader, alone, rivals)
    gap = np.ascontiguousarray(gap.T)[rivals, np.newaxis]
    score = (_scores if _rows_together(pooled) > 1 else _scores_of_many_arms)(gap, information, view)
    return pooled.without_aliases(np.ascontiguousarray(score.T), view.costs, refuted)


def _rows_together(pooled: PooledEstimator) -> int:
    return max(1, TOGETHER // (len(pooled.problem.arms) * max(pooled.pool.layout.size, 1)))


def _sums(view: View) -> Array:
    """The sums of money that a decision thinks of spending on an arm: axes (sum, row)."""
    spent = view.budget - view.left
    smallest = np.maximum(2 * view.costs.max(axis=1), CHUNK * spent)
    return np.stack([smallest * times for times in MULTIPLES])


def _scores(gap: Array, information: Information, view: View) -> Array:
    """The largest log of Σ_a E[max(gap_a + spread_aj N(0, 1), 0)] / money, for money spent on arm j: axes (j, row)."""
    found = []
    for money in _sums(view):
        pulls = np.ascontiguousarray((money[:, np.newaxis] / view.costs).T)
        found.append(log_improvements(gap, spreads(information, pulls)) - np.log(money))
    return np.asarray(np.max(found, axis=0))


def _scores_of_many_arms(gap: Array, information: Information, view: View) -> Array:
    """The same in a large graph, where arms share a part of their sums."""
    found, sums = np.empty(view.costs.T.shape), _sums(view)
    for row, costs in enumerate(view.costs):
        money = sums[:, row, np.newaxis]
        parts = spreads_in_parts(information.of_row(row), money / costs)
        gains = np.concatenate([log_improvements(gap[..., row, np.newaxis], part) for part in parts], axis=1)
        found[:, row] = (gains - np.log(money)).max(axis=0)
    return found


def _information(
    pooled: PooledEstimator,
    view: View,
    gradients: Array,
    tables: Tables,
    leader: Indices,
    alone: Flags,
    rivals: Indices,
) -> Information:
    if alone.any():
        gradients = np.where(alone.T[:, np.newaxis], 0.0, gradients)
    led = np.ascontiguousarray(gradients[leader, :, np.arange(len(leader))].T)
    of_rivals = gradients if len(rivals) == len(gradients) else gradients[rivals]
    together = max(1, TOGETHER // max(led.size, 1))
    parts = [of_rivals[first : first + together] for first in range(0, len(rivals), together)]
    moved = np.concatenate([_moved(pooled, tables, led - part) for part in parts])
    totals, met = tables.totals, pooled.expected_per_pull(view.evidence)
    if tables.informed is not None:  # observations move the priors of private tables, as if these were further tables
        observed = np.zeros((len(met), *tables.informed.number.T.shape))
        observed[OBSERVE] = pooled.observed_shares(view.evidence).T
        totals, met = np.concatenate([totals, tables.informed.number.T]), np.concatenate([met, observed], axis=1)
    # Seven digits are enough for a score and take half as long. Rewards in another unit are rounded in another way, and
    # that must not show in these digits; nor may arms that share a sum lose more of them.
    digits = np.float64 if pooled.is_real or _rows_together(pooled) == 1 else np.float32
    own = _own_rewards(pooled, view, alone) if alone.any() else None
    return Information(leader, rivals, totals, met, moved.astype(digits, copy=False), own)


def _moved(pooled: PooledEstimator, tables: Tables, against: Array) -> Array:
    """How far what is not known about z may move functions with these gradients, as in `Information`."""
    cells, totals = tables.cells, tables.totals
    moved, off = pooled.conditions.errors(cells, against)
    # How far the prior is off is uncertain, too: if anything up to what it may be is equally likely, the variance is a
    # third of its square. Every z has a part of that, which outcomes on z remove.
    in_all = added_up(np.moveaxis(off / totals, 1, 0))[:, np.newaxis]
    off *= (totals + 1) / (3 * totals)
    off *= in_all
    moved += off
    if tables.informed is None:
        return moved
    return np.concatenate([moved, pooled.informing.moved(tables.informed, against)], axis=1)


def _own_rewards(pooled: PooledEstimator, view: View, alone: Flags) -> OwnRewards:
    variances = pooled.own.known(view.evidence).variances
    return OwnRewards(np.where(alone, variances, 0.0).T, view.told.T + 2)
