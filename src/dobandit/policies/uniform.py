"""Uniform exploration: every arm in turn until the money is spent, then the best mean. It knows no graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dobandit.arrays import Indices
from dobandit.chance import Chance
from dobandit.policies.phases import InPhases, Phased, fair_share
from dobandit.policies.protocol import Planning, View
from dobandit.policies.ties import recommended
from dobandit.problem import Problem


@dataclass(frozen=True)
class Uniform(Planning):
    """All arms in turn, equally often. Adaptation to costs: as many rounds as the budget pays for."""

    name = "uniform"
    reference = "folklore"
    needs_range = False
    purposes = ("try all options equally often",)

    def compile(self, problem: Problem) -> CompiledUniform:
        return CompiledUniform(problem)


class CompiledUniform(InPhases[Phased]):
    last = 1

    def plan(self, view: View, state: Phased, phase: int, chance: Chance) -> Phased:
        everything = np.ones(view.costs.shape, dtype=bool)
        return state._replace(target=fair_share(everything, view.costs, view.budget))

    def recommend(self, view: View, state: Phased) -> Indices:
        return recommended(np.where(view.told > 0, view.means, np.nan), view.costs)
