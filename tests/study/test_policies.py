"""Every policy can lead a study, and pulls there what it pulls in a simulation."""

from __future__ import annotations

import warnings
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dobandit as db
from dobandit import worlds
from dobandit.errors import StudyError
from dobandit.policies import policies_for, policy
from dobandit.problem import Problem
from dobandit.simulation.nature import Nature
from dobandit.study import Pull, Study
from dobandit.study.decisions import _known
from dobandit.worlds import World
from tests.policies.test_contract import VARIANTS, problems
from tests.study.driving import Laboratory, arms_of, drive, stand

SWEEP = "Chosen because it has not been tried: every option is tried once before results decide."
PLANNED = "Chosen by the plan of"
BY_INDEX = ("Chosen because it may", "Chosen to find out whether")

GRAPH = "Z -> X -> Y; Z -> Y; X <-> W; W -> Y"
PHASED = [name for name in policies_for("simple") if policy(name).depends_on_budget]


def simulated(problem: Problem, world: World, name: str, seed: int, **more: Any) -> tuple[list[str], str]:
    """One trial of `simulate`: its arms in the order in which they were pulled, and the one that it recommends."""
    pulled: dict[int, int] = {}
    answer = Nature.answer

    def overheard(self: Nature, trial: Any, arms: Any, times: Any) -> Any:
        pulled.update(zip(times.tolist(), arms.tolist(), strict=True))
        return answer(self, trial, arms, times)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Nature, "answer", overheard)
        found = db.simulate(problem, world, [name], 1, seed=seed, **more)
    arms = [str(problem.arms[pulled[time]]) for time in range(len(pulled))]
    assert [arms.count(str(arm)) for arm in problem.arms] == found.pulls[name][0, 0].tolist()  # nothing was missed
    return arms, str(problem.arms[found.recommended[name][0, 0]])


def agrees(study: Study, arms: list[str], expected: tuple[list[str], str]) -> bool:
    """Every pull in its place; and for simple regret the recommendation, which for cumulative regret a study makes by
    what it says itself."""
    return arms == expected[0] and (study.problem.objective == "cumulative" or study.best().arm == expected[1])


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("budget", [2.9, 47.3, 150])
def test_the_same_arms_as_simulate(name: str, budget: float) -> None:
    """One trial with that seed, told in the order asked: every pull in its place, and the recommendation."""
    problem = Problem(GRAPH, "Y", budget, policy(name).objective, default_cost=1.7, costs={"do(X=1)": 2.3})
    world = worlds.random(problem.graph, 3)
    study = Study.create(":memory:", problem, name, seed=7)
    arms = drive(study, Laboratory(problem, world, 7))
    assert agrees(study, arms, simulated(problem, world, name, 7))
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
    assert agrees(study, arms, simulated(problem, world, name, 3))
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
    assert agrees(study, arms, simulated(problem, world, name, 1))
    for arm in study.status().arms:
        assert -5 <= arm.low <= arm.mean <= arm.high <= 20


@pytest.mark.parametrize("name", VARIANTS)
def test_a_phase_is_handed_out_whole_and_waits_for_its_results(name: str) -> None:
    """A worker that asks for everything and tells nothing gets what can be decided without results."""
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
        if not policy(name).depends_on_budget:
            assert study.status().budget.free < 1


def test_phases_in_batches_pull_what_they_pull_one_by_one() -> None:
    for name in PHASED:
        problem = Problem(GRAPH, "Y", 90, "simple", default_cost=1.7)
        lab = Laboratory(problem, worlds.random(problem.graph, 3), 0)
        one, many = (Study.create(":memory:", problem, name) for _ in range(2))
        drive(one, lab)
        drive(many, lab, n=17)
        assert arms_of(one) == arms_of(many), name


@pytest.mark.parametrize("name", PHASED)
def test_a_pull_that_is_withdrawn_from_the_running_phase_is_asked_again(name: str) -> None:
    """The plan wants so many pulls of every arm, whatever became of some of them."""
    problem = Problem(GRAPH, "Y", 90, "simple", default_cost=1.7)
    lab = Laboratory(problem, worlds.random(problem.graph, 3), 0)
    study = Study.create(":memory:", problem, name)
    planned = study.ask(1000)
    study.tell(planned[0].id, lab.carry_out(planned[0]))
    for lost in (planned[0], planned[-1]):
        study.withdraw(lost.id, refund=True)
    again = [pull for pull in study.ask(1000) if pull.id > len(planned)]
    assert sorted(str(pull.arm) for pull in again) == sorted(str(pull.arm) for pull in (planned[0], planned[-1]))


@pytest.mark.parametrize("name", [name for name in PHASED if name != "uniform"])
def test_a_phase_that_is_over_is_not_started_again(name: str) -> None:
    """A pull of it is withdrawn, and every arm always earns the same, so that no mean is another one without it: what
    comes next is what would have come. (Money that came back might be planned with.)"""
    problem = Problem(GRAPH, "Y", 150, "simple", default_cost=1.7)
    earns = {"do()": 0, "do(Z=0)": 0, "do(Z=1)": 1, "do(X=0)": 0, "do(X=1)": 1, "do(W=0)": 0, "do(W=1)": 1}

    def go_on(study: Study, most: int) -> Study:
        while most and (pulls := study.ask()):
            (pull,), most = pulls, most - 1
            study.tell(pull.id, {"Z": 0, "X": int(pull.id % 3 == 0), "W": 0, "Y": earns[str(pull.arm)], **pull.set})
        return study

    arms = arms_of(go_on(Study.create(":memory:", problem, name), -1))
    first_phase = len(Study.create(":memory:", problem, name).ask(1000))
    assert first_phase < len(arms)
    for made in range(first_phase + 1, len(arms), 7):
        study = go_on(Study.create(":memory:", problem, name), made)
        phase = phase_of(study)
        study.withdraw(1)
        assert arms_of(go_on(study, -1)) == arms
        study = go_on(Study.create(":memory:", problem, name), made)
        study.withdraw(1, refund=True)
        assert phase_of(study) == phase


def phase_of(study: Study) -> int:
    """The phase that the policy is in, once it has been asked."""
    study.best()
    assert study._session.books is not None
    return int(_known(study._session.books).state.phase[0])


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
    if policy(name).depends_on_budget:
        assert set(later) == last_phase(name, first)
    study.extend(3 * 1.7)
    assert len(study.ask(3)) == 3  # at once: there is nothing to wait for


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
        assert why.reason.startswith("Chosen ")
        assert (why.measure is None) == (index[why.arm] is None) == why.reason.startswith(PLANNED)
        if why.reason.startswith(BY_INDEX):
            left = 40 - sum(1.0 if arm == "do()" else 1.7 for arm in arms[: number - 1])
            payable = [index[arm.arm] for arm in why.arms if arm.cost <= left + 1e-9]
            assert index[why.arm] == max(value for value in payable if value is not None)


@pytest.mark.parametrize("name", ["f-kube", "ucb", "crm", "crm-nb", "paper-cumulative"])
def test_a_sweep_is_not_put_down_to_the_index(name: str) -> None:
    """All arms are tried once in order, whatever the index says; an arm that is without a pull again has its turn."""
    problem = Problem(GRAPH, "Y", 40, default_cost=1.7)
    study, lab = Study.create(":memory:", problem, name), Laboratory(problem, worlds.random(GRAPH, 3), 0)
    arms = len(problem.arms)
    drive(study, lab, most=arms + 1)
    assert {study.explain(number).reason for number in range(1, arms + 1)} == {SWEEP}
    assert study.explain(arms + 1).reason != SWEEP
    study.withdraw(3)
    (again,) = study.ask()
    assert again.arm == problem.arms[2]
    assert study.explain(again.id).reason == SWEEP


def test_a_plan_is_explained_once() -> None:
    plan = "Chosen by the plan of uniform: phase 1, to try all options equally often."
    for budget, reasons in {
        12: [plan, plan],
        34: [
            f"{plan} It is the first of 3 pulls that were decided together.",
            f"{plan} It is one of 3 pulls that were decided together with pull 1.",
        ],
    }.items():
        study = Study.create(":memory:", Problem(GRAPH, "Y", budget, "simple", default_cost=1.7), "uniform")
        study.ask(2)
        assert [study.explain(number).reason for number in (1, 2)] == reasons


class _Busy(StudyError):
    """A policy was run."""


def busy(*_: object) -> None:
    raise _Busy


@pytest.mark.parametrize("name", VARIANTS)
def test_recording_runs_no_policy(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything but asking works while the policy cannot run: in a study that was open, and in one that is opened
    after others have used it. Then both go on as a study in memory that was never closed."""
    made = policy(name)
    problem = Problem(GRAPH, "Y", 90, made.objective, default_cost=1.7)
    lab = Laboratory(problem, worlds.random(problem.graph, 3), 0)
    place = folder / "s.db"
    whole, kept, other = Study.create(":memory:", problem, name), Study.create(place, problem, name), Study.open(place)
    for study in (whole, kept):
        drive(study, lab, most=8)
    for study in (whole, other):  # events of another worker that the first one has not read
        drive(study, lab, most=3)
        study.ask(2, worker="another")

    def record_everything(study: Study, pull: int) -> None:
        """Tell the open pull, and everything else that is no question."""
        study.tell(pull, outcome_of(study, lab, pull))
        study.tell_many([(pull, outcome_of(study, lab, pull))])
        study.record("do(X=1)", {"Z": 0, "X": 1, "W": 0, "Y": 1}, name=f"e{pull}")
        study.extend(1.5, name=f"g{pull}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # not every policy has a rule for logs
            study.observe({v: [0, 1, 1] for v in problem.graph.variables}, name=f"l{pull}")
        before = outcome_of(study, lab, pull - 11)
        study.amend(pull - 11, {**before, "Y": 1 - int(before["Y"])})
        study.withdraw(pull - 8, refund=True)

    with monkeypatch.context() as patch:
        for run in ("choose", "recommend"):
            patch.setattr(type(made.compile(problem)), run, busy)
        with Study.open(place) as fresh:
            for study, pull in ((kept, 12), (fresh, 13)):
                record_everything(study, pull)
                assert study.export(folder / f"{pull}.csv") == len(study.outcomes()) == pull
        with pytest.raises(_Busy):
            kept.best() if problem.objective == "simple" else kept.ask(worker="new")
    for pull in (12, 13):
        record_everything(whole, pull)
    with Study.open(place) as fresh:
        for study in (kept, other, fresh):
            assert study.best() == whole.best()
            assert stand(study) == stand(whole)
        expected = drive(whole, lab)
        assert drive(fresh, lab, most=4) + drive(kept, lab, most=4) + drive(other, lab) == expected
        assert [(e.kind, e.pull, e.content) for e in kept.log()[1:]] == [
            (e.kind, e.pull, e.content) for e in whole.log()[1:]
        ]


def outcome_of(study: Study, lab: Laboratory, pull: int) -> dict[str, str]:
    """What the laboratory finds in this pull of a study."""
    asked = next(event for event in study.log() if event.kind == "asked" and event.pull == pull)
    arm = study.problem.arms[asked.content["arm"]]
    return lab.carry_out(Pull(pull, arm, {}, 1.0, None))


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("corrected", [False, True])
def test_reopened_after_every_pull_it_asks_the_same(
    name: str, corrected: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For every policy, with and without corrections. Without, no decision is made twice: events say it all."""
    made = policy(name)
    problem = Problem(GRAPH, "Y", 60, made.objective, default_cost=1.7)
    lab = Laboratory(problem, worlds.random(problem.graph, 3), 0)
    runs, choose = list[str](), type(made.compile(problem)).choose

    def counted(self: Any, *given: Any) -> Any:
        runs.append(place)
        return choose(self, *given)

    monkeypatch.setattr(type(made.compile(problem)), "choose", counted)
    asked: dict[str, list[str]] = {}
    for place in ("here", "there"):
        opened = Study.create(folder / place, problem, name)
        while pulls := opened.ask():
            asked.setdefault(place, []).append(str(pulls[0].arm))
            opened.tell(pulls[0].id, lab.carry_out(pulls[0]))
            if corrected and pulls[0].id % 7 == 0:
                opened.amend(pulls[0].id - 3, {**outcome_of(opened, lab, pulls[0].id - 3), "Y": 1})
                opened.withdraw(pulls[0].id - 5, refund=pulls[0].id % 2 == 0)
            if place == "there":
                opened.close()
                opened = Study.open(folder / place)
        opened.close()
    assert asked["here"] == asked["there"]
    assert corrected or runs.count("here") == runs.count("there")


def test_a_variant_is_named_in_full() -> None:
    study = Study.create(":memory:", Problem(GRAPH, "Y", 40), "f-kube[as_published=true]")
    assert study.status().policy == study.policy == "f-kube[as_published=true]"


@pytest.mark.parametrize("name", [name for name in VARIANTS if policy(name).reads_logs])
def test_logs_before_the_first_pull_are_those_of_simulate(name: str) -> None:
    problem = Problem(GRAPH, "Y", 60, policy(name).objective, default_cost=1.7)
    world = worlds.random(problem.graph, 3)
    rows = world.sample(db.Arm(), 300, seed=5)
    study = Study.create(":memory:", problem, name, seed=7)
    study.observe(rows, name="log")
    arms = drive(study, Laboratory(problem, world, 7))
    assert agrees(study, arms, simulated(problem, world, name, 7, evidence=rows))
