"""Whether `db.possibly_optimal` lists the right sets, judged by the exact means of random models.

    python benchmarks/optimal_sets.py [--graphs 300] [--models 400] [--seed 0]

For every random graph, models are drawn until each listed set was the only best one in some model, at most so many.
"Beaten" counts models in which a set that is not listed is better than all that are listed: it must be 0. "Confirmed"
counts listed sets that were the only best one in some model; random models need not find every one.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import dobandit as db
from _script import options

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.models import random_admg, random_model
from tests.test_optimal_sets import best_mean, subsets

CLEAR = 1e-9  # a smaller difference of means is rounding


def main() -> None:
    asked = options(__doc__, graphs=300, models=400, seed=0)
    graphs, most = (3, 4) if asked.smoke else (asked.graphs, asked.models)
    rng = np.random.default_rng(asked.seed)
    drawn = beaten = listed = confirmed = 0
    for _ in range(graphs):
        models, lost, sets, found = judge(rng, most)
        drawn, beaten, listed, confirmed = drawn + models, beaten + lost, listed + sets, confirmed + found
    print(f"{graphs} graphs, {drawn} models; beaten: {beaten}; confirmed: {confirmed} of {listed} listed sets")


def judge(rng: np.random.Generator, most: int) -> tuple[int, int, int, int]:
    """The models drawn for one graph, how often a listed set was beaten, how many are listed and how many confirmed."""
    graph = random_admg(rng, 3, 5)
    reward = graph.variables[-1]
    listed = db.possibly_optimal(graph, reward)
    sets = [frozenset(chosen) for chosen in subsets(graph.ancestors(reward))]
    confirmed, beaten, models = set[frozenset[str]](), 0, 0
    while models < most and len(confirmed) < len(listed):
        models += 1
        model = random_model(graph, rng, deterministic=float(rng.choice([0, 0.5, 0.9])))
        means = {chosen: best_mean(model, reward, tuple(sorted(chosen))) for chosen in sets}
        first, *others = sorted(listed, key=lambda chosen: -means[chosen])
        beaten += means[first] < max(means.values()) - CLEAR
        if all(means[first] > means[other] + CLEAR for other in others):
            confirmed.add(first)
    return models, beaten, len(listed), len(confirmed)


if __name__ == "__main__":
    main()
