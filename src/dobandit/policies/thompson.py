"""Thompson sampling for each arm alone: play the arm that looks best per cost in a draw from its posterior.

Thompson (Biometrika 1933); Beta posteriors as in Agrawal and Goyal (COLT 2012). It knows costs, and no graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import Chance
from dobandit.errors import PolicyError, listing
from dobandit.graph import possibly_optimal
from dobandit.policies.protocol import DRAW, DRAW_SAYS, DRAWN, Choice, Memoryless, Nothing, Policy, View, option
from dobandit.policies.ties import pick, recommended
from dobandit.problem import Problem


@dataclass(frozen=True)
class Thompson(Policy):
    """The largest draw / cost, each draw from Beta(1 + successes, 1 + failures). Adaptation: the division by cost.

    A reward between 0 and 1 counts partly as a success and partly as a failure. `arms=pomis` plays only arms that can
    be the best by the graph, as Lee and Bareinboim (NeurIPS 2018) do; costs are not considered in that.
    """

    name = "thompson"
    objective = "cumulative"
    reference = "Thompson, Biometrika 1933; Agrawal and Goyal, COLT 2012"
    because, measure, measured = DRAWN, DRAW, DRAW_SAYS

    arms: str = option("all", "pomis")

    def compile(self, problem: Problem) -> CompiledThompson:
        return CompiledThompson(problem, self.arms == "pomis")


class CompiledThompson(Memoryless):
    def __init__(self, problem: Problem, possibly_optimal_only: bool) -> None:
        super().__init__(problem)
        self._left_out = _not_possibly_optimal(problem) if possibly_optimal_only else None

    def choose(self, view: View, state: Nothing, chance: Chance) -> Choice[Nothing]:
        successes, failures = view.rewards, view.told - view.rewards
        gammas = chance.gammas(view.trials, view.time, np.concatenate([1 + successes, 1 + failures], axis=1))
        won, lost = np.split(gammas, 2, axis=1)
        arms, info = pick(self._allowed(won / (won + lost) / view.costs), view, chance)
        return Choice(arms, None, state, info)

    def recommend(self, view: View, state: Nothing) -> Indices:
        return recommended(self._allowed((view.rewards + 1) / (view.told + 2)), view.costs)

    def _allowed(self, scores: Array) -> Array:
        return scores if self._left_out is None else np.where(self._left_out, -np.inf, scores)


def _not_possibly_optimal(problem: Problem) -> Flags:
    """The arms of sets that are never the best, whatever the model of the graph is."""
    sets = possibly_optimal(problem.graph, problem.reward, problem.intervenable)
    left_out = np.array([frozenset(arm.variables) not in sets for arm in problem.arms])
    if left_out.all():
        wanted = listing(f"do({', '.join(problem.graph.in_order(s))})" for s in sets)
        raise PolicyError(f"thompson[arms=pomis]: no arm sets a possibly optimal set of variables; these are {wanted}")
    return left_out
