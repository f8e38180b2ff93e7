"""Views made by hand: what a policy is shown after some outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dobandit.evidence.tally import Layout
from dobandit.policies import Policy, View
from dobandit.problem import Problem


def evidence(made: Policy, problem: Problem, outcomes: Sequence[tuple[str, Mapping[str, int]]], rows: int = 1) -> View:
    """The same outcomes (an arm, and the codes of all variables) in every row, at the costs of the problem."""
    layout = Layout(problem, made.tables(problem))
    named = [str(arm) for arm in problem.arms]
    counts, everybody = np.zeros((rows, layout.size)), np.arange(rows)
    pulls, rewards = np.zeros((rows, len(named))), np.zeros((rows, len(named)))
    for arm, codes in outcomes:
        k = named.index(arm)
        seen = np.tile([codes[v] for v in problem.graph.variables], (rows, 1))
        reward = seen[:, problem.graph.variables.index(problem.reward)].astype(float)
        layout.add(counts, everybody, np.full(rows, k), seen, reward, pulls[:, k].astype(np.intp))
        pulls[:, k] += 1
        rewards[:, k] += reward
    costs = np.tile(np.array(problem.costs, dtype=float), (rows, 1))
    budget = np.full(rows, problem.budget)
    left = budget - (pulls * costs).sum(axis=1)
    return View(
        problem=problem,
        layout=layout,
        trials=everybody,
        times=np.full(rows, len(outcomes)),
        costs=costs,
        budget=budget,
        left=left,
        affordable=costs <= left[:, np.newaxis],
        pulls=pulls,
        told=pulls.copy(),
        rewards=rewards,
        counts=counts,
    )
