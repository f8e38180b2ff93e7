"""Fractional KUBE: the arm with the highest optimistic reward per cost.

Tran-Thanh, Chapman, Rogers and Jennings (AAAI 2012), "Knapsack based optimal policies for budget-limited
multi-armed bandits". It knows costs, and no graph.
"""

from __future__ import annotations

from dataclasses import dataclass

from dobandit.policies.own_index import OwnIndex
from dobandit.policies.protocol import Optimistic
from dobandit.problem import Problem


@dataclass(frozen=True)
class FKube(Optimistic):
    """Every arm once, then the largest (mean + sqrt(2 ln t / n)) / cost. Made for costs; nothing is adapted."""

    name = "f-kube"
    objective = "cumulative"
    reference = "Tran-Thanh et al., AAAI 2012"

    as_published: bool = False  # the paper's curve of F-KUBE is that of an index without the division by cost

    def compile(self, problem: Problem) -> OwnIndex:
        return OwnIndex(problem, per_cost=not self.as_published)
