"""Policies that drop arms from phase to phase until one is left."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import Chance
from dobandit.policies.phases import InPhases
from dobandit.policies.protocol import View
from dobandit.policies.ties import chosen, recommended
from dobandit.problem import Problem

DROPPING = ("try all options equally often", "try the options that are left equally often; the worst have been dropped")


class Elimination(NamedTuple):
    """The plan of a policy that drops arms, and which arms are left."""

    target: Array
    phase: Indices
    active: Flags


class Rejecting(InPhases[Elimination]):
    """Arms are pulled in so many phases, and after each the worst are dropped; the best of those that are left is
    recommended."""

    def __init__(self, problem: Problem, phases: int) -> None:
        super().__init__(problem)
        self.phases, self.last = phases, phases + 1  # the last one only drops

    @abstractmethod
    def dropped(self, active: int) -> int:
        """How many of so many active arms are dropped after a phase."""

    @abstractmethod
    def share(self, view: View, active: Flags, phase: int) -> Array:
        """How often every arm is pulled in this phase."""

    def start(self, rows: int) -> Elimination:
        plan = super().start(rows)
        return Elimination(plan.target, plan.phase, np.ones(plan.target.shape, dtype=bool))

    def plan(self, view: View, state: Elimination, phase: int, chance: Chance) -> Elimination:
        active = state.active
        if phase > 1:  # the number of active arms is the same in all rows of a phase
            active = _without_worst(view, active, self.dropped(int(active[0].sum())), chance, phase)
        if phase > self.phases:
            return state._replace(active=active)
        return Elimination(view.pulls + self.share(view, active, phase), state.phase, active)

    def recommend(self, view: View, state: Elimination) -> Indices:
        return recommended(np.where(state.active & (view.told > 0), view.means, np.nan), view.costs)


def _without_worst(view: View, active: Flags, number: int, chance: Chance, phase: int) -> Flags:
    """The active arms without the worst ones; those that were never pulled go first, and ties are broken at random."""
    active = active.copy()
    value = np.where(view.told > 0, view.means, -np.inf)
    u = chance.uniforms(view.trials, view.times, number, f":phase {phase}")
    rows = np.arange(len(active))
    for i in range(number):
        lowest = np.where(active, value, np.inf).min(axis=1, keepdims=True)
        active[rows, chosen(active & (value == lowest), u[:, i])] = False
    return active
