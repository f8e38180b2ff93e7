"""m(C) of Maiti et al. (2022): against its definition, and beside n(q)."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import dobandit as db
from dobandit import worlds
from dobandit.paper.rarity import thresholds
from dobandit.policies.infrequent import threshold_m, threshold_n
from dobandit.problem import Problem
from dobandit.worlds import World
from tests import named_graphs as named
from tests.models import Array, Model, random_model


def m_of_c(graph: db.Graph, joint: Array) -> int:
    """m(C) by its definition: the smallest tau from 2 to 2N such that at most tau variables have q_i^k_i < 1/tau, where
    q_i = min P(X_i = x, Pa^c(X_i) = z) over all x and z."""
    powers = []
    for v in graph.variables:
        component = {v}
        while more := {u for pair in graph.bidirected if component & set(pair) for u in pair} - component:
            component |= more
        cell = component | {a for a, b in graph.directed if b in component}
        others = tuple(i for i, u in enumerate(graph.variables) if u not in cell)
        if v != "Y":
            powers.append(float(joint.sum(axis=others).min()) ** len(component))
    return next(tau for tau in range(2, 2 * len(powers) + 1) if sum(q < 1 / tau for q in powers) <= tau)


def test_m_of_c_is_what_its_definition_says() -> None:
    """The joint distribution comes from enumeration. In these graphs every variable leads to Y and has no child in its
    own c-component, as Maiti et al. assume."""
    rng, found = np.random.default_rng(3), []
    graphs = [named.FIG6, named.FIG7, named.FIG11, named.FIG12, named.FRONT_DOOR, named.BACK_DOOR]
    for graph in [*graphs, db.Graph("A -> B -> C -> D -> Y; {A, B, C} -> Y"), db.Graph("{A, B, C, D, E} -> Y")] * 10:
        model = random_model(graph, rng)
        problem = Problem(graph, "Y", 1)
        ones = np.ones(len(problem.arms))
        found.append(thresholds(problem, world_of(model), ones).m_c)
        assert found[-1] == m_of_c(graph, model.joint())
    assert set(found) == {2, 3, 4, 5, 6, 7}, "not the same answer everywhere"


def world_of(model: Model) -> World:
    names = {pair: "<->".join(pair) for pair in model.hidden}
    hidden = {names[pair]: (prior.tolist(), list(pair)) for pair, prior in model.hidden.items()}
    tables = {}
    for v, table in model.tables.items():
        causes = [names[pair] for pair in sorted(model.hidden) if v in pair]
        tables[v] = ([*sorted(model.graph.parents(v)), *causes], table)
    return worlds.from_tables(model.graph, tables, hidden)


@given(st.lists(st.tuples(*[st.one_of(st.just(0.0), st.floats(1e-6, 0.5))] * 2), min_size=1, max_size=8))
def test_n_and_m_of_c_are_of_the_same_size(rarity: list[tuple[float, float]]) -> None:
    """Where every pull costs 1 and variables have two values, m(C) <= max(2, ceil n) and n <= 2 m(C): a rare arm makes
    a rare variable, and a rare variable at most two rare arms."""
    q = np.array(rarity)
    n = threshold_n(q.reshape(1, -1), np.ones((1, q.size)))[0]
    m = threshold_m(q.min(axis=1)[np.newaxis], q.size)[0]
    assert m <= max(2, math.ceil(n - 1e-9))
    assert n <= 2 * m * (1 + 1e-12)
