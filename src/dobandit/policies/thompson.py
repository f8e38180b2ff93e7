"""Thompson sampling for each arm alone: play the arm that looks best per cost in a draw from what is believed.

Thompson (Biometrika 1933); Beta posteriors as in Agrawal and Goyal (COLT 2012). It knows costs, and no graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dobandit.arrays import Indices
from dobandit.chance import Chance
from dobandit.policies.protocol import Choice, Memoryless, Nothing, View
from dobandit.policies.ties import pick, recommended


@dataclass(frozen=True)
class Thompson(Memoryless):
    """The largest draw / cost, each draw from Beta(1 + successes, 1 + failures). Adaptation: the division by cost.

    A reward between 0 and 1 counts partly as a success and partly as a failure.
    """

    name: ClassVar[str] = "thompson"
    objective: ClassVar[str] = "cumulative"
    reference: ClassVar[str] = "Thompson, Biometrika 1933; Agrawal and Goyal, COLT 2012"
    ignores_budget: ClassVar[bool] = True

    def choose(self, view: View, state: Nothing, chance: Chance) -> Choice:
        successes, failures = view.rewards, view.told - view.rewards
        gammas = chance.gammas(view.trials, view.time, np.concatenate([1 + successes, 1 + failures], axis=1))
        won, lost = np.split(gammas, 2, axis=1)
        return Choice(pick(won / (won + lost) / view.costs, view, chance), state)

    def recommend(self, view: View, state: Nothing) -> Indices:
        return recommended((view.rewards + 1) / (view.told + 2), view.costs)
