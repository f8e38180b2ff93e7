"""What a change did to the regret of our policies: the same worlds and luck with this version and another commit.

usage: python benchmarks/progress.py [--against REV] [--worlds rand,bow] [--objective simple] [--trials 300] [--seed 71]
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from _commits import now_and_then
from _script import options

OURS = {"simple": "causal-explore", "cumulative": "causal-thompson"}
BUDGETS = {"simple": (100, 200, 400, 800, 1600), "cumulative": (250, 1000, 2500)}


def regrets(world: str, objective: Any, trials: int, seed: int, budgets: tuple[int, ...]) -> list[list[float]]:
    """The regret of our policy, by trial and budget."""
    from dobandit.suite import compare

    name = OURS[objective]
    comparison = compare(world, objective, policies=[name], budgets=budgets, trials=trials, seed=seed)
    regret: Any = comparison.regret  # a mapping; in older commits a method
    found: list[list[float]] = (regret(name) if callable(regret) else regret[name]).tolist()
    return found


def main() -> None:
    asked = options(
        __doc__, against="HEAD", worlds="rand,bow,bow-strong,rare,wide", objective="simple", trials=300, seed=71, of=""
    )
    trials, budgets = (2, (20,)) if asked.smoke else (asked.trials, BUDGETS[asked.objective])
    if asked.of:
        print(json.dumps(regrets(asked.of, asked.objective, trials, asked.seed, budgets)))
        return
    print(f"{OURS[asked.objective]}, {trials} trials, seed {asked.seed}: now, {asked.against}, paired difference ± se")
    for world in asked.worlds.split(",")[: 1 if asked.smoke else None]:
        arguments = ["--of", world, "--objective", asked.objective, "--trials", trials, "--seed", asked.seed]
        arguments += ["--smoke"] if asked.smoke else []
        now, then = map(np.array, now_and_then(__file__, "" if asked.smoke else asked.against, *arguments))
        for k, budget in enumerate(budgets):
            change = now[:, k] - then[:, k]
            se = change.std() / len(change) ** 0.5
            means = f"{now[:, k].mean():9.4f} {then[:, k].mean():9.4f}"
            print(f"{world:12} {budget:6,} {means} {change.mean():+9.4f} ± {se:.4f}", flush=True)


if __name__ == "__main__":
    main()
