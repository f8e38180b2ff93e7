"""What a study promises, in every place that it may be kept in."""

from __future__ import annotations

import errno
import json
import sqlite3
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dobandit.errors import (
    ArmError,
    Conflict,
    DataError,
    DobanditError,
    FaultyRows,
    FileError,
    NoSuchPull,
    OutcomeError,
    PolicyError,
    StorageError,
    StudyError,
)
from dobandit.policies.f_kube import FKube
from dobandit.problem import Missing, Problem, Value, parse_problem
from dobandit.study import Study, facts
from dobandit.study.books import Books
from dobandit.study.decisions import _known, _view
from dobandit.study.files import spending
from dobandit.study.plain import problem_from_plain, problem_to_plain
from dobandit.study.problem_text import problem_to_toml
from dobandit.study.transaction import Transaction
from tests.policies.test_contract import problems
from tests.study.conftest import Places
from tests.study.driving import SMALL, arms_of, drive, laboratory

FINE: dict[str, Value] = {"Z": 0, "X": 1, "W": "0", "Y": 1.0}


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def adds_up(study: Study) -> bool:
    """spent + reserved + free = total, none of them negative, and all of them what the pulls say."""
    found = study.status()
    money, arms = found.budget, found.arms
    assert min(money.spent, money.reserved, money.free, money.overdraft) >= 0
    assert money.reserved == pytest.approx(sum(arm.open * arm.cost for arm in arms))
    assert money.spent + money.reserved + money.free == pytest.approx(money.total + money.overdraft, rel=1e-12)
    return True


# -- asking and telling ----------------------------------------------------------------------------


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
    outside = r"Y is .*, and not a number from -1e\+100 to 1e\+100"
    for refused in (
        lambda: study.tell(2, {"X": 0, "Y": size}),
        lambda: study.record("do()", {"X": 0, "Y": size}),
        lambda: study.amend(1, {"Y": size}),
        lambda: study.tell_file(told),
    ):
        with pytest.raises(DobanditError, match=outside):
            refused()
    with pytest.raises(DataError, match=r"line 3\); Y is a number from -1e\+100 to 1e\+100"):
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
    with pytest.raises(Conflict, match="pull 1 was told Z=0 X=1 W=0 Y=1 and now Z=0 X=1 W=0 Y=0"):
        study.tell(1, {**FINE, "Y": 0})
    assert study.log() == before


def test_many_outcomes_are_told_all_or_none(place: str, folder: Path) -> None:
    study = Study.create(place, SMALL, "ucb")
    study.ask(3)
    file = folder / "outcomes.csv"
    file.write_text("id,note,Z,X,W,Y\n1,fine,0,1,0,1\n2,,0,1,0,1\n3,,0,1,0,1\n")
    with pytest.raises(FaultyRows, match=r"outcomes.csv, line 4, pull 3: Z is 0, but the pull was do"):
        study.tell_file(file)
    assert study.status().told == 0
    file.write_text("id,note,Z,X,W,Y\n3,,1,1,0,1\n2,,0,1,0,1\n1,fine,0,1,0,1\n")
    assert [receipt.id for receipt in study.tell_file(file)] == [1, 2, 3]
    assert study.tell_file(file)[-1].spent == pytest.approx(1 + 3.4)  # once more, and nothing happens
    assert study.status().told == 3
    for text, message in (
        ("id,Z,X,W,Y\n", "no outcomes"),
        ("id,Z\n1,0\n", "no column"),
        ("id,Z,X,W,Y\nx,0,1,0,1\n", "id"),
    ):
        file.write_text(text)
        with pytest.raises(DataError, match=message):
            study.tell_file(file)


def test_a_file_that_has_a_pull_twice(folder: Path) -> None:
    """The same outcome twice is harmless; with two outcomes, nothing was told before that could conflict."""
    study, file = Study.create(":memory:", SMALL, "ucb"), folder / "june.csv"
    study.ask(2)
    file.write_text("id,Z,X,W,Y\n1,0,1,0,1\n2,0,1,0,7\n1,0,1,0,0\n")
    with pytest.raises(FaultyRows) as both:
        study.tell_file(file)
    twice = (
        "june.csv, line 2: pull 1 is in this file twice (again in line 4), with Z=0 X=1 W=0 Y=0 and with Z=0 X=1 W=0"
    )
    assert twice in str(both.value)
    assert "june.csv, line 3, pull 2: Y is 7" in str(both.value)
    with pytest.raises(DataError, match="this list of outcomes has pull 1 twice"):
        study.tell_many([(1, FINE), (1, {**FINE, "Y": 0})])
    assert study.status().told == 0
    file.write_text("id,Z,X,W,Y\n1,0,1,0,1\n1,0,1,0,1.0\n")
    with pytest.warns(UserWarning, match="pull 1 is in this file 2 times, with the same outcome; it counts once"):
        study.tell_file(file)
    assert study.status().told == 1
    file.write_text("id,Z,X,W,Y\n1,0,1,0,0\n")
    with pytest.raises(FaultyRows, match="pull 1 was told") as told:
        study.tell_file(file)
    assert told.value.exit_code == 4  # a conflict


def test_all_faulty_rows_of_a_file_are_told_at_once(folder: Path) -> None:
    study, file = Study.create(":memory:", SMALL, "ucb"), folder / "june.csv"
    assert [str(pull.arm) for pull in study.ask(4)] == ["do()", "do(Z=0)", "do(Z=1)", "do(X=0)"]
    file.write_text("id,Z,X,W,Y\n4,0,,0,1\n3,0,1,0,1\n2,0,1,5,\nx,0,1,0,1\n1,0,1,0,1\n9,0,1,0,1\n")
    with pytest.raises(FaultyRows) as faulty:
        study.tell_file(file)
    assert faulty.value.exit_code == 2
    lines = str(faulty.value).splitlines()
    assert [line.split(";")[0].split(":")[0] for line in lines] == [
        "june.csv, line 5",  # of the column id first, then in the order of pulls
        "june.csv, line 4, pull 2",
        "june.csv, line 3, pull 3",
        "june.csv, line 7",
    ]
    assert "column id has x, and not the number of a pull" in lines[0]
    assert "W is 5, and not one of 0 and 1; Y has no value" in lines[1]
    assert "Z is 0, but the pull was do(Z=1)" in lines[2]
    assert "there is no pull 9" in lines[3]
    assert study.status().told == 0
    file.write_text("id,Z,X,W,Y\n4,0,,0,1\n1,0,1,0,1\n")  # X was set, so it need not be told
    assert [receipt.id for receipt in study.tell_file(file)] == [1, 4]


def test_a_file_of_outcomes_needs_no_column_for_what_its_pulls_set(folder: Path) -> None:
    study, file = Study.create(":memory:", SMALL, "ucb"), folder / "june.csv"
    study.ask(3)  # do(), do(Z=0), do(Z=1)
    file.write_text("id,X,W,Y\n3,0,0,1\n2,1,0,1\n1,1,0,1\n")
    with pytest.raises(FaultyRows, match="line 4, pull 1: Z is missing"):
        study.tell_file(file)
    file.write_text("id,X,W,Y\n3,0,0,1\n2,1,0,1\n")
    assert [receipt.id for receipt in study.tell_file(file)] == [2, 3]
    study.export(folder / "out.csv")
    assert (folder / "out.csv").read_text().endswith(",1,0,0,1\n")  # Z is 1 in pull 3


def test_the_order_of_the_rows_in_a_file_does_not_matter(folder: Path) -> None:
    """Many threads read a Parquet file in any order, and what is asked next depends on the order of outcomes."""
    import polars as pl

    after = []
    for name in ("ordered.csv", "reversed.csv", "any.parquet"):
        study, lab = Study.create(":memory:", SMALL, "paper-cumulative"), laboratory()
        rows = pl.DataFrame([{"id": pull.id, **lab.carry_out(pull)} for pull in study.ask(30)])
        if name == "any.parquet":
            rows.sample(fraction=1, shuffle=True, seed=1).write_parquet(folder / name)
        else:
            rows.sort("id", descending=name == "reversed.csv").write_csv(folder / name)
        study.tell_file(folder / name)
        drive(study, lab)
        after.append([(event.kind, event.pull, event.content) for event in study.log()])
    assert after[0] == after[1] == after[2]


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


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda study: study.ask("3"), "ask for one pull or more, not '3'"),
        (lambda study: study.ask(1.5), "ask for one pull or more, not 1.5"),
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


# -- evidence --------------------------------------------------------------------------------------


def test_logged_rows_count_once_and_cost_nothing(place: str) -> None:
    study = Study.create(place, SMALL, "f-kube")
    rows: dict[str, list[object]] = {"Z": [0, 1] * 50, "X": [1] * 100, "W": [0, 0, 1, 1] * 25, "Y": [1, 0, 1, 1] * 25}
    rows["intervention"] = ["do()", "do(X=1)"] * 50
    for new in (True, False):
        with pytest.warns(UserWarning, match="f-kube has no rule for logged rows"):
            batch = study.observe(rows, name="2025")
        assert (batch, batch.new) == (100, new)
    with pytest.raises(Conflict, match="'2025' is in the study already, with 100 rows; these are 2 others"):
        study.observe({v: column[:2] for v, column in rows.items()}, name="2025")
    with pytest.raises(DobanditError, match="give this batch of rows a name"):
        study.observe(rows)
    with pytest.raises(DataError):
        study.observe({**rows, "X": [7] * 100}, name="other")
    found = study.status()
    assert (found.logged, found.budget.spent) == (100, 0)
    assert study.best().observational == 0.5
    assert found.arms[4].mean != 0.5  # do(X=1) was logged 50 times


def test_sums_of_measurements_may_differ_in_their_last_digits(place: str) -> None:
    """Rewards that are read in another order, by many threads, add up to nearly the same: these are the same rows."""
    study = Study.create(place, Problem("X -> Y", {"variable": "Y", "range": [1000, 1001]}, 10), "causal-thompson")
    rng = np.random.default_rng(2)
    rows = {"X": rng.integers(2, size=5000), "Y": 1000 + rng.random(5000)}
    assert study.observe(rows, name="log").new
    assert not study.observe({name: column[::-1] for name, column in rows.items()}, name="log").new
    with pytest.raises(Conflict, match="'log' is in the study already"):
        study.observe({**rows, "Y": np.r_[1000.0, rows["Y"][1:]]}, name="log")


def test_logs_of_files_have_the_name_of_the_file(folder: Path) -> None:
    study = Study.create(":memory:", SMALL)
    file = folder / "old.csv"
    file.write_text("Z,X,W,Y\n0,1,0,1\n1,1,0,0\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether the policy has a rule for logs is not what this is about
        assert study.observe(file) == study.observe(str(file)) == 2
    assert [event.content["name"] for event in study.log()[1:]] == ["old.csv"]


def test_logs_that_another_version_counted_wait_to_be_sent_again() -> None:
    study = Study.create(":memory:", SMALL, "f-kube")
    rows = {"Z": [0, 1], "X": [1, 1], "W": [0, 0], "Y": [1, 0]}
    with pytest.warns(UserWarning, match="no rule"):
        study.observe(rows, name="old")
    created, observed = study.log()
    assert isinstance(observed.fact, facts.Observed)
    other = replace(observed.fact, evidence={**observed.fact.evidence, "tables": []})
    books = Books.folded([created, observed._replace(fact=other)])
    assert books.judged.evidence.told.sum() == 0
    study._session.books = books
    assert (study.status().logged, study.status().uncounted) == (0, ("old",))
    with pytest.warns(UserWarning, match="no rule"):
        assert study.observe(rows, name="old") == 2
    assert (study.status().logged, study.status().uncounted) == (2, ())
    twice = Books.folded([created, observed, observed._replace(number=observed.number + 1)])
    assert twice.judged.evidence.told.sum() == 2  # a version that can count both counts one


# -- corrections -----------------------------------------------------------------------------------


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
    with pytest.raises(StudyError, match="pull 1 cannot be paid again: its refund of 1 has been used, and 0 is free"):
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


def test_a_correction_holds_even_if_its_snapshot_cannot_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.create(":memory:", SMALL, "f-kube")
    (pull,) = study.ask()

    def full(self: Transaction) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr(Transaction, "keep", full)
    assert study.withdraw(pull.id, refund=True) == pull.id
    assert study.status().budget.reserved == 0


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


def test_the_same_number_written_differently_is_the_same_outcome() -> None:
    study = Study.create(":memory:", Problem("X -> Y", {"variable": "Y", "range": [0, 1]}, 5), "f-kube")
    (pull,) = study.ask()
    for written in ("1e-3", "0.001", 0.001):
        study.tell(pull.id, {"X": 0, "Y": written})
    assert len(study.outcomes()) == 1


# -- history ---------------------------------------------------------------------------------------


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
        assert study.status() == whole.status()


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
    paid = spending(study.log(), study.problem)
    assert study.status().budget.spent == pytest.approx(paid[-1][1] if paid else 0)


# -- problems and policies -------------------------------------------------------------------------


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
    mine = type("Mine", (FKube,), {"name": "mine"})
    for wanted, message in (
        (mine(), r"a policy of your own \(mine\) runs in simulate, but a study .* name one of causal-thompson, "),
        (type("FKube", (FKube,), {})(), r"a policy of your own \(f-kube\)"),
        (FKube(as_published=7), r"FKube\(as_published=7\) cannot be written as a text such as f-kube\[\.\.\.\]"),  # type: ignore[arg-type]
        (
            FKube,
            r"or an object of a class derived from dobandit.policies.Policy, not <class",
        ),
        (
            3,
            r"a policy is a name such as 'f-kube' or an object of .*, not 3",
        ),
    ):
        with pytest.raises(PolicyError, match=message):
            Study.create(":memory:", SMALL, wanted)  # type: ignore[arg-type]


def test_exports_are_read_back_as_evidence(folder: Path) -> None:
    study = Study.create(":memory:", SMALL, "ucb")
    drive(study, laboratory(), most=12)
    study.withdraw(3)
    means = []
    for name in ("out.csv", "out.parquet"):
        assert study.export(folder / name) == 11
        with pytest.raises(FileError, match="exists already"):
            study.export(folder / name)
        other = Study.create(":memory:", SMALL, "ucb")
        with pytest.warns(UserWarning, match="no rule for logged rows"):
            assert other.observe(folder / name) == 11
        means.append([arm.mean for arm in other.status().arms])
    assert means[0] == pytest.approx([arm.mean for arm in study.status().arms])
    assert means[0] == pytest.approx(means[1])
    study.export(folder / "out.json")
    assert json.loads((folder / "out.json").read_text())[0]["intervention"] == "do()"
    with pytest.raises(FileError, match=r"ends in \.csv"):
        study.export(folder / "out.xls")


def test_variables_may_be_called_like_columns_of_ours(folder: Path) -> None:
    """Then ours have another name, in every file that is written and read."""
    problem = Problem("id -> {cost, Worker}; {cost, Worker} -> told", "told", 20, default_cost=2)
    lab, study = laboratory(problem), Study.create(":memory:", problem, "ucb")
    first, second, third = study.ask(3)
    file = folder / "outcomes.csv"
    lines = [f"{pull.id},{','.join(lab.carry_out(pull).values())}" for pull in (first, second, third)]
    file.write_text("\n".join([f"id,{','.join(problem.graph.variables)}", *lines]))
    with pytest.raises(DataError, match="the column 'id' is there twice"):
        study.tell_file(file)
    file.write_text("\n".join([f"pull id,{','.join(problem.graph.variables)}", *lines]))
    assert [receipt.id for receipt in study.tell_file(file)] == [1, 2, 3]
    assert {v: study.outcomes()[1][v] for v in problem.graph.variables} == lab.carry_out(second)
    assert study.outcomes()[1]["pull cost"] == second.cost
    for form in ("csv", "parquet", "json"):
        study.export(folder / f"out.{form}")
    names = {"pull id", "intervention", "pull cost", "pull worker", "begun", "pull told", *problem.graph.variables}
    assert set(json.loads((folder / "out.json").read_text())[0]) == names
    for form in ("csv", "parquet"):
        other = Study.create(":memory:", problem, "ucb")
        with pytest.warns(UserWarning, match="no rule for logged rows"):
            other.observe(folder / f"out.{form}")
        assert [arm.mean for arm in other.status().arms] == pytest.approx([arm.mean for arm in study.status().arms])


def test_variables_that_no_file_could_hold(folder: Path) -> None:
    with pytest.raises(DobanditError, match="cannot be called Intervention"):
        Study.create(":memory:", Problem("Intervention -> Y", "Y", 5))
    study = Study.create(":memory:", Problem("x -> X -> Y", "Y", 5), "ucb")
    with pytest.raises(FileError, match=r"differ in case only; export to \.csv"):
        study.export(folder / "out.parquet")
    assert study.export(folder / "out.csv") == 0


def test_exports_of_measurements_are_read_back(folder: Path) -> None:
    problem = Problem(SMALL.graph, {"variable": "Y", "range": [0, 10]}, 9)
    study = Study.create(":memory:", problem, "ucb")
    for pull in study.ask(3):
        study.tell(pull.id, {**FINE, "Y": 2.5 * pull.id, **pull.set})
    for name in ("out.csv", "out.parquet"):
        study.export(folder / name)
        other = Study.create(":memory:", problem, "ucb")
        with pytest.warns(UserWarning, match="no rule for logged rows"):
            other.observe(folder / name)
        assert [arm.mean for arm in other.status().arms] == pytest.approx([arm.mean for arm in study.status().arms])


@pytest.mark.parametrize("name", ["out.csv", "out.json", "out.parquet"])
def test_a_full_disk_leaves_no_half_file(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.create(":memory:", SMALL, "ucb")
    drive(study, laboratory(), most=3)
    written = list[Path]()

    def full(draft: Path, place: Path) -> None:
        written.append(draft)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("dobandit.files.move", full)
    with pytest.raises(StorageError, match=f"{name}: cannot be written: no space left on device"):
        study.export(folder / name)
    assert [draft.name for draft in written] == [name]  # it was written, but elsewhere
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("refund", ["no", "yes", 2])
def test_a_refund_is_yes_or_no(refund: object) -> None:
    study = Study.create(":memory:", SMALL, "f-kube")
    (pull,) = study.ask()
    with pytest.raises(DobanditError, match="refund: expected True, False or None"):
        study.withdraw(pull.id, refund=refund)  # type: ignore[arg-type]
    assert [event.kind for event in study.log()] == ["created", "asked"]


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


def test_exports_write_numbers_as_numbers(folder: Path) -> None:
    import polars as pl

    domains: dict[str, list[Value]] = {"Price": [0.5, 1, 2.5], "Ad": ["no", "yes"]}
    problem = Problem("{Price, Ad} -> Buy; Extra -> Buy", "Buy", 20, domains=domains, missing="drop")
    study = Study.create(":memory:", problem, "f-kube")
    study.record("do()", {"Price": "2.5", "Ad": "yes", "Extra": 1, "Buy": 0})
    study.record("do()", {"Price": 1, "Ad": "no", "Extra": None, "Buy": 1})
    for form in ("csv", "json", "parquet"):
        study.export(folder / f"out.{form}")
    rows = json.loads((folder / "out.json").read_text())
    names = ("Price", "Ad", "Extra", "Buy")
    assert [[row[v] for v in names] for row in rows] == [[2.5, "yes", 1, 0], [1.0, "no", None, 1]]
    kinds = pl.read_parquet(folder / "out.parquet").schema
    assert [kinds[v] for v in names] == [pl.Float64, pl.String, pl.Int64, pl.Int64]
    assert (folder / "out.csv").read_text().splitlines()[2].startswith("2,do(),1.0,")
