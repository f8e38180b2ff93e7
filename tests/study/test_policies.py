"""Every policy can lead a study, and pulls there what it pulls in a simulation."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dobandit as db
from dobandit import worlds
from dobandit.policies import policies_for, policy
from dobandit.policies.registry import starts_from_logs
from dobandit.problem import Problem
from dobandit.study import Study
from tests.policies.test_contract import VARIANTS, problems
from tests.study.driving import Laboratory, arms_of, drive

GRAPH = "Z -> X -> Y; Z -> Y; X <-> W; W -> Y"


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("budget", [2.9, 47.3, 150])
def test_the_same_arms_as_simulate(name: str, budget: float) -> None:
    """One trial with that seed, told in the order asked: the pulls of every arm and the recommendation."""
    problem = Problem(GRAPH, "Y", budget, policy(name).objective, default_cost=1.7, costs={"do(X=1)": 2.3})
    world = worlds.random(problem.graph, 3)
    study = Study.create(":memory:", problem, name, seed=7)
    arms = drive(study, Laboratory(problem, world, 7))
    simulated = db.simulate(problem, world, [name], 1, seed=7)
    assert [arms.count(str(arm)) for arm in problem.arms] == simulated.pulls[name][0, 0].tolist()
    assert study.best().arm == str(problem.arms[simulated.recommended[name][0, 0]])
    assert study.ask().reason in ("budget", "finished")


@given(problems(), st.data())
@settings(derandomize=True, max_examples=40, deadline=None)
def test_the_same_arms_on_any_problem(problem: Problem, data: st.DataObject) -> None:
    """Any graph, any costs, budgets down to nothing."""
    assume(not problem.costs_are_drawn)
    name = data.draw(st.sampled_from([name for name in VARIANTS if policy(name).objective == problem.objective]))
    world = worlds.random(problem.graph, 5, problem.domains)
    study = Study.create(":memory:", problem, name, seed=3)
    arms = drive(study, Laboratory(problem, world, 3))
    simulated = db.simulate(problem, world, [name], 1, seed=3)
    assert [arms.count(str(arm)) for arm in problem.arms] == simulated.pulls[name][0, 0].tolist()
    assert study.best().arm == str(problem.arms[simulated.recommended[name][0, 0]])
    assert study.status().budget.spent <= problem.budget * (1 + 1e-9)


@pytest.mark.parametrize("name", [name for name in VARIANTS if "split=random" not in name])
def test_rewards_of_any_kind(name: str) -> None:
    """Three values to be made small, a three-valued variable, costs that are no whole numbers."""
    domains = {"Y": ["-5", "0", "20"], "X": ["a", "b", "c"]}
    problem = Problem(
        "X -> Y; X <-> Y", "Y", 33.3, policy(name).objective, goal="min", domains=domains, default_cost=1.1
    )
    world = worlds.random(problem.graph, 3, domains)
    study = Study.create(":memory:", problem, name, seed=1)
    arms = drive(study, Laboratory(problem, world, 1))
    simulated = db.simulate(problem, world, [name], 1, seed=1)
    assert [arms.count(str(arm)) for arm in problem.arms] == simulated.pulls[name][0, 0].tolist()
    for arm in study.status().arms:
        assert -5 <= arm.low <= arm.mean <= arm.high <= 20


@pytest.mark.parametrize("name", VARIANTS)
def test_a_phase_is_handed_out_whole_and_waits_for_its_results(name: str) -> None:
    """Somebody who asks for everything and tells nothing gets what can be decided without results."""
    problem = Problem(GRAPH, "Y", 90, policy(name).objective, default_cost=1.7)
    study = Study.create(":memory:", problem, name)
    pulls = study.ask(1000)
    lab = Laboratory(problem, worlds.random(problem.graph, 3), 0)
    if pulls.reason == "waiting for results":
        assert problem.objective == "simple"
        for pull in pulls[1:]:
            study.tell(pull.id, lab.carry_out(pull))
        assert [p.id for p in study.ask(1000)] == [pulls[0].id]  # one result is missing: nothing new
        study.tell(pulls[0].id, lab.carry_out(pulls[0]))
        more = study.ask(1000)
        assert more or more.reason == "finished"
    else:
        assert pulls.reason in ("budget", "finished")
        if policy(name).ignores_budget:
            assert study.status().budget.free < 1


def test_phases_in_batches_pull_what_they_pull_one_by_one() -> None:
    for name in policies_for("simple"):
        if policy(name).ignores_budget:
            continue
        problem = Problem(GRAPH, "Y", 90, "simple", default_cost=1.7)
        lab = Laboratory(problem, worlds.random(problem.graph, 3), 0)
        one, many = (Study.create(":memory:", problem, name) for _ in range(2))
        drive(one, lab)
        drive(many, lab, n=17)
        assert arms_of(one) == arms_of(many), name


@pytest.mark.parametrize("objective", ["cumulative", "simple"])
def test_the_recommended_policy_is_the_default(objective: str) -> None:
    study = Study.create(":memory:", Problem("X -> Y", "Y", 10, objective))
    assert study.policy == {"cumulative": "causal-thompson", "simple": "causal-explore"}[objective]


@pytest.mark.parametrize("name", policies_for("simple"))
def test_money_that_is_added_later_goes_to_the_last_phase(name: str) -> None:
    problem = Problem(GRAPH, "Y", 60, "simple", default_cost=1.7)
    lab = Laboratory(problem, worlds.random(problem.graph, 3), 0)
    study = Study.create(":memory:", problem, name)
    first = drive(study, lab)
    study.extend(20)
    later = drive(study, lab)
    assert len(later) >= 20 / 1.7 - 1
    assert study.status().budget.free < 1.7
    if not policy(name).ignores_budget:
        assert set(later) == last_phase(name, first)


def last_phase(name: str, arms: list[str]) -> set[str]:
    """The arms of the last phase: all, the last two that are left, or whatever is not observing."""
    if name == "uniform":
        return set(arms)
    if name in ("successive-rejects", "sh-rr"):
        return {arm for arm, _ in list(groupby(arms))[-2:]}
    return set(arms) - {"do()"} or {"do()"}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_pull_can_be_explained(name: str) -> None:
    problem = Problem(GRAPH, "Y", 40, policy(name).objective, default_cost=1.7)
    study = Study.create(":memory:", problem, name)
    arms = drive(study, Laboratory(problem, worlds.random(problem.graph, 3), 0))
    for number in range(1, len(arms) + 1, 5):
        why = study.explain(number)
        assert (why.id, why.arm) == (number, arms[number - 1])
        index = {arm.arm: arm.index for arm in why.arms}
        if "largest index" in why.reason and "but" not in why.reason:
            assert index[why.arm] == max(value for value in index.values() if value is not None)
        else:
            assert why.reason


@pytest.mark.parametrize("name", [name for name in VARIANTS if starts_from_logs(policy(name))])
def test_logs_before_the_first_pull_are_those_of_simulate(name: str) -> None:
    problem = Problem(GRAPH, "Y", 60, policy(name).objective, default_cost=1.7)
    world = worlds.random(problem.graph, 3)
    rows = world.sample(db.Arm(), 300, seed=5)
    study = Study.create(":memory:", problem, name, seed=7)
    study.observe(rows, name="log")
    arms = drive(study, Laboratory(problem, world, 7))
    simulated = db.simulate(problem, world, [name], 1, seed=7, evidence=rows)
    assert [arms.count(str(arm)) for arm in problem.arms] == simulated.pulls[name][0, 0].tolist()
