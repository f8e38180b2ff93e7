"""A history that can be verified: every event carries a hash over the study, its number, the hash before it and all
that it says. So it shows if an event was changed, removed, moved or written by a copy that went another way.

Events of versions without hashes have none. The first hash after them covers them, too: it is linked to what their
hashes would be.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from hashlib import sha256

from dobandit.study.damage import damaged
from dobandit.study.events import Event, Row, from_row, to_row

MOST = 20  # faults that are told


def new_identity() -> str:
    """What tells a study from all others, however often it is copied and moved."""
    return os.urandom(16).hex()


def identity(first: Row) -> str:
    """The identity in the first event; a study that was made without one is known by a hash of that event."""
    try:
        found = json.loads(first.content).get("id")
    except (ValueError, TypeError, AttributeError, RecursionError):
        found = None
    return found if isinstance(found, str) else link("", "", first)[:32]


def link(study: str, previous: str, row: Row) -> str:
    """The hash of an event that follows the one with the hash `previous`."""
    number, time, kind, pull, content, _ = row
    said = f"{study}\n{number}\n{previous}\n{time!r}\n{kind}\n{pull}\n{content}"
    return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def linked(study: str, previous: str, events: Iterable[Event]) -> Iterator[Row]:
    """New events as they are written after the one with the hash `previous`."""
    for event in events:
        row = to_row(event)
        previous = link(study, previous, row)
        yield Row(*row[:-1], previous)


def events_in(name: str, study: str, previous: str | None, rows: Iterable[Row]) -> Iterator[Event]:
    """The events in these rows; one that is not what was written is refused."""
    for row in sound(name, study, previous, rows):
        yield from_row(name, row)


def sound(name: str, study: str, previous: str | None, rows: Iterable[Row]) -> Iterator[Row]:
    """These rows, which follow each other and the one with the hash `previous` (None: it is unknown), with their hashes
    as far as these are known; one that is not what was written is refused."""
    for row in rows:
        written, expected = row[-1], None if previous is None else link(study, previous, row)
        if written == expected is not None:  # as nearly always
            previous = written
            yield row
            continue
        if written is not None and expected is not None:
            raise damaged(name, f"{_changed(row)}; all faults are listed by: dobandit study verify {name}")
        previous = expected if written is None else written
        yield row if written is not None else row._replace(hash=expected)


def _changed(row: Row) -> str:
    return f"event {row.number} is not what was written there, or does not follow the event before it"


class Audit:
    """Checks all rows of a study, one after the other, and goes on after a fault."""

    def __init__(self, study: str) -> None:
        self.study, self.head, self.events, self.since = study, "", 0, 1
        self.hashes: list[str] = []
        self._faults, self._number = list[str](), 0

    def add_all(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self._add(row)

    def _add(self, row: Row) -> None:
        if row.number != self.events + 1:
            self.fault(f"event {self.events + 1} is missing: the next one is {row.number}")
        expected = link(self.study, self.head, row)
        if row.hash is None and self.since == row.number:
            self.since = row.number + 1  # it was written without a hash, as all before it
        elif row.hash is None:
            self.fault(f"event {row.number} has no hash")
        elif row.hash != expected:
            self.fault(_changed(row))
        self.head = row.hash or expected
        self.hashes.append(self.head)
        self.events = row.number

    def fault(self, what: str) -> None:
        self._number += 1
        if len(self._faults) < MOST:
            self._faults.append(what)

    @property
    def faults(self) -> tuple[str, ...]:
        more = self._number - len(self._faults)
        return (*self._faults, *([f"and {more:,} more"] if more else []))


def compared(ours: Audit, theirs: Audit) -> str | None:
    """What two copies of one study have against each other, in words; None: one of them is the other's past."""
    if ours.study != theirs.study:
        return "the other is not a copy of this study: it was made on its own"
    pairs = zip(ours.hashes, theirs.hashes, strict=False)
    same = next((number for number, (a, b) in enumerate(pairs) if a != b), min(ours.events, theirs.events))
    if same == min(ours.events, theirs.events):
        return None
    return (
        f"the copies went different ways: they are the same up to event {same}, then this one has "
        f"{ours.events - same:,} events of its own and the other {theirs.events - same:,}"
    )
