"""Exact means against brute force: every configuration of every variable, hidden ones included."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from dobandit.errors import DobanditError
from dobandit.graph import Graph
from dobandit.problem import Problem
from dobandit.worlds import World, from_tables, model, parallel, random, xor
from tests import named_graphs as named
from tests.models import random_admg

Array = NDArray[np.float64]
Mechanisms = Mapping[str, tuple[tuple[str, ...], Array]]  # inputs, table with the variable as last axis


def joint(mechanisms: Mechanisms, do: Mapping[str, int]) -> tuple[list[str], Array]:
    """P(everything | do) by multiplying everything out."""
    names = list(mechanisms)
    total = np.ones([mechanisms[v][1].shape[-1] for v in names])
    for name, (inputs, table) in mechanisms.items():
        axes = [*inputs, name]
        if name in do:
            axes, table = [name], np.eye(table.shape[-1])[do[name]]
        order = sorted(range(len(axes)), key=lambda i: names.index(axes[i]))
        shape = [table.shape[axes.index(v)] if v in axes else 1 for v in names]
        total *= table.transpose(order).reshape(shape)
    return names, total


def enumerated(mechanisms: Mechanisms, problem: Problem) -> Array:
    """The mean of every arm by enumeration."""
    found = []
    for arm in problem.arms:
        do = arm.codes(problem.domains)
        names, total = joint(mechanisms, do)
        at = names.index(problem.reward)
        reward = total.sum(axis=tuple(i for i in range(total.ndim) if i != at))
        found.append(reward @ np.array(problem.reward_values))
    return np.array(found)


def mechanisms_of(world: World, trial: int = 0) -> Mechanisms:
    return {node.name: (node.inputs, node.table[trial]) for node in world.nodes}


def a_graph(rng: np.random.Generator, hidden: int = 4) -> Graph:
    """A graph that enumeration can cope with, and whose last variable has ancestors."""
    while True:
        graph = random_admg(rng, 3, 6)
        if len(graph.bidirected) <= hidden and graph.parents(graph.variables[-1]):
            return graph


def a_problem(graph: Graph, rng: np.random.Generator, domains: Mapping[str, tuple[str, ...]]) -> Problem:
    reward = graph.variables[-1] if rng.random() < 0.7 else str(rng.choice(graph.variables))
    values = {value: float(worth) for value, worth in zip(domains[reward], rng.normal(size=9), strict=False)}
    others = {v: values for v, values in domains.items() if v != reward}
    return Problem(graph, {"variable": reward, "values": values}, budget=1, domains=others)


def some_tables(graph: Graph, rng: np.random.Generator) -> tuple[Mechanisms, dict[str, tuple[Array, list[str]]]]:
    """Tables of our own: bows, axes in any order, hidden causes of two or three variables, zeros."""
    triangles = (set(three) for three in combinations(graph.variables, 3))
    triangle = next((t for t in triangles if {*combinations(sorted(t), 2)} <= graph.bidirected), set())
    pairs = [set(pair) for pair in sorted(graph.bidirected) if not set(pair) <= triangle]
    hidden = {f"U{i}": sorted(children) for i, children in enumerate([*pairs, triangle]) if children}
    cards = {v: int(rng.integers(2, 4)) for v in graph.variables} | {u: int(rng.integers(2, 5)) for u in hidden}
    mechanisms: dict[str, tuple[tuple[str, ...], Array]] = {}
    for u in hidden:
        mechanisms[u] = ((), rng.dirichlet(np.ones(cards[u])))
    for v in graph.variables:
        inputs = [*graph.parents(v), *(u for u, children in hidden.items() if v in children)]
        inputs = [str(name) for name in rng.permutation(sorted(inputs))]
        shape = [cards[name] for name in inputs]
        if inputs and rng.random() < 0.2:
            table = np.eye(cards[v])[rng.integers(cards[v], size=shape)]
        else:
            table = rng.dirichlet(np.ones(cards[v]), size=shape)
        mechanisms[v] = (tuple(inputs), table)
    return mechanisms, {u: (mechanisms[u][1], children) for u, children in hidden.items()}


@pytest.mark.parametrize("chunk", range(3))
def test_means_of_tables_equal_enumeration(chunk: int) -> None:
    for seed in range(chunk, 150, 3):
        rng = np.random.default_rng([31, seed])
        graph = a_graph(rng)
        mechanisms, hidden = some_tables(graph, rng)
        world = from_tables(graph, {v: mechanisms[v] for v in graph.variables}, hidden)
        problem = a_problem(graph, rng, world.domains)
        expected = enumerated(mechanisms, problem)
        np.testing.assert_allclose(world.means(problem), expected, rtol=0, atol=1e-12, err_msg=str(graph))


@pytest.mark.parametrize("chunk", range(3))
def test_means_of_random_worlds_equal_enumeration(chunk: int) -> None:
    """Batches of two trials, so that the 150 worlds are also checked in company."""
    for seed in range(chunk, 75, 3):
        rng = np.random.default_rng([32, seed])
        graph = a_graph(rng, hidden=3)
        labels = {2: ("no", "yes"), 3: ("low", "mid", "high")}
        domains = {v: labels[int(rng.integers(2, 4))] for v in graph.variables}
        batch = [random(graph, seed, domains), random(graph, seed + 1000, domains)]
        problem = a_problem(graph, rng, domains)
        found = World.stack(batch).means(problem)
        for trial, world in enumerate(batch):
            expected = enumerated(mechanisms_of(world), problem)
            np.testing.assert_allclose(found[trial], expected, rtol=0, atol=1e-12, err_msg=str(graph))


def test_the_hidden_causes_of_random_worlds_have_two_to_four_values() -> None:
    worlds = [random(named.BOW, seed) for seed in range(40)]
    assert {np.count_nonzero(world.nodes[0].table) for world in worlds} == {2, 3, 4}
    assert all(world.graph == named.BOW for world in worlds)


@pytest.mark.parametrize("seed", range(5))
def test_the_model_of_figure_6_has_the_published_means(seed: int) -> None:
    world = xor(named.FIG6, seed)
    problem = Problem(named.FIG6, "Y", budget=1)
    means = dict(zip(map(str, problem.arms), world.means(problem), strict=True))
    assert means["do()"] == pytest.approx(0.46112, abs=1e-12)
    assert means["do(X6=1)"] == pytest.approx(0.8, abs=1e-12)
    assert means["do(X6=0)"] == pytest.approx(0.2, abs=1e-12)


@pytest.mark.parametrize("graph", [named.FIG6, named.FIG7, named.FIG11, named.FIG12], ids=["6", "7", "11", "12"])
def test_xor_is_the_rule_of_the_paper(graph: Graph) -> None:
    """Against the rule itself: noise flips the XOR of all parents, hidden ones too, with probability 0.2."""
    world = xor(graph, seed=4)
    mechanisms = mechanisms_of(world)
    hidden = [name for name in mechanisms if name not in graph]
    assert len(hidden) == len(graph.bidirected)
    for name, (inputs, table) in mechanisms.items():
        if name in graph:
            assert {v for v in inputs if v in graph} == graph.parents(name)
        if not inputs:
            assert 0.5 <= table[1] <= 1
        for parents in np.ndindex(*table.shape[:-1]) if inputs else ():
            assert table[(*parents, sum(parents) % 2)] == pytest.approx(0.8)
    problem = Problem(graph, "Y", budget=1)
    np.testing.assert_allclose(world.means(problem), enumerated(mechanisms, problem), rtol=0, atol=1e-12)


def test_a_variable_whose_only_parents_are_hidden_has_parents() -> None:
    world = xor("A <-> B; A -> Y", seed=0)
    assert dict(mechanisms_of(world))["B"][0] == ("A<->B",)


def test_the_parallel_model() -> None:
    world = parallel(n=50, epsilon=0.3)
    assert world.graph == named.PARALLEL
    problem = Problem(world.graph, "Y", budget=1)
    means = dict(zip(map(str, problem.arms), world.means(problem), strict=True))
    assert means.pop("do(X1=1)") == pytest.approx(0.8)
    assert means.pop("do(X1=0)") == pytest.approx(0.5 - 0.02 * 0.3 / 0.98)
    assert set(means.values()) == {means["do()"]}  # to the last bit: these arms do nothing to Y
    assert means["do()"] == pytest.approx(0.5)
    assert [float(world.distribution([v])[1]) for v in ("X1", "X2", "X3", "X50")] == [0.02, 0.02, 0.5, 0.5]


def test_arms_that_do_not_act_on_the_reward_share_the_mean_of_do() -> None:
    world = random("X -> Y -> Z; X <-> Z; W", seed=1)
    problem = Problem(world.graph, "Y", budget=1)
    means = dict(zip(map(str, problem.arms), world.means(problem), strict=True))
    assert means["do(Z=0)"] == means["do(Z=1)"] == means["do(W=1)"] == means["do()"] != means["do(X=1)"]


def test_means_have_the_same_bits_in_any_batch() -> None:
    problem = Problem(named.FIG7, "Y", budget=1)
    worlds = [xor(named.FIG7, seed) for seed in range(70)]
    batch = World.stack(worlds).means(problem)
    assert batch.shape == (70, len(problem.arms))
    for trials in (range(1), range(3, 7), range(69, 70)):
        alone = np.atleast_2d(World.stack(worlds[i] for i in trials).means(problem))
        assert (alone == batch[trials]).all()


def test_a_problem_may_observe_less_than_the_world_has() -> None:
    graph = Graph("Z -> {X, Y}; X -> M -> Y")
    world = random(graph, seed=2)
    whole, part = Problem(graph, "Y", budget=1), Problem(graph, "Y", budget=1, observed=["X", "Y"])
    means = dict(zip(map(str, whole.arms), world.means(whole), strict=True))
    assert part.graph == Graph("X -> Y; X <-> Y")
    assert world.means(part).tolist() == [means[str(arm)] for arm in part.arms]
    assert world.means(Problem("X -> Y; X <-> Y", "Y", budget=1)).tolist() == world.means(part).tolist()


def test_means_are_in_the_units_of_the_user() -> None:
    world = random("X -> Y", seed=3, domains={"Y": ["no", "yes"]})
    plain = world.distribution(["Y"])
    problem = Problem("X -> Y", {"variable": "Y", "values": {"yes": 120, "no": -5}}, budget=1)
    assert world.means(problem)[0] == pytest.approx(-5 * plain[0] + 120 * plain[1])


def test_a_reward_of_numbers_in_a_range() -> None:
    world = random("X -> Y", seed=3, domains={"Y": [0, 2.5, 10]})
    problem = Problem("X -> Y", {"variable": "Y", "range": [0, 10]}, budget=1)
    for arm, mean in zip(problem.arms, world.means(problem), strict=True):
        assert mean == pytest.approx(world.distribution(["Y"], arm) @ [0, 2.5, 10])
    assert world.worth(problem).tolist() == [0, 2.5, 10]
    for domain in (["low", "high"], [0, 11]):
        with pytest.raises(DobanditError, match=r"the problem says numbers from 0 to 10"):
            random("X -> Y", seed=3, domains={"Y": domain}).means(problem)


def test_a_reward_in_numbers_fits_names_that_are_worth_them() -> None:
    world = xor("X -> Y", seed=1)
    named_reward = Problem("X -> Y", {"variable": "Y", "values": {"yes": 1, "no": 0}}, budget=1)
    assert world.means(named_reward).tolist() == world.means(Problem("X -> Y", "Y", budget=1)).tolist()
    assert world.fit(named_reward).domains["Y"] == ("yes", "no")


def test_values_in_another_order_are_the_same_values() -> None:
    domains = {"X": ["a", "b", "c"], "Y": ["0", "1"]}
    world = random("X -> Y; X <-> Y", seed=5, domains=domains)
    ours = Problem("X -> Y", "Y", budget=1, domains={"X": ["a", "b", "c"]})
    theirs = Problem("X -> Y", "Y", budget=1, domains={"X": ["c", "a", "b"]})
    by_arm = dict(zip(ours.arms, world.means(ours), strict=True))
    np.testing.assert_allclose(world.means(theirs), [by_arm[arm] for arm in theirs.arms], atol=1e-15)
    assert world.fit(ours) is world
    fitted = world.fit(theirs)
    assert fitted.domains["X"] == ("c", "a", "b")
    assert fitted.clamps(["do(X=c)"])[fitted.positions["X"]].tolist() == [0]


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (Problem("X -> Y; Z", "Y", budget=1), r"the world has no variable Z, which the problem observes"),
        (
            Problem("X -> Y", "Y", budget=1, domains={"X": ["low", "high"]}),
            r"X has the values 0 and 1 in the world, but low and high in the problem",
        ),
        (
            Problem("X -> Y", "Y", budget=1, domains={"X": [0, 1, 2]}),
            r"X has the values 0 and 1 in the world, but 0, 1 and 2 in the problem",
        ),
        (
            Problem("X -> Y", {"variable": "Y", "values": {"no": 0, "yes": 2}}, budget=1),
            r"Y has the values 0 and 1 in the world, but no and yes in the problem",
        ),
    ],
)
def test_problems_that_do_not_fit(problem: Problem, message: str) -> None:
    with pytest.raises(DobanditError, match=message):
        xor("X -> Y", seed=0).means(problem)


def test_a_distribution_is_the_enumerated_one() -> None:
    rng = np.random.default_rng(8)
    graph = Graph("A -> B -> C; A -> C; B <-> C; A <-> C")
    mechanisms, hidden = some_tables(graph, rng)
    world = from_tables(graph, {v: mechanisms[v] for v in graph.variables}, hidden)
    for do in ({}, {"B": 1}):
        names, total = joint(mechanisms, do)
        seen = total.sum(axis=tuple(i for i, name in enumerate(names) if name not in graph))
        arm = "do(B=1)" if do else "do()"
        np.testing.assert_allclose(world.distribution(["A", "B", "C"], arm), seen, atol=1e-14)
        turned = seen.sum(axis=1).T
        np.testing.assert_allclose(world.distribution(["C", "A"], arm), turned, atol=1e-14)


def test_a_world_beyond_the_memory_limit_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its largest table has 16 numbers of eight bytes."""
    problem, world = Problem(named.FIG7, "Y", budget=1), xor(named.FIG7, seed=0)
    means = world.means(problem)
    monkeypatch.setenv("DOBANDIT_MEMORY", "127B")
    with pytest.raises(DobanditError, match=r"a table of 16 numbers .* the memory limit allows 15; DOBANDIT_"):
        world.means(problem)
    monkeypatch.setenv("DOBANDIT_MEMORY", "128B")
    np.testing.assert_array_equal(world.means(problem), means)
    monkeypatch.setenv("DOBANDIT_MEMORY", "1KB")  # 16 cells of a world's table
    random(Graph("A -> Y; B -> Y; C -> Y"), seed=0)
    with pytest.raises(DobanditError, match=r"the table of Y would have 32 cells, .* the memory limit allows 16"):
        random(Graph("A -> Y; B -> Y; C -> Y; D -> Y"), seed=0)


@pytest.mark.parametrize("seed", range(12))
def test_means_that_share_their_sums_are_those_of_enumeration(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large worlds share; here small ones do, with arms that set up to two variables, in a batch of two worlds."""
    monkeypatch.setattr(model, "WORTH_SHARING", 0)
    graph = a_graph(np.random.default_rng(seed))
    problem = Problem(graph, graph.variables[-1], budget=1, most_at_once=2)
    world = World.stack(random(graph, seed) for seed in (seed, seed + 100))
    expected = [enumerated(mechanisms_of(world, trial), problem) for trial in range(2)]
    np.testing.assert_allclose(world.means(problem), expected, atol=1e-12)


def test_a_world_that_is_too_wide_is_refused_before_any_work() -> None:
    """A grid of 40 by 40 variables has tables of 2^40 numbers at least."""
    names = [[f"X{i}_{j}" for j in range(40)] for i in range(40)]
    down = [(names[i][j], names[i + 1][j]) for i in range(39) for j in range(40)]
    right = [(names[i][j], names[i][j + 1]) for i in range(40) for j in range(39)]
    graph = Graph.from_edges(down + right)
    with pytest.raises(DobanditError, match="too densely connected"):
        xor(graph, seed=0).means(Problem(graph, "X39_39", budget=1))
