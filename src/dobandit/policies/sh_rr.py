"""Sequential halving with resource rationing: the money is divided among the phases, each of which halves the arms.

Li and Cheung (AISTATS 2024), "Best arm identification with resource constraints", Algorithm 1. Made for costs; it
knows no graph.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dobandit.arrays import Indices
from dobandit.chance import Chance
from dobandit.evidence import CountTable
from dobandit.policies.phases import carry_on, fair_share
from dobandit.policies.protocol import Choice, View
from dobandit.policies.rejecting import Elimination, begin_elimination, dropped, survivor
from dobandit.problem import Problem


@dataclass(frozen=True)
class ShRr:
    """Every phase has an equal ration of the budget and what the ones before left over; the surviving arms take turns
    while the next pull fits. Made for costs; nothing is adapted."""

    name: ClassVar[str] = "sh-rr"
    objective: ClassVar[str] = "simple"
    reference: ClassVar[str] = "Li and Cheung, AISTATS 2024, Algorithm 1"
    ignores_budget: ClassVar[bool] = False

    def tables(self, problem: Problem) -> Sequence[CountTable]:
        return ()

    def start(self, problem: Problem, rows: int) -> Elimination:
        return begin_elimination(len(problem.arms), rows)

    def choose(self, view: View, state: Elimination, chance: Chance) -> Choice:
        phases = math.ceil(math.log2(view.costs.shape[1]))

        def plan(view: View, state: Elimination, phase: int) -> Elimination:
            number = int(state.active[0].sum())  # the same in all rows of a phase
            active = dropped(view, state.active, number // 2, chance, phase) if phase > 1 else state.active
            if phase > phases:
                return state._replace(active=active)
            ration = view.budget * phase / phases - (view.budget - view.left)
            return Elimination(view.pulls + fair_share(active, view.costs, ration), state.phase, active)

        return carry_on(view, state, phases + 1, plan)

    def recommend(self, view: View, state: Elimination) -> Indices:
        return survivor(view, state.active)
