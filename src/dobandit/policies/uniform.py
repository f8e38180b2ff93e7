"""Uniform exploration: every arm in turn until the money is spent, then the best mean. It knows no graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dobandit.arrays import Indices
from dobandit.chance import Chance
from dobandit.policies.phases import Phased, begin, carry_on, fair_share
from dobandit.policies.protocol import Choice, Compiled, Policy, View
from dobandit.policies.ties import recommended
from dobandit.problem import Problem


@dataclass(frozen=True)
class Uniform(Policy):
    """All arms equally often. Adaptation to costs: as many turns as the budget pays for, the last one in arm order."""

    name = "uniform"
    objective = "simple"
    reference = "folklore"
    depends_on_budget = True
    needs_range = False
    has_phases = True

    def compile(self, problem: Problem) -> CompiledUniform:
        return CompiledUniform(problem)


class CompiledUniform(Compiled[Phased]):
    def start(self, rows: int) -> Phased:
        return begin(len(self.problem.arms), rows)

    def choose(self, view: View, state: Phased, chance: Chance) -> Choice[Phased]:
        return carry_on(view, state, 1, _plan)

    def recommend(self, view: View, state: Phased) -> Indices:
        return recommended(np.where(view.told > 0, view.means, np.nan), view.costs)


def _plan(view: View, state: Phased, phase: int) -> Phased:
    everything = np.ones(view.costs.shape, dtype=bool)
    return state._replace(target=fair_share(everything, view.costs, view.budget))
