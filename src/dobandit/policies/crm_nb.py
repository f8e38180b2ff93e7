"""CRM-NB-ALG: optimism where every observation with X=x counts as a pull of do(X=x).

Nair, Patil and Sinha (AISTATS 2021), Algorithm 2. Sound where no variable has an open back-door path to the
reward; elsewhere its means are confounded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.chance import Chance
from dobandit.estimate.published import Conditional
from dobandit.policies.forced import Forced, decide, start
from dobandit.policies.protocol import Choice, Compiled, Optimistic, View
from dobandit.policies.ties import recommended
from dobandit.problem import Problem


@dataclass(frozen=True)
class CrmNb(Optimistic):
    """The largest (mean + sqrt(8 ln t / E)) / cost, E = own pulls + observations with X=x. Adaptation: each arm has its
    own cost where the paper has one gamma for all (its footnote 6)."""

    name = "crm-nb"
    objective = "cumulative"
    reference = "Nair et al., AISTATS 2021, Algorithm 2"
    single_variables_only = True

    def compile(self, problem: Problem) -> CompiledCrmNb:
        return CompiledCrmNb(problem)


class CompiledCrmNb(Compiled[Forced]):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._conditional = Conditional(problem)
        self.tables = self._conditional.tables

    def start(self, rows: int) -> Forced:
        return start(rows)

    def choose(self, view: View, state: Forced, chance: Chance) -> Choice[Forced]:
        means, evidence = self.estimates(view)
        index = (means + np.sqrt(8 * np.log(view.time + 1) / np.maximum(evidence, 1))) / view.unit_costs
        return decide(view, state, index, means / view.unit_costs, chance)

    def estimates(self, view: View) -> tuple[Array, Array]:
        """The mean of every arm over its own pulls and the observations that agree with it, and their number."""
        failures, successes = self._conditional.agreeing(view.layout, view.counts)
        evidence = view.told + failures + successes
        return (view.rewards + successes) / np.maximum(evidence, 1), evidence + view.pending

    def recommend(self, view: View, state: Forced) -> Indices:
        return recommended(self.estimates(view)[0], view.costs)
