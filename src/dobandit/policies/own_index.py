"""Policies without a graph that pull every arm once and then follow an optimistic index of the arms' own means."""

from __future__ import annotations

import numpy as np

from dobandit.arrays import Indices
from dobandit.chance import Chance
from dobandit.policies.protocol import Choice, Memoryless, Nothing, View
from dobandit.policies.ties import pick, recommended, sweep_first
from dobandit.problem import Problem


class OwnIndex(Memoryless):
    """Every arm once, then the largest mean + sqrt(2 ln t / n), per cost or not; the largest mean is recommended."""

    def __init__(self, problem: Problem, per_cost: bool) -> None:
        super().__init__(problem)
        self._per_cost = per_cost

    def choose(self, view: View, state: Nothing, chance: Chance) -> Choice[Nothing]:
        index = view.means + np.sqrt(2 * np.log(view.time + 1) / np.maximum(view.pulls, 1))
        arms, info = sweep_first(view, *pick(index / view.costs if self._per_cost else index, view, chance))
        return Choice(arms, None, state, info)

    def recommend(self, view: View, state: Nothing) -> Indices:
        return recommended(view.means, view.costs)
