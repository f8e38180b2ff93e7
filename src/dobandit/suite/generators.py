"""Random graphs and random tables: the stuff that the benchmark's worlds are made of.

Every function takes its random numbers from the generator that it is handed, so that a world is a function of
the seed of its trial alone. The reward is always Y, binary and last; the other variables are X1, X2, ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dobandit.arrays import Array
from dobandit.graph import Graph
from dobandit.problem import Arm, Problem
from dobandit.worlds import Node, World, inputs_of

Generator = np.random.Generator
MOST_PARENTS = 3
MOST_HIDDEN = 3  # draws of a hidden common cause in one graph
FLOOR = 0.02  # of every row of a table, so much is spread evenly: no value is impossible


def random_graph(chance: Generator, largest: int, wanted: Callable[[Graph], bool]) -> Graph:
    """Graphs of 4 to `largest` variables, until one is wanted and has a hidden cause among Y and its ancestors."""
    while True:
        graph = _any_graph(chance, int(chance.integers(4, largest + 1)))
        acting = graph.ancestral_graph("Y")
        if len(acting.variables) >= 3 and acting.bidirected and wanted(acting):
            return graph


def _any_graph(chance: Generator, size: int) -> Graph:
    names = [*(f"X{i}" for i in range(1, size)), "Y"]
    directed = []
    for v in range(1, size):
        fewest = 1 if v == size - 1 else 0
        count = int(chance.integers(fewest, min(v, MOST_PARENTS) + 1))
        directed += [(names[int(p)], names[v]) for p in chance.permutation(v)[:count]]
    pairs = [chance.permutation(size)[:2] for _ in range(int(chance.integers(1, MOST_HIDDEN + 1)))]
    bidirected = {tuple(sorted((int(a), int(b)))) for a, b in pairs}
    return Graph.from_edges(directed, [(names[a], names[b]) for a, b in sorted(bidirected)], names)


def every_arm_identifiable(acting: Graph) -> bool:
    """Whether every arm that acts on Y passes the child condition; `acting` has only Y and its ancestors."""
    return not any(map(acting.has_confounded_child, acting.variables))


def some_arm_not_identifiable(acting: Graph) -> bool:
    return not every_arm_identifiable(acting)


def random_world(
    chance: Generator, graph: Graph, alpha: float = 1.0, hidden: Sequence[int] = (2, 3, 4), card: int = 2
) -> World:
    """Rows from Dirichlet(alpha, ...), mixed with a little of the uniform one; every `<->` is a hidden root with
    as many values as one of `hidden`, whose prior is from Dirichlet(2, ...)."""
    graph, inputs = inputs_of(graph)
    cards = {v: 2 if v == "Y" else card for v in graph.variables}
    cards |= {u: int(chance.choice(hidden)) for u in inputs if u not in cards}
    nodes = []
    for v, read in inputs.items():
        if v not in graph:
            nodes.append(Node(v, (), chance.dirichlet([2.0] * cards[v], size=1)))
            continue
        rows = chance.dirichlet([alpha] * cards[v], size=(1, *(cards[u] for u in read)))
        nodes.append(Node(v, read, rows * (1 - FLOOR) + FLOOR / cards[v]))
    return World(graph, tuple(nodes), {v: tuple(map(str, range(cards[v]))) for v in graph.variables})


def replaced(world: World, tables: Mapping[str, Array]) -> World:
    """The world with other tables for some of its variables."""
    nodes = tuple(n._replace(table=tables[n.name]) if n.name in tables else n for n in world.nodes)
    return World(world.graph, nodes, world.domains)


def made_rare(world: World, variable: str, code: int, probability: float) -> World:
    """The world in which the variable takes this value with this probability, whatever its inputs are."""
    others = world.nodes[world.positions[variable]].table.copy()
    others[..., code] = 0
    table = others / others.sum(axis=-1, keepdims=True) * (1 - probability)
    table[..., code] = probability
    return replaced(world, {variable: table})


def problem_of(world: World) -> Problem:
    """A problem on this world, for its arms; budget and costs are of no importance."""
    return Problem(world.graph, reward="Y", budget=1, domains=world.domains)


def observed_means(world: World, arms: Sequence[Arm]) -> tuple[Array, Array]:
    """The means if correlation is taken for causation: E[Y | X=x] for every arm do(X=x), E[Y] for do(); and how
    often X=x is seen."""
    names = world.graph.variables
    joint = world.distribution(names)
    reward = names.index("Y")
    means, seen = [], []
    for arm in arms:
        kept = joint
        for variable, code in arm.codes(world.domains).items():
            kept = kept.take([code], axis=names.index(variable))
        ones = kept.take(1, axis=reward)
        seen.append(kept.sum())
        means.append(ones.sum() / kept.sum())
    return np.array(means), np.array(seen)
