"""The independencies that a graph implies, and the test of them on data."""

from __future__ import annotations

import math
from itertools import chain, combinations

import numpy as np
import pytest

from dobandit.errors import DataError
from dobandit.estimate.observational.independence import LEVEL, check_graph, chi_square_tail, holm, judge, p_values_of
from dobandit.evidence import open_source
from dobandit.graph import Graph, number_of_independencies
from dobandit.graph.implied_independencies import independencies
from dobandit.problem import Problem
from tests import named_graphs as named
from tests.models import Model, random_admg, random_model


def rows_of(model: Model, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    joint = model.joint()
    cells = np.repeat(np.arange(joint.size), rng.multinomial(n, joint.ravel() / joint.sum()))
    return dict(zip(model.graph.variables, np.unravel_index(cells, joint.shape), strict=True))


def test_promises_are_true_smallest_and_complete() -> None:
    """Against all subsets: a pair is listed if and only if some set separates it, and no part of its set does."""
    for seed in range(100):
        graph = random_admg(np.random.default_rng([30, seed]), 3, 5)
        found = {(p.a, p.b): set(p.given) for p in independencies(graph)}
        assert number_of_independencies(graph) == len(found)
        for a, b in combinations(graph.variables, 2):
            others = [v for v in graph.variables if v not in (a, b)]
            subsets = chain.from_iterable(combinations(others, k) for k in range(len(others) + 1))
            separating = [set(s) for s in subsets if graph.separated(a, b, s)]
            assert ((a, b) in found) == bool(separating)
            if separating:
                assert found[a, b] in separating
                assert not any(s < found[a, b] for s in separating)


def test_named_graphs() -> None:
    assert list(independencies(named.BOW)) == []
    assert [str(p) for p in independencies(named.FRONT_DOOR)] == []
    assert [str(p) for p in independencies(Graph("X -> M -> Y"))] == ["X ⫫ Y | M"]
    assert [str(p) for p in independencies(Graph("X; Y"))] == ["X ⫫ Y"]


def test_the_right_graph_is_rarely_rejected() -> None:
    """400 data sets from models of the graph: the chance of any rejection is at most the level, up to four
    standard errors of that frequency."""
    graph = Graph("A -> B -> C; A -> D; C <-> D; E -> C")
    implied = list(independencies(graph))
    trials = 400
    rejected = 0
    domains = dict.fromkeys(graph.variables, ("0", "1"))
    for seed in range(trials):
        rng = np.random.default_rng([31, seed])
        rows = rows_of(random_model(graph, rng), 1000, rng)
        rejected += any(v.rejected for v in judge(open_source(rows), implied, domains))
    assert rejected / trials <= LEVEL + 4 * math.sqrt(LEVEL * (1 - LEVEL) / trials)


def test_a_missing_edge_is_found() -> None:
    rng = np.random.default_rng(32)
    truth, believed = Graph("A -> B -> C; A -> C"), Graph("A -> B -> C")
    found = 0
    for _ in range(20):
        rows = rows_of(random_model(truth, rng), 20_000, rng)
        (verdict,) = judge(open_source(rows), independencies(believed), dict.fromkeys("ABC", ("0", "1")))
        assert str(verdict.independence) == "A ⫫ C | B"
        found += verdict.rejected
    assert found >= 15  # some random models have hardly any effect to find


def test_a_graph_without_a_problem_is_checked_by_the_values_in_the_rows() -> None:
    rows = {"X": ["a", "b", "c"] * 100, "M": [0, 1] * 150, "Y": [7, 8, 9] * 100, "alone": [0.5] * 300}
    (verdict,) = check_graph("X -> M -> Y", rows)
    assert (str(verdict.independence), verdict.rejected) == ("X ⫫ Y | M", True)
    with pytest.raises(DataError, match="there is no column M"):
        check_graph(Graph("X -> M -> Y"), {"X": [0, 1], "Y": [0, 1]})


def test_pearsons_test_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each alone and all together, where those of one shape are tested in one go."""
    table = np.array([[30.0, 20.0], [20.0, 30.0]])  # every expected count is 25: the statistic is 4 * 25 / 25
    wide = np.array([[30.0, 20.0, 25.0], [20.0, 30.0, 25.0]])  # the same four cells are off 25 by 5
    expected = [
        (table, chi_square_tail(4.0, 1)),
        (2 * table, chi_square_tail(8.0, 1)),
        (np.stack([table, table]), chi_square_tail(8.0, 2)),
        (np.array([[4.0, 0.0], [0.0, 3.0]]), None),
        (np.array([[40.0, 40.0], [0.0, 0.0]]), None),
        (np.zeros((2, 2)), None),
        *((c, chi_square_tail(4.0, 2)) for c in (wide, wide.T, np.insert(wide, 1, 0.0, axis=0))),
        (np.stack([wide, np.full((2, 3), 4.0)]), chi_square_tail(4.0, 2)),
    ]
    together = p_values_of([counts for counts, _ in expected])
    alone = [p for counts, _ in expected for p in p_values_of([counts])]
    assert alone == together
    monkeypatch.setattr("dobandit.estimate.observational.independence.MOST_CELLS", 4)
    assert alone == p_values_of([counts for counts, _ in expected])
    assert alone == [None if p is None else pytest.approx(p) for _, p in expected]
    assert p_values_of([]) == []
    assert p_values_of([np.full((2, 2), 1e-170)]) == [None]


@pytest.mark.parametrize(
    ("statistic", "freedom", "tail"),
    [
        (3.841459, 1, 0.05),
        (5.991465, 2, 0.05),
        (7.814728, 3, 0.05),
        (124.342113, 100, 0.05),
        (0.0, 3, 1.0),
        (1e5, 3, 0),
    ],
)
def test_chi_square_tail(statistic: float, freedom: int, tail: float) -> None:
    """Against the printed tables of the chi-square distribution."""
    assert chi_square_tail(statistic, freedom) == pytest.approx(tail, abs=1e-6)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005], 0.05) == 0.01  # 0.005 <= .05/4, 0.01 <= .05/3, 0.03 > .05/2
    assert holm([0.2], 0.05) == -1
    assert holm([0.25, 0.5], 0.5) == 0.5  # 0.25 <= .5/2, 0.5 <= .5/1
    assert holm([], 0.05) == -1


def test_rows_that_cannot_be_tested_are_refused() -> None:
    """Also if the graph implies nothing, and whatever column is wrong."""
    problem = Problem("X -> Y", "Y", budget=1)
    for rows, message in (
        ({"X": [], "Y": []}, "data: there are no plain observations to test"),
        ({"X": [0], "Y": [1], "intervention": ["do(X=0)"]}, "data: there are no plain observations to test"),
        ({"X": [0, 1], "Y": [1.0, float("nan")]}, "column Y has 1 row without a value"),
        ({"X": [0, 1], "Y": [1, 0], "intervention": ["", "do(Q=1)"]}, r"do\(Q=1\) .* there is no variable Q"),
        ({"x": [0, 1]}, "there is no column X"),
    ):
        with pytest.raises(DataError, match=message):
            check_graph(problem, rows)
    assert check_graph(problem, {"X": [0, 1], "Y": [1, 0], "intervention": ["", "do(X=1)"]}) == []
    assert check_graph(problem, {"X": [0, 1]}) == []


@pytest.mark.parametrize(
    "rows",
    [
        {"Z": [], "X": [], "Y": []},
        {"Z": [0, 1], "X": [0, 1], "Y": [1.0, float("nan")]},
        {"Z": [0, 1], "X": [0, 1]},
        {"Z": [0, 1], "X": [0, 1], "Y": [0, 1], "intervention": ["do()", "do(Q=1)"]},
    ],
    ids=["no rows", "nan", "no column", "unknown intervention"],
)
@pytest.mark.parametrize("graph", ["Z -> X -> Y; Z -> Y", "Z -> X -> Y"], ids=["nothing to test", "something to test"])
def test_a_graph_without_a_problem_refuses_the_same_rows(graph: str, rows: dict[str, list[object]]) -> None:
    with pytest.raises(DataError):
        check_graph(graph, rows)
