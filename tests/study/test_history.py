"""The history of a study: reopened or read from a snapshot it is the same, and its totals always add up."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dobandit.errors import DobanditError, FaultyRows
from dobandit.problem import Problem, Value
from dobandit.study import Study
from dobandit.study.books import Books
from tests.service.running import Clock
from tests.study.checks import FINE, adds_up
from tests.study.conftest import Places
from tests.study.driving import SMALL, arms_of, drive, laboratory, stand


def test_a_file_of_outcomes_needs_no_column_for_what_its_pulls_set(folder: Path) -> None:
    study, file = Study.create(":memory:", SMALL, "ucb"), folder / "june.csv"
    study.ask(3)  # do(), do(Z=0), do(Z=1)
    file.write_text("id,X,W,Y\n3,0,0,1\n2,1,0,1\n1,1,0,1\n")
    with pytest.raises(FaultyRows, match="line 4, pull 1: Z is missing"):
        study.tell_file(file)
    file.write_text("id,X,W,Y\n3,0,0,1\n2,1,0,1\n")
    assert [receipt.id for receipt in study.tell_file(file)] == [2, 3]
    study.export(folder / "out.csv")
    assert ",1,0,0,1," in (folder / "out.csv").read_text().splitlines()[-1]  # Z is 1 in pull 3


@pytest.mark.parametrize("text", ["{}", "[]", "null", '{"number": 1}'])
def test_a_snapshot_that_makes_no_sense_is_left_alone(text: str, folder: Path) -> None:
    file = folder / "study.db"
    with Study.create(file, SMALL, "f-kube") as study:
        drive(study, laboratory(), most=5)
        study.withdraw(2)  # which leaves a snapshot
        before = study.status()
    with sqlite3.connect(file) as database:
        assert database.execute("UPDATE snapshot SET text = ?", [text]).rowcount == 1
    database.close()
    with Study.open(file) as study:
        assert study.status() == before


@pytest.mark.parametrize("name", ["f-kube", "paper-cumulative", "causal-thompson", "crm"])
def test_reopened_it_goes_on_as_if_it_had_never_stopped(name: str, lasting: Places) -> None:
    lab, place = laboratory(), lasting()
    whole = Study.create(":memory:", SMALL, name)
    drive(whole, lab)
    Study.create(place, SMALL, name).close()
    while True:
        with Study.open(place) as study:
            if not drive(study, lab, most=7):
                break
    with Study.open(place) as study:
        assert arms_of(study) == arms_of(whole)
        assert study.best() == whole.best()
        assert stand(study) == stand(whole)


@pytest.mark.parametrize("name", ["ucb", "crm", "causal-thompson", "successive-rejects", "sh-rr", "paper-simple"])
def test_a_snapshot_holds_all_that_the_fold_gives(name: str) -> None:
    objective = "cumulative" if name in ("ucb", "crm", "causal-thompson") else "simple"
    problem = Problem(SMALL.graph, "Y", 60, objective, default_cost=1.7)
    study = Study.create(":memory:", problem, name, clock=Clock())
    drive(study, laboratory(problem), most=20)
    study.ask(3, worker="b", ttl=5)
    study.record("do(X=1)", FINE, name="june")
    study.extend(3, name="june")
    study.amend(3, study.outcomes()[2] and {v: study.outcomes()[2][v] for v in problem.graph.variables} | {"Y": 0})
    study.withdraw(5)
    study.withdraw(6, refund=True)
    events = study.log()
    folded = Books.folded(events)
    restored = Books.restored(events[0], json.loads(json.dumps(folded.to_plain())))
    assert restored.to_plain() == folded.to_plain()
    for name, value in vars(folded).items():  # nothing is forgotten
        if name not in ("tallies", "chance", "amended", "memory"):
            np.testing.assert_equal(getattr(restored, name), value)
    assert study._session.books is not None
    assert study._session.books.to_plain() == folded.to_plain()


@given(st.data())
@settings(derandomize=True, max_examples=30, deadline=None)
def test_the_ledger_adds_up_whatever_happens(data: st.DataObject) -> None:
    """Any sequence of good and bad steps by several workers, with time passing in between."""
    clock = Clock()
    study = Study.create(":memory:", Problem("X -> Y", "Y", 20, default_cost=1.3), "f-kube", clock=clock)
    numbers, workers = st.integers(0, 12), st.sampled_from("abc")
    outcomes = st.fixed_dictionaries({"X": st.integers(0, 1), "Y": st.integers(0, 1)})
    names, added = st.sampled_from([None, "a", "b"]), list[str | None]()
    for _ in range(data.draw(st.integers(5, 25))):
        clock.now += data.draw(st.sampled_from([0.0, 5.0, 20.0]))
        step = data.draw(st.sampled_from(["ask", "tell", "tell", "amend", "withdraw", "extend", "record"]))
        try:
            match step:
                case "ask":
                    study.ask(data.draw(st.integers(1, 4)), data.draw(workers), data.draw(st.sampled_from([None, 10])))
                case "tell":
                    study.tell(data.draw(numbers), data.draw(outcomes))
                case "amend":
                    study.amend(data.draw(numbers), data.draw(outcomes))
                case "withdraw":
                    study.withdraw(data.draw(numbers), data.draw(st.sampled_from([None, True, False])))
                case "extend":
                    added.append(data.draw(names))
                    study.extend(1, added[-1])
                case "record":
                    study.record("do()", data.draw(outcomes), data.draw(names))
        except DobanditError:
            pass
        assert adds_up(study)
    folded = Books.folded(study.log())
    assert study._session.books is not None
    assert study._session.books.to_plain() == folded.to_plain()
    assert folded.total == 20 + added.count(None) + len(set(added) - {None})
    assert study.progress()[-1].spent == study.status().budget.spent


def test_pages_of_the_log_are_the_log(place: str) -> None:
    study = Study.create(place, SMALL, "f-kube")
    for number, worker in enumerate("abc", 1):
        study.ask(worker=worker)
        study.tell(number, {**FINE, **_set_by(study, number)})
    whole = study.log()
    assert study.last_event == len(whole) == 7
    assert [study.log(after, 3) for after in (0, 3, 6, 7)] == [whole[0:3], whole[3:6], whole[6:], []]
    assert study.log(5) == whole[5:]
    assert study.log(pull=2) == [event for event in whole if event.pull == 2]
    assert study.log(after=4, pull=2) == whole[4:5]


def _set_by(study: Study, pull: int) -> dict[str, Value]:
    return dict(study.problem.arms[study.log(pull=pull)[0].content["arm"]].settings)
