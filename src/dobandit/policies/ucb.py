"""UCB1, blind to costs and to the graph.

Auer, Cesa-Bianchi and Fischer (Machine Learning 2002), "Finite-time analysis of the multiarmed bandit problem".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dobandit.arrays import Array
from dobandit.policies.own_index import OwnIndex
from dobandit.policies.protocol import Policy, View
from dobandit.problem import Problem


@dataclass(frozen=True)
class Ucb(Policy):
    """Every arm once, then the largest mean + sqrt(2 ln t / n). Costs only decide which arms are affordable."""

    name = "ucb"
    objective = "cumulative"
    reference = "Auer et al., Machine Learning 2002"

    def compile(self, problem: Problem) -> OwnIndex:
        return OwnIndex(problem, _index)


def _index(view: View) -> Array:
    index: Array = view.means + np.sqrt(2 * np.log(view.time + 1) / np.maximum(view.pulls, 1))
    return index
