"""The parallel bandit: observe for half of the rounds, then pull the arms that were seen too rarely.

Lattimore, Lattimore and Reid (NIPS 2016), "Causal bandits: learning good interventions via causal inference",
Algorithm 1. Made for parallel graphs and no costs; its means are confounded where a back-door path is open.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.estimate.published import Conditional
from dobandit.policies.infrequent import by_arm, by_variable, first_variables, rarer, threshold_m
from dobandit.policies.protocol import Planning, View, option
from dobandit.policies.two_phases import TWO_PHASES, TwoPhases
from dobandit.problem import Problem


@dataclass(frozen=True)
class ParallelBandit(Planning):
    """Observe for half of the rounds, then pull the arms that were rarely seen.

    Adaptation to costs: `form=rounds` plays B/(1 + mean cost) observations and as many interventions (Nair et al.
    2021); `form=half` spends half of the budget on each. `pooled=true` joins the observations with the pulls of an
    explored arm, which the authors call good practice. `explored=both-values` takes more arms than the paper defines
    (see gamma-nb).
    """

    name = "parallel-bandit"
    reference = "Lattimore et al., NIPS 2016, Algorithm 1"
    single_variables_only = True
    purposes = TWO_PHASES

    form: str = option("rounds", "half")
    explored: str = option("rare-values", "both-values")
    pooled: bool = False

    def compile(self, problem: Problem) -> CompiledParallelBandit:
        return CompiledParallelBandit(problem, self)


class CompiledParallelBandit(TwoPhases):
    def __init__(self, problem: Problem, options: ParallelBandit) -> None:
        self._conditional = Conditional(problem)
        super().__init__(problem, self._conditional, options.form)
        self._options = options

    def infrequent(self, view: View) -> Flags:
        seen = self.rarity(view)
        rarest = by_variable(seen, self.problem)
        if self._options.explored == "both-values":
            return by_arm(first_variables(rarest), self.problem)
        return rarer(seen, threshold_m(rarest, len(self.problem.intervenable)), or_as_rare=True)

    def estimates(self, view: View) -> Array:
        failures, successes = self._conditional.agreeing(view.layout, view.counts)
        if not self._options.pooled:  # "we do not do so here": what was explored forgets the observations
            failures, successes = (np.where(view.told > 0, 0.0, seen) for seen in (failures, successes))
        with np.errstate(invalid="ignore"):
            return np.asarray((view.rewards + successes) / (view.told + failures + successes))
