"""What a policy remembers is the same, wherever it is worked out from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dobandit.policies import registered
from dobandit.study import Study, opening, remembering, transaction
from dobandit.study.books import Books
from dobandit.study.decisions import Memory
from dobandit.study.stores import Access
from tests.stress.kills import SIMPLE, uninterrupted
from tests.study.driving import SMALL, drive, laboratory


@pytest.fixture(autouse=True)
def many_snapshots(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a study that is a thousand times as long."""
    monkeypatch.setattr(transaction, "SNAPSHOT_EVERY", 4)
    monkeypatch.setattr(transaction, "KEEP_EVERY", 4)
    monkeypatch.setattr(transaction, "EVENT", 10**6)


def replayed(access: Access, last: int, monkeypatch: pytest.MonkeyPatch, snapshots: bool) -> Memory:
    with monkeypatch.context() as patch:
        if not snapshots:
            patch.setattr(remembering, "saved", lambda *_: iter(()))
        return remembering._replayed(access, last)


WITHOUT_MEMORY = {"f-kube", "thompson", "ucb"}  # the totals say all that these policies remember


def compared(study: Study, monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Check what is remembered after many events; the numbers of the events that replays began at."""
    begun, opened = list[int](), remembering._Replay.__init__

    def noted(self: remembering._Replay, books: Books) -> None:
        begun.append(books.number)
        opened(self, books)

    monkeypatch.setattr(remembering._Replay, "__init__", noted)
    with study._session.reading() as (access, books):
        for last in (*range(2, books.number, 3), books.number):
            short, whole = (replayed(access, last, monkeypatch, snapshots) for snapshots in (True, False))
            assert short.parts.keys() == whole.parts.keys()
            for name, part in short.parts.items():
                assert np.array_equal(part, whole.parts[name]), (last, name)
    assert set(begun[1::2]) == {1}
    return set(begun[::2])


@pytest.mark.parametrize("policy", registered())
def test_a_replay_may_begin_at_a_snapshot(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study, _ = uninterrupted(SIMPLE if registered()[policy].objective == "simple" else SMALL, policy, laboratory())
    with study._session.reading() as (_, books):
        has_nothing = remembering._has_nothing_to_remember(books)
    assert has_nothing is (policy in WITHOUT_MEMORY)
    assert has_nothing or len(compared(study, monkeypatch)) > 5


def test_a_pull_that_is_withdrawn_in_a_later_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot does not say in which phase an expired pull was begun, so the replay begins before it."""
    now = [1e9]
    with Study.create(":memory:", SIMPLE, "successive-rejects", clock=lambda: now[0]) as study:
        study.ask(worker="slow", ttl=1)
        now[0] += 10
        drive(study, laboratory(SIMPLE))
        assert study.log(pull=2)[0].content["source"] == 1
        study.withdraw(1)
        with study._session.reading() as (access, books):
            assert remembering._replayed(access, books.number).gone.sum() == 1
        compared(study, monkeypatch)


@pytest.fixture
def study() -> Iterator[Study]:
    with Study.create(":memory:", SMALL, "f-kube") as made:
        drive(made, laboratory(), most=20)
        yield made


def read(study: Study, monkeypatch: pytest.MonkeyPatch, last: int) -> list[int]:
    """The numbers of the events after which the history is read for the totals after an event."""
    found, events = list[int](), opening._continued
    with monkeypatch.context() as patch, study._session.reading() as (access, _):

        def noted(books: Books, *rest: object) -> Books | None:
            number = books.number
            done = events(books, *rest)  # type: ignore[arg-type]
            found.extend([] if done is None else [number])
            return done

        patch.setattr(opening, "_continued", noted)
        opening.at(access, last)
    return found


def test_a_correction_leaves_the_snapshots_before_it_in_use(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what was told since is read again to tell what was known after the correction."""
    corrected = next(event.number for event in study.log() if (event.kind, event.pull) == ("told", 15))
    study.amend(15, {"Y": 1 - int(study.log(pull=15)[-1].content["outcome"]["Y"])})
    last = study.last_event
    store: Any = study._session._store
    store._connection.execute("DELETE FROM snapshot WHERE number = ?", [last])
    (begun,) = read(study, monkeypatch, last)
    assert corrected - 8 < begun < corrected
