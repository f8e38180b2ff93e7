"""SRM-ALG: observe for half of the time, then pull all values of the variables that were seen too rarely.

Maiti, Nair and Sinha (UAI 2022), "A causal bandit approach to learning good atomic interventions in presence of
unobserved confounders", Algorithm 1. The ancestor of the paper's Algorithm 2; it knows no costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.estimate.published import Projected
from dobandit.evidence import CountTable
from dobandit.policies.infrequent import by_arm, by_variable, rarer, threshold_m
from dobandit.policies.protocol import OBSERVE, View
from dobandit.policies.two_phases import TwoPhases
from dobandit.problem import Problem


@dataclass(frozen=True)
class Srm(TwoPhases):
    """Adaptation to costs: `form=half` spends half of the budget on observations and the rest equally often on all
    explored arms; `form=rounds` plays T = 2B/(1 + mean cost) rounds, half of them observations."""

    name: ClassVar[str] = "srm"
    objective: ClassVar[str] = "simple"
    reference: ClassVar[str] = "Maiti et al., UAI 2022, Algorithm 1"
    ignores_budget: ClassVar[bool] = False

    form: str = field(default="half", metadata={"choices": ("half", "rounds")})

    def tables(self, problem: Problem) -> Sequence[CountTable]:
        return _projected(problem).tables

    def infrequent(self, view: View) -> Flags:
        """Q: all values of the variables with q^k < 1/m."""
        seen = _projected(view.problem).rarity(view.layout, view.counts, view.told[:, OBSERVE])
        rarest = by_variable(seen, view.problem)
        m = threshold_m(rarest, 2 * len(view.problem.intervenable))
        return by_arm(rarer(rarest, m, or_as_rare=False), view.problem)

    def estimates(self, view: View) -> Array:
        return np.where(view.told > 0, view.means, _projected(view.problem).means(view.layout, view.counts))


@lru_cache(maxsize=64)
def _projected(problem: Problem) -> Projected:
    return Projected(problem)
