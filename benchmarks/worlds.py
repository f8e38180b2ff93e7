"""What worlds cost: sampling in lock step, as a multiple of drawing the uniforms that it needs.

python benchmarks/worlds.py [--trials 1000] [--rounds 1000]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from _script import options, record, timed
from dobandit import chance, worlds
from dobandit.graph import Graph
from dobandit.problem import Problem

N6 = Graph("X1 -> {X2, X3}; X2 -> {X3, X4}; X3 -> {X4, X5}; X4 -> {X5, X6}; X5 -> X6 -> Y")
HIDDEN = Graph("X1 -> X3; X2 -> {X3, X4}; X3 -> {X4, X5, X6}; X4 -> X5 -> X6 -> Y; X1 <-> X2; X4 <-> X6")
RUNS = 5


def main() -> None:
    asked = options(__doc__, trials=1000, rounds=1000)
    trials, rounds = (8, 8) if asked.smoke else (asked.trials, asked.rounds)
    print(f"{trials} trials x {rounds} rounds; every trial has its own world, every round its own arm")
    print(f"{'world':<18}{'building':>10}{'means':>10}{'uniforms':>10}{'sampling':>10}{'ratio':>8}")
    measure("xor, N=6", N6, worlds.xor, trials, rounds)
    measure("xor, N=6 hidden", HIDDEN, worlds.xor, trials, rounds)
    measure("random, N=6", N6, worlds.random, trials, rounds)


def measure(name: str, graph: Graph, make: Callable[[Graph, int], worlds.World], trials: int, rounds: int) -> None:
    def build() -> worlds.World:
        return worlds.World.stack(make(graph, seed) for seed in range(trials))

    def uniforms() -> list[NDArray[np.float64]]:
        return [chance.uniforms(0, "outcome", block, range(rounds), len(world.nodes)) for block in blocks]

    def sample() -> object:
        return world.step(world.clamps(problem.arms)[:, arms], drawn)

    blocks = range(-(-trials // chance.BLOCK))
    problem = Problem(graph, "Y", budget=1)
    building, world = timed(build)
    means, _ = timed(lambda: world.means(problem), RUNS)
    drawing, parts = timed(uniforms, RUNS)
    drawn = np.concatenate(parts, axis=1)[:, :trials]
    arms = np.random.default_rng(0).integers(len(problem.arms), size=(rounds, trials))
    sampling, _ = timed(sample, RUNS)
    times = f"{building:>9.3f}s{means:>9.3f}s{drawing:>9.3f}s{sampling:>9.3f}s"
    print(f"{name:<18}{times}{sampling / drawing:>8.2f}")
    record(f"sampling to drawing uniforms, {name}", sampling / drawing, 3)


if __name__ == "__main__":
    main()
