"""Opening a study: its totals up to the last event, or a sentence about what is wrong with it.

A study may come from a broken disk or from a stranger, so nothing that is written in it is believed before it adds up.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from dobandit.study import facts
from dobandit.study.books import Books
from dobandit.study.damage import making_sense_of
from dobandit.study.events import Event
from dobandit.study.stores import FORMAT, Access
from dobandit.study.transaction import VERSION

TOLERANCE = 1e-3  # of a number of outcomes, for what was rounded when their rewards were added up


def current(books: Books | None, access: Access) -> Books:
    """The totals up to the last event: from those at hand, else from the snapshot, else from the start."""
    found = None if books is None else up_to_date(books, access)
    return found or _from_snapshot(access) or _folded(access.events(), access.name)


def up_to_date(books: Books, access: Access) -> Books | None:
    """The totals with what others have written meanwhile, or None if they have corrected the past."""
    if not (events := access.events(books.number)):
        return books
    with making_sense_of(access.name):
        return _continued(books, events)


def history(access: Access) -> list[Event]:
    """All events. They are added up to check that they make sense, because a snapshot hides what is before it."""
    events = access.events()
    _folded(events, access.name)
    return events


def _folded(events: list[Event], name: str) -> Books:
    with making_sense_of(name):
        books = Books.folded(events)
        _check_order(events[1:], 1, 0, len(books.problem.arms))
        _check_counts(books)
        return books


def _from_snapshot(access: Access) -> Books | None:
    """A snapshot only saves time: one of another version or format, of events that are not in the log, or one that
    makes no sense is not used."""
    snapshot = access.snapshot()
    if snapshot is None or (snapshot.version, snapshot.format) != (VERSION, FORMAT):
        return None
    try:
        (created,) = access.events(0, 1)
        books = Books.restored(created, json.loads(snapshot.text))
        last, *events = access.events(snapshot.number - 1)
        return _continued(books, events) if books.number == snapshot.number == last.number else None
    except Exception:  # whatever is wrong, with it or with the log: adding up all events will tell
        return None


def _continued(books: Books, events: list[Event]) -> Books | None:
    """The totals with these events too, or None if they correct the past, so that all must be added up again."""
    _check_order(events, books.number, books.last, len(books.problem.arms))
    if any(isinstance(event.fact, facts.Correction) for event in events):
        return None
    for event in events:
        books.apply(event)
    _check_counts(books)
    return books


def _check_order(events: Sequence[Event], number: int, last: int, arms: int) -> None:
    """Events and pulls are numbered without a gap, and nothing is said of a pull before it was made."""
    for expected, event in enumerate(events, number + 1):
        fact = event.fact
        is_new = isinstance(fact, facts.Begun)
        last += is_new
        follows = not isinstance(fact, facts.AboutPull) or (fact.pull == last if is_new else fact.pull <= last)
        if event.number != expected or not follows:
            raise ValueError(f"event {event.number} with pull {event.pull} does not follow the one before it")
        if isinstance(fact, facts.Begun) and not fact.arm < arms:
            raise ValueError(f"event {event.number}: there is no arm number {fact.arm}")
        if isinstance(fact, facts.Asked) and isinstance(fact.source, int) and not 1 <= fact.source < last:
            raise ValueError(f"event {event.number} replaces pull {fact.source}, which did not exist")


def _check_counts(books: Books) -> None:
    """Counts are not negative, no arm has earned more than all its rewards, and nothing is NaN or infinite."""
    for seen in (tally.evidence for tally in books.tallies):
        slack = TOLERANCE * (1 + seen.told.sum())
        numbers = seen.counts[:, seen.layout.numbers] if seen.layout.has_moments else seen.counts
        sound = np.isfinite(slack) and (seen.told >= 0).all() and (numbers >= -slack).all()
        sound &= bool(np.isfinite(seen.counts).all() and np.isfinite(seen.rewards).all())
        within = (seen.rewards >= -slack).all() and (seen.rewards <= seen.told + slack).all()
        if not (sound and (within or not books.problem.has_range)):
            raise ValueError("the counts of outcomes and rewards do not add up")
    if not np.isfinite(books.money).all():
        raise ValueError("the money is not a number")
