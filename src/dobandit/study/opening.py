"""Opening a study: its totals up to the last event, or a sentence about what is wrong with it.

A study may come from a broken disk or from a stranger, so nothing that is written in it is believed before it adds up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from dobandit.study import facts
from dobandit.study.books import Books
from dobandit.study.corrections import corrections
from dobandit.study.damage import making_sense_of
from dobandit.study.events import Event
from dobandit.study.stores import LAST, Access, Snapshot

CHUNK = 5000  # events that are read together
TOLERANCE = 1e-3  # of a number of outcomes, for what was rounded when their rewards were added up


def current(books: Books | None, access: Access) -> Books:
    """The totals up to the last event: from those at hand, else from the snapshot, else from the start."""
    found = None if books is None else up_to_date(books, access)
    return found or at(access)


def up_to_date(books: Books, access: Access, last: int = LAST) -> Books | None:
    """The totals with what others have written meanwhile (up to the event `last`), or None if they have corrected what
    was added up already."""
    if access.is_last(books.number, books.head):
        return books
    with making_sense_of(access.name):
        return _continued(books, access, last)


def at(access: Access, last: int = LAST, correction: facts.Correction | None = None) -> Books:
    """The totals after an event, by default the last one.

    Parameters
    ----------
    access
        The log.
    last
        The number of the event.
    correction
        A correction that is to be written next, and already counts.
    """
    return _from_snapshot(access, last, correction) or from_start(access, last, correction)


def from_start(access: Access, last: int = LAST, correction: facts.Correction | None = None) -> Books:
    """The same without a snapshot."""
    with making_sense_of(access.name):
        (created,) = access.events(0, 1)
        books = _continued(Books.opened(created), access, last, correction)
        assert books is not None, "nothing has been added up that could be corrected"
        return books


def saved(access: Access, last: int = LAST) -> Iterator[Books]:
    """The totals in the snapshots up to an event, the last ones first. Snapshots only save time: one of another version
    or format, of events that are not in the log, or one that makes no sense is left out."""
    (created,) = access.events(0, 1)
    while snapshot := access.snapshot(last):
        last = snapshot.number - 1
        books = _restored(created, snapshot) if snapshot.is_current else None
        if books is not None and books.number == snapshot.number:
            yield books


def _restored(created: Event, snapshot: Snapshot) -> Books | None:
    try:
        return Books.restored(created, json.loads(snapshot.text))
    except Exception:  # it may come from a stranger and hold anything
        return None


def _from_snapshot(access: Access, last: int, correction: facts.Correction | None) -> Books | None:
    """From the last snapshot of totals that no later correction changes."""
    coming = [correction] if correction else []
    later = access.corrections(0, last) if coming else None  # else the last snapshot is most likely right
    try:
        for books in saved(access, last):
            if later is None or books.can_reckon_with([*corrections(later, books.number), *coming]):
                found = _continued(books, access, last, correction)
                if found is not None:
                    return found
            later = access.corrections(0, last) if later is None else later
    except Exception:  # whatever is wrong, with it or with the log: adding up all events will tell
        return None
    return None


def _continued(
    books: Books, access: Access, last: int = LAST, correction: facts.Correction | None = None
) -> Books | None:
    """The totals with the events after them, too, or None if these correct what was added up already."""
    events = access.events(books.number, last, books.head)
    chunk = list(islice(events, CHUNK))
    if not chunk and correction is None:
        return books
    later = chunk if len(chunk) < CHUNK else access.corrections(books.number, last)
    known = [*corrections(later), *([correction] if correction else [])]
    if not books.can_reckon_with(known):
        return None
    books.reckon_with(known)
    while chunk:
        _check_order(chunk, books.number, books.last, len(books.problem.arms))
        books.add(chunk)
        chunk = list(islice(events, CHUNK))
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
        if is_new:
            _check_begun(event, arms, last)


def _check_begun(event: Event, arms: int, last: int) -> None:
    fact = event.fact
    assert isinstance(fact, facts.Begun)
    if not fact.arm < arms:
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
