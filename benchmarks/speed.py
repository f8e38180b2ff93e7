"""Processor time of the main jobs beside another commit, as ratios: below 1 is faster than it was.

Both versions run in turn, several times, and the fastest run of each counts; a machine that is busy with other things
slows both down.

usage: python benchmarks/speed.py [--against REV] [--times 5]
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from _commits import now_and_then
from _script import options

GRAPH = "Z1 -> {X1, Y}; Z2 -> {X2, Y}; X1 -> M -> Y; X1 <-> Y; X2 -> X3 -> Y; W -> X3; X2 <-> W"


def jobs(smoke: bool) -> Mapping[str, Callable[[], object]]:
    """What is timed, by name; only names that outside code relies on are used."""
    import dobandit as db
    from dobandit.paper import reproduce
    from dobandit.policies import policies_for
    from dobandit.suite import compare

    trials, pulls, rows = (2, 4, 200) if smoke else (256, 300, 200_000)
    world = db.worlds.random(db.Graph(GRAPH), seed=1)
    log = world.sample("do()", rows, seed=2)

    def problem(objective: str) -> db.Problem:
        return db.Problem(GRAPH, "Y", budget=150, objective=objective, default_cost=2)

    def simulate(policy: str, objective: str) -> Callable[[], object]:
        return lambda: db.simulate(problem(objective), world, [policy], trials=trials)

    def study(policy: str, objective: str) -> Callable[[], object]:
        def asked_and_told() -> None:
            rng = np.random.default_rng(3)
            stated = db.Problem(GRAPH, "Y", 10**6, objective, default_cost=2)
            with tempfile.TemporaryDirectory() as folder, db.Study.create(Path(folder, "s.db"), stated, policy) as made:
                for _ in range(pulls):
                    (pull,) = made.ask()
                    made.tell(pull.id, {v: pull.set.get(v, int(rng.integers(2))) for v in world.graph.variables})

        return asked_and_told

    found = {f"run {p}": simulate(p, o) for o in ("cumulative", "simple") for p in policies_for(o)}
    found |= {f"study {p}": study(p, o) for p, o in [("causal-thompson", "cumulative"), ("causal-explore", "simple")]}
    found["study f-kube"] = study("f-kube", "cumulative")
    found["effect"] = lambda: db.effect(GRAPH, log, do={"X1": 1}, reward="Y")
    found["check_graph"] = lambda: db.check_graph(GRAPH, log)
    found["sample"] = lambda: world.sample("do(X1=1)", rows, seed=4)
    found["suite bow"] = lambda: compare(
        "bow", policies=["causal-thompson", "thompson"], budgets=[100], trials=trials // 16 or 1
    )
    found["reproduce"] = lambda: reproduce(["fig2-budget"], trials=trials // 16 or 1, workers=1)
    return found


def seconds(smoke: bool) -> dict[str, float]:
    """Of the fastest of several runs of each job: more of short ones, which a busy machine disturbs more."""
    found = {}
    for name, job in jobs(smoke).items():
        job()  # imports, and whatever is compiled once
        runs: list[float] = []
        while (len(runs) < 7 and sum(runs) < (0 if smoke else 2)) or not runs:
            start = time.process_time()
            job()
            runs.append(time.process_time() - start)
        found[name] = min(runs)
    return found


def main() -> None:
    asked = options(__doc__, against="HEAD", times=5, seconds="no")
    if asked.seconds == "yes":
        print(json.dumps(seconds(asked.smoke)))
        return
    arguments = ("--seconds", "yes", *(["--smoke"] if asked.smoke else []))
    runs = [
        now_and_then(__file__, "" if asked.smoke else asked.against, *arguments)
        for _ in range(1 if asked.smoke else asked.times)
    ]
    for name in runs[0][0]:
        now, then = (min(run[i][name] for run in runs) for i in (0, 1))
        print(f"{name:32} {now / then:5.2f}   ({1000 * now:8.1f} ms, was {1000 * then:8.1f} ms)", flush=True)


if __name__ == "__main__":
    main()
