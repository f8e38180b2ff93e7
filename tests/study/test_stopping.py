"""Stopping rules of studies: when they hold, what they protect from, and that they are kept like everything else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dobandit.errors import ProblemError
from dobandit.problem import Goal, Problem, Stop
from dobandit.study import Study
from tests.conftest import Ran
from tests.study.driving import Laboratory, drive, laboratory

BOW = "X -> Y; X <-> Y"  # only own pulls tell about do(X=0) and do(X=1)
SIMPLE = Problem(BOW, "Y", 1000, "simple", costs={"do(X=0)": 2, "do(X=1)": 3})


def told(study: Study, arm: str, number: int, successes: int) -> None:
    for k in range(number):
        study.record(arm, {"X": arm[5:6] or str(k % 2), "Y": int(k < successes)})


def clear(place: str = ":memory:", **rule: float) -> Study:
    """A study whose answer is do(X=1), without any doubt."""
    study = Study.create(place, SIMPLE, stop=rule or None)
    told(study, "do()", 40, 10)
    told(study, "do(X=0)", 20, 2)
    told(study, "do(X=1)", 20, 19)
    return study


def test_a_study_that_is_sure_enough_hands_out_nothing(place: str) -> None:
    study = clear(place)
    (held,) = study.ask(worker="anna")
    assert study.stop({"probability": 0.95}, by="lab") == Stop(probability=0.95)
    pulls = study.ask(worker="ben")
    assert (pulls, pulls.reason) == ((), "sure enough")
    assert pulls.stop is not None
    assert (pulls.stop.holds, pulls.stop.arm, pulls.stop.rows) == (("probability",), "do(X=1)", 20)
    assert pulls.stop.saved == study.budget.free == 1000 - 40 - 40 - 60 - held.cost
    assert pulls.stop == study.status().stop
    assert [pull.id for pull in study.ask(worker="anna")] == [held.id], "what is open is still hers"
    study.tell(held.id, {"X": held.set.get("X", 0), "Y": 1})
    assert study.ask(worker="ben", anyway=True).reason is None
    assert study.stop(None) is None
    assert study.status().stop is None
    assert study.ask(worker="clara").reason is None
    rules = [event.content for event in study.log() if event.kind == "stopping"]
    assert [rule["rule"] and rule["rule"]["probability"] for rule in rules] == [0.95, None]
    assert rules[0]["by"] == "lab"


def test_expired_pulls_of_others_are_not_taken_over_by_a_study_that_is_sure_enough(folder: Path) -> None:
    now = [1000.0]
    study = Study.create(folder / "s.db", SIMPLE, clock=lambda: now[0])
    study.ask(worker="anna", ttl=10)
    told(study, "do()", 40, 10)
    told(study, "do(X=0)", 20, 2)
    told(study, "do(X=1)", 20, 19)
    now[0] += 100
    study.stop({"probability": 0.9})
    assert study.ask(worker="ben").reason == "sure enough"
    assert [pull.id for pull in study.ask(worker="ben", anyway=True)] == [82]


def test_no_study_stops_on_a_prior() -> None:
    """Nine outcomes are not enough, however clear they are; ten are."""
    study = Study.create(":memory:", SIMPLE, stop={"probability": 0.9})
    told(study, "do(X=0)", 30, 1)
    told(study, "do()", 30, 1)
    told(study, "do(X=1)", 9, 9)
    found = study.status().stop
    assert found is not None
    assert (found.holds, found.rows) == ((), 9)
    assert found.probability > 0.99
    assert study.ask(worker="a").reason is None
    told(study, "do(X=1)", 1, 1)
    assert study.ask(worker="b").reason == "sure enough"
    study.stop({"probability": 0.9, "min_pulls": 11})
    assert study.ask(worker="b").reason is None


@pytest.mark.parametrize(("goal", "good"), [("max", 1), ("min", 0)])
def test_no_study_is_sure_because_of_a_few_lucky_outcomes(
    goal: Goal, good: int, folder: Path, dobandit: Callable[..., Ran]
) -> None:
    """Where good outcomes are rare, the answer needs five of them; where bad ones are, any options together do."""
    study = Study.create(folder / "rare.db", Problem(BOW, "Y", 5000, "simple", goal=goal), stop={"probability": 0.9})
    rare, common = ("do(X=1)", "do(X=0)") if good else ("do(X=0)", "do(X=1)")  # the one with outcomes of the rare kind
    for arm in (common, "do()") if good else (common,):
        told(study, arm, 400, 0)
    told(study, rare, 40, 4)
    found = study.status().stop
    assert found is not None
    assert (found.arm, found.holds) == ("do(X=1)", ())
    assert found.probability > 0.9
    assert (found.good, found.bad) == ((4, 836) if good else (400, 4))
    who = "do(X=1) has 4 good outcomes and needs 5" if good else "all options together have 4 bad outcomes and need 5"
    assert who in dobandit("study", "stop", folder / "rare.db").err
    assert study.ask(worker="a").reason is None
    told(study, rare, 1, 1)
    assert study.ask(worker="b").reason == "sure enough"


def test_what_can_be_lost_is_believed_without_good_outcomes() -> None:
    study = Study.create(":memory:", Problem(BOW, "Y", 5000, "simple"), stop={"loss": 0.05})
    for arm in ("do()", "do(X=0)", "do(X=1)"):
        told(study, arm, 100, 0)
    assert study.ask().reason == "sure enough"


def test_rewards_that_are_all_the_same_make_no_option_likely() -> None:
    study = Study.create(":memory:", Problem("X -> Y", {"variable": "Y", "range": [0, 500]}, 500, default_cost=2))
    study.observe({"X": [0, 1] * 50, "Y": [0] * 100}, name="log")
    assert {arm.probability_best for arm in study.status().arms} == {1 / 3}


@pytest.mark.parametrize(("graph", "rows"), [("X -> Y", 60), (BOW, 0)])
def test_observations_count_as_outcomes_of_the_options_that_they_identify(graph: str, rows: int) -> None:
    study = Study.create(":memory:", Problem(graph, "Y", 1000, "simple"), stop={"probability": 0.9})
    study.observe({"X": [0, 1] * 30, "Y": [0, 1] * 30}, name="log")
    found = study.status().stop
    assert found is not None
    assert (found.arm, found.rows) == ("do(X=1)", rows)
    assert bool(found.holds) == (rows > 0)


def test_any_part_of_a_rule_is_enough() -> None:
    study = clear(probability=0.95, loss=1e-9)
    found = study.status().stop
    assert found is not None
    loss = study.status().expected_loss
    assert found.loss == loss
    study.stop({"loss": loss + 1e-6, "probability": 0.99999999})
    assert "loss" in study.ask(worker="a").stop.holds  # type: ignore[union-attr]


def test_pulls_that_do_not_earn_their_cost_back() -> None:
    """What is earned back grows with the uses of the answer; below one the study stops."""
    study = Study.create(":memory:", SIMPLE, stop={"gain_per_cost": True, "pulls_ahead": 1})
    told(study, "do(X=0)", 40, 16)
    told(study, "do(X=1)", 40, 24)
    found = study.status().stop
    assert found is not None
    assert found.earned_back is not None
    assert 0 < found.earned_back < 1
    assert study.ask(worker="a").reason == "sure enough"
    enough = 1 / found.earned_back
    study.stop({"gain_per_cost": True, "pulls_ahead": 1.01 * enough})
    assert study.status().stop.earned_back == pytest.approx(1.01)  # type: ignore[union-attr]
    assert study.ask(worker="a").reason is None


def test_a_tie_is_an_answer() -> None:
    study = Study.create(":memory:", SIMPLE)
    told(study, "do()", 200, 20)
    told(study, "do(X=0)", 400, 240)
    told(study, "do(X=1)", 400, 248)
    assert study.best().arm == "do(X=1)"
    assert study.best().alternatives == ()
    study.stop({"loss": 0.05})
    best = study.best()
    assert [(option.arm, option.cost) for option in best.alternatives] == [("do(X=0)", 2), ("do(X=1)", 3)]
    assert (best.arm, best.cost) == ("do(X=0)", 2)
    assert all(option.expected_loss <= 0.05 for option in best.alternatives)
    assert best.expected_loss == best.alternatives[0].expected_loss
    study.stop({"loss": best.alternatives[0].expected_loss * 0.5})
    assert study.best().arm == "do(X=1)", "the cheaper one is no longer within the loss"


def test_a_rule_is_kept(folder: Path) -> None:
    """In the problem, in events and in snapshots; the same rule again is no event, a wrong one changes nothing."""
    path, lab = folder / "s.db", laboratory()
    problem = lab.problem.with_stop({"probability": 0.6, "min_pulls": 2})
    with Study.create(path, problem) as study:
        assert study.problem.stop == Stop(probability=0.6, min_pulls=2)
        study.stop({"loss": 0.5, "min_pulls": 1000})
        before = study.last_event
        study.stop({"loss": 0.5, "min_pulls": 1000})
        with pytest.raises(ProblemError, match=r"stop.loss: expected a positive number"):
            study.stop({"loss": -1})
        for least in (0, 2.5, "many"):
            with pytest.raises(ProblemError, match=r"stop.min_pulls: expected a whole number, at least 1"):
                study.stop({"loss": 0.5, "min_pulls": least})
        assert study.last_event == before
        drive(study, lab)  # enough events for a snapshot
        assert study.last_event > 64
        known = study.status().stop
        assert study.verify().ok
    with Study.open(path) as study:
        assert study.status().stop == known
        assert known is not None
        assert known.rule == Stop(loss=0.5, min_pulls=1000)


def test_a_rule_that_never_holds_changes_no_pull() -> None:
    problem = Problem("Z -> X -> Y; Z -> Y; X <-> W; W -> Y", "Y", 40, "simple", default_cost=1.7)
    lab = Laboratory(problem, laboratory(problem)._nature._world, 0)
    free, ruled = (Study.create(":memory:", problem, stop=stop) for stop in (None, {"loss": 1e-12}))
    assert drive(free, lab) == drive(ruled, lab)


def test_the_command_line_says_what_is_saved(folder: Path, dobandit: Callable[..., Ran]) -> None:
    place = str(folder / "s.db")
    clear(place).close()

    def run(*words: str, code: int = 0) -> str:
        found = dobandit("study", words[0], place, *words[1:])
        assert found.code == code, found.err
        return found.out + ("" if "--json" in words else found.err)

    assert json.loads(run("stop", "--json")) == {"stop": None}
    rule = {"probability": 0.95, "loss": None, "gain_per_cost": False, "pulls_ahead": None, "min_pulls": 5}
    assert json.loads(run("stop", "--probability", "0.95", "--min-pulls", "5", "--json")) == {"stop": rule}
    said = run("ask", code=3)
    assert "sure enough. do(X=1) is the best with probability" in said
    assert "860 of the budget is saved; ask --anyway goes on." in said
    document = json.loads(run("ask", "--json", code=3))
    assert (document["pulls"], document["reason"], document["stop"]["saved"]) == ([], "sure enough", 860)
    assert "It holds: do(X=1)" in run("status")
    assert "stopping rule: a probability of 0.95" in run("stop")
    assert "do(" in run("ask", "--anyway")
    assert json.loads(run("stop", "--off", "--json")) == {"stop": None}
    run("stop", "--off", "--loss", "1", code=2)
    run("stop", "--pulls-ahead", "9", code=2)
