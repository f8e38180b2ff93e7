"""Speed of our own policies: rounds per second in lock step, one live decision, and how it grows with the graph.

    python benchmarks/pooled.py

Every figure is the best of some runs: whatever else a machine does only makes them slower.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import dobandit as db
from _graphs import tree
from _script import options, record
from dobandit import worlds
from dobandit.chance import Chance
from dobandit.evidence.evidence import Evidence
from dobandit.graph import Graph
from dobandit.policies import Compiled, View, policy
from dobandit.problem import Problem
from dobandit.worlds import World
from dobandit.worlds.graphs import N6, N7


class Extent(NamedTuple):
    """How much is run."""

    trials: int = 1024
    runs: int = 5
    budgets: tuple[float, float] = (2500, 400)  # of the cumulative and of the simple objective
    sizes: tuple[int, ...] = (5, 10, 20, 50, 100)  # of graphs
    decisions: int = 200
    before: int = 400
    settable: int = 24  # variables of a tree, where up to two are set


SMOKE = Extent(trials=2, runs=1, budgets=(20, 20), sizes=(3, 5), decisions=2, before=5, settable=5)


def lock_step(name: str, trials: int, budget: float) -> float:
    """Rounds per second of processor time on the paper's graph with six variables."""
    objective = policy(name).objective
    problem = Problem(N6, "Y", budget=budget, objective=objective, default_cost={"choose": [2, 3]})
    batch = World.stack(worlds.xor(N6, seed) for seed in range(trials))
    start = time.process_time()
    rounds = db.simulate(problem, batch, [name], trials).rounds
    return rounds / (time.process_time() - start)


def live_choice(name: str, graph: Graph, decisions: int = 200, before: int = 400) -> float:
    """Milliseconds of one decision, refreshes included, after some hundred outcomes and each after a new one."""
    problem = Problem(graph, "Y", budget=10**6, objective=policy(name).objective, default_cost=2)
    return decision(policy(name).compile(problem), decisions, before)


GOALS = {"causal-thompson": 160_000, "causal-explore": 60_000}  # rounds per second


def decision(made: Compiled[Any], decisions: int, before: int) -> float:
    """The same of a policy that is compiled, at the costs of its problem."""
    problem, graph = made.problem, made.problem.graph
    seen, state, chance = Evidence.none(problem, made.tables, 1), made.start(1), Chance(0, "policy")
    drawn = worlds.random(graph, 1).sample("do()", before + decisions, seed=1)
    codes = np.stack([np.asarray(drawn[v], dtype=np.intp) for v in graph.variables], axis=1)
    reward, arms, row = codes[:, graph.variables.index("Y")].astype(float), len(problem.arms), np.zeros(1, np.intp)
    costs = np.array([problem.costs], dtype=float)
    money, affordable = np.array([1e6]), np.ones((1, arms), dtype=bool)
    views = []
    for t in range(before + decisions):
        seen.add(row, row, codes[t : t + 1], reward[t : t + 1], np.array([t]))
        if t >= before - 1:
            now = seen.take(row)  # a copy
            views.append(View(problem, now, row, np.array([t + 1]), costs, money, money, affordable, now.told))
    first, *rest = views
    state = made.choose(first, state, chance).state
    start = time.process_time()  # once: on some machines the clock itself takes as long as half of a decision
    for view in rest:
        state = made.choose(view, state, chance).state
    return 1000 * (time.process_time() - start) / decisions


def fastest(name: str, graph: Graph, extent: Extent) -> float:
    return min(live_choice(name, graph, extent.decisions, extent.before) for _ in range(extent.runs))


def many_arms(name: str, variables: int, extent: Extent) -> str:
    """How long it takes to compile and to decide on a tree where up to two variables are set."""
    problem = Problem(
        tree(variables), "Y", budget=10**6, objective=policy(name).objective, default_cost=2, most_at_once=2
    )
    compiling, deciding = [], []
    for _ in range(extent.runs):
        start = time.process_time()
        made = policy(name).compile(problem)
        compiling.append(time.process_time() - start)
        deciding.append(decision(made, min(extent.decisions, 20), extent.before))
    label = f"{name}, {len(problem.arms)} arms"
    return f"  {label:50} {min(deciding):12.3f}   (compiled in {min(compiling):.2f} s)"


def slope(sizes: Sequence[int], times: Sequence[float]) -> float:
    """The exponent of the growth with the number of variables, by least squares on logarithms."""
    return float(np.polyfit([math.log(n) for n in sizes], [math.log(t) for t in times], 1)[0])


def main() -> None:
    extent = SMOKE if options(__doc__).smoke else Extent()
    trials, runs, policies = extent.trials, extent.runs, ("causal-thompson", "causal-explore")
    print(f"The best of {runs} runs each.")
    print(f"rounds per second of one core, {trials} trials in lock step on the paper's graph with six variables:")
    for name, budget in zip(policies, extent.budgets, strict=True):
        best = max(lock_step(name, trials, budget) for _ in range(runs))
        print(f"  {name:50} {best:12,.0f}")
        record(f"rounds per second of one core, {name}", best, GOALS[name], "higher")
    print("one live decision, milliseconds:")
    for name in policies:
        print(f"  {name + ', seven variables':50} {fastest(name, N7, extent):12.3f}")
    for name in policies:
        print(many_arms(name, extent.settable, extent))
    for name in policies:
        times = [fastest(name, tree(n), extent) for n in extent.sizes]
        ladder = "  ".join(f"{n}: {t:.2f}" for n, t in zip(extent.sizes, times, strict=True))
        print(f"  {name} on trees of {ladder}; grows as n^{slope(extent.sizes, times):.2f}")


if __name__ == "__main__":
    main()
