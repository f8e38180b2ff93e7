"""The paper's panels for simple regret in lock step against the reference loops in plain Python, on a sample of the
same work: 100 trials of a whole curve against single points of it. And the memory of a large run. Ratios of one run."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import dobandit as db
from dobandit import worlds
from dobandit.problem import Problem
from dobandit.simulation.api import draw_costs, trial_seed
from dobandit.worlds import graphs

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests import references, references_simple

TRIALS = 100
GENERAL = Problem(graphs.N7, "Y", budget=2450, objective="simple", default_cost={"choose": [5, 6, 7]})
SEVEN = worlds.parallel(7)
PARALLEL = Problem(SEVEN.graph, "Y", budget=1390, objective="simple", default_cost={"choose": [2, 3, 4, 5]})
SAMPLE = [
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
db.simulate(problem, world, ["paper-simple"], trials=1000)
"""


def world(problem: Problem, seed: int) -> worlds.World:
    return worlds.xor(problem.graph, seed) if problem is GENERAL else SEVEN


def grid(problem: Problem) -> list[float]:
    return [float(b) for b in range(300 if problem is GENERAL else 100, int(problem.budget) + 1, 50)]


def lock_step(name: str, problem: Problem) -> float:
    """Seconds for one trial at one budget."""
    start = time.perf_counter()
    db.simulate(problem, lambda seed: world(problem, seed), [name], TRIALS, budgets=grid(problem))
    return (time.perf_counter() - start) / TRIALS / len(grid(problem))


def loop(algorithm: references_simple.Algorithm, problem: Problem, points: int = 4) -> float:
    costs = draw_costs([problem] * points, 0)
    budgets = grid(problem)[:: len(grid(problem)) // points][:points]
    start = time.perf_counter()
    for i, budget in enumerate(budgets):
        own = world(problem, trial_seed(0, "world", i))
        references_simple.follow(references.Trial(problem, own, costs[i].tolist(), budget, 0, i), algorithm)
    return (time.perf_counter() - start) / points


def main() -> None:
    print("one point of one trial, milliseconds: lock step of 100 trials and a whole curve, and the reference loop:")
    total = [0.0, 0.0]
    for name, algorithm, problem in SAMPLE:
        ours, theirs = lock_step(name, problem), loop(algorithm, problem)
        total = [total[0] + ours, total[1] + theirs]
        print(f"  {name:20} {1000 * ours:8.3f} {1000 * theirs:10.1f}   lock step is {theirs / ours:7.0f} times as fast")
    print(f"  {'all of them':20} {1000 * total[0]:8.3f} {1000 * total[1]:10.1f}   {total[1] / total[0]:26.0f} times")
    subprocess.run([sys.executable, "-c", MEMORY], check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"1,000 trials of the parallel problem with 50 variables at B = 1500: {peak:.0f} MB at most")


if __name__ == "__main__":
    main()
