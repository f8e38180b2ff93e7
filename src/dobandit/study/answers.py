"""What a study knows: how the money stands, what every arm is worth, and which is best.

All data, asked for or logged, are pooled through the graph (dobandit.estimate); an arm whose own rewards contradict
the graph, and one that only its own pulls inform, is judged by its own rewards. Intervals and probabilities are those
of draws from the posterior, always the same ones after the same events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from dobandit.arrays import Array
from dobandit.chance import generator
from dobandit.errors import listing
from dobandit.estimate.pooled import Added, ArmEstimates, OwnRewards, PooledEstimator, RepairedGraphs, Unit
from dobandit.evidence import Evidence
from dobandit.policies import OBSERVE, contradiction_told, recommended, spec_of, violation_told
from dobandit.problem import Problem
from dobandit.study.books import Books, Money
from dobandit.study.decisions import doubts, doubts_graph, recommend
from dobandit.study.events import Event
from dobandit.study.pulls import OpenPull, as_datetime, end_of

DRAWS, NUMBERS = 2000, 4_000_000  # draws of a posterior, fewer where it has so many numbers
LEVEL = 0.95
MAX_PRIOR_SHIFT = 0.5  # share of how far the prior may be off by which all draws of an arm are moved together


class ArmStatus(NamedTuple):
    arm: str
    cost: float
    pulls: int
    open: int
    mean: float
    low: float
    high: float
    warning: str | None
    own_mean: float | None  # of the rows in which just this was done, without what the graph says; None without rows
    own_rows: int


class Status(NamedTuple):
    """Where a study stands. `told` outcomes, `incomplete` ones among them, which have unknown values and are no
    evidence; `open` pulls, `expired` ones among them; rows that were `logged`; batches of rows that are `uncounted`,
    because another version counted them: observe them again; and `warnings` about the graph."""

    policy: str
    budget: Money
    open: int
    expired: int
    told: int
    incomplete: int
    logged: int
    uncounted: tuple[str, ...]
    arms: tuple[ArmStatus, ...]
    warnings: tuple[str, ...]


class Best(NamedTuple):
    """The recommended arm, by the `criterion`: its mean, or for cumulative regret, where every pull has to earn its
    cost, its mean per cost (above the worst value of the reward). `observational` is the share of plain observations
    among all rows of evidence; `warnings` say what the data have against the graph."""

    arm: str
    mean: float
    low: float
    high: float
    probability_best: float
    observational: float
    pulls: int
    warnings: tuple[str, ...]
    criterion: Literal["mean", "mean per cost"]
    cost: float


class Beliefs(NamedTuple):
    """What is believed of every arm, in the user's units; and in the unit of estimates, above the worst reward, the
    same means and draws of them with axes (draw, arm)."""

    means: Array
    low: Array
    high: Array
    above: Array
    draws: Array
    refuted: Array  # how many standard deviations own rewards are off the graph's answer; 0 where they are not
    warnings: tuple[str, ...]  # what observations say against the graph

    def of_arm(self, arm: int) -> dict[str, float]:
        """Its mean and interval."""
        return {"mean": float(self.means[arm]), "low": float(self.low[arm]), "high": float(self.high[arm])}

    def warning(self, arm: int) -> str | None:
        """What is said of an arm whose own rewards contradict the graph."""
        return contradiction_told(float(self.refuted[arm])) if self.refuted[arm] > 0 else None


def status(books: Books, now: float) -> Status:
    return Status(
        policy=spec_of(books.policy),
        budget=books.money,
        open=len(books.open),
        expired=sum(lease.is_over(now) for lease in books.open.values()),
        told=int(books.done.sum()),
        incomplete=books.incomplete,
        logged=sum(batch["rows"] for batch in books.batches.values() if batch["counts"]),
        uncounted=tuple(name for name, batch in books.batches.items() if not batch["counts"]),
        arms=_arms(books, known := believed(books)),
        warnings=(*known.warnings, *_guard_is_off(books)),
    )


def _guard_is_off(books: Books) -> Iterator[str]:
    """Said where the implied independencies are not tested, because all outcomes together have too many cells."""
    graphs = books.leader.graphs
    if graphs is not None and doubts_graph(books) and not graphs.given.joint.tables:
        yield (
            "the graph is not tested on outcomes: with this many arms and variables there are too many cells to count; "
            "test it on your rows with dobandit check --data FILE"
        )


def _arms(books: Books, known: Beliefs) -> tuple[ArmStatus, ...]:
    evidence = books.judged.evidence
    rows = evidence.told[0]
    own = books.problem.in_units(evidence.rewards[0] / np.maximum(rows, 1.0))
    return tuple(
        ArmStatus(
            arm=str(arm),
            cost=float(books.costs[0, k]),
            pulls=int(books.done[0, k]),
            open=int(books.pending[0, k]),
            **known.of_arm(k),
            warning=known.warning(k),
            own_mean=float(own[k]) if rows[k] else None,
            own_rows=round(float(rows[k])),
        )
        for k, arm in enumerate(books.problem.arms)
    )


def open_pulls(books: Books, events_of: Callable[[int], Sequence[Event]], now: float) -> tuple[OpenPull, ...]:
    """Who has what, since when; `events_of` gives the events of a pull, the first of which made it."""
    return tuple(
        OpenPull(
            id=pull,
            arm=str(books.problem.arms[lease.arm]),
            worker=lease.worker,
            begun=as_datetime(events_of(pull)[0].time),
            expires=end_of(lease.expires),
            state="expired" if lease.is_over(now) else "open",
        )
        for pull, lease in sorted(books.open.items())
    )


def best(books: Books) -> Best:
    known, arms = believed(books), books.problem.arms
    per_cost = books.problem.objective == "cumulative"
    arm = _best_per_cost(books, known) if per_cost else recommend(books)
    scores = known.draws / books.costs if per_cost else known.draws
    is_best = scores[:, arm] >= scores.max(axis=1)  # arms that do the same have the same draws
    told = books.judged.evidence.told[0]
    return Best(
        arm=str(arms[arm]),
        **known.of_arm(arm),
        probability_best=float(is_best.mean()),
        observational=float(told[OBSERVE] / max(told.sum(), 1.0)),
        pulls=int(books.done[0, arm]),
        warnings=(*(f"{a}: {text}" for k, a in enumerate(arms) if (text := known.warning(k))), *known.warnings),
        criterion="mean per cost" if per_cost else "mean",
        cost=float(books.costs[0, arm]),
    )


def _best_per_cost(books: Books, known: Beliefs) -> int:
    return int(recommended(known.above[np.newaxis] / books.costs, books.costs)[0])


def believed(books: Books) -> Beliefs:
    """What is believed after all that was told and logged."""
    evidence = books.judged.evidence
    rng = generator(books.seed, f"study:{books.number}")
    own = OwnRewards(books.problem)
    means, draws, warnings = own.known(evidence).means[0], own.drawn(evidence, DRAWS, rng), tuple[str, ...]()
    unit = own.unit(evidence) if own.is_real else None
    refuted = np.zeros(evidence.told.shape)
    if graphs := books.leader.graphs:
        refuted, added = _doubts(books, graphs)
        ((_, pooled, seen),) = graphs.by_graph(evidence, added)
        known = pooled.stated(seen)
        refuted = pooled.refuted(seen, refuted, known) if doubts_graph(books) else refuted
        alone = pooled.judged_alone(refuted)[0]
        of_graph = _pooled_draws(pooled, seen, known, rng)
        means, draws = np.where(alone, means, known.means[:, 0]), np.where(alone, draws[: len(of_graph)], of_graph)
        warnings = _warnings(graphs, evidence, added)
    ends = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    shown, low, high = _in_units(books.problem, unit, np.stack([means, *ends]))
    worst = own.worst(evidence)
    return Beliefs(shown, low, high, means - worst[0], draws - worst, refuted[0], warnings)


def _doubts(books: Books, graphs: RepairedGraphs) -> tuple[Array, Added]:
    """What the policy holds against the graph, and what it would find now."""
    refuted, added, _ = doubts(books)
    if not doubts_graph(books):
        return refuted, added
    return graphs.reconsidered(books.judged.evidence, refuted, added)


def _warnings(graphs: RepairedGraphs, evidence: Evidence, added: Added) -> tuple[str, ...]:
    """What the outcomes say against the graph, and what is made of it."""
    off = zip(graphs.given.implied.independencies, graphs.given.violations(evidence)[0].tolist(), strict=True)
    told = [violation_told(independence, z) for independence, z in off if z > 0]
    causes = [f"{a} <-> {b}" for (a, b), is_added in zip(graphs.pairs, added[0], strict=True) if is_added]
    return (*told, *([f"estimates allow for a hidden cause: {listing(causes)}"] if causes else []))


def _pooled_draws(pooled: PooledEstimator, evidence: Evidence, known: ArmEstimates, rng: np.random.Generator) -> Array:
    """Draws of all tables, and what each of them makes of every arm. The prior may be wrong about all cells without
    data in the same direction, so that all draws of an arm are moved up or down together."""
    number = max(min(DRAWS, NUMBERS // pooled.pool.layout.size), 100)
    shift = rng.uniform(-MAX_PRIOR_SHIFT, MAX_PRIOR_SHIFT, (number, 1))
    return np.asarray(pooled.stated_draws(evidence, known, number, rng).T + shift * known.by_prior.T)


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
