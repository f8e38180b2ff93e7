"""A study that lives as long as the program: for tests and for trying things out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import RLock

from dobandit.study.events import Event, to_row
from dobandit.study.stores.protocol import Snapshot


class MemoryStore:
    """What a transaction that fails has added is taken away again."""

    name = ":memory:"

    def __init__(self, created: Event) -> None:
        self._lock = RLock()
        self._log: list[Event] = []
        self._snapshot: Snapshot | None = None
        self.append([created])

    @contextmanager
    def writing(self) -> Iterator[MemoryStore]:
        with self._lock:
            length, snapshot = len(self._log), self._snapshot
            try:
                yield self
            except BaseException:
                del self._log[length:]
                self._snapshot = snapshot
                raise

    reading = writing

    def first(self) -> Event:
        return self._log[0]

    def events(self, after: int = 0) -> list[Event]:
        return self._log[after:]  # numbers begin with 1

    def events_of(self, pull: int) -> list[Event]:
        return [event for event in self._log if event.pull == pull]

    def append(self, events: Iterable[Event]) -> None:
        events = list(events)
        for event in events:
            to_row(event)  # what another store would refuse is refused here, too
        self._log.extend(events)

    def snapshot(self) -> Snapshot | None:
        return self._snapshot

    def save_snapshot(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def close(self) -> None:
        pass
