"""Identification against independent oracles: verdicts, formulas and numbers."""

from __future__ import annotations

from collections.abc import Callable

import causaleffect
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dobandit as db
from dobandit.errors import GraphError, MissingCell, UnknownVariable
from dobandit.graph import Graph
from dobandit.identification import Estimand, Sum, Table, evaluation
from tests import named_graphs as named
from tests.formulas import worked_out
from tests.models import Array, Model, conditional, marginal, random_admg, random_model
from tests.strategies import admgs

RNG_SEEDS = range(1000)


def verdict_of_causaleffect(graph: Graph, do: str, on: str) -> bool:
    edges = [f"{a}->{b}" for a, b in graph.directed] + [f"{a}<->{b}" for a, b in graph.bidirected]
    mentioned = {v for edge in [*graph.directed, *graph.bidirected] for v in edge}
    if not {do, on} <= mentioned:
        return True  # the oracle cannot take variables without edges; such an effect is trivially identified
    return bool(causaleffect.ID({on}, {do}, causaleffect.createGraph(edges)).identifiable)


def run(estimand: Estimand, model: Model) -> Array:
    joint = model.joint()
    found: Array = estimand.evaluate({t: conditional(joint, model.graph, t) for t in estimand.tables})[0]
    return found


def truth(model: Model, do: str, on: str) -> Array:
    """P(on | do(do = x)) for every x."""
    return np.stack([marginal(model.joint({do: x}), model.graph, on) for x in range(model.cards[do])])


@pytest.mark.parametrize("chunk", range(4))
def test_verdicts_and_values_on_random_graphs(chunk: int) -> None:
    """1,000 ADMGs: the verdict is causaleffect's, the value brute-force enumeration's."""
    identified = refused = 0
    for seed in RNG_SEEDS[chunk::4]:
        rng = np.random.default_rng([2, seed])
        graph = random_admg(rng)
        do, on = map(str, rng.choice(list(graph.variables), 2, replace=False))
        if seed % 5:  # mostly forwards in causal order, where the questions are hard
            do, on = sorted((do, on), key=graph.variables.index)
        assert db.is_identifiable(graph, do, on) == verdict_of_causaleffect(graph, do, on), (graph, do, on)
        if not db.is_identifiable(graph, do, on):
            refused += 1
            with pytest.raises(db.NotIdentifiable, match=f"the effect of {do} on {on} is not identifiable"):
                db.identify(graph, do, on)
            continue
        identified += 1
        model = random_model(graph, rng, values=(2, 3, 4) if seed % 3 == 0 and len(graph.variables) < 6 else (2,))
        found, expected = run(db.identify(graph, do, on), model), truth(model, do, on)
        np.testing.assert_allclose(np.broadcast_to(found, expected.shape), expected, rtol=0, atol=1e-9)
    assert identified > 100
    assert refused > 20


def test_every_arm_of_small_confounded_graphs() -> None:
    """The hard recipes (ratios, averages over variables that only seem to matter) occur and are exact, and so is what
    is printed of them."""
    methods: dict[str, int] = {}
    for seed in range(1000):
        rng = np.random.default_rng([3, seed])
        graph = random_admg(rng, 4, 6)
        model = random_model(graph, rng, values=(2, 3))
        on = graph.variables[-1]
        for do in graph.variables[:-1]:
            if not db.is_identifiable(graph, do, on):
                continue
            estimand = db.identify(graph, do, on)
            kind = "ratio" if "/" in str(estimand) else estimand.method
            methods[kind] = methods.get(kind, 0) + 1
            expected = truth(model, do, on)
            np.testing.assert_allclose(np.broadcast_to(run(estimand, model), expected.shape), expected, atol=1e-9)
            if estimand.method == "c-factor":
                small = random_model(graph, rng)
                expected = np.broadcast_to(truth(small, do, on), (2, 2))
                np.testing.assert_allclose(worked_out(str(estimand), small, do, on), expected, atol=1e-9)
    assert set(methods) == {"observed", "no-backdoor", "adjustment", "c-factor", "ratio"}, methods


def test_everything_at_once() -> None:
    """on="all": the child condition, and P(everything else | do(x)) exact where it holds."""
    held = 0
    for seed in range(300):
        rng = np.random.default_rng([4, seed])
        graph = random_admg(rng, 3, 5)
        do = graph.variables[0]
        holds = not graph.c_component(do) & graph.children(do)
        assert db.is_identifiable(graph, do, "all") == holds
        if not holds:
            with pytest.raises(db.NotIdentifiable, match="everything else"):
                db.identify(graph, do, "all")
            continue
        held += 1
        model = random_model(graph, rng)
        found = run(db.identify(graph, do, "all"), model)
        for x in range(model.cards[do]):
            np.testing.assert_allclose(found[x if len(found) > 1 else 0], model.joint({do: x})[x], atol=1e-9)
    assert held > 100


@pytest.mark.parametrize(
    ("graph", "method", "formula"),
    [
        (named.BACK_DOOR, "adjustment", "P(Y | do(X)) = Σ_Z P(Y | X, Z) P(Z)"),
        (named.FRONT_DOOR, "c-factor", "P(Y | do(X)) = Σ_M P(M | X) [Σ_X' P(X') P(Y | X', M)]"),
        (named.M_BIAS, "no-backdoor", "P(Y | do(X)) = P(Y | X)"),
        (
            named.NAPKIN,
            "c-factor",
            "P(Y | do(X)) = (Σ_W1,W2 P(W2) P(W1) P(X | W1, W2) P(Y | W1, W2, X)) / (Σ_W1,W2 P(W2) P(W1) P(X | W1, W2))",
        ),
        (Graph("Y -> X; X <-> Y"), "observed", "P(Y | do(X)) = P(Y)"),
        (Graph("X; Y"), "observed", "P(Y | do(X)) = P(Y)"),
    ],
)
def test_textbook_formulas(graph: Graph, method: str, formula: str) -> None:
    estimand = db.identify(graph, do="X", on="Y")
    assert (estimand.method, str(estimand)) == (method, formula)


@pytest.mark.parametrize(
    ("graph", "do", "obstacle"),
    [
        (named.BOW, "X", "X and its child Y share hidden causes: X <-> Y"),
        (named.INSTRUMENT, "X", "X and its child Y share hidden causes: X <-> Y"),
        (
            Graph("X1 -> X2 -> Y; X1 <-> X3 <-> X2; X3 -> Y"),
            "X1",
            "X1 and its child X2 share hidden causes: X1 <-> X3 <-> X2",
        ),
    ],
)
def test_the_obstacle_is_named(graph: Graph, do: str, obstacle: str) -> None:
    with pytest.raises(db.NotIdentifiable, match=obstacle):
        db.identify(graph, do=do, on="Y")


def test_the_shortest_obstacle_is_named() -> None:
    """Of A <-> C <-> Y and B <-> Y, whichever is listed first."""
    for order in (["A", "B"], ["B", "A"]):
        graph = Graph("{A, B} -> Y; A <-> C; C <-> Y; C -> Y; B <-> Y", variables=[*order, "C", "Y"])
        with pytest.raises(db.NotIdentifiable, match="B and its child Y share hidden causes: B <-> Y"):
            db.identify(graph, do=["A", "B"], on="Y")


def test_what_is_undefined_twice_is_undefined() -> None:
    """Two cells without a value are no product of 1, and beside a zero they do not matter."""
    a, b, c = Table("A", ()), Table("A", ("B",)), Table("A", ("B", "C"))
    tables = {a: np.array([[np.nan, 0.5]]), b: np.array([[[np.nan, 0.4]]]), c: np.array([[[[0.0, 1.0]]]])}
    found = [evaluation.run(Sum(frozenset({"B", "C"}), factors), tables).values for factors in ((a, b), (a, b, c))]
    np.testing.assert_allclose(np.squeeze(found), [[np.nan, 0.2], [0.0, 0.2]])


def test_the_papers_graphs() -> None:
    """Every arm of the experiments' graphs is identifiable, as the paper assumes."""
    for graph in (named.FIG6, named.FIG7, named.FIG11, named.FIG12, named.PARALLEL):
        assert all(db.is_identifiable(graph, v, "Y") for v in graph.variables if v != "Y")
    example = {v: db.is_identifiable(named.FIG1, v, "X1") for v in ("X2", "X3", "X4", "X5")}
    assert example == {"X2": False, "X3": False, "X4": True, "X5": False}
    assert db.identify(named.FIG7, "X4", "Y").method == "c-factor"
    assert str(db.identify(named.PARALLEL, "X17", "Y")) == "P(Y | do(X17)) = P(Y | X17)"


def test_only_relevant_tables_are_asked_for() -> None:
    estimand = db.identify(Graph("A -> Z -> X -> Y; Z -> Y -> B; C -> Y"), do="X", on="Y")
    assert estimand.variables == {"X", "Y", "Z"}
    assert estimand.tables == (Table("Y", ("X", "Z")), Table("Z", ()))


def test_trials_run_together() -> None:
    """A leading axis of trials gives each trial what it gets alone."""
    rng = np.random.default_rng(5)
    estimand = db.identify(named.NAPKIN, "X", "Y")
    models = [random_model(named.NAPKIN, rng) for _ in range(5)]
    tables = {t: np.concatenate([conditional(m.joint(), m.graph, t) for m in models]) for t in estimand.tables}
    np.testing.assert_allclose(estimand.evaluate(tables), [run(estimand, m) for m in models], rtol=1e-12)


@settings(deadline=None, max_examples=60)
@given(admgs(min_size=2, max_size=6), st.integers(0, 2**32))
@example(named.FRONT_DOOR, 1)
@example(named.NAPKIN, 2)  # a ratio
def test_the_derivative_is_the_limit_of_differences(graph: Graph, seed: int) -> None:
    """Along a random direction in every table, against central differences in extended precision."""
    rng = np.random.default_rng(seed)
    on, step = graph.variables[-1], np.longdouble(1e-7)
    for do in graph.variables[:-1]:
        if not db.is_identifiable(graph, do, on):
            continue
        estimand = db.identify(graph, do, on)
        tables = {t: rng.dirichlet([2.0] * 3, size=(1, *[3] * len(t.given))) for t in estimand.tables}
        weights = rng.normal(size=estimand.evaluate(tables).shape)
        for table, slopes in estimand.gradient(tables, weights).items():
            direction = rng.normal(size=slopes.shape)
            ahead, behind = (
                estimand.evaluate({**tables, table: tables[table] + way * step * direction}) for way in (1, -1)
            )
            limit = ((ahead - behind) * weights).sum() / (2 * step)
            np.testing.assert_allclose((slopes * direction).sum(), limit, rtol=1e-7, atol=1e-9)


def test_zero_probability_where_the_effect_is_still_identified() -> None:
    """An OR gate: the cells that never occur stand beside zero factors, and nothing divides by them."""
    graph = Graph("A -> M; X -> M; {A, X, M} -> Y; A -> X")
    rng = np.random.default_rng(6)
    model = random_model(graph, rng)
    gate = np.zeros((2, 2, 2))  # M = A or X
    for a in (0, 1):
        for x in (0, 1):
            gate[a, x, a | x] = 1.0
    model = Model(graph, model.cards, model.hidden, {**model.tables, "M": gate})
    for do in ("A", "X"):
        np.testing.assert_allclose(run(db.identify(graph, do, "Y"), model), truth(model, do, "Y"), atol=1e-12)
    everything = run(db.identify(graph, "X", "all"), model)
    for x in (0, 1):
        expected = model.joint({"X": x}).take(x, axis=graph.variables.index("X"))
        np.testing.assert_allclose(everything[x], expected, atol=1e-12)


def test_zero_probability_where_it_is_not() -> None:
    """No row with Z=1 has X=0: the effect of X=0 is out of reach, and the cell is named."""
    model = random_model(named.BACK_DOOR, np.random.default_rng(7))
    overlap = np.array([[0.5, 0.5], [0.0, 1.0]])
    model = Model(named.BACK_DOOR, model.cards, model.hidden, {**model.tables, "X": overlap})
    with pytest.raises(MissingCell, match=r"P\(Y \| X, Z\) is needed where X=0, Z=1, which never occurs"):
        run(db.identify(named.BACK_DOOR, "X", "Y"), model)


def test_deterministic_models_are_exact_or_refused() -> None:
    """With many deterministic mechanisms, what is answered is right, and what is refused names a cell."""
    answered = refused = 0
    for seed in range(300):
        rng = np.random.default_rng([8, seed])
        graph = random_admg(rng, 3, 5)
        model = random_model(graph, rng, deterministic=0.5)
        do, on = graph.variables[0], graph.variables[-1]
        if not db.is_identifiable(graph, do, on):
            continue
        try:
            found = run(db.identify(graph, do, on), model)
        except MissingCell:
            refused += 1
            continue
        answered += 1
        expected = truth(model, do, on)
        np.testing.assert_allclose(np.broadcast_to(found, expected.shape), expected, atol=1e-9)
    assert answered > 100
    assert refused > 5


def test_the_unordered_product_of_the_paper_is_wrong_and_the_ordered_one_right() -> None:
    """Eq. 3 prints Z_j without an order. On X -> Y, X <-> W it multiplies the truth by 1 + phi^2, where
    phi^2 is Pearson's coefficient of (X, W): twice the truth when W always equals X."""
    graph = Graph("X -> Y; X <-> W")
    rng = np.random.default_rng(9)
    model = random_model(graph, rng)
    joint = model.joint()

    def printed(v: str) -> tuple[str, ...]:  # the whole component and its parents, without order
        tied = graph.c_component(v)
        return tuple(sorted(tied.union(*(graph.parents(w) for w in tied)) - {v}))

    x_given_w = conditional(joint, graph, Table("X", printed("X")))[0]
    w_given_x = conditional(joint, graph, Table("W", printed("W")))[0]
    mass = float((x_given_w * w_given_x.T).sum())
    xw = joint.sum(axis=graph.variables.index("Y"))
    xw = xw if graph.variables.index("X") < graph.variables.index("W") else xw.T
    product = np.outer(xw.sum(axis=1), xw.sum(axis=0))
    phi2 = float(((xw - product) ** 2 / product).sum())
    assert mass == pytest.approx(1 + phi2, abs=1e-12)
    assert phi2 > 1e-4
    np.testing.assert_allclose(run(db.identify(graph, "X", "Y"), model), truth(model, "X", "Y"), atol=1e-12)


@pytest.mark.parametrize("graph", [named.FIG7, named.FIG11, named.FIG12])
def test_ordered_factors_multiply_to_the_joint_and_unordered_ones_do_not(graph: Graph) -> None:
    model = random_model(graph, np.random.default_rng(10))
    joint = model.joint()

    def multiplied(given: dict[str, frozenset[str]]) -> Array:
        total: Array = np.ones([1] * joint.ndim)
        for v in graph.variables:
            names = [u for u in graph.variables if u in given[v]]
            table = conditional(joint, graph, Table(v, tuple(names)))[0]
            axes = [graph.variables.index(u) for u in (*names, v)]
            order = np.argsort(axes)
            shape = [joint.shape[i] if i in axes else 1 for i in range(joint.ndim)]
            total = total * table.transpose(order).reshape(shape)
        return total

    ordered = {v: graph.effective_parents(v) for v in graph.variables}
    unordered = {
        v: graph.c_component(v).union(*(graph.parents(w) for w in graph.c_component(v))) - {v} for v in graph.variables
    }
    np.testing.assert_allclose(multiplied(ordered), joint, atol=1e-12)
    assert abs(float(multiplied(unordered).sum()) - 1) > 1e-3


def test_a_variable_may_be_called_all() -> None:
    graph = Graph("X -> M -> all; X -> Z; X <-> Z")
    assert db.is_identifiable(graph, "X", "all")
    assert str(db.identify(graph, "X", "all")) == "P(all | do(X)) = P(all | X)"


@pytest.mark.parametrize("ask", [db.identify, db.is_identifiable])
def test_questions_that_make_no_sense(ask: Callable[..., object]) -> None:
    for do, on in (("Q", "Y"), ("X", "Q"), ("Q", "all")):
        with pytest.raises(UnknownVariable, match="there is no variable 'Q' in the graph"):
            ask(named.BOW, do=do, on=on)
    with pytest.raises(GraphError, match="do and on are both X"):
        ask(named.BOW, do="X", on="X")


def test_only_names_are_asked_for() -> None:
    for do, on in ((1, "Y"), ([1], "Y"), ("X", ["Y"])):
        for ask in (db.identify, db.is_identifiable):
            with pytest.raises(GraphError, match="expected the name of a variable"):
                ask("X -> Y", do=do, on=on)  # type: ignore[arg-type]
