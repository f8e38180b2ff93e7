"""Algorithm 1 of the paper: budgeted cumulative regret in general graphs with hidden causes.

Jamshidi, Etesami and Kiyavash (CLeaR 2024), "Confounded Budgeted Causal Bandits". Optimism over estimates that
join an arm's own pulls with S estimates from the observations, and forced observation while it pays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dobandit.arrays import Array, Indices
from dobandit.chance import Chance
from dobandit.errors import PolicyError
from dobandit.estimate.published import Split, factors_of, random_split
from dobandit.evidence import Layout
from dobandit.policies.forced import JoinedSamples, State, decide
from dobandit.policies.protocol import Choice, Optimistic, View, option
from dobandit.problem import Problem


@dataclass(frozen=True)
class PaperCumulative(Optimistic):
    """The largest (mean + sqrt(2 ln t / (N + S))) / cost, with N own pulls and S estimates from observations.

    The division by cost is missing in the printed line 7, but the proof uses it. `factors=relevant` splits the
    observations only among the factors that matter for an arm; `split=random` draws the paper's random split instead of
    averaging over it.
    """

    name = "paper-cumulative"
    objective = "cumulative"
    reference = "Jamshidi et al., CLeaR 2024, Algorithm 1"
    single_variables_only = True

    factors: str = option("all", "relevant")
    split: str = option("averaged", "random")
    index: str = option("per-cost", "printed")

    def compile(self, problem: Problem) -> CompiledPaperCumulative:
        return CompiledPaperCumulative(problem, self)


class CompiledPaperCumulative(JoinedSamples):
    def __init__(self, problem: Problem, options: PaperCumulative) -> None:
        super().__init__(problem)
        if options.split == "random" and (problem.reward_is_continuous or len(problem.reward_values) > 2):
            raise PolicyError("paper-cumulative[split=random] needs a reward with two values; leave out split=random")
        factors = {v: factors_of(problem, v, options.factors == "relevant") for v in problem.intervenable}
        self.tables = list(dict.fromkeys(f.table for used in factors.values() for f in used))
        self._options, self.split = options, Split(problem, Layout(problem, self.tables), factors)

    def choose(self, view: View, state: State, chance: Chance) -> Choice[State]:
        state = self.refreshed(view, state, chance)
        means, evidence = self.estimates(view, state)  # eq. 4 and 7
        upper = means + np.sqrt(2 * np.log(view.time + 1) / np.maximum(evidence, 1))  # eq. 8
        index = upper if self._options.index == "printed" else upper / view.unit_costs  # line 7
        return decide(view, state, index, means / view.unit_costs, chance)  # lines 1-8 and 13-16

    def samples(self, view: View, rows: Indices, chance: Chance | None) -> tuple[Array, Array]:
        """S and the mean of the Y^s; drawn at random only where a choice is made."""
        if self._options.split == "random" and chance is not None:
            return random_split(self.split, view.counts[rows], view.trials[rows], view.time, chance)
        return self.split.estimates(view.counts[rows])
