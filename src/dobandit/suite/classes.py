"""The named classes of benchmark worlds, as data.

Their definitions are fixed: results are comparable only as long as they do not change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np

from dobandit.arrays import Array
from dobandit.graph import Graph
from dobandit.suite import generators as make
from dobandit.suite.generators import Generator, every_arm_identifiable, some_arm_not_identifiable
from dobandit.worlds import N5, N6, N6_HIDDEN, N7, World, parallel, two_values, xor

UNIT = "unit"  # every arm costs 1, also one that sets several variables
# What it costs to set a variable, drawn for every arm of every trial; do() costs 1.
COSTS: Mapping[str, Mapping[str, Sequence[float]]] = {
    "near": {"uniform": [1, 1.3]},
    "23": {"choose": [2, 3]},
    "25": {"choose": [2, 3, 4, 5]},
    "57": {"choose": [5, 6, 7]},
    "high": {"choose": [5, 6, 7, 8, 9, 10]},
    UNIT: {"choose": [1]},
}
USUAL_COSTS: Mapping[str, str] = {"cumulative": "near", "simple": "57"}
BUDGETS: Mapping[str, tuple[float, ...]] = {
    "cumulative": (2500,),
    "simple": (25, 50, 100, 150, 200, 300, 350, 400, 500, 600, 700, 800, 1200, 1600, 2400, 3200, 4800, 6400),
}

STEEP = 0.35  # concentration of nearly deterministic tables, in which hidden causes matter
RARE, RARE_GAP = 0.02, 0.05
BIAS, SEEN = 0.2, 0.02  # confounding is strong if seeing and doing differ by this much where X=x is not too rare
WORSE, LOOKS_BETTER = 0.1, 0.05  # of the arm that looks best if correlation is taken for causation
WIDE = Graph(
    "X1 -> X3; X2 -> X4; X5 -> X6; {X1, X2, X3, X4, X5, X6} -> Y", variables=[*map("X{}".format, range(1, 7)), "Y"]
)
WIDE_HIDDEN = (("X1", "X2"), ("X3", "X4"), ("X4", "X6"), ("X3", "X5"), None)
WIDE_RARE = 0.01
RARE_REWARD, BUYERS = 0.02, 0.05  # mean chance of a success, of a sale
LEVELS, TILT = 40, 0.3  # different sums that are spent, and how much their distribution differs
MOST_SETTABLE = 5  # variables, where they are set in pairs
STRUCTURAL = (  # the graphs of the experiments of Lee and Bareinboim (NeurIPS 2018)
    ("iv", "an instrument", Graph("Z -> X -> Y; X <-> Y")),
    ("markovian", "two parents of the reward, no hidden cause", Graph("{Z1, Z2} -> {X1, X2} -> Y")),
    ("six", "six variables, two hidden causes", Graph("Z -> X -> Y; S -> W -> Y; T -> {X, Y}; X <-> W; Z <-> Y")),
)


@dataclass(frozen=True)
class Source:
    """Where the worlds of a benchmark come from."""

    name: str
    about: str
    draw: Callable[[Generator, int], World]  # of the chance and the number of a trial
    one_graph: bool = False  # all trials share their graph, and so can run in lock step
    reward: str = "Y"
    ends: tuple[float, float] | None = None  # of a reward that is a measurement
    costs: Mapping[str, str] = field(default_factory=lambda: USUAL_COSTS)  # by objective
    note: str = ""  # what readers of the results should know
    offers: Callable[[Graph], Mapping[str, Any]] | None = None  # arguments of the problem that say what can be set


def _random(wanted: Callable[[Graph], bool], chance: Generator, trial: int, largest: int = 8, **tables: Any) -> World:
    return make.random_world(chance, make.random_graph(chance, largest, wanted), **tables)


_rand = partial(_random, every_arm_identifiable)


def _strong(wanted: Callable[[Graph], bool], chance: Generator, trial: int) -> World:
    while True:
        world = _random(wanted, chance, trial, alpha=STEEP, hidden=(2,))
        problem = make.problem_of(world)
        seeing, seen = make.observed_means(world, problem.arms)
        if np.abs(seeing - world.means(problem))[seen > SEEN].max() >= BIAS:
            return world


def _reversed(chance: Generator, trial: int) -> World:
    while True:
        world = _rand(chance, trial)
        problem = make.problem_of(world)
        means, seeing = world.means(problem), make.observed_means(world, problem.arms)[0]
        best, naive = int(means.argmax()), int(seeing.argmax())
        if means[best] - means[naive] >= WORSE and seeing[naive] - seeing[best] >= LOOKS_BETTER:
            return world


def _bow_reversed(chance: Generator, trial: int) -> World:
    while True:
        world = _strong(some_arm_not_identifiable, chance, trial)
        problem = make.problem_of(world)
        means, seeing = world.means(problem), make.observed_means(world, problem.arms)[0]
        if means.max() - means[seeing.argmax()] >= WORSE:
            return world


def _rare(chance: Generator, trial: int) -> World:
    while True:
        world = _rand(chance, trial)
        acting = world.graph.in_order(world.graph.ancestors("Y"))
        variable, value = acting[int(chance.integers(len(acting)))], int(chance.integers(2))
        world = make.made_rare(world, variable, value, RARE)
        if _lead(world, f"do({variable}={value})") >= RARE_GAP:
            return world


def _rare_reward(chance: Generator, trial: int) -> World:
    world = _rand(chance, trial)
    return make.replaced(world, {"Y": two_values(_successes(world) * 2 * RARE_REWARD)})


def _revenue(chance: Generator, trial: int) -> World:
    """How many buy, and how much they spend, both depend on the parents of the reward."""
    world = _rand(chance, trial)
    buying = _successes(world) * 2 * BUYERS
    scores = np.array([NormalDist().inv_cdf((k + 0.5) / LEVELS) for k in range(LEVELS)])
    tilts = np.exp(scores * chance.normal(0.0, TILT, (*buying.shape, 1)))
    spent = buying[..., np.newaxis] * tilts / tilts.sum(axis=-1, keepdims=True)
    table = np.concatenate([1 - buying[..., np.newaxis], spent], axis=-1)
    nodes = tuple(n._replace(table=table) if n.name == "Y" else n for n in world.nodes)
    return World(world.graph, nodes, {**world.domains, "Y": ("0", *(f"{np.exp(3 + s):.2f}" for s in scores))})


def _successes(world: World) -> Array:
    return world.nodes[world.positions["Y"]].table[..., 1]


def _wide(chance: Generator, trial: int) -> World:
    pair = WIDE_HIDDEN[trial % len(WIDE_HIDDEN)]
    graph = Graph.from_edges(WIDE.directed, [pair] if pair else [], WIDE.variables)
    while True:
        world = make.random_world(chance, graph)
        name = f"X{int(chance.integers(1, 7))}"
        inputs = world.nodes[world.positions["Y"]].inputs
        is_one = np.indices((2,) * len(inputs))[inputs.index(name)] == 1  # by the rows of Y
        ones = np.where(is_one, chance.beta(8, 2, is_one.shape), chance.beta(3, 5, is_one.shape))
        world = make.made_rare(world, name, 1, WIDE_RARE)
        world = make.replaced(world, {"Y": two_values(ones)[np.newaxis]})
        if _lead(world, f"do({name}=1)") > 0:
            return world


def _lead(world: World, arm: str) -> float:
    """By how much the mean of an arm exceeds that of all others; negative if it does not."""
    problem = make.problem_of(world)
    means = world.means(problem)
    place = [str(a) for a in problem.arms].index(arm)
    return float(means[place] - np.delete(means, place).max())


def _pairs(graph: Graph) -> Mapping[str, Any]:
    settable = graph.in_order(graph.ancestors("Y"))[:MOST_SETTABLE]
    return {"intervenable": settable, "most_at_once": 2}


def _all_sets(graph: Graph) -> Mapping[str, Any]:
    others = [v for v in graph.variables if v != "Y"]
    return {"together": [s for size in range(2, len(others) + 1) for s in combinations(others, size)]}


def _structural(chance: Generator, trial: int) -> World:
    return make.random_world(chance, STRUCTURAL[trial % len(STRUCTURAL)][2], hidden=(2,))


def _one_structural(name: str, about: str, graph: Graph) -> Source:
    def draw(chance: Generator, trial: int) -> World:
        return make.random_world(chance, graph, hidden=(2,))

    return Source(f"structural-{name}", f"structural: {about}", draw, True, costs=_UNIT_COSTS, offers=_all_sets)


_UNIT_COSTS = {"cumulative": UNIT, "simple": UNIT}
_N6_COSTS = {**USUAL_COSTS, "cumulative": "23"}
_PARALLEL_COSTS = {**USUAL_COSTS, "simple": "25"}


def _fig(number: int, graph: Graph, name: str, beside: str = "", **rest: Any) -> Source:
    about = f"the paper's Fig. {number}{beside}, XOR models"
    return Source(name, about, lambda chance, _: xor(graph, int(chance.integers(2**53))), True, **rest)


def _causes(n: int, words: str) -> Source:
    about = f"{words} causes of the reward, of which one matters, but rarely"
    return Source(f"parallel-{n}", about, lambda chance, trial: parallel(n), True, costs=_PARALLEL_COSTS)


_SOURCES = (
    _fig(6, N6, "n6", costs=_N6_COSTS),
    _fig(7, N6_HIDDEN, "n6h", " (hidden causes)", costs=_N6_COSTS),
    _fig(11, N7, "n7"),
    _fig(12, N5, "n5"),
    Source("rand", "random graphs and tables, every arm identifiable", _rand),
    Source("strong", "rand with strong confounding", partial(_strong, every_arm_identifiable)),
    Source("reversed", "rand, but plain observations suggest a wrong arm", _reversed),
    Source("bow", "random graphs, at least one arm not identifiable", partial(_random, some_arm_not_identifiable)),
    Source("bow-strong", "bow with strong confounding", partial(_strong, some_arm_not_identifiable)),
    Source("bow-reversed", "bow-strong, but plain observations suggest a wrong arm", _bow_reversed),
    Source("rare", "rand, but the best arm sets a value that is observed in 2 of 100 cases", _rare),
    Source("wide", "a reward with six parents; the best arm sets a value that is observed in 1 of 100 cases", _wide),
    Source(
        "three-valued", "rand, but every variable except the reward has three values", partial(_rand, largest=6, card=3)
    ),
    Source("rare-reward", "rand with 2 successes in 100 cases on average", _rare_reward),
    Source(
        "revenue",
        "rand with 5 buyers in 100 cases on average; the amount they spend is lognormal",
        _revenue,
        ends=(0, 500),
    ),
    _causes(7, "seven"),
    _causes(50, "fifty"),
    Source("pairs", "rand, but arms set up to two of at most five variables", _rand, offers=_pairs),
    Source(
        "pairs-bow",
        "bow, but arms set up to two of at most five variables",
        partial(_random, some_arm_not_identifiable),
        offers=_pairs,
    ),
    Source(
        "structural",
        "the three graphs of structural bandits in turn; arms set any variables together",
        _structural,
        costs=_UNIT_COSTS,
        offers=_all_sets,
    ),
    *(_one_structural(*one) for one in STRUCTURAL),
)
WORLDS: Mapping[str, Source] = {source.name: source for source in _SOURCES}
