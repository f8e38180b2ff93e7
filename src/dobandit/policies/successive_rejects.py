"""Successive Rejects: in every phase all surviving arms are pulled equally often, then the worst is dropped.

Audibert, Bubeck and Munos (COLT 2010), "Best arm identification in multi-armed bandits". It knows no graph and no
costs: it is given a number n of pulls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.policies.phases import fair_share, whole
from dobandit.policies.protocol import Planning, View, option
from dobandit.policies.rejecting import DROPPING, Rejecting
from dobandit.problem import Problem


@dataclass(frozen=True)
class SuccessiveRejects(Planning):
    """In every phase, pull all remaining arms equally often, then drop the worst one.

    Adaptation to costs: `form=mean` plans n = B / mean cost pulls and skips those that cannot be paid for.
    `form=budget` plans as many as can be paid for whichever arms are dropped, and gives the rest to the last two arms.
    `form=half` plans n = B / (2 mean cost), which is what the published curve seems to be.
    """

    name = "successive-rejects"
    reference = "Audibert et al., COLT 2010"
    needs_range = False
    purposes = DROPPING

    form: str = option("mean", "budget", "half")

    def compile(self, problem: Problem) -> CompiledSuccessiveRejects:
        return CompiledSuccessiveRejects(problem, self.form)


class CompiledSuccessiveRejects(Rejecting):
    def __init__(self, problem: Problem, form: str) -> None:
        super().__init__(problem, phases=len(problem.arms) - 1)
        self._form = form

    def dropped(self, active: int) -> int:
        return 1

    def share(self, view: View, active: Flags, phase: int) -> Array:
        return fair_share(active, view.costs, view.left, self._new_pulls(view, phase))

    def _new_pulls(self, view: View, phase: int) -> Array:
        """How often every surviving arm is pulled in this phase."""
        arms = view.costs.shape[1]
        pulls = schedule(self._number(view), arms)
        fits = self._number(view) > arms
        once = np.full(len(pulls), 1.0 if phase == 1 else 0.0)  # too little money: every arm once, as far as it goes
        new = np.where(fits, pulls[:, phase] - pulls[:, phase - 1], once)
        return np.where(fits, np.inf, new) if self._form == "budget" and phase == arms - 1 else new

    def _number(self, view: View) -> Array:
        """n."""
        if self._form == "budget":
            return largest_number(view.costs, view.budget)
        return whole(view.budget / view.costs.mean(axis=1) / (2 if self._form == "half" else 1))


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
