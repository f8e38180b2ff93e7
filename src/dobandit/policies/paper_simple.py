"""Algorithm 2 of the paper: budgeted simple regret in general graphs with hidden causes.

Jamshidi, Etesami and Kiyavash (CLeaR 2024), "Confounded Budgeted Causal Bandits". Half of the money buys
observations, from which every arm is estimated; the other half buys the arms that were seen too rarely for that.
"""

from __future__ import annotations

from dataclasses import dataclass

from dobandit.arrays import Flags
from dobandit.estimate.published import Conditional, Projected, has_no_backdoor
from dobandit.policies.infrequent import rarer, threshold_n
from dobandit.policies.protocol import Planning, View, option
from dobandit.policies.two_phases import TWO_PHASES, TwoPhases
from dobandit.problem import Problem


@dataclass(frozen=True)
class PaperSimple(Planning):
    """Observe for half of the budget, then pull the arms that were rarely seen, all equally often. Made for costs.

    Where no back-door path to the reward is open, it uses its simpler form for that case: E[Y | X=x] and P(X=x) instead
    of the estimator of Algorithms 3-5 and its rarest cell. `threshold` says how the rarity of an arm is compared with
    1/n; `fewest_rows` is the parameter t of Algorithm 5.
    """

    name = "paper-simple"
    reference = "Jamshidi et al., CLeaR 2024, Algorithm 2"
    single_variables_only = True
    purposes = TWO_PHASES

    threshold: str = option("<=", "<")
    fewest_rows: float = 1.0

    def compile(self, problem: Problem) -> CompiledPaperSimple:
        return CompiledPaperSimple(problem, self)


class CompiledPaperSimple(TwoPhases):
    """Estimates are those of lines 4, 13 and 21 for arms that were pulled, of lines 6 and 15 for the others."""

    def __init__(self, problem: Problem, options: PaperSimple) -> None:
        no_backdoor = has_no_backdoor(problem)
        super().__init__(problem, Conditional(problem) if no_backdoor else Projected(problem, options.fewest_rows))
        self._or_as_rare = options.threshold == "<="

    def infrequent(self, view: View) -> Flags:
        """The set A' of line 10."""
        seen = self.rarity(view)  # line 7
        n = threshold_n(seen[:, 1:], view.unit_costs[:, 1:])  # line 9
        return rarer(seen, n, self._or_as_rare)
