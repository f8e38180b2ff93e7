"""Uniform exploration: every arm in turn until the money is gone, then the best mean. It knows no graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dobandit.arrays import Indices
from dobandit.chance import Chance
from dobandit.evidence import CountTable
from dobandit.policies.phases import Phased, begin, carry_on, fair_share
from dobandit.policies.protocol import Choice, View
from dobandit.policies.ties import recommended
from dobandit.problem import Problem


@dataclass(frozen=True)
class Uniform:
    """All arms equally often. Adaptation to costs: as many turns as the budget pays for, the last one in arm order."""

    name: ClassVar[str] = "uniform"
    objective: ClassVar[str] = "simple"
    reference: ClassVar[str] = "folklore"
    ignores_budget: ClassVar[bool] = False

    def tables(self, problem: Problem) -> Sequence[CountTable]:
        return ()

    def start(self, problem: Problem, rows: int) -> Phased:
        return begin(len(problem.arms), rows)

    def choose(self, view: View, state: Phased, chance: Chance) -> Choice:
        return carry_on(view, state, 1, self._plan)

    def _plan(self, view: View, state: Phased, phase: int) -> Phased:
        everything = np.ones(view.costs.shape, dtype=bool)
        return state._replace(target=fair_share(everything, view.costs, view.budget))

    def recommend(self, view: View, state: Phased) -> Indices:
        return recommended(np.where(view.told > 0, view.means, np.nan), view.costs)
