"""What observations say of options that they do not identify: regret with it, against the commit before.

The same worlds, costs and luck with this version and with another one, with and without a log of observations that is
there from the start. `causal-explore` at costs 57, `causal-thompson` at costs near 1; a rival that knows nothing of
graphs with hidden causes may stand beside the former. Several worlds are played on each graph; ± are standard errors.

usage: python benchmarks/confounded.py [--against REV] [--worlds bow,bow-strong] [--objective simple|cumulative]
                                       [--log 5000] [--trials 304] [--each 8] [--seed 7] [--rival gamma-nb]
                                       [--budgets 50,100]
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from _commits import HERE, answer_of, now_and_then
from _script import options

OURS = {"simple": "causal-explore", "cumulative": "causal-thompson"}
BUDGETS = {"simple": "50,100,200,400,800,1600", "cumulative": "250,1000,2500"}
SOURCE = HERE / "src"


def regrets(asked: Any, budgets: tuple[float, ...]) -> Any:
    """By graph, world and budget."""
    from _bows import groups

    found = []
    for group in groups(asked.of, asked.objective, asked.log, asked.trials, asked.each, asked.seed, budgets[-1]):
        played, means = group.played(asked.policy, budgets), group.means
        if asked.objective == "simple":
            regret = means.max(axis=1, keepdims=True) - np.take_along_axis(means, played.recommended, axis=1)
        else:
            best = (means / group.costs).max(axis=1, keepdims=True) * np.array(budgets)
            regret = best - np.stack([pulls @ mean for pulls, mean in zip(played.pulls, means, strict=True)])
        found.append(regret.tolist())
    return found


def main() -> None:
    asked = options(
        __doc__, against="HEAD", worlds="bow,bow-strong,bow-reversed", objective="simple", log=0, trials=304, each=8,
        seed=7, rival="", budgets="", of="", policy="",
    )  # fmt: skip
    if asked.smoke:
        asked.trials, asked.each, asked.budgets, asked.log = 2, 2, "20,40", min(asked.log, 50)
        asked.worlds, asked.against = asked.worlds.split(",")[0], ""
    wanted = asked.budgets or BUDGETS[asked.objective]
    budgets = tuple(float(budget) for budget in wanted.split(","))
    if asked.of:
        print(json.dumps(regrets(asked, budgets)))
        return
    policy = OURS[asked.objective]
    print(f"{policy}, {asked.trials} worlds, {asked.each} on a graph, seed {asked.seed}, {asked.log:,} rows of log")
    print("now, before, their ratio, paired difference ± se")
    for world in asked.worlds.split(","):
        same = ["--of", world, "--budgets", wanted]
        for name in ("log", "objective", "trials", "each", "seed"):
            same += [f"--{name}", getattr(asked, name)]
        now, then = now_and_then(__file__, asked.against, *same, "--policy", policy)
        rival = answer_of(__file__, SOURCE, *same, "--policy", asked.rival) if asked.rival else None
        for k, budget in enumerate(budgets):
            print(f"{world:12} {budget:6,.0f} {told(now, then, k)}", end="")
            print(f"   {asked.rival} {told(now, rival, k)}" if rival is not None else "", flush=True)


def told(now: Any, then: Any, place: int) -> str:
    from _bows import mean_and_error

    ours, others = ([np.array(graph)[:, place] for graph in each] for each in (now, then))
    (mean, _), (before, _) = mean_and_error(ours), mean_and_error(others)
    change, error = mean_and_error([a - b for a, b in zip(ours, others, strict=True)])
    return f"{mean:9.4f} {before:9.4f} {mean / max(before, 1e-12):6.2f} {change:+9.4f} ± {error:.4f}"


if __name__ == "__main__":
    main()
