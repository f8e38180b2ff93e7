"""What a study knows: how the money stands, what every arm is worth, and which is best.

What is believed of the arms is worked out in dobandit.study.assessment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from dobandit.certainty import Interval, Standing, Verdict
from dobandit.estimate.observational import Bounds, RuledOut
from dobandit.numerals import interval, number
from dobandit.policies import OBSERVE, spec_of
from dobandit.study.assessment import Judged, how_sure, judged_arms, verdict
from dobandit.study.books import Books
from dobandit.study.clocks import clock_told
from dobandit.study.decisions import doubts_graph
from dobandit.study.events import Event
from dobandit.study.pulls import OpenPull, as_datetime, end_of
from dobandit.study.totals import Money


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
    probability_best: float
    bounds: Bounds | None  # the means that agree with the observations, if these do not identify it
    ruled_out: RuledOut | None  # why it cannot be the best, whatever the hidden causes are
    from_log: float | None  # by which share its mean follows the observations of its value, if they do not identify it
    anytime: Interval | None = None  # of the mean, however often you look (`Study.status(anytime=True)`)


class Status(NamedTuple):
    """Where a study stands. `told` outcomes, `incomplete` ones among them, which have unknown values and are no
    evidence; `open` pulls, `expired` ones among them; rows that were `logged`; batches of rows that are `uncounted`,
    because another version counted them: observe them again; `warnings` about the graph; the `recommended` arm, and
    what it is expected to lose against the best one (as `Best.expected_loss`); how the stopping rule stands (`stop`,
    None without one); the number of `events` in the history, and the hash of the last one (`head`)."""

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
    recommended: str
    expected_loss: float
    stop: Standing | None
    events: int
    head: str


class Alternative(NamedTuple):
    """An option that is as good as the best one but for a loss that is accepted."""

    arm: str
    cost: float
    mean: float
    expected_loss: float


class Best(NamedTuple):
    """The recommended arm, by the `criterion`: its mean, or for cumulative regret, where every pull has to earn its
    cost, its mean per cost (above the worst value of the reward). `observational` is the share of plain observations
    among all rows of evidence; `warnings` say what the data have against the graph.

    `expected_loss` is how far the arm is expected to be below the best one, in the units of the reward: per use of the
    answer, or for cumulative regret per unit of budget. About the `unknown` arms there are no data at all.

    Where the stopping rule states a loss, `alternatives` are the options that are expected to lose no more, and the
    answer is the first of them, the cheapest."""

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
    expected_loss: float
    unknown: tuple[str, ...]
    bounds: Bounds | None  # as in ArmStatus
    from_log: float | None
    alternatives: tuple[Alternative, ...]
    own_rows: int  # rows in which just this was done: pulls, and logged experiments

    def __str__(self) -> str:
        if math.isnan(self.mean):
            return f"{self.arm}: nothing is known yet"
        sure = f"best with probability {self.probability_best:.0%}, expected loss {number(self.expected_loss, 3)}"
        return f"{self.arm}: mean {number(self.mean)} (95% interval {interval(self.low, self.high)}), {sure}"


def status(books: Books, now: float) -> Status:
    known = judged_arms(books)
    answer = verdict(books, known)
    return Status(
        policy=spec_of(books.policy),
        budget=books.money,
        open=len(books.open),
        expired=sum(lease.is_over(now) for lease in books.open.values()),
        told=int(books.done.sum()),
        incomplete=books.incomplete,
        logged=sum(batch["rows"] for batch in books.batches.values() if batch["counts"]),
        uncounted=tuple(name for name, batch in books.batches.items() if not batch["counts"]),
        arms=_arms(books, known, answer),
        warnings=(*known.warnings, *_not_watched(books), *filter(None, [clock_told(books.latest - now)])),
        recommended=str(books.problem.arms[answer.arm]),
        expected_loss=answer.loss,
        stop=how_sure(books, known, answer),
        events=books.number,
        head=books.head,
    )


def _not_watched(books: Books) -> Iterator[str]:
    """Said where some outcomes do not test the graph, because all of them together have too many cells."""
    graphs = books.leader.graphs
    if graphs is None or not doubts_graph(books):
        return
    watched, arms = len(graphs.given.joint.arms), len(books.problem.arms)
    if not watched:
        yield (
            "the graph is not tested on outcomes: with this many variables there are too many cells to count; "
            "test it on your rows with dobandit check --data FILE"
        )
    elif watched < arms:
        yield (
            f"the graph is tested on the outcomes of {watched} of {arms} options, those that set the fewest variables: "
            "all outcomes would have too many cells to count"
        )


def _arms(books: Books, known: Judged, answer: Verdict) -> tuple[ArmStatus, ...]:
    evidence = books.judged.evidence
    rows = evidence.told[0]
    own = books.problem.in_units(evidence.rewards[0] / np.maximum(rows, 1.0))
    return tuple(
        ArmStatus(
            arm=str(arm),
            cost=float(books.costs[0, k]),
            pulls=int(books.done[0, k]),
            open=int(books.pending[0, k]),
            mean=float(known.beliefs.means[k]),
            low=float(known.beliefs.low[k]),
            high=float(known.beliefs.high[k]),
            warning=known.warning(k),
            own_mean=float(own[k]) if rows[k] else None,
            own_rows=round(float(rows[k])),
            probability_best=float(answer.probabilities[k]),
            bounds=known.ranges[k].bounds,
            ruled_out=known.ranges[k].ruled_out,
            from_log=known.ranges[k].from_log,
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
    known, arms = judged_arms(books), books.problem.arms
    answer = verdict(books, known)
    arm, told = answer.arm, books.judged.evidence.told[0]
    return Best(
        arm=str(arms[arm]),
        mean=float(known.beliefs.means[arm]),
        low=float(known.beliefs.low[arm]),
        high=float(known.beliefs.high[arm]),
        probability_best=answer.probability,
        observational=float(told[OBSERVE] / max(told.sum(), 1.0)),
        pulls=int(books.done[0, arm]),
        warnings=(*(f"{a}: {text}" for k, a in enumerate(arms) if (text := known.warning(k))), *known.warnings),
        criterion="mean per cost" if books.problem.objective == "cumulative" else "mean",
        cost=float(books.costs[0, arm]),
        expected_loss=answer.loss,
        unknown=tuple(str(a) for a, is_unknown in zip(arms, answer.unknown, strict=True) if is_unknown),
        bounds=known.ranges[arm].bounds,
        from_log=known.ranges[arm].from_log,
        alternatives=tuple(
            Alternative(str(arms[k]), float(books.costs[0, k]), float(known.beliefs.means[k]), float(answer.losses[k]))
            for k in answer.within
        ),
        own_rows=round(float(told[arm])),
    )
