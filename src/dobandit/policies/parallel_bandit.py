"""The parallel bandit: observe for half of the rounds, then pull the arms that were seen too rarely.

Lattimore, Lattimore and Reid (NIPS 2016), "Causal bandits: learning good interventions via causal inference",
Algorithm 1. Made for parallel graphs and no costs; its means are confounded where a back-door path is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.estimate.published import Conditional
from dobandit.evidence import CountTable
from dobandit.policies.infrequent import by_arm, by_variable, first_variables, rarer, threshold_m
from dobandit.policies.protocol import OBSERVE, View
from dobandit.policies.two_phases import TwoPhases
from dobandit.problem import Problem


@dataclass(frozen=True)
class ParallelBandit(TwoPhases):
    """Adaptation to costs: `form=rounds` plays B/(1 + mean cost) observations and as many interventions (Nair et al.
    2021); `form=half` spends half of the budget on each.

    `pooled=true` joins the observations with the pulls of an explored arm, which the authors call good practice.
    `explored=both-values` takes more arms than the paper defines (see gamma-nb).
    """

    name: ClassVar[str] = "parallel-bandit"
    objective: ClassVar[str] = "simple"
    reference: ClassVar[str] = "Lattimore et al., NIPS 2016, Algorithm 1"
    ignores_budget: ClassVar[bool] = False

    form: str = field(default="rounds", metadata={"choices": ("rounds", "half")})
    explored: str = field(default="rare-values", metadata={"choices": ("rare-values", "both-values")})
    pooled: bool = False

    def tables(self, problem: Problem) -> Sequence[CountTable]:
        return Conditional(problem).tables

    def infrequent(self, view: View) -> Flags:
        seen = Conditional(view.problem).rarity(view.layout, view.counts, view.told[:, OBSERVE])
        rarest = by_variable(seen, view.problem)
        if self.explored == "both-values":
            return by_arm(first_variables(rarest), view.problem)
        return rarer(seen, threshold_m(rarest, len(view.problem.intervenable)), or_as_rare=True)

    def estimates(self, view: View) -> Array:
        failures, successes = Conditional(view.problem).agreeing(view.layout, view.counts)
        if not self.pooled:  # "we do not do so here": what was explored forgets the observations
            failures, successes = (np.where(view.told > 0, 0.0, seen) for seen in (failures, successes))
        with np.errstate(invalid="ignore"):
            return np.asarray((view.rewards + successes) / (view.told + failures + successes))
