"""A long history is read in pages: what a command needs of it does not stay in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dobandit.study import Study, events, opening
from dobandit.study.events import Event, Row
from dobandit.study.stores import postgres
from dobandit.study.stores.postgres import PostgresStore
from dobandit.study.stores.sqlite import SqliteStore
from tests.conftest import Ran
from tests.stress.large import made
from tests.study.conftest import Places

EVENTS, PAGE = 2000, 100


class Alive:
    """Counts the objects of some classes that are in memory."""

    def __init__(self) -> None:
        self.number = self.most = self.ever = 0

    def counted(self, kind: type[Any]) -> type[Any]:
        """The same class, and its objects are counted."""

        class Counted(kind):  # type: ignore[misc]
            def __new__(cls, *given: object) -> Any:
                self.number, self.ever = self.number + 1, self.ever + 1
                self.most = max(self.most, self.number)
                return super().__new__(cls, *given)

            def __del__(_) -> None:  # noqa: N805
                self.number -= 1

        return Counted


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Alive:
    """The rows of a store that are in memory."""
    found = Alive()
    row = found.counted(Row)

    def counting(method: Callable[..., Iterable[Row]]) -> Callable[..., Iterator[Row]]:
        return lambda *given: (row(*each) for each in method(*given))

    for store in (SqliteStore, PostgresStore):
        monkeypatch.setattr(store, "rows", counting(store.rows))
    monkeypatch.setattr(postgres, "_PAGE", PAGE)
    return found


@pytest.fixture
def facts(monkeypatch: pytest.MonkeyPatch) -> Alive:
    """The events that are in memory."""
    found = Alive()
    monkeypatch.setattr(events, "Event", found.counted(Event))
    monkeypatch.setattr(opening, "CHUNK", PAGE)
    return found


def test_a_history_is_shown_while_it_is_read(
    lasting: Places, rows: Alive, facts: Alive, dobandit: Callable[..., Ran]
) -> None:
    made(place := lasting(), EVENTS, 1)
    for alive in (rows, facts):
        alive.most = alive.ever = 0
    ran = dobandit("study", "log", place)
    assert len(ran.out.splitlines()) == EVENTS + 1
    for alive in (rows, facts):
        assert alive.ever > EVENTS
        assert alive.most <= PAGE + 10


def test_exports_and_explanations_keep_no_events(
    lasting: Places, rows: Alive, facts: Alive, folder: Path, dobandit: Callable[..., Ran]
) -> None:
    made(place := lasting(), EVENTS, 1)
    for alive in (rows, facts):
        alive.most = alive.ever = 0
    assert dobandit("study", "explain", place, EVENTS // 4).code == 0
    assert facts.ever < EVENTS  # up to this pull
    for form in ("csv", "json", "parquet"):
        assert dobandit("study", "export", place, folder / f"out.{form}").code == 0
    assert len((folder / "out.csv").read_text().splitlines()) == EVENTS // 2 + 1
    assert rows.ever > 3 * EVENTS
    assert rows.most <= PAGE + 10
    assert facts.most <= 2 * PAGE + 10


def test_an_event_is_there_before_the_next_one_is_read(lasting: Places, rows: Alive) -> None:
    made(place := lasting(), EVENTS, 1)
    with Study.open(place) as study:
        rows.ever, reading = 0, study.events()
        assert [next(reading).number for _ in range(5)] == [1, 2, 3, 4, 5]
        assert rows.ever < PAGE
        reading.close()  # type: ignore[attr-defined]
