"""UCB1, blind to costs and to the graph.

Auer, Cesa-Bianchi and Fischer (Machine Learning 2002), "Finite-time analysis of the multiarmed bandit problem".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dobandit.arrays import Indices
from dobandit.chance import Chance
from dobandit.policies.protocol import Choice, Memoryless, Nothing, View
from dobandit.policies.ties import recommended, sweep_then_pick


@dataclass(frozen=True)
class Ucb(Memoryless):
    """Every arm once, then the largest mean + sqrt(2 ln t / n). Costs only decide which arms are affordable."""

    name: ClassVar[str] = "ucb"
    objective: ClassVar[str] = "cumulative"
    reference: ClassVar[str] = "Auer et al., Machine Learning 2002"
    ignores_budget: ClassVar[bool] = True

    def choose(self, view: View, state: Nothing, chance: Chance) -> Choice:
        index = view.means + np.sqrt(2 * np.log(view.time + 1) / np.maximum(view.pulls, 1))
        return Choice(sweep_then_pick(view, index, chance), state)

    def recommend(self, view: View, state: Nothing) -> Indices:
        return recommended(view.means, view.costs)
