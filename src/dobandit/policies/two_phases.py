"""What the two-phase algorithms share: observe for half of the money, then buy what was seen too rarely."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import Chance
from dobandit.estimate.published import Conditional, Projected
from dobandit.policies.phases import InPhases, Phased, fair_share, whole
from dobandit.policies.protocol import OBSERVE, View
from dobandit.policies.ties import recommended
from dobandit.problem import Problem

TWO_PHASES = ("observe and so learn about many options at once", "try what was seen too rarely to be judged by that")


class TwoPhases(InPhases[Phased]):
    """A policy that observes first, then pulls the `infrequent` arms equally often, and recommends by `estimates`."""

    last = 2

    def __init__(self, problem: Problem, observed: Conditional | Projected, form: str = "half") -> None:
        super().__init__(problem)
        self.observed, self.tables, self._form = observed, observed.tables, form

    def plan(self, view: View, state: Phased, phase: int, chance: Chance) -> Phased:
        if phase == 1:
            return state._replace(target=first_phase(view, self._form))
        return state._replace(target=state.target + second_phase(self.infrequent(view), view, self._form))

    @abstractmethod
    def infrequent(self, view: View) -> Flags:
        """The arms that were seen too rarely, with axes (row, arm)."""

    def rarity(self, view: View) -> Array:
        """How rare each arm is among the observations."""
        return self.observed.rarity(view.layout, view.counts, view.told[:, OBSERVE])

    def estimates(self, view: View) -> Array:
        """The mean of every arm, NaN where nothing is known: that of its own pulls where there are some (the
        observations are then forgotten), else that from the observations."""
        return np.where(view.told > 0, view.means, self.observed.means(view.layout, view.counts))

    def recommend(self, view: View, state: Phased) -> Indices:
        return recommended(self.estimates(view), view.costs)


def first_phase(view: View, form: str = "half") -> Array:
    """The plan of the first phase: observations for half of the money, or (`form="rounds"`, Nair et al. 2021) in half
    of the T = 2B / (1 + mean cost) rounds that the budget is good for."""
    target = np.zeros(view.pulls.shape)
    target[:, OBSERVE] = whole(_observations(view, form))
    return target


def second_phase(explored: Flags, view: View, form: str = "half") -> Array:
    """What the second phase adds to the plan: all explored arms equally often, as far as the other half of the money
    (or of the rounds) goes; observations if nothing is explored."""
    half, price = _observations(view, form), np.where(explored, view.unit_costs, 0.0).sum(axis=1)
    if form == "half":
        each = np.where(explored, whole(half / np.where(price > 0, price, 1.0))[:, np.newaxis], 0.0)
    else:
        most = whole(half / np.maximum(explored.sum(axis=1), 1))
        each = fair_share(explored, view.costs, view.left, most)  # dear arms may not fit into the rest of the money
    each[:, OBSERVE] = np.where(price > 0, 0.0, whole(half))
    return each


def _observations(view: View, form: str) -> Array:
    """How many observations the first phase makes, before rounding (c_0 is the unit of money)."""
    budget = view.budget / view.costs[:, OBSERVE]
    return budget / 2 if form == "half" else budget / (1 + view.mean_cost)
