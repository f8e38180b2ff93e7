"""What all stores do in the same way: the rows of their tables are events that follow each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from dobandit.study import facts
from dobandit.study.chain import events_in, identity, linked, sound
from dobandit.study.damage import damaged
from dobandit.study.events import Event, Row, T, in_brief
from dobandit.study.stores.protocol import LAST


class Chained(ABC):
    """The events of a study, read and written as rows."""

    name: str
    study = ""  # its identity

    @abstractmethod
    def rows(self, after: int = 0, last: int = LAST) -> Iterator[Row]:
        """The rows after the one with this number, in order, up to the last one that is wanted."""

    @abstractmethod
    def _rows_of(self, pull: int) -> Iterable[tuple[Row, str | None]]:
        """The rows about a pull in order, each with the hash of the row before it."""

    @abstractmethod
    def _rows_like(self, kinds: Sequence[str], after: int, last: int) -> Iterable[tuple[Row, str | None]]:
        """The same of rows of these kinds."""

    @abstractmethod
    def _insert(self, rows: Iterable[Row]) -> None: ...

    def _compare(self, number: int, last: int) -> None:
        """The number of events, and that of the last one."""
        if not number or number != last:
            raise damaged(self.name, "events are missing from its log")

    def _identify(self) -> None:
        """Read the identity of the study."""
        for first in self.rows(0, 1):
            self.study = identity(first)

    def events(self, after: int = 0, last: int = LAST, head: str = "") -> Iterator[Event]:
        if not after:
            return events_in(self.name, self.study, "", self.rows(0, last))
        rows = self.rows(after - 1, last)
        before = next(rows, None)
        if before is None or before.number != after or (head and before.hash and before.hash != head):
            raise damaged(self.name, f"event {after} is not the one that was there before")
        return events_in(self.name, self.study, before.hash or head or None, rows)

    def is_last(self, number: int, head: str) -> bool:
        """Whether the last event has this number and this hash."""
        found = list(islice(self.rows(number - 1), 2))
        return len(found) == 1 and (found[0].number, found[0].hash) == (number, head)

    def in_brief(self, read: Callable[[facts.Fact], T]) -> Iterator[tuple[int, float, T]]:
        return in_brief(self.name, sound(self.name, self.study, "", self.rows()), read)

    def events_of(self, pull: int) -> list[Event]:
        return self._each(self._rows_of(pull))

    def corrections(self, after: int = 0, last: int = LAST) -> list[Event]:
        return self._each(self._rows_like([facts.Amended.kind, facts.Withdrawn.kind], after, last))

    def logs(self) -> list[Event]:
        return self._each(self._rows_like([facts.Observed.kind], 0, LAST))

    def _each(self, found: Iterable[tuple[Row, str | None]]) -> list[Event]:
        """Events that need not follow each other."""
        return [event for row, before in found for event in events_in(self.name, self.study, before, [row])]

    def append(self, events: Iterable[Event], head: str) -> str:
        rows = list(linked(self.study, head, events))
        self._insert(rows)
        return rows[-1].hash or head if rows else head
