"""What a stopping rule saves, and how often the answer is right when it stops.

Classes of `dobandit suite`, a new world for every trial, simple regret, setting a variable costs 5, 6 or 7; and the
shop that comes with the program, with a log of 5,000 rows. The policy is causal-explore. `right` is the share of trials
whose answer is the best option, `if stopped` that among the trials that the rule ended, with its standard error.

usage: python benchmarks/stopping.py [--trials N] [--seed S] [--budget B] [--probability P] [--worlds n6,n7,...]
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

import numpy as np

import dobandit as db
from _script import options
from dobandit.chance import generator
from dobandit.simulation import Results
from dobandit.suite import WORLDS

SHOP = "shop with a log"
CLASSES = ("n6", "n7", SHOP, "rand", "strong", "bow", "bow-strong", "rare", "wide", "three-valued")
COSTS = {"choose": [5, 6, 7]}
ROWS, SHOP_BUDGET = 5000, 3000  # of the log, and of the shop, where a pull of the best option costs 12
ROW = "{:16} {:>7} {:>8} {:>7} {:>20} {:>6} {:>6} {:>13}"


def trials_of(name: str, number: int, seed: int, budget: float, rule: dict[str, float]) -> Iterator[Results]:
    """One trial after the other, each with its own world; of the shop all at once."""
    if name == SHOP:
        problem = db.Problem.load(str(files("dobandit") / "examples" / "shop.toml"))
        world = db.worlds.of(problem)
        log = world.sample("do()", ROWS, seed=seed)
        yield db.simulate(problem, world, ["causal-explore"], number, seed, [SHOP_BUDGET], log, stop=rule)
        return
    for i in range(number):
        world = WORLDS[name].draw(generator(seed, f"stopping:{name}:{i}"), i)
        problem = db.Problem(world.graph, "Y", budget, "simple", default_cost=COSTS, domains=world.domains)
        yield db.simulate(problem, world, ["causal-explore"], 1, 10_000 * seed + i, stop=rule)


def main() -> None:
    asked = options(__doc__, trials=100, seed=1, budget=800, probability="0.95", worlds=",".join(CLASSES))
    number, rule = 1 if asked.smoke else asked.trials, {"probability": float(asked.probability)}
    classes = [name for name in CLASSES if name in asked.worlds.split(",")]
    print(f"stop at a probability of {asked.probability}, {number} trials each")
    print(ROW.format("worlds", "budget", "stopped", "spent", "quartiles", "saved", "right", "if stopped"))
    for name in classes[:1] if asked.smoke else classes:
        found = list(trials_of(name, number, asked.seed, 60 if asked.smoke else asked.budget, rule))
        spent = np.concatenate([r.spent["causal-explore"][:, 0] for r in found])
        early = np.concatenate([r.stopping.early["causal-explore"][:, 0] for r in found if r.stopping])
        gaps = np.concatenate([r.stopping.gaps["causal-explore"][:, 0] for r in found if r.stopping])
        budget, right = found[0].grid[0], gaps < 1e-9
        share = right[early].mean() if early.any() else np.nan
        error = np.sqrt(share * (1 - share) / max(early.sum(), 1))
        quartiles = " ".join(f"{q:.0f}" for q in np.quantile(spent, (0.25, 0.5, 0.75)))
        known = "" if np.isnan(share) else f"{share:.0%} ± {error:.0%}"
        saved = f"{np.where(early, 1 - spent / budget, 0.0).mean():.0%}"
        cells = (f"{budget:g}", f"{early.mean():.0%}", f"{spent.mean():.0f}", quartiles, saved, f"{right.mean():.0%}")
        print(ROW.format(name, *cells, known), flush=True)


if __name__ == "__main__":
    main()
