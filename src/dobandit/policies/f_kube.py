"""Fractional KUBE: the arm with the highest optimistic reward per cost.

Tran-Thanh, Chapman, Rogers and Jennings (AAAI 2012), "Knapsack based optimal policies for budget-limited
multi-armed bandits". It knows costs, and no graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dobandit.arrays import Indices
from dobandit.chance import Chance
from dobandit.policies.protocol import Choice, Memoryless, Nothing, View
from dobandit.policies.ties import recommended, sweep_then_pick


@dataclass(frozen=True)
class FKube(Memoryless):
    """Every arm once, then the largest (mean + sqrt(2 ln t / n)) / cost. Made for costs; nothing is adapted."""

    name: ClassVar[str] = "f-kube"
    objective: ClassVar[str] = "cumulative"
    reference: ClassVar[str] = "Tran-Thanh et al., AAAI 2012"
    ignores_budget: ClassVar[bool] = True

    as_published: bool = False  # the paper's curve of F-KUBE is that of an index without the division by cost

    def choose(self, view: View, state: Nothing, chance: Chance) -> Choice:
        t = view.time + 1
        index = view.means + np.sqrt(2 * np.log(t) / np.maximum(view.pulls, 1))
        return Choice(sweep_then_pick(view, index if self.as_published else index / view.costs, chance), state)

    def recommend(self, view: View, state: Nothing) -> Indices:
        return recommended(view.means, view.costs)
