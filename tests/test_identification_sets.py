"""Identification of effects of several variables that are set together, against independent oracles."""

from __future__ import annotations

import os
from itertools import pairwise, product

import causaleffect
import numpy as np
import pytest

import dobandit as db
from dobandit.graph import Graph
from dobandit.identification import Estimand
from tests.models import Array, Model, conditional, marginal, random_admg, random_model

GRAPHS = int(os.environ.get("DOBANDIT_SETS", "100"))  # 1000 takes some minutes


def verdict_of_causaleffect(graph: Graph, do: tuple[str, ...], on: str) -> bool:
    edges = [f"{a}->{b}" for a, b in graph.directed] + [f"{a}<->{b}" for a, b in graph.bidirected]
    mentioned = {v for edge in [*graph.directed, *graph.bidirected] for v in edge}
    if on not in mentioned or not mentioned.intersection(do):
        return True  # the oracle cannot take variables without edges, which change nothing
    return bool(causaleffect.ID({on}, mentioned.intersection(do), causaleffect.createGraph(edges)).identifiable)


def run(estimand: Estimand, model: Model) -> Array:
    joint = model.joint()
    found: Array = estimand.evaluate({t: conditional(joint, model.graph, t) for t in estimand.tables})[0]
    return found


def truth(model: Model, do: tuple[str, ...], on: str) -> Array:
    """P(on | do) for all values of the variables that are set, an axis for each."""
    shape = [model.cards[v] for v in do]
    rows = [
        marginal(model.joint(dict(zip(do, codes, strict=True))), model.graph, on)
        for codes in product(*map(range, shape))
    ]
    return np.array(rows).reshape([*shape, model.cards[on]])


def questions(rng: np.random.Generator, graph: Graph) -> tuple[tuple[str, ...], str]:
    *others, on = graph.variables
    number = int(rng.integers(1, min(3, len(others)) + 1))
    return graph.in_order([str(v) for v in rng.choice(others, number, replace=False)]), on


def test_verdicts_and_values_on_random_graphs() -> None:
    """The verdict is causaleffect's, the value brute-force enumeration's."""
    methods: dict[str, int] = {}
    for seed in range(GRAPHS):
        rng = np.random.default_rng([20, seed])
        graph = random_admg(rng, 4, 7)
        do, on = questions(rng, graph)
        assert db.is_identifiable(graph, do, on) == verdict_of_causaleffect(graph, do, on), (graph, do, on)
        if not db.is_identifiable(graph, do, on):
            methods["none"] = methods.get("none", 0) + 1
            with pytest.raises(db.NotIdentifiable, match="is not identifiable") as error:
                db.identify(graph, do, on)
            _check_obstacle(graph, do, error.value.path)
            continue
        estimand = db.identify(graph, do, on)
        methods[estimand.method] = methods.get(estimand.method, 0) + 1
        model = random_model(graph, rng, values=(2, 3) if len(graph.variables) < 6 else (2,))
        expected = truth(model, do, on)
        np.testing.assert_allclose(np.broadcast_to(run(estimand, model), expected.shape), expected, rtol=0, atol=1e-9)
    assert set(methods) == {"none", "observed", "no-backdoor", "adjustment", "c-factor"}, methods


def _check_obstacle(graph: Graph, do: tuple[str, ...], path: tuple[str, ...]) -> None:
    """A row of hidden causes from something that is set to a child of it."""
    assert path[0] in do
    assert path[-1] in graph.children(path[0])
    assert all(b in graph.siblings(a) for a, b in pairwise(path))


def test_everything_at_once() -> None:
    held = 0
    for seed in range(GRAPHS):
        rng = np.random.default_rng([21, seed])
        graph = random_admg(rng, 3, 5)
        do = graph.in_order([str(v) for v in rng.choice(graph.variables, 2, replace=False)])
        if not db.is_identifiable(graph, do, "all"):
            continue
        held += 1
        model = random_model(graph, rng)
        found = run(db.identify(graph, do, "all"), model)
        places = tuple(graph.variables.index(v) for v in do)
        for codes in product(*(range(model.cards[v]) for v in do)):
            expected = np.moveaxis(model.joint(dict(zip(do, codes, strict=True))), places, (0, 1))[codes]
            at = tuple(code if size > 1 else 0 for code, size in zip(codes, found.shape, strict=False))
            np.testing.assert_allclose(found[at], expected, atol=1e-9)
    assert held > GRAPHS / 5


def test_a_set_is_named_in_any_order_and_a_single_variable_as_before() -> None:
    graph = Graph("Z -> {A, B, Y}; {A, B} -> Y")
    assert db.identify(graph, ["B", "A"], "Y") == db.identify(graph, ("A", "B"), "Y")
    assert db.identify(graph, ["A"], "Y") == db.identify(graph, "A", "Y")
    assert str(db.identify(graph, ["B", "A"], "Y")) == "P(Y | do(A, B)) = Σ_Z P(Y | A, B, Z) P(Z)"
    with pytest.raises(db.NotIdentifiable, match=r"effect of A and B on Y .* B and its child Y share .*: B <-> Y"):
        db.identify("{A, B} -> Y; B <-> Y", ["A", "B"], "Y")


def test_the_effect_of_a_pair_from_the_exact_distribution() -> None:
    """On `Z -> A -> B -> Y` with a hidden cause of Z and Y the pair needs only its second variable."""
    rng = np.random.default_rng(7)
    model = random_model(Graph("Z -> {A, B, Y}; A -> {B, Y}; B -> Y; A <-> Z"), rng)
    joint = model.joint()
    cells = np.indices(joint.shape).reshape(joint.ndim, -1)
    log = dict(zip(model.graph.variables, cells, strict=True)) | {"weight": joint.ravel()}
    for a, b in product((0, 1), repeat=2):
        expected = marginal(model.joint({"A": a, "B": b}), model.graph, "Y")[1]
        found = db.effect(model.graph, log, do={"B": b, "A": a}, reward="Y", weights="weight")
        assert found.mean == pytest.approx(expected, abs=1e-9)
        assert (found.n, found.method) == (0, "adjustment")
