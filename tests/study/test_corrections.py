"""Corrections: outcomes that are amended, pulls that are withdrawn, and their refunds."""

from __future__ import annotations

from typing import Any

import pytest

from dobandit.errors import Conflict, DobanditError, StudyError
from dobandit.evidence import Source, open_source
from dobandit.problem import Problem
from dobandit.study import Study, session
from dobandit.study.opening import at, from_start
from tests.service.running import Clock
from tests.study.checks import FINE, adds_up
from tests.study.conftest import Places
from tests.study.driving import SMALL, arms_of, drive, laboratory


def test_an_amended_outcome_is_as_if_it_had_been_told_so(place: str) -> None:
    study = Study.create(place, SMALL, "f-kube")
    study.ask()
    with pytest.raises(StudyError, match="no outcome to amend yet"):
        study.amend(1, FINE)
    study.tell(1, FINE)
    study.amend(1, {**FINE, "Y": 0})
    with pytest.raises(Conflict):
        study.tell(1, FINE)
    assert study.tell(1, {**FINE, "Y": 0}).spent == 1


@pytest.mark.parametrize("name", ["f-kube", "crm", "paper-cumulative", "causal-thompson"])
def test_after_an_amendment_the_policy_asks_what_it_would_have_asked(name: str) -> None:
    """Every outcome is told wrongly first: what the policy remembers is worked out again, too."""
    lab, right, wrong = laboratory(), Study.create(":memory:", SMALL, name), Study.create(":memory:", SMALL, name)
    drive(right, lab)
    while pulls := wrong.ask():
        outcome = lab.carry_out(pulls[0])
        wrong.tell(pulls[0].id, {**outcome, "Y": 1 - int(outcome["Y"])})
        wrong.amend(pulls[0].id, outcome)
    assert arms_of(wrong) == arms_of(right)
    assert wrong.outcomes()[7]["Y"] == right.outcomes()[7]["Y"]


def test_a_withdrawn_pull_never_was(place: str) -> None:
    study = Study.create(place, SMALL, "f-kube")
    study.ask(3)
    study.tell(1, FINE)
    study.withdraw(1, refund=True)
    study.withdraw(2)
    found = study.status()
    assert (found.told, found.open, found.budget.spent, found.budget.reserved) == (0, 1, 1.7, 1.7)
    assert adds_up(study)
    with pytest.raises(StudyError, match="pull 1 was withdrawn"):
        study.tell(1, FINE)
    before = study.log()
    study.withdraw(2)  # said already
    assert study.log() == before
    assert study.outcomes() == []
    assert [str(pull.arm) for pull in study.ask(4)] == ["do(Z=1)", "do()", "do(Z=0)", "do(X=0)"]  # all arms once


def test_a_refund_may_be_decided_later(place: str) -> None:
    """So that an experiment that was carried out after all is paid once."""
    study = Study.create(place, SMALL, "f-kube")
    study.ask()
    study.withdraw(1)
    assert study.status().budget.spent == 1
    with pytest.raises(StudyError, match=r"pull 1 was withdrawn; .* withdraw it once more with a refund, then record"):
        study.tell(1, FINE)
    study.withdraw(1, refund=True)
    assert study.status().budget.spent == 0
    with pytest.raises(StudyError, match="pull 1 was withdrawn; if it was carried out after all, record"):
        study.tell(1, FINE)
    assert study.record("do()", FINE).spent == 1
    study.withdraw(1, refund=False)  # it was paid, after all: the last word holds
    assert study.status().budget.spent == 2


def test_a_refund_is_taken_back_only_by_saying_so(place: str) -> None:
    """Withdrawn once more, in case the first time did not arrive: that decides nothing."""
    study = Study.create(place, SMALL, "f-kube")
    study.ask(2)
    for pull, refund in ((1, True), (2, False)):
        first = study.withdraw(pull, refund=refund)
        assert (first, first.new, first.refund) == (pull, True, refund)
        before = study.log()
        for again in (None, refund):
            sent = study.withdraw(pull, refund=again)
            assert (sent, sent.new, sent.refund) == (pull, False, refund)
        assert study.log() == before
    assert study.status().budget.spent == 1.7
    assert study.withdraw(1, refund=False).new
    assert study.status().budget.spent == 2.7


def test_a_refund_is_not_taken_back_when_its_money_is_gone(place: str) -> None:
    """Only facts overdraw a budget, and this is a decision."""
    clock = Clock()
    study = Study.create(place, Problem("X -> Y", "Y", 3, default_cost=2), "f-kube", clock=clock)
    study.ask()
    study.withdraw(1, refund=True)
    study.ask(2, worker="slow", ttl=1)
    before = study.log()
    with pytest.raises(
        StudyError, match="pull 1 cannot be charged again: its refund of 1 has been used, and 0 is free"
    ):
        study.withdraw(1, refund=False)
    assert study.log() == before
    study.extend(1)
    study.withdraw(1, refund=False)
    clock.now += 2
    assert [pull.id for pull in study.ask(2, worker="quick")] == [4, 5]
    study.withdraw(2, refund=True)
    study.withdraw(2, refund=False)  # it was reassigned, and has no money of its own
    money = study.status().budget
    assert (money.spent, money.reserved, money.free, money.overdraft) == (1, 3, 0, 0)


def test_a_pull_that_was_reassigned_has_no_money_to_lose(place: str) -> None:
    """It moved to the pull that replaces it; only a late outcome is charged."""
    clock = Clock()
    study = Study.create(place, SMALL, "f-kube", clock=clock)
    study.ask(2, worker="slow", ttl=1)
    clock.now += 2
    assert [pull.id for pull in study.ask(2, worker="quick")] == [3, 4]
    study.tell(2, {**FINE, "Z": 0})  # late
    for number in (1, 2):
        study.withdraw(number)
    money = study.status().budget
    assert (money.spent, money.reserved) == (1.7, 2.7)
    study.tell(3, FINE)
    study.withdraw(4)
    assert study.status().budget.spent == pytest.approx(1.7 + 1 + 1.7)


@pytest.mark.parametrize("refund", ["no", "yes", 2])
def test_a_refund_is_yes_or_no(refund: object) -> None:
    study = Study.create(":memory:", SMALL, "f-kube")
    (pull,) = study.ask()
    with pytest.raises(DobanditError, match="refund: expected True, False or None"):
        study.withdraw(pull.id, refund=refund)  # type: ignore[arg-type]
    assert [event.kind for event in study.log()] == ["created", "asked"]


LOG = {"Z": [1, 0, 1], "X": [0, 1, 1], "W": [1, 1, 0], "Y": [1, 0, 1]}
EXACT = Problem("Z -> X -> Y; Z -> Y; X <-> W; W -> Y", "Y", budget=60, default_cost=1.7, missing="drop")
REAL = Problem("X -> Y", {"variable": "Y", "range": [0, 3]}, budget=60)


@pytest.mark.parametrize("policy", ["f-kube", "causal-thompson"])
@pytest.mark.parametrize("log", [None, LOG], ids=["pulls", "pulls and a log"])
@pytest.mark.filterwarnings("ignore:.*no rule for logged rows")
def test_outcomes_of_whole_numbers_are_exchanged(
    policy: str, log: dict[str, list[int]] | None, lasting: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The totals are exactly what the whole history adds up to, and nothing was added up again."""
    with Study.create(lasting(), EXACT, policy) as study:
        drive(study, laboratory(EXACT), most=70)
        if log:
            study.observe(log, name="log")
        study.record("do(X=1)", {"Z": 1, "X": 1, "W": 0, "Y": 0}, name="own")
        with monkeypatch.context() as patched:
            patched.setattr(session, "at", None)
            for pull, reward in ((1, 0), (1, 1), (2, 0), (2, 1), (2, 0), (20, 1), (20, 0), (len(study.outcomes()), 1)):
                study.amend(pull, {"Y": reward})
            study.amend(3, {"W": None})  # paid, and no evidence
            study.amend(4, {"W": None})
            study.amend(3, {"W": 1})
        assert study.verify().ok
        assert study._session.books is not None
        assert study._session.books.incomplete == 1
        known = study._session.books.to_plain()
        with study._session.reading() as (access, _):
            assert from_start(access).to_plain() == known


@pytest.mark.parametrize(
    ("problem", "policy", "log"),
    [
        (EXACT, "paper-cumulative", None),  # whose tables count every second outcome
        (EXACT, "causal-thompson", open_source({**LOG, "w": [0.1, 0.2, 1e-20]}, "w")),
        (REAL, "causal-thompson", None),
    ],
    ids=["every second outcome", "weighted rows", "measured rewards"],
)
def test_other_outcomes_are_added_up_again(
    problem: Problem, policy: str, log: Source | None, lasting: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    folded = list[object]()

    def counted(*given: Any, **named: Any) -> Any:
        folded.append(named["correction"])
        return at(*given, **named)

    monkeypatch.setattr(session, "at", counted)
    with Study.create(lasting(), problem, policy) as study:
        for _ in range(12):
            (pull,) = study.ask()
            study.tell(pull.id, {**dict.fromkeys(problem.graph.variables, "1"), **pull.set})
        if log:
            study.observe(log, name="log")
        assert study.amend(1, {"Y": 0})
        assert len(folded) == 1
        assert study.verify().ok
