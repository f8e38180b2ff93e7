"""Workers that are killed at any moment: nothing is lost, nothing is spent twice, nothing changes."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count
from typing import Any, NamedTuple

from dobandit.problem import Problem
from dobandit.study import Study
from tests.stress.places import database_server, quick_folder
from tests.stress.table import Attempts, Extent, Line
from tests.study.driving import SMALL, Laboratory, laboratory, stand

SEED = 11  # of the studies
SIMPLE = Problem("Z -> X -> Y; Z -> Y; X <-> W; W -> Y", "Y", budget=60, default_cost=1.7, objective="simple")
LED = (("paper-cumulative", SMALL), ("successive-rejects", SIMPLE))

Fact = tuple[str, int | None, Any]  # an event without its time: its kind, its pull, its content
Places = Callable[[], str]


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


def answer(fact: Fact) -> tuple[str, object]:
    """What a worker is answered when this is in the study."""
    kind, pull, content = fact
    return kind, content["name"] if pull is None and "name" in content else pull


class Kills(NamedTuple):
    """How many workers were killed, how many of them in the middle of their work, and what was wrong afterwards."""

    number: int = 0
    hits: int = 0
    lost: int = 0
    doubled: int = 0

    def plus(self, found: Sequence[Fact], expected: Sequence[Fact], answers: set[Any], was_alive: bool) -> Kills:
        """With one more. A step that was answered and is not there is lost; one that is there and was not to be, or
        was made twice, is doubled."""
        lost = not answers <= {answer(fact) for fact in found}
        doubled = list(found) != list(expected[: len(found)])
        return self._replace(number=self.number + was_alive, lost=self.lost + lost, doubled=self.doubled + doubled)


def killed(places: Places, policy: str, problem: Problem, kills: Iterator[int], seed: int) -> Kills:
    """Kill workers of studies at random moments, then let the last study come to its end."""
    lab, rng, total = laboratory(problem, SEED), random.Random(seed), Kills()
    whole, expected = uninterrupted(problem, policy, lab)
    assert {kind for kind, *_ in expected} >= {"asked", "told", "observed", "amended", "withdrawn", "extended"}
    place, known, goes_on = "", len(expected), True
    while goes_on or known < len(expected):
        if known == len(expected):  # the last study is at its end: another one
            place, known = places(), 1
            Study.create(place, problem, policy, SEED).close()
        goes_on = next(kills, None) is not None
        worker = Worker(place, lab)
        answers = worker.answers(rng.randrange(6) if goes_on else None)
        time.sleep(rng.uniform(0, 0.01))
        was_alive, last = worker.kill()
        if goes_on and not was_alive:
            kills = chain([0], kills)  # it had ended by itself, so it does not count
        with Study.open(place) as study:
            found, money = facts(study), study.status().budget
            total = total.plus(found, expected, {*answers, *last}, was_alive)
            total = total._replace(hits=total.hits + (known < len(found) < len(expected)))
            assert abs(money.spent + money.reserved + money.free - money.total) <= 1e-9 * money.total
            known = len(found)
            if known == len(expected):
                assert study.best() == whole.best()
                assert stand(study) == stand(whole)
                assert study.verify().ok
    return total


@contextmanager
def lasting_places(kind: str) -> Iterator[Places]:
    """Makes new places of a kind of store."""
    numbers = count()
    if kind == "SQLite":
        with quick_folder() as folder:
            yield lambda: str(folder / f"study-{next(numbers)}.db")
    else:
        with database_server() as address:
            yield lambda: f"{address}#study-{next(numbers)}"


def run(extent: Extent) -> Iterator[Line]:
    for stores_left, kind in ((2, "SQLite"), (1, "PostgreSQL")):
        with lasting_places(kind) as places:
            found, left = [], 0
            for i, (policy, problem) in enumerate(LED):
                kills = Attempts(extent.part(2 * stores_left - i), extent.number(500))
                found.append(killed(places, policy, problem, kills, extent.seed + i))
                left += kills.left
        number, hits, lost, doubled = map(sum, zip(*found, strict=True))
        measured = f"{hits:,} in the middle of their work"
        yield Line(f"SIGKILL of workers, {kind}", number, lost, doubled, measured=measured, goal="0 lost", left=left)
