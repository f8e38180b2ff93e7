"""What a study keeps of its problem and its policy, so that it opens without them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from dobandit.errors import DobanditError, OutcomeError, PolicyError
from dobandit.policies.f_kube import FKube
from dobandit.problem import Problem, parse_problem
from dobandit.study import Study
from dobandit.study.plain import problem_from_plain, problem_to_plain
from dobandit.study.problem_text import problem_to_toml
from tests.policies.test_contract import problems
from tests.study.driving import SMALL, drive, laboratory


@given(problems())
@settings(derandomize=True, max_examples=60, deadline=None)
def test_a_problem_survives_as_plain_data(problem: Problem) -> None:
    if problem.costs_are_drawn:
        with pytest.raises(DobanditError, match="some are rules to draw them by"):
            problem_to_plain(problem)
        return
    plain = json.loads(json.dumps(problem_to_plain(problem)))
    assert problem_from_plain(plain) == problem
    if problem.graph.directed or problem.graph.bidirected:
        assert parse_problem(problem_to_toml(problem)) == problem


def test_a_projected_problem_with_a_continuous_reward_survives() -> None:
    problem = Problem(
        "A -> B -> C; H -> {A, C}", {"variable": "C", "range": [-1, 2.5]}, 9, observed=["A", "B", "C"], goal="min"
    )
    again = problem_from_plain(json.loads(json.dumps(problem_to_plain(problem))))
    assert again == problem
    study = Study.create(":memory:", problem, "ucb")
    study.ask()
    with pytest.raises(
        OutcomeError, match=r"C is 3, and not a number from -1 to 2\.5; send A=0\|1 B=0\|1 C=-1\.\.2\.5"
    ):
        study.tell(1, {"A": 0, "B": 1, "C": 3})
    study.tell(np.int64(1), {"A": 0, "B": 1, "C": np.float64(0.25)})  # type: ignore[arg-type]  # as in a frame
    assert study.status().arms[0].mean < 2.5


def test_a_policy_for_the_other_objective_is_refused() -> None:
    with pytest.raises(PolicyError, match="uniform is for simple regret"):
        Study.create(":memory:", SMALL, "uniform")


def test_a_policy_object_is_kept_by_the_name_that_makes_it_again(folder: Path) -> None:
    Study.create(folder / "s.db", SMALL, FKube(as_published=True)).close()
    with Study.open(folder / "s.db") as study:
        assert study.policy == "f-kube[as_published=true]"
        assert drive(study, laboratory()) == drive(Study.create(":memory:", SMALL, study.policy), laboratory())


def test_a_policy_that_no_name_makes_again_is_refused() -> None:
    for wanted, message in (
        (type("FKube", (FKube,), {})(), "has the name of another policy, f-kube: give it a name of its own"),
        (FKube(as_published=7), r"FKube\(as_published=7\) cannot be written as a text such as f-kube\[\.\.\.\]"),  # type: ignore[arg-type]
        (3, "3 is not a policy"),
    ):
        with pytest.raises(PolicyError, match=message):
            Study.create(":memory:", SMALL, wanted)  # type: ignore[arg-type]
