"""Rounds per second: lock step against one trial at a time, ours and other people's. Ratios of one run."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import dobandit as db
from dobandit import worlds
from dobandit.chance import Chance
from dobandit.evidence.tally import Layout
from dobandit.policies import Policy, View, policy
from dobandit.problem import Problem
from dobandit.worlds import World

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests import named_graphs as named
from tests import references

ARMS = 13
BUDGET = 2500


def rate(work: Callable[[], float]) -> float:
    """Rounds per second of some work that says how many rounds it was."""
    start = time.perf_counter()
    rounds = work()
    return rounds / (time.perf_counter() - start)


def lock_step(name: str, trials: int) -> float:
    problem = Problem(named.FIG6, "Y", budget=BUDGET, default_cost=2)
    batch = World.stack(worlds.xor(named.FIG6, seed) for seed in range(trials))
    return rate(lambda: db.simulate(problem, batch, [name], trials).rounds)


def reference_loop(step: Callable[[], references.Step], budget: float) -> float:
    problem = Problem(named.FIG6, "Y", budget=budget, default_cost=2)
    trial = references.Trial(problem, worlds.xor(named.FIG6, 0), [1.0, *[2.0] * (ARMS - 1)], budget, 0, 0)
    return rate(lambda: len(references.run(trial, step())))


def outcomes(of_world: bool) -> Callable[[int], float]:
    """Rewards for the loops of other libraries: drawn from the same world in plain Python, or by a single coin."""
    problem = Problem(named.FIG6, "Y", budget=BUDGET, default_cost=2)
    trial = references.Trial(problem, worlds.xor(named.FIG6, 0), [1.0] * ARMS, BUDGET, 0, 0)
    rng = random.Random(1)

    def draw(arm: int) -> float:
        trial.time += 1
        return float(trial.outcome(arm)["Y"])

    return draw if of_world else lambda arm: float(rng.random() < 0.2 + 0.05 * arm)


def river_ucb(rounds: int, of_world: bool) -> float:
    from river import bandit

    made, reward = bandit.UCB(delta=1, seed=1), outcomes(of_world)

    def work() -> float:
        for _ in range(rounds):
            arm = made.pull(range(ARMS))
            made.update(arm, reward(arm))
        return rounds

    return rate(work)


def mabwiser_ucb(rounds: int, of_world: bool) -> float:
    from mabwiser.mab import MAB, LearningPolicy

    made, reward = MAB(list(range(ARMS)), LearningPolicy.UCB1(alpha=1.0)), outcomes(of_world)
    made.fit(list(range(ARMS)), [0.5] * ARMS)

    def work() -> float:
        for _ in range(rounds):
            arm = made.predict()
            made.partial_fit([arm], [reward(arm)])
        return rounds

    return rate(work)


def live_choice(name: str) -> float:
    """Milliseconds for one decision of one trial on the paper's graph with seven variables, each after a new
    observation, so that nothing can be reused."""
    problem = Problem(named.FIG11, "Y", budget=10**6, default_cost=5)
    made: Policy = policy(name)
    layout, state = Layout(problem, made.tables(problem)), made.start(problem, 1)
    arms = len(problem.arms)
    counts, chance = np.full((1, layout.size), 3.0), Chance(0, f"policy:{name}")
    pulls, costs = np.full((1, arms), 20.0), np.full((1, arms), 5.0)
    decisions = 300
    spent = 0.0
    for t in range(decisions + 1):
        pulls[0, 0] += 1
        view = View(
            problem, layout, np.array([0]), t + 400, costs, np.array([1e6]), np.array([1e6]), np.ones((1, arms), bool),
            pulls, pulls.copy(), pulls / 2, counts,
        )  # fmt: skip
        start = time.perf_counter()
        state = made.choose(view, state, chance).state
        spent += (time.perf_counter() - start) * (t > 0)  # the first one compiles its tables
    return 1000 * spent / decisions


def main() -> None:
    print(f"rounds per second on {ARMS} arms (the paper's graph with six variables):")
    ours, paper = lock_step("f-kube", 1000), lock_step("paper-cumulative", 1000)
    slow = reference_loop(references.PaperCumulative, 60)
    for label, value, base in [
        ("f-kube, 1,000 trials in lock step", ours, ours),
        ("river.bandit.UCB, outcomes from the same world", river_ucb(20_000, True), ours),
        ("river.bandit.UCB, its choices and updates alone", river_ucb(20_000, False), ours),
        ("MABWiser UCB1, outcomes from the same world", mabwiser_ucb(1_000, True), ours),
        ("MABWiser UCB1, its choices and updates alone", mabwiser_ucb(1_000, False), ours),
        ("paper-cumulative, 1,000 trials in lock step", paper, paper),
        ("its reference loop in plain Python", slow, paper),
    ]:
        print(f"  {label:50} {value:12,.0f}   lock step is {base / value:9,.1f} times as fast")
    print("one live decision on seven variables after a new observation:")
    for name in ("paper-cumulative", "crm", "f-kube", "thompson"):
        print(f"  {name:50} {live_choice(name):8.3f} ms")


if __name__ == "__main__":
    main()
