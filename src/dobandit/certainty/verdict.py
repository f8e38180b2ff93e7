"""The answer, and how sure it is: the chance that an option is the best, and what it is expected to lose.

The expected loss of an option is the mean, over draws from the posterior, of how far it is below the best option of the
draw (the Bayesian simple regret). For simple regret it is counted per use of the answer. For cumulative regret, where
every pull has to earn its cost, options are compared by their mean per cost, and the loss is per unit of budget.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.certainty.beliefs import Beliefs
from dobandit.policies import recommended
from dobandit.problem import Problem


class Verdict(NamedTuple):
    """What is said of the options, with the arm as the only axis; losses are in the user's units."""

    arm: int  # the answer
    probabilities: Array  # that an option is the best; options that do the same share it
    losses: Array  # expected, if this option is used from now on
    within: tuple[int, ...]  # options whose expected loss is at most the one that the user has stated, cheapest first
    unknown: Flags

    @property
    def probability(self) -> float:
        return float(self.probabilities[self.arm])

    @property
    def loss(self) -> float:
        return float(self.losses[self.arm])


def best_per_cost(known: Beliefs, costs: Array, can_be_best: Flags) -> int:
    """The answer where every pull has to earn its cost: the largest mean per cost, above the worst reward."""
    above = np.where(can_be_best, known.above, -np.inf)
    return int(recommended((above / costs)[np.newaxis], costs[np.newaxis])[0])


def judged(problem: Problem, known: Beliefs, costs: Array, arm: int, loss: float | None = None) -> Verdict:
    """The verdict on all options.

    Parameters
    ----------
    problem
        The problem.
    known
        What is believed of its arms.
    costs
        What they cost.
    arm
        The one that is recommended.
    loss
        The loss that is accepted. Then the answer is the cheapest option that is expected to lose no more, if there is
        one: the difference to the best one does not matter to the user.
    """
    scores = known.draws / costs if problem.objective == "cumulative" else known.draws
    best = scores.max(axis=1, keepdims=True)
    losses = (best - scores).mean(axis=0) * known.scale
    fair = [] if loss is None else [int(k) for k in np.lexsort((losses, costs)) if losses[k] <= loss]
    within = tuple(k for k in fair if not known.unknown[k])
    probabilities = (scores >= best).mean(axis=0)
    if np.isnan(known.scale):  # all rewards that are known are the same: nothing tells the options apart
        probabilities = np.full(len(costs), 1 / len(costs))
    return Verdict(within[0] if within else arm, probabilities, losses, within, known.unknown)
