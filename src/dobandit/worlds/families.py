"""Families of worlds that are made by a rule: the paper's XOR and parallel models, and random tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from dobandit.arrays import Array
from dobandit.chance import generator
from dobandit.errors import WorldError
from dobandit.graph import Graph, GraphLike, as_graph, edges_in_order
from dobandit.numerals import number
from dobandit.problem import BINARY, Value, is_number, is_positive
from dobandit.worlds.model import World
from dobandit.worlds.tables import Node, check_size, read_domains

MOST_PARALLEL = 10**5
MOST_HIDDEN = 4  # values of a hidden cause in a random world
FOLLOWS = 0.8  # how often a variable of the paper's model is the XOR of its parents


def xor(graph: GraphLike, seed: int) -> World:
    """The paper's model: a variable is the XOR of its parents with probability 0.8, else the opposite.

    What has no parents is 1 with probability 0.5 + 0.5 e, e uniform on [0, 1], drawn once. The paper
    does not say how `<->` enters; here it is a hidden variable without parents that is one more
    parent of both ends.

    Parameters
    ----------
    graph
        A graph, or its text.
    seed
        Decides the probabilities of the variables without parents.

    >>> xor("X1 -> X2 -> Y", seed=3).distribution(["X2", "Y"], "do(X2=1)")
    array([[0. , 0. ],
           [0.2, 0.8]])
    """
    graph, inputs = inputs_of(graph)
    chance = generator(seed, "world")
    nodes = (
        Node(v, read, _parity(v, len(read)) if read else two_values([0.5 + 0.5 * chance.random()]))
        for v, read in inputs.items()
    )
    return World(graph, tuple(nodes), dict.fromkeys(graph.variables, BINARY))


def parallel(n: int = 50, p: Sequence[float] | None = None, epsilon: float = 0.3) -> World:
    """The parallel bandit of Lattimore et al. (2016): X1, ..., Xn all point to Y, and only X1 matters.

    Y is 1 with probability 0.5 + epsilon where X1 is 1, and as much below 0.5 elsewhere as makes E[Y] one half.

    Parameters
    ----------
    n
        How many variables there are besides Y.
    p
        The probabilities of X1 = 1, X2 = 1, ...; default: 0.02 for the first two, 0.5 for the others.
    epsilon
        How much better X1 = 1 is than one half.
    """
    if not is_positive(n) or n != int(n) or n > MOST_PARALLEL:
        raise WorldError(f"n: expected a number of variables, at least 1 and at most {MOST_PARALLEL}, not {n!r}")
    names = [f"X{i}" for i in range(1, int(n) + 1)]
    chances = _chances([0.02, 0.02, *[0.5] * len(names)][: len(names)] if p is None else p, names)
    graph = Graph.from_edges([(v, "Y") for v in names], variables=[*names, "Y"])
    roots = [Node(v, (), two_values([chance])) for v, chance in chances.items()]
    reward = Node("Y", ("X1",), two_values([_reward_of_x1(chances["X1"], epsilon)]))
    return World(graph, (*roots, reward), dict.fromkeys(graph.variables, BINARY))


def random(
    graph: GraphLike,
    seed: int,
    domains: Mapping[str, Iterable[Value]] | None = None,
    concentration: float = 1.0,
) -> World:
    """Tables whose rows are drawn from a Dirichlet distribution; every `<->` is a hidden cause of both
    ends with 2 to 4 values.

    Parameters
    ----------
    graph
        A graph, or its text.
    seed
        Decides the tables.
    domains
        The values of variables that are not 0/1.
    concentration
        That of the Dirichlet distribution: a small one makes mechanisms nearly deterministic, a large one pure noise.

    >>> random("X -> Y; X <-> Y", seed=0, domains={"X": ["low", "mid", "high"]})
    <World: X and Y, 1 hidden>
    """
    if not is_positive(concentration):
        raise WorldError(f"concentration: expected a positive number, not {concentration!r}")
    graph, inputs = inputs_of(graph)
    labels = dict.fromkeys(graph.variables, BINARY) | read_domains(domains or {}, graph)
    chance = generator(seed, "world")
    cards = {v: len(labels[v]) if v in labels else MOST_HIDDEN for v in inputs}
    nodes = []
    for v, read in inputs.items():
        shape = [cards[u] for u in read]
        check_size(v, [*shape, cards[v]])
        # A hidden cause with fewer values has some that never occur, so that worlds of all seeds stack.
        values = cards[v] if v in labels else int(chance.integers(2, MOST_HIDDEN + 1))
        table = np.zeros((1, *shape, cards[v]))
        table[..., :values] = chance.dirichlet([concentration] * values, size=shape)
        nodes.append(Node(v, read, table))
    return World(graph, tuple(nodes), labels)


def inputs_of(graph: GraphLike) -> tuple[Graph, dict[str, tuple[str, ...]]]:
    """What each variable reads, hidden causes first: one for every `<->`, called after it."""
    graph = as_graph(graph)
    directed, bidirected = edges_in_order(graph)
    inputs: dict[str, list[str]] = {f"{a}<->{b}": [] for a, b in bidirected}
    inputs |= {v: [] for v in graph.variables}
    for a, b in directed:
        inputs[b].append(a)
    for a, b in bidirected:
        inputs[a].append(f"{a}<->{b}")
        inputs[b].append(f"{a}<->{b}")
    return graph, {v: tuple(read) for v, read in inputs.items()}


def _parity(name: str, parents: int) -> Array:
    check_size(name, [2] * (parents + 1))
    odd = reduce(np.logical_xor.outer, [np.array([False, True])] * parents)
    return two_values([np.where(odd, FOLLOWS, 1 - FOLLOWS)])


def two_values(ones: ArrayLike) -> Array:
    """A table of a 0/1 variable from its probabilities of 1."""
    chance = np.asarray(ones, dtype=float)
    return np.stack([1 - chance, chance], axis=-1)


def _chances(p: float | Iterable[float], names: Sequence[str]) -> dict[str, float]:
    """The probability of a 1 for every name."""
    given = list(p) if isinstance(p, Iterable) and not isinstance(p, str) else [p]
    if len(given) != len(names):
        raise WorldError(f"p: expected {len(names)} probabilities, one for each of X1, X2, ..., not {len(given)}")
    found: dict[str, float] = {}
    for name, chance in zip(names, given, strict=True):
        if not is_number(chance) or not 0 <= chance <= 1:
            raise WorldError(f"p: the probability of {name} is a number from 0 to 1, not {chance!r}")
        found[name] = float(chance)
    return found


def _reward_of_x1(p1: float, epsilon: float) -> list[float]:
    """P(Y=1 | X1=0) and P(Y=1 | X1=1)."""
    if not is_number(epsilon) or p1 == 1 or not (abs(epsilon) <= 0.5 and abs(epsilon) * p1 <= 0.5 * (1 - p1)):
        raise WorldError(
            f"epsilon: with p1 = {number(p1, 6)}, 0.5 + epsilon and 0.5 - epsilon p1 / (1 - p1) must be "
            f"probabilities, which {epsilon!r} does not give"
        )
    return [0.5 - epsilon * p1 / (1 - p1), 0.5 + epsilon]
