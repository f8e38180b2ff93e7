"""What a study asks of a place that keeps it: a log that only grows, in transactions, and one snapshot."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from dobandit.study.events import Event, Row, T
from dobandit.study.facts import Fact
from dobandit.version import VERSION

SCHEMA = 2  # of this version; a newer one is refused, an older one is brought up to date by the first write
LAST = 2**31 - 1  # the largest number that an event can have
FORMAT = 9  # of a snapshot's text: to be raised with every change of how totals are saved


class Snapshot(NamedTuple):
    """The totals after event `number`, as the text that a version of the program makes of them."""

    number: int
    version: str
    text: str
    format: int = FORMAT

    @property
    def is_current(self) -> bool:
        """Whether this version wrote it, and can read it."""
        return (self.version, self.format) == (VERSION, FORMAT)

    def to_row(self) -> tuple[int, str, str]:
        """As the columns of a table; what stands beside the version tells another format, and a damaged text."""
        return self.number, f"{self.version} {self.format} {checksum(self.text)}", self.text

    @classmethod
    def from_row(cls, number: int, made_by: str, text: str) -> Snapshot | None:
        """The snapshot in a table, unless it is damaged; the first format had no checksum, and is of no use."""
        version, *rest = str(made_by).split(" ")
        if (
            len(rest) != 2
            or not rest[0].isdecimal()
            or len(rest[0]) > 9
            or rest[1] != checksum(str(text))
            or type(number) is not int
        ):
            return None
        return cls(number, version, str(text), int(rest[0]))


def checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode(errors='replace')):08x}"


class Access(Protocol):
    """What may be done inside a transaction."""

    name: str  # of the place, as it may be shown
    study: str  # the identity of the study

    def now(self) -> float:
        """The time in seconds since 1970, by the clock of this machine, or of the server of a database."""
        ...

    def events(self, after: int = 0, last: int = LAST, head: str = "") -> Iterator[Event]:
        """The events after the one with this number, in order, up to the last one that is wanted. One that is not what
        was written is refused, and so is the event `after` if it has another hash than `head`."""
        ...

    def is_last(self, number: int, head: str) -> bool:
        """Whether the last event has this number and this hash. This takes less time than to look for later ones."""
        ...

    def in_brief(self, read: Callable[[Fact], T]) -> Iterator[tuple[int, float, T]]:
        """What was said about pulls, as in `dobandit.study.events.in_brief`: this takes less time than `events`."""
        ...

    def events_of(self, pull: int) -> list[Event]: ...

    def corrections(self, after: int = 0, last: int = LAST) -> list[Event]:
        """Those of the events that correct others."""
        ...

    def logs(self) -> list[Event]:
        """Those of the events that hold logged rows."""
        ...

    def append(self, events: Iterable[Event], head: str) -> str:
        """Write events after the last one, whose hash is `head`; the hash of the new last one."""
        ...

    def rows(self, after: int = 0, last: int = LAST) -> Iterator[Row]:
        """The events as they are written, whatever that is."""
        ...

    def check_complete(self) -> None:
        """Refuse a log from which events are missing."""
        ...

    def faults(self) -> list[str]:
        """What the place itself has against its content, in words."""
        ...

    def snapshot(self, before: int = LAST) -> Snapshot | None:
        """The last snapshot, or the last one up to the event with this number."""
        ...

    def save_snapshot(self, snapshot: Snapshot, instead_of_after: int = 0) -> None:
        """Save a snapshot instead of all that are after the event with this number."""
        ...


class Store(Protocol):
    """A place that keeps one study. Inside `writing()` there is no other writer, and all changes happen or
    none; inside `reading()` the log does not change."""

    name: str
    study: str

    def writing(self) -> AbstractContextManager[Access]: ...

    def reading(self) -> AbstractContextManager[Access]: ...

    def close(self) -> None: ...
