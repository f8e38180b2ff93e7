"""Which sets of variables are worth setting: against the definition, against published results, against models."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dobandit as db
from dobandit.errors import DobanditError
from dobandit.graph import Graph
from tests.models import Model, random_admg, random_model
from tests.strategies import admgs

Set = frozenset[str]


def subsets(nodes: frozenset[str] | list[str]) -> Iterator[tuple[str, ...]]:
    names = sorted(nodes)
    return chain.from_iterable(combinations(names, n) for n in range(len(names) + 1))


def border(graph: Graph, reward: str) -> Set:
    """The parents of the territory of the reward, written as the definition has it and nothing else."""
    relatives = graph.ancestors(reward) | {reward}
    arrows = [(a, b) for a, b in graph.directed if {a, b} <= relatives]
    pairs = [(a, b) for a, b in graph.bidirected if {a, b} <= relatives]
    territory = {reward}
    for _ in relatives:
        territory |= {b for a, b in arrows if a in territory}
        territory |= {b for pair in pairs for a, b in (pair, pair[::-1]) if a in territory}
    return frozenset(a for a, b in arrows if b in territory and a not in territory)


def every_border(graph: Graph, reward: str) -> frozenset[Set]:
    """The borders after every possible set of variables was set."""
    others = [v for v in graph.variables if v != reward]
    return frozenset(border(graph.without_edges(into=some), reward) for some in subsets(others))


def test_the_structural_bandits_of_lee_and_bareinboim() -> None:
    instrument = Graph("Z -> X -> Y; X <-> Y")
    assert db.possibly_optimal(instrument, "Y") == {frozenset("Z"), frozenset("X")}
    two_parents = Graph("X1 -> Y; X2 -> Y; Z1 -> {X1, X2}; Z2 -> {X1, X2}")
    assert db.possibly_optimal(two_parents, "Y") == {frozenset({"X1", "X2"})}


def test_a_confounded_variable_may_be_better_left_alone() -> None:
    graph = Graph("B -> A -> Y; C -> Y; B <-> Y; C <-> Y")
    assert db.possibly_optimal(graph, "Y") == {frozenset(), frozenset("A"), frozenset("C"), frozenset("AC")}


@given(admgs(min_size=1, max_size=6), st.data())
@settings(max_examples=150, deadline=None)
def test_exactly_the_borders_after_every_possible_set(graph: Graph, data: st.DataObject) -> None:
    reward = data.draw(st.sampled_from(graph.variables))
    assert db.possibly_optimal(graph, reward) == every_border(graph, reward)


@given(admgs(min_size=2, max_size=6), st.data())
@settings(max_examples=100, deadline=None)
def test_variables_that_cannot_be_set_are_like_hidden_ones(graph: Graph, data: st.DataObject) -> None:
    reward, *others = data.draw(st.permutations(graph.variables))
    settable = others[: len(others) // 2]
    found = db.possibly_optimal(graph, reward, settable)
    assert found == db.possibly_optimal(graph.project({reward, *settable}), reward)
    assert all(chosen <= set(settable) for chosen in found)


def best_mean(model: Model, reward: str, chosen: tuple[str, ...]) -> float:
    """The largest mean of the reward over all settings of these variables, by enumeration."""
    axis = model.graph.variables.index(reward)
    settings = product(*(range(model.cards[v]) for v in chosen))
    joints = (model.joint(dict(zip(chosen, values, strict=True))) for values in settings)
    return max(
        float((joint.sum(axis=tuple(i for i in range(joint.ndim) if i != axis)) * [0, 1]).sum()) for joint in joints
    )


def test_in_no_model_another_set_is_better() -> None:
    """On 120 random graphs with 5 models each; half of the models have deterministic variables, where leaving a
    variable alone pays most often."""
    rng = np.random.default_rng(5)
    won = 0
    for i in range(120):
        graph = random_admg(rng, 3, 5)
        reward = graph.variables[-1]
        possible = db.possibly_optimal(graph, reward)
        sets = list(subsets(graph.ancestors(reward)))
        for _ in range(5):
            model = random_model(graph, rng, deterministic=0.8 * (i % 2))
            means = {frozenset(chosen): best_mean(model, reward, chosen) for chosen in sets}
            best = max(means.values())
            assert max(means[chosen] for chosen in possible) >= best - 1e-9
            won += sum(means[chosen] < best - 1e-9 for chosen in means) > 0
    assert won > 300  # models in which the choice mattered


def test_the_reward_cannot_be_set() -> None:
    with pytest.raises(DobanditError, match="the reward Y cannot be set"):
        db.possibly_optimal("X -> Y", "Y", settable=["X", "Y"])
    with pytest.raises(DobanditError, match="Q"):
        db.possibly_optimal("X -> Y", "Y", settable=["Q"])
    with pytest.raises(DobanditError, match="Q"):
        db.possibly_optimal("X -> Y", "Q")
