"""CRM-NB-ALG: optimism where every observation with X=x counts as a pull of do(X=x).

Nair, Patil and Sinha (AISTATS 2021), Algorithm 2. Sound where no variable has an open back-door path to the
reward; elsewhere its means are confounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.chance import Chance
from dobandit.estimate.published import Conditional
from dobandit.evidence import CountTable
from dobandit.policies import forced
from dobandit.policies.protocol import Choice, View
from dobandit.policies.ties import recommended
from dobandit.problem import Problem


@dataclass(frozen=True)
class CrmNb:
    """Index (mean + sqrt(8 ln t / E)) / cost, E = own pulls + observations with X=x. Adaptation: each arm has its
    own cost where the paper has one gamma for all (its footnote 6)."""

    name: ClassVar[str] = "crm-nb"
    objective: ClassVar[str] = "cumulative"
    reference: ClassVar[str] = "Nair et al., AISTATS 2021, Algorithm 2"
    ignores_budget: ClassVar[bool] = True

    def tables(self, problem: Problem) -> Sequence[CountTable]:
        return Conditional(problem).tables

    def start(self, problem: Problem, rows: int) -> forced.Forced:
        return forced.start(rows)

    def choose(self, view: View, state: forced.Forced, chance: Chance) -> Choice:
        means, evidence = self.estimates(view)
        bonus = np.sqrt(8 * np.log(view.time + 1) / np.maximum(evidence, 1))
        arms, state = forced.decide(view, state, (means + bonus) / view.unit_costs, means / view.unit_costs, chance)
        return Choice(arms, state)

    def estimates(self, view: View) -> tuple[Array, Array]:
        """The mean of every arm over its own pulls and the observations that agree with it, and their number."""
        failures, successes = Conditional(view.problem).agreeing(view.layout, view.counts)
        evidence = view.told + failures + successes
        return (view.rewards + successes) / np.maximum(evidence, 1), evidence + view.pending

    def recommend(self, view: View, state: forced.Forced) -> Indices:
        return recommended(self.estimates(view)[0], view.costs)
