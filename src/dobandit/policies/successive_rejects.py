"""Successive Rejects: in every phase all surviving arms are pulled equally often, then the worst is dropped.

Audibert, Bubeck and Munos (COLT 2010), "Best arm identification in multi-armed bandits". It knows no graph and no
costs: it is given a number n of pulls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import Chance
from dobandit.evidence import CountTable
from dobandit.policies.phases import carry_on, fair_share, whole
from dobandit.policies.protocol import Choice, View
from dobandit.policies.rejecting import Elimination, begin_elimination, dropped, survivor
from dobandit.problem import Problem


@dataclass(frozen=True)
class SuccessiveRejects:
    """Adaptation to costs: `form=mean` takes n = B / mean cost and cuts what cannot be paid; `form=budget` the largest
    n that can be paid whatever is dropped, and gives the rest to the last two arms; `form=half` takes n = B / (2 mean
    cost), which is what the published curve seems to be."""

    name: ClassVar[str] = "successive-rejects"
    objective: ClassVar[str] = "simple"
    reference: ClassVar[str] = "Audibert et al., COLT 2010"
    ignores_budget: ClassVar[bool] = False

    form: str = field(default="mean", metadata={"choices": ("mean", "budget", "half")})

    def tables(self, problem: Problem) -> Sequence[CountTable]:
        return ()

    def start(self, problem: Problem, rows: int) -> Elimination:
        return begin_elimination(len(problem.arms), rows)

    def choose(self, view: View, state: Elimination, chance: Chance) -> Choice:
        arms = view.costs.shape[1]

        def plan(view: View, state: Elimination, phase: int) -> Elimination:
            active = dropped(view, state.active, 1, chance, phase) if phase > 1 else state.active
            if phase == arms:  # one is left
                return state._replace(active=active)
            share = fair_share(active, view.costs, view.left, self._new_pulls(view, phase))
            return Elimination(view.pulls + share, state.phase, active)

        return carry_on(view, state, arms, plan)

    def _new_pulls(self, view: View, phase: int) -> Array:
        """How often every surviving arm is pulled in this phase."""
        arms = view.costs.shape[1]
        pulls = schedule(self._number(view), arms)
        fits = self._number(view) > arms
        once = np.full(len(pulls), 1.0 if phase == 1 else 0.0)  # too little money: every arm once, as far as it goes
        new = np.where(fits, pulls[:, phase] - pulls[:, phase - 1], once)
        return np.where(fits, np.inf, new) if self.form == "budget" and phase == arms - 1 else new

    def _number(self, view: View) -> Array:
        """n."""
        if self.form == "budget":
            return largest_number(view.costs, view.budget)
        return whole(view.budget / view.costs.mean(axis=1) / (2 if self.form == "half" else 1))

    def recommend(self, view: View, state: Elimination) -> Indices:
        return survivor(view, state.active)


def schedule(number: Array, arms: int) -> Array:
    """n_0 = 0, n_1, ..., n_(K-1) for n pulls of K arms: by phase k every surviving arm has been pulled n_k times.

    >>> schedule(np.array([100.0]), 4)
    array([[ 0., 16., 21., 31.]])
    """
    log_bar = 0.5 + sum(1 / i for i in range(2, arms + 1))
    left = arms + 1 - np.arange(1, arms)
    pulls = np.ceil(np.maximum(number - arms, 0)[:, np.newaxis] / log_bar / left - 1e-9)
    return np.concatenate([np.zeros((len(pulls), 1)), pulls], axis=1)


def largest_number(costs: Array, budget: Array) -> Array:
    """The largest n whose schedule can be paid even if the cheapest arms are dropped first."""
    arms = costs.shape[1]
    dearest = np.sort(costs, axis=1)[:, ::-1].cumsum(axis=1)  # of so many arms
    prices = dearest[:, arms - np.arange(1, arms)]  # of one pull of every arm that survives in phase k

    def affordable(number: Array) -> Flags:
        new = np.diff(schedule(number, arms), axis=1)
        return np.asarray((new * prices).sum(axis=1) <= budget * (1 + 1e-9))

    low, high = np.full(len(costs), float(arms)), whole(budget / costs.min(axis=1)) + arms + 1
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        fits = affordable(middle)
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return low
