"""What is believed of every arm after all that was told and logged: means, intervals, and draws from the posterior.

All data are pooled through the graph (dobandit.estimate.pooled); an arm whose own rewards contradict the graph, and one
that only its own pulls inform, is judged by its own rewards. Where observations bound a mean, its draws lie inside of
the bounds. Intervals and probabilities are those of the draws.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.certainty.bounded import bounded
from dobandit.certainty.kinds import good_share
from dobandit.errors import TooDense
from dobandit.estimate.pooled import Added, ArmEstimates, Doubts, OwnRewards, PooledEstimator, RepairedGraphs, Unit
from dobandit.evidence import Evidence
from dobandit.policies import OBSERVE, Compiled, Policy
from dobandit.problem import Problem

DRAWS, NUMBERS = 2000, 4_000_000  # draws of a posterior, fewer where it has so many numbers
LEVEL = 0.95
MAX_PRIOR_SHIFT = 0.5  # share of how far the prior may be off by which all draws of an arm are moved together


class Beliefs(NamedTuple):
    """What is believed of every arm, in the user's units; and in the unit of estimates, above the worst reward, the
    same means and draws of them with axes (draw, arm)."""

    means: Array
    low: Array
    high: Array
    above: Array
    draws: Array
    scale: float  # the unit of estimates in the user's units; NaN while it is not known
    refuted: Array  # how many standard deviations own rewards are off the graph's answer; 0 where they are not
    unknown: Flags  # arms about which there are no data at all: only the prior speaks
    rows: Array  # outcomes of each arm; observations count as outcomes of the arms whose means they tell
    good: Array  # how many of them are good ones
    bad: float  # how many outcomes of all arms are bad ones


class Doubted(NamedTuple):
    """What a policy holds against the graph of one row: as in `Doubts`. Whether the data may add to it: `guards`."""

    refuted: Array
    added: Added
    guards: bool


def judging_graphs(compiled: Compiled[Any]) -> RepairedGraphs | None:
    """The pooled estimator that the arms are judged by, whatever policy leads; None where its tables would be too
    large."""
    if compiled.graphs is not None:
        return compiled.graphs
    try:
        return RepairedGraphs(compiled.problem)
    except TooDense:
        return None


def doubted(policy: Policy, state: Any, graphs: RepairedGraphs | None, evidence: Evidence) -> Doubted:
    """What is held against the graph of one row: what the state of its policy says, and what the data add to that now
    unless the policy trusts the graph."""
    if graphs is None:
        return Doubted(np.zeros(evidence.told.shape), np.zeros((1, 0), dtype=bool), False)
    known = graphs.no_doubts(1) if policy.guards_graph is None else Doubts(state.refuted, state.added, state.look)
    if policy.guards_graph is False:
        return Doubted(known.refuted, known.added, False)
    return Doubted(*graphs.reconsidered(evidence, known.refuted, known.added), True)


def believed(
    problem: Problem,
    graphs: RepairedGraphs | None,
    evidence: Evidence,
    doubted: Doubted,
    rng: np.random.Generator,
    number: int = DRAWS,
) -> Beliefs:
    """What is believed of the arms.

    Parameters
    ----------
    problem
        The problem; its arms are judged.
    graphs
        Its pooled estimator; None where the tables would be too large, and every arm is judged by its own rewards.
    evidence
        What was seen: a batch of one row.
    doubted
        What is held against the graph.
    rng
        Of the draws.
    number
        How many draws, at most.
    """
    own = OwnRewards(problem)
    means, draws = own.known(evidence).means[0], own.drawn(evidence, number, rng)
    unit = own.unit(evidence) if own.is_real else None
    refuted, unknown = doubted.refuted, evidence.told[0] == 0
    is_told = np.zeros(len(unknown), dtype=bool)
    if graphs is not None:
        ((_, pooled, seen),) = graphs.by_graph(evidence, doubted.added)
        known = pooled.stated(seen)
        refuted = pooled.refuted(seen, refuted, known) if doubted.guards else refuted
        alone = pooled.judged_alone(refuted)[0]
        of_graph = _pooled_draws(pooled, seen, known, rng, number)
        means, draws = np.where(alone, means, known.means[:, 0]), np.where(alone, draws[: len(of_graph)], of_graph)
        if unit is not None and unit.is_known[0]:
            means, draws = _inside_bounds(pooled, seen, unit, alone, means, draws, rng)
        unknown &= alone | pooled.rests_on_prior(seen, known)[0]
        is_told = pooled.pool.told_by_observations & ~alone & ~unknown
    shown, low, high = _in_units(problem, unit, np.stack([means, *_interval(draws)]))
    worst = own.worst(evidence)
    rows, good, bad = _outcomes(own.moments(evidence)[:, 0], is_told)
    return Beliefs(
        means=shown,
        low=low,
        high=high,
        above=means - worst[0],
        draws=draws - worst,
        scale=_scale(unit) / abs(problem.utility_slope),
        refuted=refuted[0],
        unknown=unknown,
        rows=rows,
        good=good,
        bad=bad,
    )


def _outcomes(moments: Array, is_told: Flags) -> tuple[Array, Array, float]:
    """Outcomes and good ones of every arm, with the observations where these tell its mean; and bad ones of all arms.
    From sums of powers of the arms' own rewards, with axes (power, arm)."""
    everything = moments.sum(axis=1)
    usual = float(everything[1] / max(everything[0], 1.0))
    seen = moments + np.where(is_told & (np.arange(len(is_told)) != OBSERVE), moments[:, [OBSERVE]], 0.0)
    bad = everything[0] * (1 - good_share(everything, usual))
    return seen[0], seen[0] * good_share(seen, usual), float(bad)


def _interval(draws: Array) -> list[Array]:
    """The ends of the interval of every arm."""
    ordered = np.sort(draws, axis=0)
    return [quantile(ordered, share) for share in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)]


def _scale(unit: Unit | None) -> float:
    return 1.0 if unit is None else float(unit.scale[0]) if unit.is_known[0] else math.nan


def quantile(ordered: Array, share: float) -> Array:
    """The same number as `np.quantile` along the first axis of ordered numbers, without the masked arrays that it
    loads: they take a tenth of the time of a command."""
    place = (len(ordered) - 1) * share
    below = math.floor(place)
    low, high, part = ordered[below], ordered[min(below + 1, len(ordered) - 1)], place - below
    return np.asarray(high - (high - low) * (1 - part) if part >= 0.5 else low + (high - low) * part)


def _pooled_draws(
    pooled: PooledEstimator, evidence: Evidence, known: ArmEstimates, rng: np.random.Generator, most: int
) -> Array:
    """Draws of all tables, and what each of them makes of every arm. The prior may be wrong about all cells without
    data in the same direction, so that all draws of an arm are moved up or down together."""
    number = max(min(most, NUMBERS // pooled.pool.layout.size), 100)
    shift = rng.uniform(-MAX_PRIOR_SHIFT, MAX_PRIOR_SHIFT, (number, 1))
    return np.asarray(pooled.stated_draws(evidence, known, number, rng).T + shift * known.by_prior.T)


def _inside_bounds(
    pooled: PooledEstimator,
    evidence: Evidence,
    unit: Unit,
    alone: Flags,
    means: Array,
    draws: Array,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """Means and draws of a measured reward inside of the bounds that observations leave. The bounds rest on the graph,
    so an arm that contradicts it has only those of the range."""
    low, high = pooled.natural_ends(evidence)
    for place, k in enumerate(pooled.natural.arms):
        ends = np.array([0.0, 1.0] if alone[k] else [low[0, place], high[0, place]])
        least, most = ((ends - unit.centre[0]) / unit.scale[0]).tolist()
        means[k], draws[:, k] = bounded(float(means[k]), draws[:, k], (least, most), rng)
    return means, draws


def _in_units(problem: Problem, unit: Unit | None, numbers: Array) -> Array:
    """The means of all arms and the ends of their intervals, in the user's units. Of a measurement nothing is said
    before a reward is known, and of how far it may be off nothing before two different ones are."""
    if unit is None:
        found = problem.in_units(np.concatenate([numbers[:1], np.clip(numbers[1:], 0.0, 1.0)]))
    else:
        found = problem.in_units(unit.centre[0] + unit.scale[0] * numbers)
        if not problem.reward_is_continuous:  # it has no other values than those that are stated
            found = np.clip(found, min(problem.reward_values), max(problem.reward_values))
        found[1:] = np.where(unit.is_known, found[1:], np.nan)
        found[:1] = np.where(unit.has_rewards, found[:1], np.nan)
    means, (low, high) = found[0], np.sort(found[1:], axis=0)
    return np.stack([means, np.minimum(low, means), np.maximum(high, means)])
