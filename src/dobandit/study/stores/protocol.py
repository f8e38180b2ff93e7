"""What a study asks of a place that keeps it: a log that only grows, in transactions, and one snapshot."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from dobandit.study.events import Event

SCHEMA = 1  # of this version; a newer one is refused, an older one would be brought up to date here


class Snapshot(NamedTuple):
    """The books after event `number`, as the text that this version of the program makes of them."""

    number: int
    version: str
    text: str


class Access(Protocol):
    """What may be done inside a transaction."""

    def first(self) -> Event: ...

    def events(self, after: int = 0) -> list[Event]:
        """The events after the one with this number, in order."""
        ...

    def events_of(self, pull: int) -> list[Event]: ...

    def append(self, events: Iterable[Event]) -> None: ...

    def snapshot(self) -> Snapshot | None: ...

    def save_snapshot(self, snapshot: Snapshot) -> None: ...


class Store(Protocol):
    """A place that keeps one study. Inside `writing()` nobody else writes, and all of it happens or nothing; inside
    `reading()` the log stands still."""

    name: str

    def writing(self) -> AbstractContextManager[Access]: ...

    def reading(self) -> AbstractContextManager[Access]: ...

    def close(self) -> None: ...
