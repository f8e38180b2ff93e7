"""What worlds cost: sampling in lock step, as a multiple of drawing the uniforms that it needs.

python benchmarks/worlds.py
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dobandit import chance, worlds
from dobandit.graph import Graph
from dobandit.problem import Problem

N6 = Graph("X1 -> {X2, X3}; X2 -> {X3, X4}; X3 -> {X4, X5}; X4 -> {X5, X6}; X5 -> X6 -> Y")
HIDDEN = Graph("X1 -> X3; X2 -> {X3, X4}; X3 -> {X4, X5, X6}; X4 -> X5 -> X6 -> Y; X1 <-> X2; X4 <-> X6")
T = TypeVar("T")
TRIALS, ROUNDS = 1000, 1000


def main() -> None:
    print(f"{TRIALS} trials x {ROUNDS} rounds; every trial has its own world, every round its own arm")
    print(f"{'world':<18}{'building':>10}{'means':>10}{'uniforms':>10}{'sampling':>10}{'ratio':>8}")
    measure("xor, N=6", N6, worlds.xor)
    measure("xor, N=6 hidden", HIDDEN, worlds.xor)
    measure("random, N=6", N6, worlds.random)


def measure(name: str, graph: Graph, make: Callable[[Graph, int], worlds.World]) -> None:
    def build() -> worlds.World:
        return worlds.World.stack(make(graph, seed) for seed in range(TRIALS))

    def uniforms() -> list[NDArray[np.float64]]:
        return [chance.uniforms(0, "outcome", block, range(ROUNDS), len(world.nodes)) for block in blocks]

    def sample() -> object:
        nodes, codes = world.clamps(problem.arms)
        return world.step(nodes[arms], codes[arms], drawn)

    blocks = range(-(-TRIALS // chance.BLOCK))
    problem = Problem(graph, "Y", budget=1)
    building, world = timed(build, times=1)
    means, _ = timed(lambda: world.means(problem))
    drawing, parts = timed(uniforms)
    drawn = np.concatenate(parts, axis=1)[:, :TRIALS]
    arms = np.random.default_rng(0).integers(len(problem.arms), size=(ROUNDS, TRIALS))
    sampling, _ = timed(sample)
    times = f"{building:>9.3f}s{means:>9.3f}s{drawing:>9.3f}s{sampling:>9.3f}s"
    print(f"{name:<18}{times}{sampling / drawing:>8.2f}")


def timed(run: Callable[[], T], times: int = 5) -> tuple[float, T]:
    """The best of some runs, since what disturbs a run only makes it slower; and what the run gave."""
    seconds = []
    for _ in range(times):
        start = perf_counter()
        result = run()
        seconds.append(perf_counter() - start)
    return min(seconds), result


if __name__ == "__main__":
    main()
