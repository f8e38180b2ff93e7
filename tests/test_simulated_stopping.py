"""Stopping rules in simulations: what they save, and that they change nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files

import numpy as np
import pytest

import dobandit as db
from dobandit import worlds
from dobandit.problem import Objective, Problem
from dobandit.study import Study
from tests.conftest import Ran
from tests.study.driving import Laboratory, arms_of, drive

GRAPH = "Z -> X -> Y; Z -> Y; X <-> W; W -> Y"
COSTS = {"do(Z)": 1.5, "do(X)": 2, "do(W)": 1.7}
NEVER = {"loss": 1e-12}
ANYTHING = {"loss": 1.0, "min_pulls": 6}  # no 0/1 reward loses more, so the cheapest option is the answer: do()


def problem_of(objective: Objective, budget: float = 60) -> Problem:
    return Problem(GRAPH, "Y", budget, objective, costs=COSTS)


def world_of(seed: int) -> worlds.World:
    return worlds.random(db.Graph(GRAPH), seed)


@pytest.mark.parametrize(
    ("name", "objective"),
    [
        ("causal-explore", "simple"),
        ("successive-rejects", "simple"),
        ("causal-thompson", "cumulative"),
        ("paper-cumulative", "cumulative"),
    ],
)
def test_a_rule_that_never_holds_changes_no_bit(name: str, objective: Objective) -> None:
    problem, budgets = problem_of(objective), [20.0, 45.0]
    free, ruled = (db.simulate(problem, world_of, [name], 3, 7, budgets, stop=stop) for stop in (None, NEVER))
    assert free.stopping is None
    assert ruled.stopping is not None
    assert (free.pulls[name] == ruled.pulls[name]).all()
    if objective == "cumulative":
        assert (free.regret[name] == ruled.regret[name]).all()
    assert not ruled.stopping.early[name].any()
    assert [row["saved"] for row in ruled.savings()] == [0, 0]


@pytest.mark.parametrize(
    ("name", "objective", "least"), [("causal-explore", "simple", 6), ("f-kube", "cumulative", 1), ("srm", "simple", 7)]
)
def test_a_simulated_trial_stops_where_a_study_stops(name: str, objective: Objective, least: int) -> None:
    """In the first pulls, where both look at the rule after each of them; also in the middle of a phase."""
    problem, world, rule = problem_of(objective), world_of(3), {"loss": 1.0, "min_pulls": least}
    results = db.simulate(problem, world, [name], 1, 0, stop=rule)
    study = Study.create(":memory:", problem, name, stop=rule)
    drive(study, Laboratory(problem, world, 0))
    assert study.ask().reason == "sure enough"
    asked = arms_of(study)
    assert results.pulls[name][0, 0].tolist() == [asked.count(str(arm)) for arm in problem.arms]
    assert results.recommended[name][0, 0] == 0
    assert study.best().arm == "do()"
    assert results.spent[name][0, 0] == pytest.approx(study.budget.spent)


def test_smaller_budgets_stop_at_the_same_place_as_alone() -> None:
    """Rows of several budgets are one until money is short; stopping must not lose any of them."""
    problem, rule, budgets = problem_of("simple"), {"probability": 0.7, "min_pulls": 3}, [15.0, 25.0, 60.0]
    together = db.simulate(problem, world_of, ["causal-explore"], 6, 5, budgets, stop=rule)
    assert together.stopping is not None
    assert 0 < together.stopping.early["causal-explore"].sum() < 18
    for j, budget in enumerate(budgets):
        alone = db.simulate(problem, world_of, ["causal-explore"], 6, 5, [budget], stop=rule)
        for field in ("pulls", "recommended", "spent"):
            assert (
                getattr(alone, field)["causal-explore"][:, 0] == getattr(together, field)["causal-explore"][:, j]
            ).all()


def test_the_rest_of_a_cumulative_budget_goes_to_the_answer() -> None:
    problem = problem_of("cumulative")
    results = db.simulate(problem, world_of, ["f-kube"], 4, 1, stop=ANYTHING)
    spent, pulls = results.spent["f-kube"][:, 0], results.pulls["f-kube"][:, 0]
    assert (spent < 60).all()
    for i in range(4):
        means = world_of(db.simulation.trial_seed(1, "world", i)).means(problem)
        earned = pulls[i] @ means + np.floor(60 - spent[i] + 1e-9) * means[0]
        best = np.max(means / np.array(problem.costs)) * 60
        assert best - 2 < results.regret["f-kube"][i, 0] + earned <= best + 1e-9  # knapsack: less than one pull off


def test_savings_add_up() -> None:
    problem = problem_of("simple")
    rule = {"probability": 0.75, "loss": 0.05, "min_pulls": 5}
    results = db.simulate(problem, world_of, ["causal-explore"], 8, 2, stop=rule)
    (row,) = results.savings()
    early, regret = results.stopping.early["causal-explore"][:, 0], results.regret["causal-explore"][:, 0]  # type: ignore[union-attr]
    assert row["stopped"] == early.mean() > 0
    assert row["right"] == (regret < 1e-9).mean()
    assert row["within"] == (regret <= 0.05).mean()
    assert row["right_if_stopped"] == (regret[early] < 1e-9).mean()
    assert row["quartiles"][1] == np.median(results.spent["causal-explore"])
    assert results.columns()["stopped"].tolist() == early.tolist()


def test_the_command_line_shows_what_a_rule_saves(dobandit: Callable[..., Ran]) -> None:
    shop = str(files("dobandit") / "examples" / "shop.toml")
    words = ["run", shop, "--trials", "2", "--budget", "60", "--stop", "loss=1", "--stop", "min_pulls=5"]
    assert "Rule: stop at an expected loss of 1, with 5 outcomes of the answer." in dobandit(*words).out
    found = json.loads(dobandit(*words, "--json").out)
    assert (found["stop"]["loss"], found["savings"][0]["stopped"]) == (1, 1)
    for wrong, message in (("chance=0.9", "unknown key"), ("loss", "write a rule such as"), ("loss=-1", "positive")):
        refused = dobandit("run", shop, "--stop", wrong)
        assert (refused.code, refused.out) == (2, "")
        assert message in refused.err
