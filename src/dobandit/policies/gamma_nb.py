"""Gamma-NB-ALG: the parallel bandit when every intervention costs gamma times as much as an observation.

Nair, Patil and Sinha (AISTATS 2021), "Budgeted and non-budgeted causal bandits", Algorithm 1. Made for graphs without
open back-door paths; elsewhere its means are confounded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dobandit.arrays import Flags
from dobandit.estimate.published import Conditional
from dobandit.policies.infrequent import by_arm, by_variable, first_variables, rarer, threshold_m
from dobandit.policies.protocol import Planning, View, option
from dobandit.policies.two_phases import TWO_PHASES, TwoPhases
from dobandit.problem import Problem


@dataclass(frozen=True)
class GammaNb(Planning):
    """Observe for half of the budget; then pull the rarely seen arms, or go on observing if pulls are expensive.

    Adaptation to costs: gamma is the mean cost, and the rare arms are pulled equally often while the budget lasts.
    `explored=both-values` takes more arms than the paper defines, as the published curves seem to: all values of the
    rarest variables, by the rule of the public code of Maiti et al. (four arms on the parallel graphs).
    """

    name = "gamma-nb"
    reference = "Nair et al., AISTATS 2021, Algorithm 1"
    single_variables_only = True
    purposes = TWO_PHASES

    explored: str = option("rare-values", "both-values")

    def compile(self, problem: Problem) -> CompiledGammaNb:
        return CompiledGammaNb(problem, self.explored)


class CompiledGammaNb(TwoPhases):
    """Lines 3, 7 and 14: an arm that was pulled forgets the observations."""

    def __init__(self, problem: Problem, explored: str) -> None:
        super().__init__(problem, Conditional(problem))
        self._explored = explored

    def infrequent(self, view: View) -> Flags:
        """The set A of line 11; empty where observing is worth more (line 6)."""
        seen = self.rarity(view)
        rarest = by_variable(seen, self.problem)
        m = threshold_m(rarest, len(self.problem.intervenable))
        dear = rarest.min(axis=1, initial=1.0) * m * view.mean_cost >= 1
        both = self._explored == "both-values"
        rare = by_arm(first_variables(rarest), self.problem) if both else rarer(seen, m, or_as_rare=False)
        return np.asarray(rare & ~dear[:, np.newaxis])
