"""What observations say of options that they do not identify: regret with it, against the commit before.

The same worlds, costs and luck with this version and with another one, with and without a log of observations that is
there from the start. `causal-explore` at costs 57, `causal-thompson` at costs near 1; a rival that knows nothing of
graphs with hidden causes stands beside the former.

usage: python benchmarks/confounded.py [--against REV] [--worlds bow,bow-strong] [--objective simple|cumulative]
                                       [--log 5000] [--trials 300] [--seed 7] [--rival gamma-nb]
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from _commits import HERE, answer_of, now_and_then
from _script import options

OURS = {"simple": "causal-explore", "cumulative": "causal-thompson"}
BUDGETS = {"simple": (50, 100, 200, 400, 800, 1600), "cumulative": (250, 1000, 2500)}
SOURCE = HERE / "src"
REVERSED = "bow-reversed"  # drawn here, because the commit before may not know it


def regrets(world: str, objective: Any, policy: str, log: int, trials: int, seed: int, budgets: Any) -> Any:
    """By trial and budget."""
    import dobandit as db
    from dobandit.chance import generator
    from dobandit.simulation import draw_costs
    from dobandit.suite import COSTS, USUAL_COSTS
    from dobandit.suite.run import regret_of

    found = []
    for i in range(trials):
        drawn = _drawn(world, generator(seed, f"confounded:{world}:{i}"), i)
        luck = int(generator(seed, f"confounded:luck:{world}:{i}").integers(2**53))
        costs = COSTS[USUAL_COSTS[objective]]
        problem = db.Problem(drawn.graph, "Y", budgets[-1], objective, default_cost=costs, domains=drawn.domains)
        evidence = drawn.sample("do()", log, luck) if log else None
        played = db.simulate(problem, drawn, [policy], trials=1, seed=luck, budgets=budgets, evidence=evidence)
        prices = draw_costs([problem], luck)
        found.append(regret_of(played, policy, drawn.means(problem)[np.newaxis], prices)[0].tolist())
    return found


def _drawn(name: str, chance: np.random.Generator, trial: int) -> Any:
    from dobandit.suite import find
    from dobandit.suite import generators as make

    while True:
        world = find("bow-strong" if name == REVERSED else name).draw(chance, trial)
        problem = make.problem_of(world)
        means, seeing = world.means(problem), make.observed_means(world, problem.arms)[0]
        if name != REVERSED or means.max() - means[seeing.argmax()] >= 0.1:
            return world


def main() -> None:
    asked = options(
        __doc__, against="HEAD", worlds="bow,bow-strong,bow-reversed", objective="simple", log=0, trials=300, seed=7,
        rival="", of="", policy="",
    )  # fmt: skip
    trials, budgets = (2, (20, 40)) if asked.smoke else (asked.trials, BUDGETS[asked.objective])
    if asked.of:
        print(json.dumps(regrets(asked.of, asked.objective, asked.policy, asked.log, trials, asked.seed, budgets)))
        return
    policy = OURS[asked.objective]
    print(f"{policy}, {trials} worlds, seed {asked.seed}, {asked.log:,} rows of log; paired difference ± se")
    for world in asked.worlds.split(",")[: 1 if asked.smoke else None]:
        arguments = ["--of", world, "--log", 50 if asked.smoke else asked.log, "--objective", asked.objective]
        arguments += ["--trials", trials, "--seed", asked.seed, *(["--smoke"] if asked.smoke else [])]
        against = "" if asked.smoke else asked.against
        now, then = map(np.array, now_and_then(__file__, against, *arguments, "--policy", policy))
        rival = np.array(answer_of(__file__, SOURCE, *arguments, "--policy", asked.rival)) if asked.rival else None
        for k, budget in enumerate(budgets):
            print(f"{world:12} {budget:6,} {told(now[:, k], then[:, k])}", end="")
            print(f"   {asked.rival} {told(now[:, k], rival[:, k])}" if rival is not None else "", flush=True)


def told(now: Any, then: Any) -> str:
    change = now - then
    ratio = now.mean() / max(then.mean(), 1e-12)
    pair = f"{now.mean():9.4f} {then.mean():9.4f} {ratio:6.2f}"
    return f"{pair} {change.mean():+9.4f} ± {change.std() / len(change) ** 0.5:.4f}"


if __name__ == "__main__":
    main()
