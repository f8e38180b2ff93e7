"""Workers that are killed at any moment: nothing is lost, nothing is spent twice, nothing changes.

`make test` kills 40 workers for each kind of store, `make stress` (DOBANDIT_KILLS=300) many more.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from dobandit.errors import StudyError
from dobandit.policies.registry import registered
from dobandit.problem import Problem
from dobandit.study import Study
from dobandit.study.books import Books
from dobandit.study.decisions import Decision, decide, remember
from tests.study.conftest import Places
from tests.study.driving import SMALL, Laboratory, laboratory, stand

KILLS = int(os.environ.get("DOBANDIT_KILLS", "40"))
SEED = 11
SIMPLE = Problem("Z -> X -> Y; Z -> Y; X <-> W; W -> Y", "Y", budget=60, default_cost=1.7, objective="simple")

Fact = tuple[str, int | None, Any]  # an event without its time: its kind, its pull, its content
forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="a worker is forked")
quiet = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def work(study: Study, lab: Laboratory, answered: Callable[[str, object], None]) -> None:
    """What a worker does: take up a study where it stands, and go on until the money is gone. It cannot know whether
    the one before it was killed before or after its last step, so it does that once more."""
    told = max((event.pull or 0 for event in study.log() if event.kind == "told"), default=0)
    tidy_up(study, told, answered)
    while pulls := study.ask(worker="lab"):
        (pull,) = pulls
        answered("asked", pull.id)
        study.tell(pull.id, lab.carry_out(pull))
        answered("told", pull.id)
        tidy_up(study, pull.id, answered)


def tidy_up(study: Study, told: int, answered: Callable[[str, object], None]) -> None:
    """What is to be done after a pull besides asking and telling."""
    match told % 8:
        case 2:
            name = f"log {told}"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # these policies have no rule for logs
                study.observe({v: [0, 1, told // 8 % 2] for v in study.problem.graph.variables}, name=name)
            answered("observed", name)
        case 4:
            study.withdraw(told - 1, refund=told % 16 == 4)
            answered("withdrawn", told - 1)
        case 6:
            name = f"grant {told}"
            study.extend(1.5, name=name)
            answered("extended", name)
        case 0 if told:
            seen = next(e.content["outcome"] for e in study.log() if (e.kind, e.pull) == ("told", told - 2))
            study.amend(told - 2, {**seen, "Y": 1 - int(seen["Y"])})
            answered("amended", told - 2)


def facts(study: Study) -> list[Fact]:
    """What has happened, without the identity of the study."""
    return [(e.kind, e.pull, {key: said for key, said in e.content.items() if key != "id"}) for e in study.log()]


def uninterrupted(problem: Problem, policy: str, lab: Laboratory) -> tuple[Study, list[Fact]]:
    study = Study.create(":memory:", problem, policy, SEED)
    work(study, lab, lambda kind, what: None)
    return study, facts(study)


@pytest.mark.parametrize("policy", registered())
def test_a_study_that_is_taken_up_goes_on_the_same(policy: str) -> None:
    """At every moment of a study: a study that is read from its events asks the same."""
    problem = SIMPLE if registered()[policy].objective == "simple" else SMALL
    study, _ = uninterrupted(problem, policy, laboratory(problem, SEED))
    events = study.log()
    for event in events:
        if event.kind == "asked" and (event.pull or 0) % 3 == 0:
            past = events[: event.number - 1]
            books = Books.folded(past)
            remember(books, "", lambda past=past: past)  # type: ignore[misc]
            decision = decide(books)
            assert isinstance(decision, Decision), (event, decision)
            assert decision[:3] == tuple(event.content[part] for part in ("arm", "repeats", "source")), event


class Worker:
    """A worker in a process of its own, with everything imported already, that tells its answers through a pipe."""

    def __init__(self, place: str, lab: Laboratory) -> None:
        ear, mouth = os.pipe()
        self.process = os.fork()
        if not self.process:
            os.close(ear)
            self._live(place, lab, mouth)
        os.close(mouth)
        self._ear = os.fdopen(ear, "rb")

    def _live(self, place: str, lab: Laboratory, mouth: int) -> None:
        def answered(kind: str, what: object) -> None:
            os.write(mouth, json.dumps([kind, what]).encode() + b"\n")

        try:
            with Study.open(place) as study:
                work(study, lab, answered)
            os._exit(0)
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(1)

    def answers(self, most: int | None) -> list[tuple[str, object]]:
        """Its next answers, so many of them or all until it ends."""
        lines = iter(self._ear.readline, b"") if most is None else (self._ear.readline() for _ in range(most))
        return [tuple(json.loads(line)) for line in lines if line]

    def kill(self) -> tuple[bool, list[tuple[str, object]]]:
        """Whether it was alive until now, and its last answers."""
        os.kill(self.process, signal.SIGKILL)
        _, status = os.waitpid(self.process, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
        with self._ear:
            return os.WIFSIGNALED(status), self.answers(None)


@forking
@quiet
@pytest.mark.parametrize(("policy", "problem"), [("paper-cumulative", SMALL), ("successive-rejects", SIMPLE)])
def test_killed_workers_lose_and_spend_nothing(policy: str, problem: Problem, lasting: Places) -> None:
    lab, rng = laboratory(problem, SEED), random.Random(SEED)
    whole, expected = uninterrupted(problem, policy, lab)
    assert {kind for kind, *_ in expected} >= {"asked", "told", "observed", "amended", "withdrawn", "extended"}
    kills, hits, place, known = 0, 0, "", len(expected)
    while kills < KILLS // 2 or known < len(expected):
        if known == len(expected):  # the last study is at its end: another one
            place, known = lasting(), 1
            Study.create(place, problem, policy, SEED).close()
        worker = Worker(place, lab)
        answers = worker.answers(rng.randrange(6) if kills < KILLS // 2 else None)
        time.sleep(rng.uniform(0, 0.01))
        was_alive, last = worker.kill()
        kills += was_alive
        with Study.open(place) as study:
            found, money = facts(study), study.status().budget
            assert found == expected[: len(found)]  # no step is lost, made twice, or another one
            assert {*answers, *last} <= {answer(fact) for fact in found}
            assert money.spent + money.reserved + money.free == pytest.approx(money.total, rel=1e-12)
            hits += known < len(found) < len(expected)
            known = len(found)
            if known == len(expected):
                assert study.best() == whole.best()
                assert stand(study) == stand(whole)
                assert study.verify().ok
    assert hits >= KILLS // 4  # most of them were in the middle of their work


def answer(fact: Fact) -> tuple[str, object]:
    """What a worker is answered when this is in the study."""
    kind, pull, content = fact
    return kind, content["name"] if pull is None and "name" in content else pull


@forking
@quiet
def test_killed_while_it_is_made(lasting: Places) -> None:
    """There is a whole study afterwards, or none."""
    rng = random.Random(SEED)
    for _ in range(8):
        place = lasting()
        child = os.fork()
        if not child:
            try:
                Study.create(place, SMALL, "f-kube").close()
            finally:
                os._exit(0)
        time.sleep(rng.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with contextlib.suppress(StudyError), Study.open(place) as study:
            assert len(study.log()) == 1
            continue
        with pytest.raises(StudyError, match="there is no study"):
            Study.open(place)
        Study.create(place, SMALL, "f-kube").close()
