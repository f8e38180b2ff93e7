"""Eight workers at once, until the money is gone."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import traceback
from collections import Counter
from pathlib import Path
from threading import Timer

import pytest

from dobandit.errors import StudyError
from dobandit.problem import Problem
from dobandit.study import Study
from tests.study.conftest import Places
from tests.study.driving import drive, laboratory

WORKERS = 8
PROBLEM = Problem("Z -> X -> Y; Z -> Y; X <-> W; W -> Y", "Y", budget=250, default_cost=1.7)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("policy", ["f-kube", "paper-cumulative"])
def test_many_workers_never_overspend(policy: str, lasting: Places) -> None:
    place = lasting()
    Study.create(place, PROBLEM, policy).close()
    children = [_forked(place, f"worker {k}") for k in range(WORKERS)]
    assert [os.WEXITSTATUS(os.waitpid(child, 0)[1]) for child in children] == [0] * WORKERS
    with Study.open(place) as study:
        events, money = study.log(), study.status().budget
        told = Counter(event.pull for event in events if event.kind == "told")
        asked = [event.pull for event in events if event.kind == "asked"]
        assert asked == list(range(1, len(asked) + 1))  # no number twice, none left out
        assert told == Counter(asked)  # every pull is told, once
        assert [event.number for event in events] == list(range(1, len(events) + 1))
        assert money.reserved == 0
        assert money.spent <= money.total * (1 + 1e-9)
        assert money.free < 1
        workers = {event.content["worker"] for event in events if event.kind == "asked"}
        assert len(workers) > 1


def _forked(place: str, name: str) -> int:
    child = os.fork()
    if child:
        return child
    try:
        with Study.open(place) as study:
            drive(study, laboratory(PROBLEM), worker=name)
        os._exit(0)
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)  # whatever reached the user
    finally:
        os._exit(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is forked")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_must_open_the_study_itself(lasting: Places) -> None:
    with Study.create(lasting(), PROBLEM, "f-kube") as study:
        study.ask()
        child = os.fork()
        if not child:
            code = 1
            try:
                study.ask()
            except StudyError as error:
                code = 0 if "open it again" in str(error) else 2
            finally:
                study.close()  # which leaves the connection to the parent
                os._exit(code)
        assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 0
        assert study.ask(2)[1].id == 2


def test_corrections_by_others_are_seen(lasting: Places) -> None:
    """Two hands in one study: what one corrects, the other reckons with."""
    place = lasting()
    with Study.create(place, PROBLEM, "paper-cumulative") as one, Study.open(place) as other:
        drive(one, laboratory(PROBLEM), most=9)
        drive(other, laboratory(PROBLEM), most=9)
        one.withdraw(9, refund=True)
        drive(other, laboratory(PROBLEM), most=2)
        other.amend(4, {"Z": 1, "X": 0, "W": 1, "Y": 1})
        assert one.status() == other.status()
        assert [str(pull.arm) for pull in one.ask(3)] == [str(pull.arm) for pull in other.ask(3)]


def test_a_copy_without_a_write_ahead_log_waits_for_its_readers(folder: Path) -> None:
    path = folder / "s.db"
    Study.create(path, PROBLEM, "f-kube").close()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as reader:
        assert reader.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
        with Study.open(path) as study:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM event").fetchone()
            ending = Timer(0.3, reader.execute, ["ROLLBACK"])
            ending.start()
            study.ask()
            ending.join()
            assert [event.kind for event in study.log()] == ["created", "asked"]
