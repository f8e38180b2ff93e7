"""Views made by hand: what a policy is shown after some outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dobandit.evidence.evidence import Evidence
from dobandit.policies import Compiled, View


def evidence(made: Compiled[Any], outcomes: Sequence[tuple[str, Mapping[str, int]]], rows: int = 1) -> View:
    """The same outcomes (an arm, and the codes of all variables) in every row, at the costs of the problem."""
    problem = made.problem
    seen = Evidence.none(problem, made.tables, rows)
    named = [str(arm) for arm in problem.arms]
    everybody = np.arange(rows)
    for arm, codes in outcomes:
        k = named.index(arm)
        values = np.tile([codes[v] for v in problem.graph.variables], (rows, 1))
        reward = values[:, problem.graph.variables.index(problem.reward)].astype(float)
        seen.add(everybody, np.full(rows, k), values, reward, seen.told[:, k].astype(np.intp))
    costs = np.tile(np.array(problem.costs, dtype=float), (rows, 1))
    budget = np.full(rows, problem.budget)
    left = budget - (seen.told * costs).sum(axis=1)
    return View(
        problem=problem,
        evidence=seen,
        trials=everybody,
        times=np.full(rows, len(outcomes)),
        costs=costs,
        budget=budget,
        left=left,
        affordable=costs <= left[:, np.newaxis],
        pulls=seen.told.copy(),
    )
