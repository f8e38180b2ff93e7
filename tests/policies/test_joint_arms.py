"""Policies on arms that set several variables at once."""

from __future__ import annotations

import numpy as np
import pytest

import dobandit as db
from dobandit.errors import PolicyError
from dobandit.policies import policies_for
from dobandit.problem import Objective

GRAPH = "Z -> {A, B, Y}; {A, B} -> Y; B <-> Y"
# The levers help only together.
WORLD = db.worlds.from_tables(
    "{A, B} -> Y",
    {
        "A": ([], [0.6, 0.4]),
        "B": ([], [0.7, 0.3]),
        "Y": (["A", "B"], [[[0.5, 0.5], [0.7, 0.3]], [[0.7, 0.3], [0.1, 0.9]]]),
    },
)


def problem(objective: Objective, budget: float = 300) -> db.Problem:
    return db.Problem(WORLD.graph, "Y", budget, objective, together=[["A", "B"]], costs={"do(A, B)": 1})


@pytest.mark.parametrize("objective", ["cumulative", "simple"])
def test_every_policy_that_can_play_pairs_finds_the_best_one(objective: Objective) -> None:
    found = problem(objective, budget=1500)
    able = policies_for(objective, found)
    assert f"causal-{'thompson' if objective == 'cumulative' else 'explore'}" in able
    results = db.simulate(found, WORLD, able, trials=8, seed=3)
    best = [str(arm) for arm in found.arms].index("do(A=1, B=1)")
    for name in able:
        named = (
            results.recommended[name][:, -1] if objective == "simple" else results.pulls[name][:, -1].argmax(axis=-1)
        )
        assert np.mean(np.asarray(named) == best) > 0.5, name


def test_policies_for_single_variables_say_who_can_play_pairs() -> None:
    with pytest.raises(PolicyError, match=r"crm is defined for arms that set a single variable.*causal-thompson"):
        db.simulate(problem("cumulative"), WORLD, ["crm"], trials=1)
    with pytest.raises(PolicyError, match=r"paper-simple is defined for .* can play"):
        db.Study.create(":memory:", problem("simple"), policy="paper-simple")
    listed = db.Problem(GRAPH, "Y", 10, arms=["do(A=1)"])  # a single variable, but not all of its values
    with pytest.raises(PolicyError, match="crm is defined"):
        db.simulate(listed, db.worlds.random(GRAPH, 0), ["crm"], trials=1)


def test_a_study_of_pairs_asks_records_and_opens_again(tmp_path: object) -> None:
    path = f"{tmp_path}/pairs.db"
    with db.Study.create(path, problem("cumulative"), seed=1) as study:
        study.record("do(B=1; A=1)", {"A": 1, "B": 1, "Y": 1})
        for _ in range(30):
            (pull,) = study.ask()
            assert pull.set == dict(pull.arm.settings)
            rows = WORLD.sample(pull.arm, 1, seed=pull.id)
            study.tell(pull.id, {v: column[0] for v, column in rows.items()})
    with db.Study.open(path) as study:
        assert study.problem == problem("cumulative")
        assert {str(arm.arm) for arm in study.status().arms} >= {"do(A=1, B=1)"}
        assert study.best().arm == "do(A=1, B=1)"
