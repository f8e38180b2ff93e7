"""Theory beside measurement: the bounds of a panel, averaged over the worlds and costs of some of its trials."""

from __future__ import annotations

import numpy as np

from dobandit.paper.bounds import lines
from dobandit.paper.panel import Panel
from dobandit.plots import Curve
from dobandit.simulation import draw_costs, trial_seed
from dobandit.worlds import World

TRIALS = 8  # at most


def bounds_trials(trials: int) -> int:
    """Over how many of the trials of a run bounds are averaged."""
    return min(trials, TRIALS)


def bounds_beside(panel: Panel, seed: int, trials: int = TRIALS) -> list[Curve]:
    """One curve for each bound. What holds for every world and every cost holds for their average."""
    problem, world, grid = panel.problem(), panel.experiment.world(), panel.grid
    costs = draw_costs([problem] * trials, seed)
    found = []
    for i in range(trials):
        own = world if isinstance(world, World) else world(trial_seed(seed, "world", i))
        found.append(lines(problem, own.fit(problem), grid, panel.axis, costs[i]))
    mean = f", mean of {trials} trials" if trials > 1 else ""
    return [
        Curve(
            f"{same[0].name}{mean}", same[0].x, np.mean([line.y for line in same], axis=0).tolist(), [0.0] * len(grid)
        )
        for same in zip(*found, strict=True)
    ]
