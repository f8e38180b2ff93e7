"""A study whose outcomes come from the world of its problem, to look at:

python -m dobandit.examples.simulated shop.toml shop.db
"""

from __future__ import annotations

import sys
from pathlib import Path

from dobandit import worlds
from dobandit.problem import Problem
from dobandit.study import Study

OUTCOMES, OPEN = 100, 2  # how many outcomes are told, and how many pulls are left open
WORKERS = ("lab-1", "lab-2")
HOURS = 6.0  # between two pulls
START = 1_767_600_000.0  # 5 January 2026


def simulated_study(problem: Problem, path: Path, outcomes: int = OUTCOMES, seed: int = 0) -> None:
    """Make a study, in which two workers have carried out this many pulls."""
    world, now = worlds.of(problem), START

    def clock() -> float:
        return now

    with Study.create(path, problem, seed=seed, clock=clock) as study:
        for number in range(outcomes):
            (pull,) = study.ask(worker=WORKERS[number % 2])
            now += HOURS * 3600
            rows = world.sample(pull.arm, 1, seed=seed + number)
            study.tell(pull.id, {v: rows[v][0] for v in problem.graph.variables})
        for worker in WORKERS[:OPEN]:
            study.ask(worker=worker)


if __name__ == "__main__":
    simulated_study(Problem.load(sys.argv[1]), Path(sys.argv[2]))
