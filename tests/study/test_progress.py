"""What was spent and known at earlier moments: exactly what the study said then."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from dobandit.json_text import json_text
from dobandit.problem import Problem
from dobandit.study import Status, Study
from dobandit.study.documents import progress_document, read_progress
from dobandit.study.progress import MOST, Moment

PROBLEM = Problem("Z -> X -> Y; X <-> Y", "Y", budget=200, default_cost=2)


def said(status: Status) -> Moment:
    """A moment as the status tells it, without the time."""
    means, low, high = zip(*((arm.mean, arm.low, arm.high) for arm in status.arms), strict=True)
    return Moment(status.events, 0.0, status.budget.spent, status.budget.total, means, low, high)


@pytest.mark.parametrize("policy", ["causal-thompson", "f-kube"])
def test_a_moment_is_what_the_study_said_then(policy: str, tmp_path: Path) -> None:
    """Also with corrections in between, which count from their own event on."""
    study = Study.create(tmp_path / "s.db", PROBLEM, policy)
    then = {1: said(study.status())}
    for k in range(22):
        (pull,) = study.ask()
        then[study.last_event] = said(study.status())
        study.tell(pull.id, {**dict.fromkeys("ZXY", k % 2), **pull.set})
        then[study.last_event] = said(study.status())
        if k == 10:
            study.amend(3, {"Y": 1 - 2 % 2})
            then[study.last_event] = said(study.status())
        if k == 15:
            study.withdraw(5, refund=True)
            then[study.last_event] = said(study.status())
    study.extend(50)
    then[study.last_event] = said(study.status())
    for seen in (study.progress(), study.progress(), Study.open(tmp_path / "s.db").progress()):
        assert [moment._replace(time=0.0) for moment in seen] == [then[moment.number] for moment in seen]
        assert MOST / 2 <= len(seen) <= MOST + 1
        assert (seen[0].number, seen[-1].number) == (1, study.last_event)
        times = [event.time for event in study.log()]
        assert [moment.time for moment in seen] == [max(times[: moment.number]) for moment in seen]


def test_a_longer_history_goes_on_with_the_moments_that_are_known(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "s.db", PROBLEM, "f-kube")
    before: dict[int, Moment] = {}
    for _ in range(60):
        (pull,) = study.ask()
        study.tell(pull.id, {**dict.fromkeys("ZXY", pull.id % 2), **pull.set})
        moments = study.progress()
        kept = {moment.number: moment for moment in moments[:-1]}
        assert len(set(kept) - set(before)) <= 2  # at most the two events of this pull
        before = kept


def test_moments_come_back_from_a_document() -> None:
    """What is not known yet is null there."""
    moments = (Moment(1, 5.0, 0.0, 9.0, (math.nan, 0.5), (math.nan, 0.2), (math.nan, 0.7)),)
    document = json.loads(json_text(progress_document(moments)))
    assert document["moments"][0]["means"] == [None, 0.5]
    (found,) = read_progress(document)
    assert math.isnan(found.means[0])
    assert (found.number, found.means[1], found.low[1], found.high[1]) == (1, 0.5, 0.2, 0.7)
