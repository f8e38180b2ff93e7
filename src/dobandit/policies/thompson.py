"""Thompson sampling for each arm alone: play the arm that looks best per cost in a draw from its posterior.

Thompson (Biometrika 1933); Beta posteriors as in Agrawal and Goyal (COLT 2012). It knows costs, and no graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dobandit.arrays import Indices
from dobandit.chance import Chance
from dobandit.policies.protocol import Choice, Memoryless, Nothing, Policy, View
from dobandit.policies.ties import pick, recommended
from dobandit.problem import Problem


@dataclass(frozen=True)
class Thompson(Policy):
    """The largest draw / cost, each draw from Beta(1 + successes, 1 + failures). Adaptation: the division by cost.

    A reward between 0 and 1 counts partly as a success and partly as a failure.
    """

    name = "thompson"
    objective = "cumulative"
    reference = "Thompson, Biometrika 1933; Agrawal and Goyal, COLT 2012"

    def compile(self, problem: Problem) -> CompiledThompson:
        return CompiledThompson(problem)


class CompiledThompson(Memoryless):
    def choose(self, view: View, state: Nothing, chance: Chance) -> Choice[Nothing]:
        successes, failures = view.rewards, view.told - view.rewards
        gammas = chance.gammas(view.trials, view.time, np.concatenate([1 + successes, 1 + failures], axis=1))
        won, lost = np.split(gammas, 2, axis=1)
        arms, info = pick(won / (won + lost) / view.costs, view, chance)
        return Choice(arms, None, state, info)

    def recommend(self, view: View, state: Nothing) -> Indices:
        return recommended((view.rewards + 1) / (view.told + 2), view.costs)
