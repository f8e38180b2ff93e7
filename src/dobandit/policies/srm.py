"""SRM-ALG: observe for half of the time, then pull all values of the variables that were seen too rarely.

Maiti, Nair and Sinha (UAI 2022), "A causal bandit approach to learning good atomic interventions in presence of
unobserved confounders", Algorithm 1. The ancestor of the paper's Algorithm 2; it knows no costs.
"""

from __future__ import annotations

from dataclasses import dataclass

from dobandit.arrays import Flags
from dobandit.estimate.published import Projected
from dobandit.policies.infrequent import by_arm, by_variable, rarer, threshold_m
from dobandit.policies.protocol import Planning, View, option
from dobandit.policies.two_phases import TWO_PHASES, TwoPhases
from dobandit.problem import Problem


@dataclass(frozen=True)
class Srm(Planning):
    """Observe for half of the budget, then pull all values of the variables that were rarely seen at one of them.

    Adaptation to costs: `form=half` spends half of the budget on observations and the rest equally often on all
    explored arms; `form=rounds` plays T = 2B/(1 + mean cost) rounds, half of them observations.
    """

    name = "srm"
    reference = "Maiti et al., UAI 2022, Algorithm 1"
    single_variables_only = True
    purposes = TWO_PHASES

    form: str = option("half", "rounds")

    def compile(self, problem: Problem) -> CompiledSrm:
        return CompiledSrm(problem, Projected(problem), self.form)


class CompiledSrm(TwoPhases):
    def infrequent(self, view: View) -> Flags:
        """Q: all values of the variables with q^k < 1/m."""
        rarest = by_variable(self.rarity(view), self.problem)
        m = threshold_m(rarest, 2 * len(self.problem.intervenable))
        return by_arm(rarer(rarest, m, or_as_rare=False), self.problem)
