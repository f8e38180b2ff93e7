"""Gamma-NB-ALG: the parallel bandit when every intervention costs gamma times as much as an observation.

Nair, Patil and Sinha (AISTATS 2021), "Budgeted and non-budgeted causal bandits", Algorithm 1. Made for graphs without
open back-door paths; elsewhere its means are confounded.
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
class GammaNb(TwoPhases):
    """Observe for half of the budget; then go on observing if interventions are dear, else pull the rare arms.

    Adaptation to costs: gamma is the mean cost, and the rare arms are pulled equally often as far as the money goes.
    `explored=both-values` takes more arms than the paper defines, as the published curves seem to: all values of the
    rarest variables, by the rule of the public code of Maiti et al. (four arms on the parallel graphs).
    """

    name: ClassVar[str] = "gamma-nb"
    objective: ClassVar[str] = "simple"
    reference: ClassVar[str] = "Nair et al., AISTATS 2021, Algorithm 1"
    ignores_budget: ClassVar[bool] = False

    explored: str = field(default="rare-values", metadata={"choices": ("rare-values", "both-values")})

    def tables(self, problem: Problem) -> Sequence[CountTable]:
        return Conditional(problem).tables

    def infrequent(self, view: View) -> Flags:
        """The set A of line 11; empty where observing is worth more (line 6)."""
        seen = Conditional(view.problem).rarity(view.layout, view.counts, view.told[:, OBSERVE])
        rarest = by_variable(seen, view.problem)
        m = threshold_m(rarest, len(view.problem.intervenable))
        dear = rarest.min(axis=1, initial=1.0) * m * view.mean_cost >= 1
        intervene = ~dear[:, np.newaxis]
        if self.explored == "both-values":
            return np.asarray(by_arm(first_variables(rarest), view.problem) & intervene)
        return np.asarray(rarer(seen, m, or_as_rare=False) & intervene)

    def estimates(self, view: View) -> Array:
        """Lines 3, 7 and 14: an arm that was pulled forgets the observations."""
        return np.where(view.told > 0, view.means, Conditional(view.problem).means(view.layout, view.counts))
