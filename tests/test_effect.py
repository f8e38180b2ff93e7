"""Effects from data: exact on exact distributions, honest about chance, clear about what is missing."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dobandit as db
from dobandit.errors import ArmError, DataError, DobanditError, GraphError, NotIdentifiable, UnknownVariable
from dobandit.estimate import Effect, SparseDataWarning
from dobandit.estimate.observational import estimates, naive_means
from dobandit.estimate.observational.interval import interval
from dobandit.estimate.observational.plugin import PlugIn, Rows
from dobandit.evidence import open_source
from dobandit.graph import Graph
from dobandit.problem import Problem
from tests import named_graphs as named
from tests.models import Model, marginal, random_admg, random_model
from tests.strategies import admgs


def joint_as_rows(model: Model) -> tuple[dict[str, list[int]], list[float]]:
    """Every combination of values as a row, with its probability as the weight."""
    joint = model.joint()
    codes = np.indices(joint.shape).reshape(joint.ndim, -1)
    return {v: codes[i].tolist() for i, v in enumerate(model.graph.variables)}, joint.ravel().tolist()


def draw(model: Model, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    joint = model.joint()
    cells = np.repeat(np.arange(joint.size), rng.multinomial(n, joint.ravel() / joint.sum()))
    codes = np.unravel_index(cells, joint.shape)
    return dict(zip(model.graph.variables, codes, strict=True))


def test_exact_on_exact_distributions() -> None:
    """With the joint distribution as weights the mean is exact, n is 0 and the interval a point."""
    methods = set()
    for seed in range(150):
        rng = np.random.default_rng([20, seed])
        graph = random_admg(rng, 3, 5)
        model = random_model(graph, rng, values=(2, 3))
        on = graph.variables[-1]
        rows, weights = joint_as_rows(model)
        for do in graph.variables[:-1]:
            if not db.is_identifiable(graph, do, on):
                with pytest.raises(NotIdentifiable):
                    db.effect(graph, rows, do={do: 0}, reward=on, weights=weights)
                continue
            for x in range(model.cards[do]):
                found = db.effect(graph, rows, do={do: x}, reward=on, weights=weights)
                truth = marginal(model.joint({do: x}), graph, on) @ np.arange(model.cards[on])
                assert found.mean == pytest.approx(truth, abs=1e-9)
                assert (found.low, found.high, found.n) == (found.mean, found.mean, 0)
                methods.add(found.method)
    assert methods == {"observed", "no-backdoor", "adjustment", "c-factor"}


def confounded() -> Iterator[tuple[Model, str, int, str, float, np.random.Generator]]:
    """Models in which seeing misleads: E[Y | x] is at least .1 off E[Y | do(x)], and x is not too rare."""
    for seed in count():
        rng = np.random.default_rng([21, seed])
        graph = random_admg(rng, 4, 6)
        on, x = graph.variables[-1], int(rng.integers(2))
        causes = [v for v in graph.variables if v in graph.ancestors(on) and graph.has_backdoor(v, on)]
        causes = [v for v in causes if db.is_identifiable(graph, v, on)]
        if not graph.bidirected or not causes:
            continue
        do = str(rng.choice(causes))
        for _ in range(12):
            model = random_model(graph, rng)
            joint = np.moveaxis(model.joint(), graph.variables.index(do), 0)[x]
            seen = joint.reshape(-1, 2).sum(axis=0)  # the outcome is the last variable
            truth = float(marginal(model.joint({do: x}), graph, on)[1])
            if seen.sum() > 0.1 and abs(seen[1] / seen.sum() - truth) >= 0.1:
                yield model, do, x, on, truth, rng


def test_intervals_cover_and_estimates_beat_the_naive_mean() -> None:
    """1,000 data sets of 2,000 rows: the 95 % interval covers in 92-98 % of them, and the mean error is at
    most a fifth of that of the conditional mean."""
    covered, error, naive_error = [], [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SparseDataWarning)
        for model, do, x, on, truth, rng in islice(confounded(), 1000):
            rows = draw(model, 2000, rng)
            found = db.effect(model.graph, rows, do={do: x}, reward=on)
            covered.append(found.low <= truth <= found.high)
            error.append(abs(found.mean - truth))
            naive_error.append(abs(rows[on][rows[do] == x].mean() - truth))
    assert 0.92 <= np.mean(covered) <= 0.98
    assert np.mean(error) <= np.mean(naive_error) / 5


def test_a_needed_cell_without_data_widens_the_interval_and_warns() -> None:
    """No row with Z=1 has X=0: P(Y | X=0, Z=1) could be anything, and counts as one half."""
    rows = {"Z": [0] * 40 + [1] * 60, "X": [0] * 20 + [1] * 80, "Y": [0, 1] * 10 + [1, 0] * 40}
    with pytest.warns(
        SparseDataWarning, match=r"do\(X=0\): no rows with X=0, Z=1, so P\(Y \| X, Z\) counts as uniform"
    ):
        found = db.effect(named.BACK_DOOR, rows, do={"X": 0}, reward="Y")
    assert found.mean == pytest.approx(0.4 * 0.5 + 0.6 * 0.5)
    known = db.effect(named.BACK_DOOR, rows, do={"X": 1}, reward="Y")
    assert found.low <= found.mean - 0.3
    assert found.high >= found.mean + 0.3
    assert known.high - known.low < 0.3


def with_an_outlier() -> dict[str, np.ndarray]:
    """Outcomes of about 10 and a single one of 10,000; no row with Z=1 has X=1."""
    rewards = 10 + np.random.default_rng(0).normal(0, 1, 300)
    rewards[2] = 10_000
    return {"Z": np.array([0] * 290 + [1] * 10), "X": np.array([0, 1] * 145 + [0] * 10), "Y": rewards}


def test_a_cell_of_a_measurement_without_data_counts_as_the_mean_of_the_rows_with_the_setting() -> None:
    """The middle between the ends of all outcomes would be 5,000, because of one row that does not even have X=1."""
    rows = with_an_outlier()
    told = r"no rows with X=1, Z=1, so Y counts as the mean of the rows with X=1 there and the interval is wider"
    with pytest.warns(SparseDataWarning, match=told):
        found = db.effect(named.BACK_DOOR, rows, do={"X": 1}, reward="Y")
    assert found.mean == pytest.approx(rows["Y"][rows["X"] == 1].mean())
    problem = db.Problem(named.BACK_DOOR, {"variable": "Y", "range": "any"}, 10)
    with pytest.warns(SparseDataWarning, match=told):
        assert db.effect(problem, rows, do={"X": 1}, reward="Y") == found
    rows["Y"][2] = 10
    with pytest.warns(SparseDataWarning, match=told):
        calm = db.effect(named.BACK_DOOR, rows, do={"X": 1}, reward="Y")
    whole = db.effect("X -> Y", rows, do={"X": 1}, reward="Y")
    low, high = np.quantile(rows["Y"], [0.05, 0.95])
    wider = 10 / 300 * max(high - calm.mean, calm.mean - low)
    assert calm.high - calm.low == pytest.approx(whole.high - whole.low + 2 * wider, rel=0.1)


def test_a_measurement_of_an_arm_that_nobody_had_counts_as_the_mean_of_all_rows() -> None:
    rows = with_an_outlier() | {"X": np.zeros(300, int)}
    problem = db.Problem(named.BACK_DOOR, {"variable": "Y", "range": "any"}, 10)
    with pytest.warns(SparseDataWarning, match="so Y counts as the mean of all rows there"):
        found = db.effect(problem, rows, do={"X": 1}, reward="Y")
    assert found.mean == pytest.approx(rows["Y"].mean())
    assert found.low < 10 < found.high


def test_strata_without_the_arm_count_as_the_mean_of_the_rows_that_have_it() -> None:
    """Z is a number, so there are no tables; the 10 rows with Z=24 do not have X=1."""
    z, rewards = np.arange(1000) % 24, 10 + np.random.default_rng(0).normal(0, 1, 1000)
    rewards[0], z[-10:] = 10_000, 24
    x = np.where(z == 24, 0, np.arange(1000) // 24 % 2)
    with pytest.warns(SparseDataWarning, match="so the mean of the rows that have it counts there"):
        found = db.effect(named.BACK_DOOR, {"Z": z, "X": x, "Y": rewards}, do={"X": 1}, reward="Y")
    assert found.method == "adjustment"
    assert abs(found.mean - 10) < 5 * math.sqrt(1 / 490)


def test_a_value_that_never_occurs_is_told_where_covariates_are_numbers_too() -> None:
    rng = np.random.default_rng(0)
    rows = {"Z": rng.normal(size=60), "X": np.zeros(60, int), "Y": rng.normal(size=60)}
    with pytest.raises(ArmError, match=r"do\(X=1\): X has no value 1; its values are 0"):
        db.effect(named.BACK_DOOR, rows, do={"X": 1}, reward="Y")


def test_a_missing_cell_beside_a_zero_does_not_matter() -> None:
    """Z is never 1, so it does not matter that no row with Z=1 has X=0."""
    rows = {"Z": [0, 0, 0, 0], "X": [0, 0, 1, 1], "Y": [0, 1, 1, 1]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = db.Problem("Z -> X -> Y; Z -> Y", "Y", 10)
        found = estimates(problem, open_source(rows), [db.Arm.of({"X": 0}), db.Arm.of({"X": 1})])
    assert [e.mean for e in found] == [0.5, 1.0]


def test_zero_cells_that_drop_out_of_an_average_stay_out() -> None:
    """Deterministic mechanisms with the exact joint as weights: exact, or a warning; never silently wrong."""
    exact = warned = 0
    for seed in range(400):
        rng = np.random.default_rng([22, seed])
        graph = random_admg(rng, 3, 5)
        model = random_model(graph, rng, deterministic=0.5)
        on, do = graph.variables[-1], graph.variables[int(rng.integers(len(graph.variables) - 1))]
        if not db.is_identifiable(graph, do, on):
            continue
        rows, weights = joint_as_rows(model)
        for x in range(model.cards[do]):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found = db.effect(graph, rows, do={do: x}, reward=on, weights=weights)
            if caught:
                warned += 1
                continue
            exact += 1
            truth = marginal(model.joint({do: x}), graph, on) @ np.arange(model.cards[on])
            assert found.mean == pytest.approx(truth, abs=1e-9), (graph, do, x)
    assert exact > 300
    assert warned > 20


def test_a_single_row_is_no_certainty() -> None:
    found = db.effect(Graph("X -> Y"), {"X": [1], "Y": [1]}, do={"X": 1}, reward="Y")
    assert found.n == 1
    assert found.low < 0.8
    assert db.effect(Graph("X -> Y"), {"X": [1, 0], "Y": [1, 0]}, do={"X": 1}, reward="Y", weights=[1, 0]).n == 1


def test_more_mediators_than_any_log_fills() -> None:
    graph = Graph("X -> {" + ", ".join(f"Z{i}" for i in range(16)) + "} -> Y; X <-> Y")
    rows = {v: [0, 1] * 50 for v in graph.variables}
    with pytest.raises(DataError, match=r"the effect of X on Y cannot be had from tables of .* cells"):
        db.effect(graph, rows, do={"X": 1}, reward="Y")


def test_units_and_weights() -> None:
    rows = {"X": [0, 0, 1, 1], "Y": [10, 20, 30, 30], "w": [3, 1, 5, 5]}
    graph = Graph("X -> Y")
    assert db.effect(graph, rows, do={"X": 0}, reward="Y").mean == 15
    found = db.effect(graph, pl.DataFrame(rows), do={"X": "0.0"}, reward="Y", weights="w")
    assert (found.mean, found.n, found.method) == (12.5, 14, "no-backdoor")
    assert 10 <= found.low <= found.mean <= found.high <= 30
    assert db.effect(graph, rows, do={}, reward="Y").mean == 22.5
    many = {"X": [0, 1] * 50, "Y": np.linspace(-1, 1, 100)}
    assert db.effect(graph, many, do={"X": 1}, reward="Y").mean == pytest.approx(np.linspace(-1, 1, 100)[1::2].mean())


def test_a_reward_with_more_than_20_numbers_is_a_measurement() -> None:
    """Then its own variance decides, so that the interval is about as wide as that of a few values, not as wide as that
    of a coin between the ends: here most rows are in the middle."""
    widths = []
    for different in (19, 20, 21, 22):
        numbers = np.linspace(0, 1, different)
        numbers = np.append(numbers, np.full(200, numbers[10]))
        found = db.effect("X -> Y", {"X": np.zeros(len(numbers)), "Y": numbers}, do={"X": 0}, reward="Y")
        assert found.mean == pytest.approx(numbers.mean())
        widths.append(found.high - found.low)
    assert max(widths) < 1.3 * min(widths)
    assert max(widths) < 0.4 * 2 * 1.96 * 0.5 / math.sqrt(220)


def test_naive_means_are_those_of_the_rows_that_agree() -> None:
    problem = Problem("Z -> X -> Y; Z -> Y", {"variable": "Y", "values": {"no": -1, "yes": 3}}, budget=9)
    source = open_source({"Z": [0, 0, 0, 0], "X": [0, 1, 1, 1], "Y": ["no", "yes", "yes", "no"]})
    assert [str(arm) for arm in problem.arms] == ["do()", "do(Z=0)", "do(Z=1)", "do(X=0)", "do(X=1)"]
    expected = [1, 1, math.nan, -1, 5 / 3]
    np.testing.assert_allclose(naive_means(problem, source, problem.arms), expected)


def test_the_level_widens_the_interval() -> None:
    rng = np.random.default_rng(3)
    rows = draw(random_model(named.BACK_DOOR, rng), 500, rng)
    widths = []
    for level in (0.5, 0.9, 0.99):
        found = db.effect(named.BACK_DOOR, rows, do={"X": 1}, reward="Y", level=level)
        widths.append(found.high - found.low)
    assert widths == sorted(widths)
    assert widths[0] < widths[2] / 3


@pytest.mark.parametrize(
    "given",
    [
        Graph("Z -> X -> Y; Z -> Y"),
        "Z -> X -> Y; Z -> Y",
        "digraph { Z -> X -> Y; Z -> Y }",
        "dag { Z -> X -> Y; Z -> Y }",
        Problem("Z -> X -> Y; Z -> Y", "Y", budget=9),
    ],
    ids=["graph", "text", "dot", "dagitty", "problem"],
)
def test_a_graph_a_text_or_a_problem_will_do(given: Graph | str | Problem) -> None:
    rows = {"Z": [0, 0, 0, 1, 1, 1], "X": [0, 0, 1, 0, 1, 1], "Y": [0, 1, 1, 0, 0, 1]}
    assert db.is_identifiable(given, do="X", on="Y")
    assert str(db.identify(given, do="X", on="Y")) == "P(Y | do(X)) = Σ_Z P(Y | X, Z) P(Z)"
    assert db.effect(given, rows, do={"X": 1}, reward="Y").mean == 0.75
    assert db.check_graph(given, rows) == []


@pytest.mark.parametrize("given", [None, 3, ["X -> Y"], {"X": "Y"}, b"X -> Y"])
def test_nothing_else_is_a_graph(given: Any) -> None:
    rows = {"X": [0, 1], "Y": [0, 1]}
    for ask in (
        lambda: db.identify(given, do="X", on="Y"),
        lambda: db.is_identifiable(given, do="X", on="Y"),
        lambda: db.effect(given, rows, do={"X": 1}, reward="Y"),
        lambda: db.check_graph(given, rows),
        lambda: Problem(given, "Y", 9),
    ):
        with pytest.raises(DobanditError, match=f"expected a text .* or a Problem, not {type(given).__name__}$"):
            ask()


def test_a_problem_says_what_the_reward_is_worth() -> None:
    problem = Problem("X -> Y", {"variable": "Y", "values": {"no": 0, "yes": 5}}, budget=9)
    found = db.effect(problem, {"X": [0, 1, 1], "Y": ["no", "yes", "no"]}, do={"X": 1}, reward="Y")
    assert found.mean == 2.5


def test_questions_that_cannot_be_answered() -> None:
    rows = {"X": [0, 1], "Y": [0, 1]}
    graph = Graph("X -> Y")
    for level in (0, 1, 95, -1, float("nan"), None, "x"):
        with pytest.raises(DobanditError, match="level: expected a number between 0 and 1"):
            db.effect(graph, rows, do={"X": 0}, reward="Y", level=level)  # type: ignore[arg-type]
    for do, error, message in (
        ({"X": 2}, ArmError, r"do\(X=2\): X has no value 2; its values are 0 and 1"),
        ({"X": 0, "Y": 1}, GraphError, "do and on are both Y"),
        ({"Q": 0}, UnknownVariable, "no variable 'Q'"),
        ("X", ArmError, "do is a mapping"),
    ):
        with pytest.raises(error, match=message):
            db.effect(graph, rows, do=do, reward="Y")  # type: ignore[arg-type]
    for asked in ({"X": 0}, {}):
        with pytest.raises(UnknownVariable):
            db.effect(graph, rows, do=asked, reward="Q")
    with pytest.raises(DataError, match="not numbers; say what each is worth"):
        db.effect(graph, {"X": [0, 1], "Y": ["no", "yes"]}, do={"X": 0}, reward="Y")
    with pytest.raises(DataError, match="column Intervention: what was done is read from a column that is called"):
        db.effect(graph, {**rows, "Intervention": ["do()", "do(X=1)"]}, do={"X": 0}, reward="Y")
    with pytest.raises(DataError, match="there are no rows"):
        db.effect(graph, {"X": [], "Y": []}, do={"X": 0}, reward="Y")
    with pytest.raises(DataError, match="there is no column Y"):
        db.effect(graph, {"X": [0, 1]}, do={"X": 0}, reward="Y")


def test_one_value_everywhere_is_no_certainty() -> None:
    """Five ones in a row: the interval reaches well below one."""
    found = db.effect(Graph("X -> Y"), {"X": [0, 1] * 5, "Y": [0, 1] * 5}, do={"X": 1}, reward="Y")
    assert found.mean == 1
    assert found.low < 0.9
    assert not math.isnan(found.high)


@pytest.mark.parametrize("words", [("True", "False"), ("TRUE", "FALSE"), ("true", "false")])
def test_the_words_true_and_false_of_a_log_are_one_and_zero(words: tuple[str, str], tmp_path: Path) -> None:
    numbers = {"Z": [0, 0, 0, 1, 1, 1], "X": [0, 0, 1, 0, 1, 1], "Y": [0, 1, 1, 0, 0, 1]}
    log = tmp_path / "log.csv"
    rows = zip(*numbers.values(), strict=True)
    log.write_text("\n".join(["Z,X,Y", *(",".join(words[1 - v] for v in row) for row in rows)]))
    graph = Graph("Z -> X -> Y; Z -> Y")
    expected = db.effect(graph, numbers, do={"X": 1}, reward="Y")
    for value in (True, 1, words[0]):
        assert db.effect(graph, log, do={"X": value}, reward="Y") == expected


# -- intervals of any data whatever ------------------------------------------------------------------


@st.composite
def logs(draw: st.DrawFn) -> tuple[db.Problem, list[tuple[int, ...]], list[int]]:
    """A problem, distinct rows (few values, and often the same ones, so that tables have holes) and their numbers."""
    graph = draw(admgs(min_size=2, max_size=5))
    worth = draw(st.sampled_from([{"0": 0.0, "1": 1.0}, {"0": 7.0, "1": -2.0, "2": 0.5}]))
    problem = db.Problem(graph, {"variable": draw(st.sampled_from(graph.variables)), "values": worth}, 10)
    row = st.tuples(*(st.integers(0, len(problem.domains[v]) - 1) for v in graph.variables))
    rows = draw(st.lists(row, min_size=1, max_size=8))
    return problem, rows, draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows)))


def all_effects(problem: db.Problem, rows: list[tuple[int, ...]], times: list[int]) -> list[Effect]:
    columns = dict(zip(problem.graph.variables, zip(*rows, strict=True), strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SparseDataWarning)
        found = estimates(problem, open_source(columns, times), problem.arms)
    return [e for e in found if e.method != "none"]


@settings(deadline=None, max_examples=200)
@given(logs(), st.integers(2, 50))
@example((db.Problem(named.FRONT_DOOR, "Y", 10), [(0, 0, 0), (0, 0, 1), (1, 1, 1), (1, 1, 0)], [1, 1, 1, 1]), 2)
@example((db.Problem(named.NAPKIN, "Y", 10), [(0, 0, 0, 0), (0, 0, 0, 1), (1, 0, 1, 1), (0, 1, 0, 1)], [5, 4, 4, 3]), 9)
def test_intervals_are_finite_and_ordered_and_shrink(
    log: tuple[db.Problem, list[tuple[int, ...]], list[int]], more: int
) -> None:
    """Inside the range of the reward, around the mean, never a point; with more rows of the same kind narrower."""
    problem, rows, times = log
    lowest, highest = min(problem.reward_values), max(problem.reward_values)
    many = all_effects(problem, rows, [more * n for n in times])
    for few, e in zip(all_effects(problem, rows, times), many, strict=True):
        assert lowest <= few.low <= few.mean <= few.high <= highest
        assert few.low < few.high
        assert few.mean == pytest.approx(e.mean)
        assert few.low - 1e-9 <= e.low <= e.high <= few.high + 1e-9


def rising(intervals: list[tuple[float, float]]) -> bool:
    """Whether both ends rise from each interval to the next."""
    return all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(intervals))


def wilson(successes: int, n: int) -> tuple[float, float]:
    """The interval of Wilson (JASA 1927) at 95 %."""
    share, z = successes / n, 1.959964
    middle, half = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def test_both_ends_rise_with_every_success_of_a_plain_mean() -> None:
    for n in range(1, 301):
        shares = [k / n for k in range(n + 1)]
        found = [PlugIn(p, Rows(*np.array([[n], [p * (1 - p)], [1.0]])), 0, 0, ()) for p in shares]
        for level in (0.5, 0.95, 0.999):
            assert rising([interval(f, 0.0, 1.0, level) for f in found]), (n, level)
    for n in (1, 2, 7, 100):
        asked = [db.effect("Y", {"Y": [0, 1]}, do={}, reward="Y", weights=[n - k, k]) for k in range(n + 1)]
        assert rising([(e.low, e.high) for e in asked])
        for k, answer in enumerate(asked):
            assert (answer.low, answer.high) == pytest.approx(wilson(k, n), abs=1e-6)


@pytest.mark.parametrize(("treated", "others"), [((1, 1), (0, 0)), ((6, 9), (3, 0)), ((2, 12), (2000, 10))])
def test_both_ends_rise_with_every_success_of_an_adjusted_mean(
    treated: tuple[int, int], others: tuple[int, int]
) -> None:
    """i of n with X=1 succeed where Z=0, and j of m where Z=1; those with X=0 only tell how common Z=1 is."""
    rows = {"Z": [0, 0, 0, 1, 1, 1], "X": [0, 1, 1, 0, 1, 1], "Y": [0, 0, 1, 0, 0, 1]}
    n, m = treated
    found = np.empty((n + 1, m + 1, 2))
    for i, j in np.ndindex(n + 1, m + 1):
        weights = [others[0], n - i, i, others[1], m - j, j]
        e = db.effect(named.BACK_DOOR, rows, do={"X": 1}, reward="Y", weights=weights)
        found[i, j] = e.low, e.high
    assert (np.diff(found, axis=0) > 0).all()
    assert (np.diff(found, axis=1) > 0).all()


@pytest.mark.parametrize("graph", [named.BACK_DOOR, named.FRONT_DOOR, named.NAPKIN])
@pytest.mark.parametrize("n", [20, 200])
def test_intervals_cover_where_values_are_rare(graph: Graph, n: int) -> None:
    """Small samples from tables with probabilities near 0 and 1, deterministic ones among them."""
    covered = []
    for seed in range(300):
        rng = np.random.default_rng([23, n, seed])
        model = random_model(graph, rng, deterministic=0.2)
        model = replace(model, tables={v: t**4 / (t**4).sum(axis=-1, keepdims=True) for v, t in model.tables.items()})
        rows = draw(model, n, rng)
        truth = marginal(model.joint({"X": 1}), graph, "Y")[1]
        problem = db.Problem(graph, "Y", 10)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SparseDataWarning)
            (found,) = estimates(problem, open_source(rows), [db.Arm.of({"X": 1})])
        if 1 in rows["X"]:
            covered.append(found.low - 1e-12 <= truth <= found.high + 1e-12)
    assert np.mean(covered) >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / len(covered))


def test_probabilities_that_were_rounded_are_probabilities() -> None:
    rows = {"X": [0, 0, 1, 1], "Y": [0, 1, 0, 1]}
    for lost in (0.0, 1e-12, 1e-7, 1e-4):
        e = db.effect(Graph("X -> Y"), rows, do={"X": 1}, reward="Y", weights=[0.25, 0.25, 0.25, 0.25 - lost])
        assert (e.low, e.high, e.n) == (e.mean, e.mean, 0)
        assert e.mean == pytest.approx(0.5, abs=2 * lost)


def test_a_reward_that_never_varies() -> None:
    """0 and 1 are values of a 0/1 variable; of any other number the data show no range."""
    graph, x = Graph("X -> Y"), [0, 0, 1, 1]
    for value in (0.0, 1.0):
        e = db.effect(graph, {"X": x, "Y": [value] * 4}, do={"X": 1}, reward="Y")
        assert e.mean == value
        assert e.high - e.low > 0.6
    for value in (5.0, -0.3, 1e-300, 1e300):
        with pytest.warns(SparseDataWarning, match="in every row, so the interval is a point"):
            e = db.effect(graph, {"X": x, "Y": [value] * 4}, do={"X": 1}, reward="Y")
        assert (e.mean, e.low, e.high) == (value, value, value)


def test_units_do_not_matter() -> None:
    """In other units it is the same interval, upside down if the units are."""
    rng = np.random.default_rng(6)
    rows = draw(random_model(named.FRONT_DOOR, rng), 30, rng)
    plain = db.effect(named.FRONT_DOOR, rows, do={"X": 1}, reward="Y")
    for zero, unit in ((-3.0, 5.0), (10.0, -40.0), (0.0, 1e200)):
        e = db.effect(named.FRONT_DOOR, rows | {"Y": zero + unit * rows["Y"]}, do={"X": 1}, reward="Y")
        ends = sorted([zero + unit * plain.low, zero + unit * plain.high])
        assert [e.low, e.high] == pytest.approx(ends, rel=1e-9)


def test_the_reward_of_a_problem_need_not_be_named() -> None:
    rows = {"Z": [0, 0, 0, 1, 1, 1], "X": [0, 0, 1, 0, 1, 1], "Y": [0, 1, 1, 0, 0, 1]}
    problem = db.Problem(named.BACK_DOOR, "Y", 10)
    assert db.effect(problem, rows, do={"X": 1}) == db.effect(problem, rows, do={"X": 1}, reward="Y")
    assert db.identify(problem, do="X") == db.identify(problem, do="X", on="Y")
    with pytest.raises(DataError, match="which variable is the reward"):
        db.effect(named.BACK_DOOR, rows, do={"X": 1})
    with pytest.raises(GraphError, match="which variable the effect is on"):
        db.identify(named.BACK_DOOR, do="X")


def test_answers_count_the_rows_with_missing_values() -> None:
    rows = {"Z": [0, 0, 0, 1, 1, 1, None], "X": [0, 0, 1, 0, 1, 1, 1], "Y": [0, 1, 1, 0, 0, 1, 1]}
    problem = db.Problem(named.BACK_DOOR, "Y", 10, missing="drop")
    assert db.effect(problem, rows, do={"X": 1}).missing == (1, 0)
    table = db.effects(problem, rows)
    assert table.missing._asdict() == {"dropped": 1, "category": 0}
    assert "Left out 1 row in which a value is missing." in str(table)
