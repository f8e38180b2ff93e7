"""The paper's panels for simple regret in lock step against the reference loops in plain Python, on a sample of the
same work: 100 trials of a whole curve against single points of it. And the memory of a large run. Ratios of one run.

    python benchmarks/reproduction.py
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import dobandit as db
from _script import options, record, timed
from dobandit import worlds
from dobandit.problem import Problem
from dobandit.simulation import draw_costs, trial_seed
from dobandit.worlds import graphs

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests import references, references_simple


class Extent(NamedTuple):
    """How much is run."""

    trials: int = 100
    budgets: int | None = None  # of a curve; None: all
    points: int = 4  # of the reference loops
    large: int = 1000  # trials of the large run


SMOKE = Extent(trials=2, budgets=1, points=1, large=2)
GENERAL = Problem(graphs.N7, "Y", budget=2450, objective="simple", default_cost={"choose": [5, 6, 7]})
SEVEN = worlds.parallel(7)
PARALLEL = Problem(SEVEN.graph, "Y", budget=1390, objective="simple", default_cost={"choose": [2, 3, 4, 5]})
SAMPLE: list[tuple[str, references_simple.Algorithm, Problem]] = [
    ("paper-simple", references_simple.paper_simple, GENERAL),
    ("srm", references_simple.srm, GENERAL),
    ("successive-rejects", references_simple.successive_rejects, GENERAL),
    ("gamma-nb", references_simple.gamma_nb, PARALLEL),
    ("parallel-bandit", references_simple.parallel_bandit, PARALLEL),
]
MEMORY = """
import dobandit as db
world = db.worlds.parallel(50)
problem = db.Problem(world.graph, "Y", budget=1500, objective="simple", default_cost=4)
db.simulate(problem, world, ["paper-simple"], trials={trials})
"""


def world(problem: Problem, seed: int) -> worlds.World:
    return worlds.xor(problem.graph, seed) if problem is GENERAL else SEVEN


def grid(problem: Problem, most: int | None = None) -> list[float]:
    return [float(b) for b in range(300 if problem is GENERAL else 100, int(problem.budget) + 1, 50)][:most]


def lock_step(name: str, problem: Problem, extent: Extent) -> float:
    """Seconds for one trial at one budget."""
    budgets = grid(problem, extent.budgets)
    seconds, _ = timed(
        lambda: db.simulate(problem, lambda seed: world(problem, seed), [name], extent.trials, budgets=budgets)
    )
    return seconds / extent.trials / len(budgets)


def loop(algorithm: references_simple.Algorithm, problem: Problem, extent: Extent) -> float:
    """Seconds for one trial at one budget, some of a whole curve."""
    costs = draw_costs([problem] * extent.points, 0)
    every = grid(problem, extent.budgets)
    budgets = every[:: len(every) // extent.points][: extent.points]

    def follow() -> None:
        for i, budget in enumerate(budgets):
            own = world(problem, trial_seed(0, "world", i))
            references_simple.follow(references.Trial(problem, own, costs[i].tolist(), budget, 0, i), algorithm)

    return timed(follow)[0] / extent.points


def main() -> None:
    extent = SMOKE if options(__doc__).smoke else Extent()
    print(
        f"one point of one trial, milliseconds: lock step of {extent.trials} trials and a whole curve, "
        "and the reference loop:"
    )
    total = [0.0, 0.0]
    for name, algorithm, problem in SAMPLE:
        ours, theirs = lock_step(name, problem, extent), loop(algorithm, problem, extent)
        total = [total[0] + ours, total[1] + theirs]
        print(f"  {name:20} {1000 * ours:8.3f} {1000 * theirs:10.1f}   lock step is {theirs / ours:7.0f} times as fast")
    print(f"  {'all of them':20} {1000 * total[0]:8.3f} {1000 * total[1]:10.1f}   {total[1] / total[0]:26.0f} times")
    record("lock step to the reference loops, simple regret", total[1] / total[0], 100, "higher")
    subprocess.run([sys.executable, "-c", MEMORY.format(trials=extent.large)], check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{extent.large:,} trials of the parallel problem with 50 variables at B = 1500: {peak:.0f} MB at most")


if __name__ == "__main__":
    main()
