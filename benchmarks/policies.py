"""Rounds per second: lock step against one trial at a time, ours and other people's. Ratios of one run.

python benchmarks/policies.py
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import dobandit as db
from _script import can_compare, options, record, timed
from dobandit import worlds
from dobandit.problem import Problem
from dobandit.worlds import World
from pooled import live_choice

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests import named_graphs as named
from tests import references

ARMS = 13


class Extent(NamedTuple):
    """How much is run."""

    trials: int = 1000
    budget: float = 2500
    loop: float = 60  # the budget of the reference loop
    river: int = 20_000  # rounds
    mabwiser: int = 1_000
    decisions: int = 300
    before: int = 400


SMOKE = Extent(trials=2, budget=20, loop=10, river=20, mabwiser=5, decisions=2, before=5)


def rate(work: Callable[[], float]) -> float:
    """Rounds per second of some work that says how many rounds it was."""
    seconds, rounds = timed(work)
    return rounds / seconds


def lock_step(name: str, trials: int, budget: float) -> float:
    problem = Problem(named.FIG6, "Y", budget=budget, default_cost=2)
    batch = World.stack(worlds.xor(named.FIG6, seed) for seed in range(trials))
    return rate(lambda: db.simulate(problem, batch, [name], trials).rounds)


def reference_loop(step: Callable[[], references.Step], budget: float) -> float:
    problem = Problem(named.FIG6, "Y", budget=budget, default_cost=2)
    trial = references.Trial(problem, worlds.xor(named.FIG6, 0), [1.0, *[2.0] * (ARMS - 1)], budget, 0, 0)
    return rate(lambda: len(references.run(trial, step())))


def outcomes(of_world: bool) -> Callable[[int], float]:
    """Rewards for the loops of other libraries: drawn from the same world in plain Python, or by a single coin."""
    problem = Problem(named.FIG6, "Y", budget=1, default_cost=2)
    trial = references.Trial(problem, worlds.xor(named.FIG6, 0), [1.0] * ARMS, 1, 0, 0)
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


def others(extent: Extent, smoke: bool) -> Iterator[tuple[str, float]]:
    """Other people's rounds per second."""
    for package, label, ucb, rounds in [
        ("river", "river.bandit.UCB", river_ucb, extent.river),
        ("mabwiser", "MABWiser UCB1", mabwiser_ucb, extent.mabwiser),
    ]:
        if can_compare(package, smoke):
            yield f"{label}, outcomes from the same world", ucb(rounds, True)
            yield f"{label}, its choices and updates alone", ucb(rounds, False)


def main() -> None:
    smoke = options(__doc__).smoke
    extent = SMOKE if smoke else Extent()
    trials = f"{extent.trials:,} trials in lock step"
    print(f"rounds per second on {ARMS} arms (the paper's graph with six variables):")
    ours, paper = (lock_step(name, extent.trials, extent.budget) for name in ("f-kube", "paper-cumulative"))
    slow = reference_loop(references.PaperCumulative, extent.loop)
    for label, value, base in [
        (f"f-kube, {trials}", ours, ours),
        *((label, value, ours) for label, value in others(extent, smoke)),
        (f"paper-cumulative, {trials}", paper, paper),
        ("its reference loop in plain Python", slow, paper),
    ]:
        print(f"  {label:50} {value:12,.0f}   lock step is {base / value:9,.1f} times as fast")
    record("lock step to the reference loop, paper-cumulative", paper / slow, 100, "higher")
    print("one live decision on seven variables after a new observation:")
    for name in ("paper-cumulative", "crm", "f-kube", "thompson"):
        print(f"  {name:50} {live_choice(name, named.FIG11, extent.decisions, extent.before):8.3f} ms")


if __name__ == "__main__":
    main()
