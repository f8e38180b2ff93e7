"""Workers that are killed at any moment: nothing is lost, nothing is spent twice, nothing changes.

`make test` kills 40 workers for each kind of store, `make stress` (DOBANDIT_KILLS=300) many more.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections import Counter

import pytest

from dobandit.errors import StudyError
from dobandit.study import Study
from tests.study.conftest import Places
from tests.study.driving import SMALL, arms_of, drive, laboratory

KILLS = int(os.environ.get("DOBANDIT_KILLS", "40"))
SEED = 11


def work(place: str, name: str) -> None:
    """What a worker does: take up the study where it stands, and go on until the money is gone."""
    with Study.open(place) as study:
        drive(study, laboratory(seed=SEED), worker=name)


def forked(place: str, name: str) -> int:
    """A worker in a process of its own, with everything imported already."""
    child = os.fork()
    if child:
        return child
    try:
        work(place, name)
        os._exit(0)
    finally:
        os._exit(1)


def check(study: Study, told_before: Counter[tuple[int, str]]) -> Counter[tuple[int, str]]:
    """The ledger adds up, and what was told is still told, once."""
    found = study.status()
    money = found.budget
    events = study.log()
    told = Counter((event.pull or 0, str(event.content["outcome"])) for event in events if event.kind == "told")
    asked = Counter(event.pull for event in events if event.kind == "asked")
    assert not told_before - told
    assert max(told.values(), default=1) == 1
    assert max(asked.values(), default=1) == 1
    assert len({pull for pull, _ in told}) == len(told) == found.told
    assert found.open == len(asked) - len(told) <= 1
    assert money.spent + money.reserved + money.free == pytest.approx(money.total, rel=1e-12)
    assert money.overdraft == 0
    return told


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a worker is forked")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("policy", ["f-kube", "paper-cumulative"])
def test_killed_workers_lose_and_spend_nothing(policy: str, lasting: Places) -> None:
    whole = Study.create(":memory:", SMALL, policy, SEED)
    drive(whole, laboratory(seed=SEED))
    expected, kills, rng = arms_of(whole), 0, random.Random(SEED)
    while kills < KILLS // 2:
        place, told = lasting(), Counter[tuple[int, str]]()
        Study.create(place, SMALL, policy, SEED).close()
        finished = False
        while not finished:
            child = forked(place, "lab")
            time.sleep(rng.uniform(0.002, 0.06))
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            finished = os.WIFEXITED(status)
            assert finished is False or os.WEXITSTATUS(status) == 0
            kills += not finished
            with Study.open(place) as study:
                told = check(study, told)
        with Study.open(place) as study:
            assert arms_of(study) == expected
            assert study.best() == whole.best()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a worker is forked")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
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
