"""Algorithm 1 of the paper: budgeted cumulative regret in general graphs with hidden causes.

Jamshidi, Etesami and Kiyavash (CLeaR 2024), "Confounded Budgeted Causal Bandits". Optimism over estimates that
join an arm's own pulls with S estimates from the observations, and forced observation while it pays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import Chance
from dobandit.errors import PolicyError
from dobandit.estimate.published import Factor, Split, factors_of, random_split
from dobandit.evidence import CountTable, Layout
from dobandit.policies import forced
from dobandit.policies.protocol import OBSERVE, Choice, View
from dobandit.policies.ties import recommended
from dobandit.problem import Problem


class State(NamedTuple):
    beta: Array
    swept: Flags
    seen: Array  # observations behind the two estimates below
    number: Array  # S of every arm
    value: Array  # the mean of its estimates Y^s


@dataclass(frozen=True)
class PaperCumulative:
    """Index (mean + sqrt(2 ln t / (N + S))) / cost, the mean over N own pulls and S estimates from observations.

    The printed line 7 lacks the division by cost that the proof uses. `factors=relevant` splits the observations
    among those factors only that matter for an arm; `split=random` draws the paper's random split instead of
    averaging over it.
    """

    name: ClassVar[str] = "paper-cumulative"
    objective: ClassVar[str] = "cumulative"
    reference: ClassVar[str] = "Jamshidi et al., CLeaR 2024, Algorithm 1"
    ignores_budget: ClassVar[bool] = True

    factors: str = field(default="all", metadata={"choices": ("all", "relevant")})
    split: str = field(default="averaged", metadata={"choices": ("averaged", "random")})
    index: str = field(default="per-cost", metadata={"choices": ("per-cost", "printed")})

    def tables(self, problem: Problem) -> Sequence[CountTable]:
        if self.split == "random" and (problem.reward_is_continuous or len(problem.reward_values) > 2):
            raise PolicyError("paper-cumulative[split=random] needs a reward with two values; leave out split=random")
        factors = self.factors_by_variable(problem)
        return list(dict.fromkeys(f.table for used in factors.values() for f in used))

    def start(self, problem: Problem, rows: int) -> State:
        empty = np.zeros((rows, len(problem.arms)))
        return State(*forced.start(rows), np.zeros(rows), empty, empty)

    def choose(self, view: View, state: State, chance: Chance) -> Choice:
        state = self.refreshed(view, state, chance)
        means, evidence = self.estimates(view, state)  # eq. 4 and 7
        upper = means + np.sqrt(2 * np.log(view.time + 1) / np.maximum(evidence, 1))  # eq. 8
        index = upper if self.index == "printed" else upper / view.unit_costs  # line 7
        value = means / view.unit_costs  # lines 13-16
        arms, rule = forced.decide(view, forced.Forced(state.beta, state.swept), index, value, chance)  # lines 1-8
        return Choice(arms, state._replace(beta=rule.beta, swept=rule.swept))

    def refreshed(self, view: View, state: State, chance: Chance | None) -> State:
        """The state with S and Y recomputed in rows that have new observations."""
        now = view.told[:, OBSERVE]
        rows = np.flatnonzero(now != state.seen)
        if not len(rows):
            return state
        number, value = state.number.copy(), state.value.copy()
        number[rows], value[rows] = self._samples(view, rows, chance)
        return state._replace(seen=now, number=number, value=value)

    def _samples(self, view: View, rows: Indices, chance: Chance | None) -> tuple[Array, Array]:
        split = _split(view.problem, self)
        if self.split == "random" and chance is not None:
            return random_split(split, view.counts[rows], view.trials[rows], view.time, chance)
        return split.estimates(view.counts[rows])

    def estimates(self, view: View, state: State) -> tuple[Array, Array]:
        """The mean of every arm, and how many pulls and estimates are behind it."""
        evidence = view.told + state.number
        return (view.rewards + state.number * state.value) / np.maximum(evidence, 1), evidence + view.pending

    def recommend(self, view: View, state: State) -> Indices:
        return recommended(self.estimates(view, self.refreshed(view, state, None))[0], view.costs)

    def factors_by_variable(self, problem: Problem) -> Mapping[str, Sequence[Factor]]:
        return {v: factors_of(problem, v, self.factors == "relevant") for v in problem.intervenable}


@lru_cache(maxsize=64)
def _split(problem: Problem, policy: PaperCumulative) -> Split:
    return Split(problem, Layout(problem, policy.tables(problem)), policy.factors_by_variable(problem))
