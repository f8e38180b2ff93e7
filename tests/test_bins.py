"""Numbers in bins, columns with other names and missing values, as a problem states them."""

import math
import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dobandit as db
from dobandit.errors import ProblemError
from dobandit.policies import policies_for
from dobandit.problem import MISSING, Domain, is_missing, value_in
from dobandit.study.plain import problem_from_plain, problem_to_plain

numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6).map(float)
cut_points = st.lists(numbers, min_size=1, max_size=6, unique=True).map(sorted)


def shop(**stated: Any) -> db.Problem:
    return db.Problem("age -> Buy; Ad -> Buy", "Buy", 10, **stated)


@given(cut_points, st.lists(numbers, max_size=20))
def test_a_number_has_the_bin_that_numpy_digitize_says_and_a_cut_point_the_bin_above_it(
    cuts: list[float], some: list[float]
) -> None:
    domain = Domain.binned(cuts)
    assert len(set(domain)) == len(cuts) + 1
    for number in [*some, *cuts]:
        expected = domain[int(np.digitize(number, cuts))]
        assert value_in(domain, number) == value_in(domain, repr(number)) == expected
    assert [value_in(domain, label) for label in domain] == list(domain)  # a bin's label is accepted, too


@given(cut_points)
def test_the_ends_of_a_bin_can_be_read_from_its_label(cuts: list[float]) -> None:
    first, *between, last = Domain.binned(cuts)
    assert first[0] == "<"
    assert float(first[1:]) == cuts[0]
    assert last[:2] == ">="
    assert float(last[2:]) == cuts[-1]
    for label, ends in zip(between, pairwise(cuts), strict=True):
        separator = " to " if " to " in label else "-"
        assert tuple(map(float, label.split(separator))) == ends


def test_what_is_no_finite_number_has_no_bin() -> None:
    domain = Domain.binned([0, 1])
    for strange in (math.inf, "-inf", "1_0", "٣", "low", 10**400):
        assert value_in(domain, strange) not in domain
    for missing in (None, math.nan, "", "NA"):
        assert value_in(domain, missing) not in domain
        assert value_in(domain.with_missing(), missing) == MISSING


def test_a_text_that_a_domain_lists_is_a_value_and_nothing_never_is() -> None:
    plans = Domain(("None", "Basic")).with_missing()
    assert value_in(plans, "None") == "None"
    assert value_in(plans, "none") == "none"  # neither a value nor missing: a spelling mistake, perhaps
    assert value_in(plans, None) == value_in(plans, "n/a") == MISSING
    assert not is_missing("unknown")
    assert is_missing(" Null ")


def test_a_problem_with_bins_has_their_labels_as_values_and_arms() -> None:
    p = shop(bins={"age": [30, 45, 60]}, costs={"do(age=30-45)": 3}, default_cost=2)
    assert p.domains["age"] == ("<30", "30-45", "45-60", ">=60")
    assert [dict(arm.settings)["age"] for arm in p.arms if arm.variables == ("age",)] == [
        "<30",
        "30-45",
        "45-60",
        ">=60",
    ]
    assert dict(zip(map(str, p.arms), p.costs, strict=True))["do(age=30-45)"] == 3


def test_missing_as_a_category_is_a_value_of_all_but_the_reward_and_never_an_arm() -> None:
    p = shop(bins={"age": [30]}, missing="category")
    assert p.domains == {"age": ("<30", ">=30", "missing"), "Ad": ("0", "1", "missing"), "Buy": ("0", "1")}
    assert p.known_values == shop(bins={"age": [30]}).domains
    assert not any(value == "missing" for arm in p.arms for _, value in arm.settings)


@pytest.mark.parametrize("objective", ["cumulative", "simple"])
def test_policies_play_where_a_missing_value_is_a_category(objective: str) -> None:
    p = db.Problem("Z -> X -> Y; Z -> Y", "Y", 40, objective, default_cost=2, missing="category", bins={"Z": [0.5, 1]})
    world = db.worlds.random(p.graph, 0, p.known_values)
    results = db.simulate(p, world, policies_for(objective, p), trials=2)
    assert all(np.isfinite(row["regret"]) for row in results.summary())


@pytest.mark.parametrize("missing", ["refuse", "drop", "category"])
def test_a_problem_with_rules_for_data_survives_pickle_and_a_study(missing: str) -> None:
    p = shop(bins={"age": [-5, 2.5]}, columns={"age": "customer age"}, missing=missing)
    for back in (pickle.loads(pickle.dumps(p)), problem_from_plain(problem_to_plain(p))):
        assert back == p
        assert value_in(back.domains["age"], 0) == "-5 to 2.5"
    assert not {"bins", "columns", "missing"} & problem_to_plain(shop()).keys()  # as studies were before


@pytest.mark.parametrize(
    ("stated", "sentence"),
    [
        ({"bins": {"age": [45, 30]}}, "bins.age: the cut points must increase, and these are 45, 30"),
        ({"bins": {"age": [30, 30.0]}}, "bins.age: the cut points must increase"),
        ({"bins": {"age": []}}, "bins.age: expected a list of cut points"),
        ({"bins": {"age": [float("inf")]}}, "bins.age: expected a list of cut points"),
        ({"bins": {"age": {"quantiles": 4}}}, "bins.age: these quantiles have not been computed yet"),
        ({"bins": {"Buy": [1]}}, "bins.Buy: the reward is not put into bins"),
        ({"bins": {"agee": [1]}}, "bins.agee: there is no variable agee in the graph; did you mean age?"),
        (
            {"bins": {"age": [30]}, "domains": {"age": ["a", "b"]}},
            "domains.age: these are not the bins of age, <30, >=30",
        ),
        ({"columns": {"age": "Ad"}}, "columns.age: the column 'Ad' would be both age and Ad"),
        ({"columns": {"age": 3}}, "columns.age: expected the name of a column"),
        ({"missing": "ignore"}, "missing: expected 'refuse' or 'drop' or 'category', not 'ignore'"),
        ({"missing": "category", "costs": {"do(Ad=missing)": 2}}, "Ad has no value missing"),
    ],
)
def test_what_is_wrong_with_the_rules_for_data_is_said_with_its_place(stated: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ProblemError) as error:
        shop(**stated)
    assert sentence in str(error.value)


def test_a_problem_file_states_the_same_and_faults_have_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "shop.toml"
    text = """reward = "Buy"
budget = 10
[graph]
edges = "age -> Buy; Ad -> Buy"
[columns]
age = "customer age"
[bins]
age = [30, 45]
[data]
missing = "drop"
"""
    path.write_text(text, encoding="utf-8")
    expected = shop(bins={"age": [30, 45]}, columns={"age": "customer age"}, missing="drop")
    found = db.Problem.load(path)
    assert (found.bins, found.columns, found.missing, found.arms) == (
        expected.bins,
        expected.columns,
        expected.missing,
        expected.arms,
    )
    path.write_text(text.replace('"drop"', '"skip"').replace("[30, 45]", "{quantiles = 4}"), encoding="utf-8")
    with pytest.raises(ProblemError) as error:
        db.Problem.load(path)
    lines = str(error.value).splitlines()
    assert len(lines) == 2
    assert "line 8: bins.age: these quantiles" in lines[0]
    assert "line 10: data.missing: expected" in lines[1]
    path.write_text(text.replace("missing", "mising"), encoding="utf-8")
    with pytest.raises(ProblemError, match=r"line 10: data.mising: unknown key; did you mean missing\?"):
        db.Problem.load(path)
