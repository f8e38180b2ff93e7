"""Estimates that join an arm's own pulls with samples of its mean made from the observations.

CRM and the paper's Algorithm 1 share this; they differ in how the samples are made.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import Chance
from dobandit.policies import forced
from dobandit.policies.protocol import OBSERVE, Choice, Compiled, View
from dobandit.policies.ties import recommended


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
        return State(*forced.start(rows), np.zeros(rows), empty, empty)

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

    def decided(self, view: View, state: State, index: Array, value: Array, chance: Chance) -> Choice[State]:
        """The choice by the rule of forced observation, and what the rule remembers."""
        arms, rule, info = forced.decide(view, forced.Forced(state.beta, state.swept), index, value, chance)
        return Choice(arms, None, state._replace(beta=rule.beta, swept=rule.swept), info)

    def recommend(self, view: View, state: State) -> Indices:
        return recommended(self.estimates(view, self.refreshed(view, state, None))[0], view.costs)
