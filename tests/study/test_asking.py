"""Asking: leases, workers, the budget, and money that is added or overdrawn."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dobandit.errors import DobanditError
from dobandit.problem import Problem
from dobandit.study import Study
from dobandit.study.decisions import _known, _view
from tests.service.running import Clock
from tests.study.checks import FINE, adds_up
from tests.study.driving import SMALL


def test_a_pull_is_a_lease(place: str) -> None:
    study = Study.create(place, SMALL, "f-kube")
    (first,) = study.ask(worker="a")
    assert (first.id, str(first.arm), first.set, first.cost, first.expires) == (1, "do()", {}, 1.0, None)
    assert [pull.id for pull in study.ask(worker="a")] == [1]  # a worker that was restarted spends nothing twice
    assert [pull.id for pull in study.ask(2, worker="b")] == [2, 3]
    assert study.ask(worker="b")[0].set == {"Z": "0"}
    money = study.status().budget
    assert [money.spent, money.reserved] == pytest.approx([0, 1 + 2 * 1.7])
    receipt = study.tell(1, FINE)
    assert list(receipt) == pytest.approx([1, 1, 60 - 1 - 3.4])
    assert adds_up(study)
    assert [pull.id for pull in study.ask(worker="a")] == [4]


def test_it_never_raises_because_the_money_ran_out(place: str) -> None:
    study = Study.create(place, Problem("X -> Y", "Y", 5.5, default_cost=2), "f-kube")
    pulls = study.ask(100)
    assert pulls.reason == "budget"
    assert sum(pull.cost for pull in pulls) <= 5.5
    assert study.status().budget.free < 1
    nothing = study.ask(worker="another")
    assert (len(nothing), nothing.reason) == (0, "budget")
    assert adds_up(study)


def test_a_pending_pull_counts_in_pulls_money_and_time_and_not_in_means() -> None:
    study = Study.create(":memory:", SMALL, "f-kube")
    study.ask(3)
    study.tell(2, {**FINE, "Z": 0})
    books = study._session.books
    assert books is not None
    view = _view(books, _known(books), books.affordable())
    assert view.time == 3
    assert view.pulls[0, :3].tolist() == [1, 1, 1]
    assert view.told[0, :3].tolist() == [0, 1, 0]
    assert view.means[0, :3].tolist() == [0, 1, 0]
    assert view.left.tolist() == pytest.approx([60 - 1 - 3.4])


def test_expired_pulls_go_to_others_and_late_outcomes_are_charged(place: str) -> None:
    clock = Clock()
    study = Study.create(place, Problem("X -> Y", "Y", 4, default_cost=2), "f-kube", clock=clock)
    (old,) = study.ask(worker="slow", ttl="1h")
    assert old.expires is not None
    assert old.expires.timestamp() == clock.now + 3600
    clock.now += 3599
    assert study.ask(worker="quick", ttl=60)[0].id == 2
    clock.now += 1
    assert study.status().expired == 1
    stood_in = study.ask(2, worker="quick")
    assert [(pull.id, str(pull.arm)) for pull in stood_in] == [(2, "do(X=0)"), (3, "do()")]
    assert study.status().budget.reserved == 3  # the money of the old one moved to the new one
    study.tell(3, {"X": 0, "Y": 1})
    assert study.tell(1, {"X": 1, "Y": 0}).spent == 2  # late, and welcome
    assert study.tell(2, {"X": 0, "Y": 0}).free == 0
    assert adds_up(study)
    assert study.status().budget.overdraft == 0
    assert [arm.pulls for arm in study.status().arms] == [2, 1, 0]


def test_no_more_expired_pulls_are_reassigned_than_were_asked_for() -> None:
    """A pull that is reassigned without being handed out would be lost: its worker no longer holds it."""
    clock = Clock()
    study = Study.create(":memory:", Problem("X -> Y", "Y", 9), "f-kube", clock=clock)
    study.ask(3, worker="slow", ttl=60)
    study.ask(2, worker="quick")
    clock.now += 60
    for wanted, reassigned in ((1, 0), (2, 0), (3, 1), (4, 2)):
        pulls = study.ask(wanted, worker="quick")
        assert [pull.id for pull in pulls] == [4, 5, 6, 7][:wanted]
        assert [event.content["source"] for event in study.log()[6:]] == [1, 2][:reassigned]
        assert (study.status().open, study.status().expired) == (5, 3 - reassigned)
        assert adds_up(study)


def test_an_overdraft_is_shown(place: str) -> None:
    clock = Clock()
    study = Study.create(place, Problem("X -> Y", "Y", 2), "f-kube", clock=clock)
    study.ask(2, worker="slow", ttl=1)
    clock.now += 2
    assert len(study.ask(2, worker="quick")) == 2
    for number in (1, 2, 3, 4):
        study.tell(number, {"X": 0, "Y": 1})
    money = study.status().budget
    assert (money.total, money.spent, money.free, money.overdraft) == (2, 4, 0, 2)
    assert adds_up(study)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda study: study.ask("3"), "ask for one pull or more, not '3'"),
        (lambda study: study.ask(1.5), "ask for one pull or more, not 1.5"),
        (lambda study: study.ask(True), "ask for one pull or more, not True"),
        (lambda study: study.ask(worker=""), "the name of a worker is a text that is not empty, not ''"),
        (lambda study: study.ask(worker=7), "the name of a worker is a text"),
        (lambda study: study.ask(ttl="x"), "a time to live is .*, not 'x'"),
        (lambda study: study.ask(ttl=[]), "a time to live is"),
        (lambda study: study.tell("1", FINE), "a pull is named by its number, such as 1, not by '1'"),
        (
            lambda study: study.tell(1, 5),
            "pull 1: an outcome maps every variable to its value, and this is 5; send Z=0",
        ),
        (lambda study: study.tell(1, [("Z", 0)]), "an outcome maps every variable"),
        (lambda study: study.tell_many(5), "pairs"),
        (lambda study: study.tell_many({1: FINE}), "pairs"),
        (lambda study: study.amend(None, FINE), "a pull is named by its number"),
        (lambda study: study.withdraw(1.0), "a pull is named by its number"),
        (lambda study: study.explain("1"), "a pull is named by its number"),
        (lambda study: study.record(1, FINE), "1 is not an arm"),
        (lambda study: study.record("do()", None), "an outcome maps every variable"),
        (lambda study: study.record("do()", FINE, name=" "), "the name of an experiment"),
        (lambda study: study.extend("5"), "positive amount, not '5'"),
        (lambda study: study.extend(5, name=""), "the name of an extension"),
        (lambda study: study.observe({"X": [1]}, name=""), "the name of a batch of rows"),
        (lambda study: study.observe(5, name="five"), "expected columns, rows or a data frame, not int"),
        (lambda _: Study.create(5, SMALL), "give a path or a URL, not int"),  # type: ignore[arg-type]
        (lambda _: Study.open(""), "give a path or a URL, not ''"),
        (lambda _: Study.create("a\0b", SMALL), "give a path or a URL, not a text with a null"),
        (lambda _: Study.create(":memory:", "p.toml"), "about a Problem, not 'p.toml'"),  # type: ignore[arg-type]
        (lambda _: Study.create(":memory:", SMALL, seed="x"), "whole number, not 'x'"),  # type: ignore[arg-type]
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(mistake: Callable[[Study], object], message: str) -> None:
    study = Study.create(":memory:", SMALL, "f-kube")
    study.ask()
    before = study.log()
    with pytest.raises(DobanditError, match=message):
        mistake(study)
    assert study.log() == before


@pytest.mark.parametrize("objective", ["simple", "cumulative"])
def test_arms_that_do_the_same_are_all_the_best_and_do_is_named(objective: str) -> None:
    """Nothing acts on Y, so no draw can tell the arms apart; they share being the best, and do() comes first."""
    study = Study.create(":memory:", Problem("Y -> Z; W", "Y", 9, objective))
    study.observe({"Y": [0, 1, 1, 1], "Z": [0, 1, 0, 1], "W": [1, 1, 0, 0]}, name="log")
    best = study.best()
    assert (best.arm, best.probability_best) == ("do()", 1.0)
    assert {arm.mean for arm in study.status().arms} == {best.mean}


def test_an_explanation_knows_what_was_known_then() -> None:
    """Corrections that came before the decision, and none that came after it."""
    study = Study.create(":memory:", SMALL, "f-kube")
    study.ask()
    study.tell(1, FINE)
    study.amend(1, {**FINE, "Y": 0})
    study.ask()
    then = study.explain(2)
    assert then.arms[0].mean < 0.5
    study.amend(1, FINE)
    study.tell(2, {**FINE, "Z": 0})
    assert study.explain(2) == then
    assert study.status().arms[0].mean > 0.5


def test_an_extended_budget(place: str) -> None:
    study = Study.create(place, Problem("X -> Y", "Y", 2), "f-kube")
    assert len(study.ask(5, worker="a")) == 2
    assert study.extend(1.5) == 3.5
    assert len(study.ask(5, worker="b")) == 1
    assert adds_up(study)
    for amount in (0, -1, float("nan"), float("inf")):
        with pytest.raises(DobanditError, match="positive amount"):
            study.extend(amount)
    study.extend(1e308)
    with pytest.raises(DobanditError, match="too much"):
        study.extend(1e308)
