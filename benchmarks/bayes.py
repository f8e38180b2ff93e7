"""How much more could be known: the pooled tables against a Bayesian who knows how the worlds were drawn.

    python benchmarks/bayes.py [--world reversed] [--worlds 100] [--times 10] [--rows 300] [--seed 1001]

Both see the same observations and name the best arm. The Bayesian is told what is never known in practice: how many
values every hidden cause has, and the distributions from which all tables were drawn (but for the little that is mixed
into them, so that no value is impossible, and for the worlds that were rejected). What hidden causes did in each row,
and then the tables, are sampled in turn (Gibbs sampling); an arm is worth its mean over the sampled worlds.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from _script import options
from dobandit.chance import generator
from dobandit.estimate.pooled import PooledEstimator
from dobandit.evidence import Evidence, open_source
from dobandit.evidence.logged import read_log
from dobandit.problem import Problem
from dobandit.report.page import mean_text
from dobandit.simulation.parallel import processes
from dobandit.simulation.results import standard_error
from dobandit.suite.classes import WORLDS
from dobandit.suite.generators import Generator
from dobandit.worlds import Node, World

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Log = Mapping[str, NDArray[np.generic]]

CLASSES = ("rand", "reversed")  # whose tables are drawn as the next line says, before worlds are rejected
OF_HIDDEN, OF_SEEN = 2.0, 1.0  # the parameters of the Dirichlet distributions of all rows: random_world of the suite
SWEEPS, FORGOTTEN, THINNED = 400, 100, 3  # of the sampler; the first ones are forgotten, and every third one counts


class Asked(NamedTuple):
    """What is measured."""

    world: str
    worlds: int
    times: int
    rows: int
    seed: int


def main() -> None:
    given = options(__doc__, world="reversed", worlds=100, times=10, rows=300, seed=1001)
    if given.world not in CLASSES:
        raise SystemExit(f"--world: expected {' or '.join(CLASSES)}, not {given.world}")
    worlds, times, rows = (2, 1, 20) if given.smoke else (given.worlds, given.times, given.rows)
    asked = Asked(given.world, worlds, times, rows, given.seed)
    with processes(os.cpu_count() or 1) as pool:
        futures = [pool.submit(regrets, asked, i) for i in range(asked.worlds)]
        found = np.array([future.result() for future in futures])
    pooled, bayes = found.T
    print(f"{asked.rows} observations of {asked.worlds} worlds of {asked.world}, {asked.times} times each: regret")
    for name, regret in (("pooled tables", pooled), ("Bayesian", bayes), ("difference", pooled - bayes)):
        print(f"  {name:15}{mean_text(float(regret.mean()), standard_error(regret), 4)}")


def regrets(asked: Asked, number: int) -> tuple[float, float]:
    """The mean regrets of both in one world."""
    chance = generator(asked.seed, f"bayes:{asked.world}:{number}")
    world = WORLDS[asked.world].draw(chance, number)
    problem = Problem(world.graph, "Y", budget=1, objective="simple", domains=world.domains)
    means = world.means(problem)
    lost = []
    for _ in range(asked.times):
        log = world.sample("do()", asked.rows, int(chance.integers(2**53)))
        answers = pooled_means(problem, log), bayesian_means(problem, world, log, chance)
        lost.append([means.max() - means[answer.argmax()] for answer in answers])
    pooled, bayes = np.mean(lost, axis=0)
    return float(pooled), float(bayes)


def pooled_means(problem: Problem, log: Log) -> Array:
    """The posterior means of the arms by our tables."""
    pooled = PooledEstimator(problem)
    evidence = Evidence.none(problem, pooled.tables, 1)
    evidence.add_logged(read_log(problem, open_source(log), evidence.layout))
    return pooled.known(pooled.tables_after(evidence)).means[:, 0]


def bayesian_means(problem: Problem, world: World, log: Log, chance: Generator) -> Array:
    """The posterior means of the arms if all but the tables themselves is known."""
    places, kinds = _places(world, log)
    rows = np.arange(len(log[problem.reward]))
    hidden = chance.integers(kinds, size=len(rows))  # what the hidden causes did in every row
    kept = []
    for sweep in range(SWEEPS):
        tables = [_table(node, at[rows, hidden % at.shape[1]], world, chance) for node, at in places]
        if sweep >= FORGOTTEN and sweep % THINNED == 0:
            kept.append(tables)
        logs = (np.log(table).reshape(-1)[at] for table, (_, at) in zip(tables, places, strict=True))
        likely = sum(logs, start=np.zeros(1))
        sums = np.exp(likely - likely.max(axis=1, keepdims=True)).cumsum(axis=1)
        hidden = (sums < chance.random((len(rows), 1)) * sums[:, -1:]).sum(axis=1)
    nodes = [node._replace(table=np.stack(of)) for (node, _), of in zip(places, zip(*kept, strict=True), strict=True)]
    means: Array = World(world.graph, tuple(nodes), world.domains).means(problem).mean(axis=0)
    return means


def _places(world: World, log: Log) -> tuple[list[tuple[Node, Codes]], int]:
    """Where every row falls in the table of each node, for all combinations of the hidden values; and how many these
    are. A table that reads nothing hidden has one column."""
    hidden = [node for node in world.nodes if node.name not in world.graph.variables]
    combined = np.indices([node.card for node in hidden]).reshape(len(hidden), 1, -1)
    codes = dict(zip((node.name for node in hidden), combined, strict=True))
    for v, labels in world.domains.items():
        codes[v] = np.array([labels.index(str(value)) for value in log[v]])[:, np.newaxis]
    found = []
    for node in world.nodes:
        at = np.ravel_multi_index(
            np.broadcast_arrays(*(codes[v] for v in (*node.inputs, node.name))), node.table.shape[1:]
        )
        found.append((node, np.broadcast_to(at, (len(codes["Y"]), at.shape[1]))))
    return found, combined.shape[-1]


def _table(node: Node, at: Codes, world: World, chance: Generator) -> Array:
    """A table from its posterior, if rows fell on these places of it."""
    shape = node.table.shape[1:]
    prior = OF_SEEN if node.name in world.graph.variables else OF_HIDDEN
    drawn = chance.standard_gamma(np.bincount(at, minlength=int(np.prod(shape))).reshape(shape) + prior)
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


if __name__ == "__main__":
    main()
