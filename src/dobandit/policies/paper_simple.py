"""Algorithm 2 of the paper: budgeted simple regret in general graphs with hidden causes.

Jamshidi, Etesami and Kiyavash (CLeaR 2024), "Confounded Budgeted Causal Bandits". Half of the money buys
observations, from which every arm is estimated; the other half buys the arms that were seen too rarely for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.estimate.published import Conditional, Projected, has_no_backdoor
from dobandit.evidence import CountTable
from dobandit.policies.infrequent import rarer, threshold_n
from dobandit.policies.protocol import OBSERVE, View
from dobandit.policies.two_phases import TwoPhases
from dobandit.problem import Problem


@dataclass(frozen=True)
class PaperSimple(TwoPhases):
    """Observe for half of the budget, then pull the infrequent arms, all equally often. Made for costs.

    Where no back-door path to the reward is open, it takes its no-backdoor form by itself: E[Y | X=x] and P(X=x)
    instead of the estimator of Algorithms 3-5 and its rarest cell. `threshold` compares the rarity of an arm with
    1/n; `fewest_rows` is the parameter t of Algorithm 5.
    """

    name: ClassVar[str] = "paper-simple"
    objective: ClassVar[str] = "simple"
    reference: ClassVar[str] = "Jamshidi et al., CLeaR 2024, Algorithm 2"
    ignores_budget: ClassVar[bool] = False

    threshold: str = field(default="<=", metadata={"choices": ("<=", "<")})
    fewest_rows: float = 1.0

    def tables(self, problem: Problem) -> Sequence[CountTable]:
        return self._observational(problem).tables

    def infrequent(self, view: View) -> Flags:
        """The set A' of line 10."""
        seen = self._observational(view.problem).rarity(view.layout, view.counts, view.told[:, OBSERVE])  # line 7
        n = threshold_n(seen[:, 1:], view.unit_costs[:, 1:])  # line 9
        return rarer(seen, n, or_as_rare=self.threshold == "<=")

    def estimates(self, view: View) -> Array:
        """The mean of an arm's own pulls where there are some (lines 4, 13, 21), else from observations (6, 15)."""
        seen = self._observational(view.problem).means(view.layout, view.counts)
        return np.where(view.told > 0, view.means, seen)

    def _observational(self, problem: Problem) -> Conditional | Projected:
        return _observational(problem, self.fewest_rows)


@lru_cache(maxsize=64)
def _observational(problem: Problem, fewest_rows: float) -> Conditional | Projected:
    return Conditional(problem) if has_no_backdoor(problem) else Projected(problem, fewest_rows)
