"""How often the 95 % intervals of a study contain the truth where rewards are rare.

A study is played to the end in a simulated world, and its answers are compared with the exact means: the interval of
the arm that `best` names, and those of all arms. `four-causes` is {A, B, C, D} -> Y, `bow` has a confounded lever.

usage: python benchmarks/calibration.py [--studies N] [--seed S] [--objective cumulative|simple] [--rate R]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import dobandit as db
from _script import options
from dobandit.problem import Problem
from dobandit.worlds import World, from_tables

BUDGETS = (100, 250, 1000, 2500)
COST = 1.2
Array = NDArray[np.float64]


def binary(chances: Array | float) -> Array:
    return np.stack([1 - np.asarray(chances), chances], axis=-1)


def four_causes(rng: np.random.Generator, rate: float) -> World:
    causes = list("ABCD")
    tables: dict[str, tuple[list[str], object]] = {v: ([], binary(rng.uniform(0.3, 0.7))) for v in causes}
    rewards = rate * np.exp(rng.normal(0, 0.3, (2,) * 4))
    return from_tables("{A, B, C, D} -> Y", {**tables, "Y": (causes, binary(rewards))})


def bow(rng: np.random.Generator, rate: float) -> World:
    rewards = rate * np.exp(rng.normal(0, 0.5, (2, 2, 2)))
    return from_tables(
        "Z -> X -> Y; Z -> Y; X <-> Y",
        {
            "Z": ([], [0.5, 0.5]),
            "X": (["Z", "U"], binary(rng.uniform(0.2, 0.8, (2, 2)))),
            "Y": (["Z", "X", "U"], binary(rewards)),
        },
        {"U": ([0.5, 0.5], ["X", "Y"])},
    )


def covered(world: World, objective: str, budget: int, seed: int) -> tuple[float, float]:
    """Whether the interval of the best arm has the truth, and the share of all arms whose interval has it."""
    problem = Problem(world.graph, "Y", budget, objective, default_cost=COST)
    truth = dict(zip(map(str, problem.arms), world.means(problem).tolist(), strict=True))
    ready = {arm: iter(_rows(world, arm, budget, seed, k)) for k, arm in enumerate(truth)}
    study = db.Study.create(":memory:", problem, seed=seed)
    while pulls := study.ask():
        study.tell(pulls[0].id, next(ready[str(pulls[0].arm)]))
    best, arms = study.best(), study.status().arms
    return float(best.low <= truth[best.arm] <= best.high), float(
        np.mean([arm.low <= truth[arm.arm] <= arm.high for arm in arms])
    )


def _rows(world: World, arm: str, budget: int, seed: int, k: int) -> list[dict[str, int]]:
    drawn = world.sample(arm, budget, seed=1000 * seed + k)
    return [dict(zip(drawn, map(int, row), strict=True)) for row in zip(*drawn.values(), strict=True)]


def main() -> None:
    asked = options(__doc__, studies=100, seed=0, objective="cumulative", rate="0.02")
    budgets, studies = ((30,), 3) if asked.smoke else (BUDGETS, asked.studies)
    kinds: dict[str, Callable[[np.random.Generator, float], World]] = {"four-causes": four_causes, "bow": bow}
    print(f"{asked.objective} regret, mean reward near {asked.rate}, {studies} studies each; share of intervals, ± se")
    print(f"{'world':12} {'budget':>6} {'best arm':>14} {'all arms':>14}")
    for name, draw in kinds.items():
        for budget in budgets:
            seeds = range(asked.seed * 10_000, asked.seed * 10_000 + studies)
            worlds = [draw(np.random.default_rng(seed), float(asked.rate)) for seed in seeds]
            hits = np.array([covered(w, asked.objective, budget, s) for w, s in zip(worlds, seeds, strict=True)])
            shares = [f"{h.mean():.1%} ± {h.std() / len(h) ** 0.5:.1%}" for h in hits.T]
            print(f"{name:12} {budget:6,} {shares[0]:>14} {shares[1]:>14}", flush=True)


if __name__ == "__main__":
    main()
