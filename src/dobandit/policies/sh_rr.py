"""Sequential halving with resource rationing: the money is divided among the phases, each of which halves the arms.

Li and Cheung (AISTATS 2024), "Best arm identification with resource constraints", Algorithm 1. Made for costs; it
knows no graph.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dobandit.arrays import Array, Flags
from dobandit.policies.phases import fair_share
from dobandit.policies.protocol import Planning, View
from dobandit.policies.rejecting import DROPPING, Rejecting
from dobandit.problem import Problem


@dataclass(frozen=True)
class ShRr(Planning):
    """Sequential halving: in every phase, the remaining arms take turns, then the worse half is dropped.

    Each phase has an equal share of the budget, plus what earlier phases left over. Made for costs; nothing is adapted.
    """

    name = "sh-rr"
    reference = "Li and Cheung, AISTATS 2024, Algorithm 1"
    needs_range = False
    purposes = DROPPING

    def compile(self, problem: Problem) -> CompiledShRr:
        return CompiledShRr(problem, phases=math.ceil(math.log2(len(problem.arms))))


class CompiledShRr(Rejecting):
    def dropped(self, active: int) -> int:
        return active // 2

    def share(self, view: View, active: Flags, phase: int) -> Array:
        ration = view.budget * phase / self.phases - (view.budget - view.left)
        return fair_share(active, view.costs, ration)
