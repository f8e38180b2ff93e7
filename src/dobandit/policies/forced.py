"""Forced observation: the rule that CRM-NB, CRM and the paper's Algorithm 1 share.

Observing is worth more than its reward, because an observation informs other arms. So do() is pulled
whenever it has been pulled fewer than beta^2 ln t times, and beta grows as the gap between the best arm and
do() becomes small. Otherwise the arm with the highest index is pulled.

CRM and Algorithm 1 also share estimates that join an arm's own pulls with samples of its mean made from the
observations; they differ in how the samples are made.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import Chance
from dobandit.policies.protocol import OBSERVE, Choice, Compiled, Reason, View
from dobandit.policies.ties import pick, recommended, sweep_first


class Forced(NamedTuple):
    """What the rule remembers; a policy that remembers more has these two fields and others."""

    beta: Array
    swept: Flags  # whether the first sweep over the arms is over


def start(rows: int) -> Forced:
    return Forced(np.ones(rows), np.zeros(rows, dtype=bool))


def decide(view: View, state: Any, index: Array, value: Array, chance: Chance) -> Choice[Any]:
    """The next arm: the sweep first (in arm order, do() first), then observation where forced, else the best index.

    `value` is what beta compares: the estimated means (over costs, if the algorithm knows of costs).
    """
    beta = np.where(state.swept, updated_beta(state.beta, value, view.time), state.beta)
    best, info = pick(index, view, chance)
    is_due = (view.pulls[:, OBSERVE] < beta**2 * np.log(view.time + 1)) & view.affordable[:, OBSERVE]
    reason = np.where(is_due & (best != OBSERVE), Reason.OBSERVATION_DUE, info.reason)
    arms, info = sweep_first(view, np.where(is_due, OBSERVE, best), replace(info, reason=reason))
    return Choice(arms, None, state._replace(beta=beta, swept=state.swept | (info.reason != Reason.SWEEP)), info)


def updated_beta(beta: Array, value: Array, t: int) -> Array:
    """min{2 sqrt 2 / gap, sqrt(ln t)} where some arm looks better than do(); elsewhere beta stays as it is.

    >>> updated_beta(np.array([1.0, 1.0]), np.array([[0.2, 0.9], [0.5, 0.4]]), t=100)
    array([2.14596603, 1.        ])
    """
    gap = value.max(axis=1) - value[:, OBSERVE]
    with np.errstate(divide="ignore"):
        candidate = np.minimum(2 * np.sqrt(2) / gap, np.sqrt(np.log(max(t, 1))))
    return np.where(gap > 0, candidate, beta)


class State(NamedTuple):
    beta: Array
    swept: Flags
    seen: Array  # observations behind the samples
    number: Array  # how many samples each arm has
    value: Array  # their mean


class JoinedSamples(Compiled[State]):
    """The mean of every arm over its own pulls and its samples, recomputed when there are new observations."""

    @abstractmethod
    def samples(self, view: View, rows: Indices, chance: Chance | None) -> tuple[Array, Array]:
        """The number of samples of every arm, and their mean, for these rows."""

    def start(self, rows: int) -> State:
        empty = np.zeros((rows, len(self.problem.arms)))
        return State(*start(rows), np.zeros(rows), empty, empty)

    def refreshed(self, view: View, state: State, chance: Chance | None) -> State:
        """The state with the samples recomputed in rows that have new observations."""
        now = view.told[:, OBSERVE]
        rows = np.flatnonzero(now != state.seen)
        if not len(rows):
            return state
        number, value = state.number.copy(), state.value.copy()
        number[rows], value[rows] = self.samples(view, rows, chance)
        return state._replace(seen=now, number=number, value=value)

    def estimates(self, view: View, state: State) -> tuple[Array, Array]:
        """The mean of every arm, and how many pulls and samples are behind it."""
        evidence = view.told + state.number
        return (view.rewards + state.number * state.value) / np.maximum(evidence, 1), evidence + view.pending

    def recommend(self, view: View, state: State) -> Indices:
        return recommended(self.estimates(view, self.refreshed(view, state, None))[0], view.costs)
