"""Theory beside measurement: the bounds of a problem or a panel as curves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dobandit.arrays import Array
from dobandit.estimate.published import has_no_backdoor
from dobandit.paper.bounds import NO_BACKDOOR, costs_in_units, cumulative_lower, simple_lower_rate, theorem_1, theorem_2
from dobandit.paper.panels import Panel
from dobandit.plots import Curve
from dobandit.problem import Axis, Problem
from dobandit.simulation import draw_costs, positive, scale_of, trial_seed
from dobandit.worlds import World

TRIALS = 8  # at most


def bounds_trials(trials: int) -> int:
    """Over how many of the trials of a run bounds are averaged."""
    return min(trials, TRIALS)


def bounds_beside(panel: Panel, seed: int, trials: int = TRIALS) -> list[Curve]:
    """One curve for each bound, averaged over the worlds and costs of some trials of a panel.

    What holds for every world and every cost holds for their average.

    Parameters
    ----------
    panel
        The panel.
    seed
        That of the run.
    trials
        How many of its trials to average over.
    """
    problem, world = panel.problem(), panel.experiment.world()
    costs = draw_costs([problem] * trials, seed)
    found = []
    for i in range(trials):
        own = world if isinstance(world, World) else world(trial_seed(seed, "world", i))
        found.append(bound_curves(problem, own.fit(problem), panel.grid, panel.axis, costs[i]))
    mean = f", mean of {trials} trials" if trials > 1 else ""
    return [
        same[0]._replace(policy=f"{same[0].policy}{mean}", mean=np.mean([c.mean for c in same], axis=0).tolist())
        for same in zip(*found, strict=True)
    ]


def bound_curves(
    problem: Problem, world: World, grid: Sequence[float], axis: Axis = "budget", costs: ArrayLike | None = None
) -> list[Curve]:
    """The bounds that belong beside the regret of the problem's objective.

    For simple regret the first is the bound of Theorem 2 where its constant is known (no back-door path is open, so
    that what is observed at X=x is the effect of do(X=x)), and else only its rate.

    Parameters
    ----------
    problem, world
        What is bounded: one world.
    grid
        Budgets, or costs of intervening.
    axis
        Which of the two.
    costs
        One for each arm, in place of the problem's.
    """
    if axis == "budget":
        points = [_both_bounds(problem, world, grid, costs)]
    else:
        prices = np.full((len(grid), len(problem.arms)), costs_in_units(problem, costs)[1])  # of do()
        prices[:, 1:] = positive(grid, "costs")[:, np.newaxis]
        points = [_both_bounds(problem, world, None, row) for row in prices]
    if problem.objective == "cumulative":
        names = ("upper bound (Theorem 1)", "lower bound (worst case)")
    else:
        upper = "upper bound (Theorem 2)" if has_no_backdoor(problem) else "rate of Theorem 2"
        names = (upper, "rate of the lower bound")
    x, exact = tuple(map(float, grid)), [0.0] * len(grid)
    values = (np.concatenate(part).tolist() for part in zip(*points, strict=True))
    return [Curve(name, x, y, exact) for name, y in zip(names, values, strict=True)]


def _both_bounds(
    problem: Problem, world: World, budgets: ArrayLike | None, costs: ArrayLike | None
) -> tuple[Array, Array]:
    if problem.objective == "cumulative":
        return theorem_1(problem, world, budgets, costs).curve, cumulative_lower(problem, budgets, costs)
    found = theorem_2(problem, world, budgets, costs, NO_BACKDOOR)
    upper = found.curve if has_no_backdoor(problem) else found.rate * scale_of(problem)
    return upper, simple_lower_rate(problem, world, budgets, costs)
