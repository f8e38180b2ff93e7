"""Outcomes that are told or recorded: what is accepted, what is refused, and what counts once."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dobandit.errors import ArmError, Conflict, DataError, DobanditError, NoSuchPull, OutcomeError, StudyError
from dobandit.problem import Missing, Problem, Value
from dobandit.study import Study
from tests.study.checks import FINE
from tests.study.conftest import Places
from tests.study.driving import SMALL


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({**FINE, "X": 2}, "pull 4: X is 2, and not one of 0 and 1; send Z=0.1 X=0 W=0.1 Y=0.1"),
        ({**FINE, "X": 1}, r"X is 1, but the pull was do\(X=0\): if it was set to 1, record that experiment"),
        ({"Z": 0, "X": 0, "W": 0}, "Y is missing"),
        ({**FINE, "X": 0, "V": 1}, "there is no variable V"),
        ({**FINE, "X": 0, "Y": float("nan")}, "Y has no value: if it is unknown, withdraw the pull"),
        ({**FINE, "X": 0, "Y": None}, "Y has no value: if it is unknown, withdraw the pull"),
        ({"X": 5, "Q": 1}, "there is no variable Q; Z, W and Y are missing; X is 5"),
    ],
)
def test_a_bad_outcome_changes_nothing(wrong: dict[str, Value], message: str) -> None:
    study = Study.create(":memory:", SMALL, "f-kube")
    assert str(study.ask(4)[3].arm) == "do(X=0)"
    before = study.log()
    with pytest.raises(OutcomeError, match=message):
        study.tell(4, wrong)
    with pytest.raises(OutcomeError):
        study.tell_many([(1, FINE), (4, wrong)])
    assert study.log() == before
    study.tell(4, {**FINE, "X": 0})


@pytest.mark.parametrize("size", ["inf", "-inf", "1e200", "-1e101", "1e400", float("inf"), 1e200])
def test_a_reward_that_is_too_large_to_add_up_is_refused(size: Value, folder: Path) -> None:
    """Without a range, too: one such number would leave no mean of any arm."""
    study = Study.create(":memory:", Problem("X -> Y", reward={"variable": "Y"}, budget=60))
    study.ask(2)
    study.tell(1, {"X": 0, "Y": 1e100})
    before, told, log = study.log(), folder / "told.csv", folder / "log.csv"
    told.write_text(f"id,X,Y\n2,0,{size}\n")
    log.write_text(f"X,Y\n0,1\n1,{size}\n1,2\n")
    outside = r"Y is .*, and not a number from -10\^100 to 10\^100"
    for refused in (
        lambda: study.tell(2, {"X": 0, "Y": size}),
        lambda: study.record("do()", {"X": 0, "Y": size}),
        lambda: study.amend(1, {"Y": size}),
        lambda: study.tell_file(told),
    ):
        with pytest.raises(DobanditError, match=outside):
            refused()
    with pytest.raises(DataError, match=r"line 3\); Y is a number from -10\^100 to 10\^100"):
        study.observe(log)
    assert study.log() == before
    assert np.isfinite([value for arm in study.status().arms if (value := arm.mean) is not None]).all()


def test_an_outcome_may_name_columns_instead_of_variables() -> None:
    """As the files of outcomes do; the name of a variable always means the variable."""
    problem = Problem("age -> Y", "Y", 60, bins={"age": [30]}, intervenable=[], columns={"age": "customer age"})
    study = Study.create(":memory:", problem)
    study.ask(1)
    study.tell(1, {"customer age": 20, "Y": 1})
    study.amend(1, {"customer age": "44"})
    study.record("do()", {"age": 20, "Y": 0})
    assert [row["age"] for row in study.outcomes()] == [">=30", "<30"]
    with pytest.raises(OutcomeError, match=r"age is given twice \(also as customer age\)"):
        study.record("do()", {"age": 20, "customer age": 20, "Y": 0})
    with pytest.raises(OutcomeError, match="there is no variable client age"):
        study.record("do()", {"client age": 20, "Y": 0})


def test_unknown_pulls(place: str) -> None:
    study = Study.create(place, SMALL, "f-kube")
    with pytest.raises(NoSuchPull, match="nothing has been asked yet"):
        study.tell(1, FINE)
    study.ask()
    for number in (0, 2, -1):
        with pytest.raises(NoSuchPull, match=f"there is no pull {number} in this study; its pulls are 1 to 1"):
            study.tell(number, FINE)
        with pytest.raises(NoSuchPull):
            study.explain(number)


def test_the_same_outcome_twice_is_nothing_another_a_conflict(place: str) -> None:
    study = Study.create(place, SMALL, "f-kube")
    study.ask()
    first = study.tell(1, FINE)
    before = study.log()
    assert study.tell(1, {"Y": "1", "W": 0.0, "X": True, "Z": "0"}) == first
    with pytest.raises(Conflict, match="pull 1 has the outcome Z=0 X=1 W=0 Y=1, and now Z=0 X=1 W=0 Y=0 is reported"):
        study.tell(1, {**FINE, "Y": 0})
    assert study.log() == before


def test_experiments_that_were_not_asked_for(place: str) -> None:
    study = Study.create(place, SMALL, "f-kube")
    assert study.record("do(X=1)", FINE).spent == 1.7
    assert study.status().arms[4].pulls == 1
    with pytest.raises(ArmError, match=r"do\(Y=1\) is not an arm"):
        study.record("do(Y=1)", FINE)
    with pytest.raises(OutcomeError):
        study.record("do(X=0)", FINE)
    assert study.explain(1).reason.startswith("It was not asked for")
    study.withdraw(1, refund=True)
    assert study.status().budget.spent == 0


def test_what_has_a_name_counts_once(lasting: Places) -> None:
    """A worker whose connection broke does not know whether it counted, and sends it again."""
    place = lasting()
    Study.create(place, SMALL, "f-kube").close()
    for _ in range(2):
        with Study.open(place) as study:
            receipt = study.record("do(X=1)", FINE, name="june")
            assert (receipt.id, receipt.spent) == (1, 1.7)
            assert study.extend(5, name="june") == 65
    with Study.open(place) as study:
        before = study.log()
        assert [event.kind for event in before] == ["created", "recorded", "extended"]
        with pytest.raises(Conflict, match=r"pull 1, do\(X=1\) with .* Y=1, and now do\(X=1\) with .* Y=0; .*name"):
            study.record("do(X=1)", {**FINE, "Y": 0}, name="june")
        with pytest.raises(Conflict, match=r"pull 1, do\(X=1\) with .*, and now do\(\) with"):
            study.record("do()", FINE, name="june")
        with pytest.raises(Conflict, match="'june' added 5 to the budget, and now it is 6"):
            study.extend(6, name="june")
        assert study.log() == before
        study.amend(1, {**FINE, "Y": 0})
        assert study.record("do(X=1)", {**FINE, "Y": 0}, name="june").id == 1
        study.withdraw(1)
        with pytest.raises(StudyError, match="'june' is pull 1, which was withdrawn; give it another name"):
            study.record("do(X=1)", {**FINE, "Y": 0}, name="june")
        assert study.record("do(X=1)", FINE, name="july").id == 2


def test_the_same_number_written_differently_is_the_same_outcome() -> None:
    study = Study.create(":memory:", Problem("X -> Y", {"variable": "Y", "range": [0, 1]}, 5), "f-kube")
    (pull,) = study.ask()
    for written in ("1e-3", "0.001", 0.001):
        study.tell(pull.id, {"X": 0, "Y": written})
    assert len(study.outcomes()) == 1


def test_what_the_arm_sets_need_not_be_told() -> None:
    """Told, recorded or amended, the value that was set is filled in; another one is an error."""
    study = Study.create(":memory:", SMALL, "ucb")
    pull = study.ask(2)[1]
    assert pull.set == {"Z": "0"}
    study.tell(pull.id, {"X": 1, "W": 0, "Y": 1})
    number = study.record("do(X=1)", {"Z": 0, "W": 1, "Y": 1}).id
    with pytest.raises(OutcomeError, match=r"X is 0, but the pull was do\(X=1\)"):
        study.amend(number, {"X": 0})
    study.amend(number, {"Y": 0})
    told = [{v: row[v] for v in "ZXWY"} for row in study.outcomes()]
    assert told == [{"Z": "0", "X": "1", "W": "0", "Y": "1"}, {"Z": "0", "X": "1", "W": "1", "Y": "0"}]


@pytest.mark.parametrize("way", ["drop", "category"])
def test_outcomes_with_unknown_values_are_paid_and_no_evidence(way: Missing, place: str, folder: Path) -> None:
    problem = Problem("X -> M -> Y", "Y", 20, default_cost=2, missing=way)
    study = Study.create(place, problem, "f-kube")
    study.ask(3)
    study.tell(1, {"X": 1, "M": 0, "Y": None})
    study.tell(1, {"X": 1, "M": 0, "Y": "NA"})  # the same again
    study.tell(2, {"M": float("nan"), "Y": 1})
    study.tell(3, {"M": 1, "Y": 1})
    dropped = {"drop": 2, "category": 1}[way]  # with "category", a missing M is a value as any other
    for opened in (study, study if place == ":memory:" else Study.open(place)):
        found = opened.status()
        assert (found.told, found.incomplete, found.budget.spent) == (3, dropped, 5)
        assert [arm.own_rows for arm in found.arms[:3]] == [0, 2 - dropped, 1]
        assert [arm.pulls for arm in found.arms[:3]] == [1, 1, 1]
    study.amend(1, {"Y": 1})  # found after all
    assert (study.status().incomplete, study.status().arms[0].own_mean) == (dropped - 1, 1.0)
    study.export(folder / "out.json")
    assert [row["M"] for row in json.loads((folder / "out.json").read_text())] == [0, None, 1]
