"""Workers that are killed at any moment: nothing is lost, nothing is spent twice, nothing changes.

This kills 40 workers for each kind of store, `make stress` a thousand.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time

import pytest

from dobandit.errors import StudyError
from dobandit.policies.registry import registered
from dobandit.problem import Problem
from dobandit.study import Study
from dobandit.study.books import Books
from dobandit.study.decisions import Decision, decide
from dobandit.study.remembering import remember
from tests.stress.kills import LED, SEED, SIMPLE, killed, uninterrupted
from tests.study.conftest import Places
from tests.study.driving import SMALL, laboratory

KILLS = 20
forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="a worker is forked")
quiet = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.mark.parametrize("policy", registered())
def test_a_study_that_is_taken_up_goes_on_the_same(policy: str) -> None:
    """At every moment of a study: a study that is read from its events asks the same."""
    problem = SIMPLE if registered()[policy].objective == "simple" else SMALL
    study, _ = uninterrupted(problem, policy, laboratory(problem, SEED))
    events = study.log()
    for event in events:
        if event.kind == "asked" and (event.pull or 0) % 3 == 0:
            before = event.number - 1
            books = Books.folded(events[:before])
            with study._session.reading() as (access, _):
                remember(books, access, before)
            decision = decide(books)
            assert isinstance(decision, Decision), (event, decision)
            assert decision[:3] == tuple(event.content[part] for part in ("arm", "repeats", "source")), event


@forking
@quiet
@pytest.mark.parametrize(("policy", "problem"), LED)
def test_killed_workers_lose_and_spend_nothing(policy: str, problem: Problem, lasting: Places) -> None:
    found = killed(lasting, policy, problem, iter(range(KILLS)), seed=11)
    assert (found.lost, found.doubled) == (0, 0)
    assert found.hits >= KILLS // 2  # most of them were in the middle of their work


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
