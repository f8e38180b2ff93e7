"""What `plan` predicts against what happens: mean regret on worlds of the benchmark, with and without a log.

For every world, a log is drawn (or none), and `plan` predicts the regret of the recommended policy from the graph and
the log. Then the policy plays in the world itself, in each trial with another log of the same length: its mean regret
is what the prediction should be. Both are averaged over the worlds. The standard error is that of the ratio.

usage: python benchmarks/plan.py [--worlds rand,bow] [--number 60] [--logs 5000,0] [--objective simple|cumulative]
                                 [--trials 64] [--seed 1]
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dobandit as db
from _script import options
from dobandit.arrays import Array
from dobandit.chance import generator
from dobandit.policies import RECOMMENDED
from dobandit.suite import COSTS, USUAL_COSTS, find

BUDGETS: dict[str, tuple[float, ...]] = {"simple": (50, 200, 800), "cumulative": (100, 400, 1600)}


def pair(name: str, i: int, log: int, objective: Any, budgets: Any, trials: int, seed: int) -> Array:
    """Predicted and actual mean regret of one world: axes (predicted or actual, budget)."""
    world = find(name).draw(generator(seed, f"plan:{name}:{i}"), i)
    costs = COSTS[USUAL_COSTS[objective]]
    problem = db.Problem(world.graph, "Y", 1, objective, default_cost=costs, domains=world.domains)
    luck = int(generator(seed, f"plan:luck:{name}:{i}").integers(2**53))
    rows = world.sample("do()", log, luck) if log else None
    predicted = db.plan(problem, rows, budgets, trials=trials, seed=luck)
    actual = db.simulate(problem, world, [RECOMMENDED[objective]], trials, luck + 1, budgets, log or None)
    return np.array([[row.regret for row in predicted.rows], [row["regret"] for row in actual.summary()]], dtype=float)


def main() -> None:
    asked = options(
        __doc__, worlds="rand,bow", number=60, logs="5000,0", objective="simple", trials=64, seed=1
    )  # fmt: skip
    number, trials, logs, budgets = asked.number, asked.trials, asked.logs, BUDGETS[asked.objective]
    if asked.smoke:
        number, trials, logs, budgets = 2, 4, "50,0", (20, 40)
    print(f"{asked.objective} regret, {number} worlds of each class, seed {asked.seed}")
    print(f"{'worlds':8} {'log':>6} {'budget':>6} {'predicted':>10} {'actual':>10} {'ratio':>13}")
    for name in asked.worlds.split(","):
        for log in map(int, logs.split(",")):
            arguments = log, asked.objective, budgets, trials, asked.seed
            found = np.array([pair(name, i, *arguments) for i in range(number)])
            for k, budget in enumerate(budgets):
                predicted, actual = found[:, 0, k], found[:, 1, k]
                ratio = predicted.mean() / max(actual.mean(), 1e-12)
                se = (predicted - ratio * actual).std() / max(actual.mean(), 1e-12) / number**0.5
                numbers = f"{predicted.mean():10.4g} {actual.mean():10.4g} {ratio:6.2f} ± {se:.2f}"
                print(f"{name:8} {log:6,} {budget:6,} {numbers}", flush=True)


if __name__ == "__main__":
    main()
