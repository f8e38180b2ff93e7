"""What a Dask cluster on this machine costs beside processes and a single process, for the same work in the same jobs.

python benchmarks/clusters.py [--trials 2048] [--workers 2]
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import dobandit as db
from _script import can_compare, options, record, timed
from dobandit.simulation import Results, Submits, cluster, processes

BATCH = 128  # trials to a job


def main() -> None:
    asked = options(__doc__, trials=2048, workers=2)
    trials = 128 if asked.smoke else asked.trials
    if not can_compare("distributed", asked.smoke):
        return
    problem = db.Problem("Z -> X -> Y; Z -> Y; X <-> W -> Y", "Y", budget=300, default_cost=1.5)
    world = db.worlds.random(problem.graph, seed=1)
    ways: dict[str, Callable[[], AbstractContextManager[Any]]] = {
        "one process": nullcontext,
        f"{asked.workers} processes": lambda: processes(asked.workers),
        f"a cluster, local:{asked.workers}": lambda: cluster(f"local:{asked.workers}"),
    }
    seconds: dict[str, float] = {}
    for name, start in ways.items():
        with start() as executor:
            played(problem, world, BATCH, executor)  # so that everything is imported
            seconds[name], _ = timed(partial(played, problem, world, trials, executor))
        print(f"{name:22} {seconds[name]:6.2f} s, {seconds[name] / seconds['one process']:.2f} of one process")
    by_processes, by_cluster = list(seconds.values())[1:]
    record("a local cluster to processes", by_cluster / by_processes, 1.5)


def played(problem: db.Problem, world: db.World, trials: int, executor: Submits | None) -> Results:
    return db.simulate(problem, world, ["causal-thompson", "f-kube"], trials, executor=executor, batch=BATCH)


if __name__ == "__main__":
    main()
