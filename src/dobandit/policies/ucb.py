"""UCB1, blind to costs and to the graph.

Auer, Cesa-Bianchi and Fischer (Machine Learning 2002), "Finite-time analysis of the multiarmed bandit problem".
"""

from __future__ import annotations

from dataclasses import dataclass

from dobandit.policies.own_index import OwnIndex
from dobandit.policies.protocol import Optimistic
from dobandit.problem import Problem


@dataclass(frozen=True)
class Ucb(Optimistic):
    """Every arm once, then the largest mean + sqrt(2 ln t / n). Costs only decide which arms are affordable."""

    name = "ucb"
    objective = "cumulative"
    reference = "Auer et al., Machine Learning 2002"
    because = "Chosen because it may have the highest mean, as far as the data can tell; costs do not count."
    measure = "upper bound"
    measured = "the highest mean that the policy thinks possible, above the worst reward"

    def compile(self, problem: Problem) -> OwnIndex:
        return OwnIndex(problem, per_cost=False)
