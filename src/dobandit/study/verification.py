"""The whole history of a study, verified: no event was changed, lost or moved since it was written, and the totals that
are saved are what the events add up to."""

from __future__ import annotations

import contextlib
import json
import os
import re
from typing import NamedTuple

from dobandit.errors import DobanditError, StudyError
from dobandit.study.books import Books
from dobandit.study.chain import Audit, compared
from dobandit.study.opening import from_start, up_to_date
from dobandit.study.stores import LAST, Access, Store, is_service, open_store, place_of

Place = str | os.PathLike[str]


class Verification(NamedTuple):
    """What was found: the identity of the study, the number of its events, the hash of the last one (`head`), and what
    is wrong in words. Events before the one numbered `since` were written by a version without hashes: that they were
    not changed before then is not known."""

    study: str
    events: int
    head: str
    ok: bool
    faults: tuple[str, ...]
    since: int


def verify(where: Place, head: str | None = None, against: Place | None = None) -> Verification:
    """Check everything about a study, also about one that is too damaged to be opened.

    Parameters
    ----------
    where
        Its file, or the postgresql:// URL of its database.
    head
        The hash of its last event at an earlier time, or the first characters of it: that event must still be there.
    against
        A copy of the study: one of the two must be the other's past.
    """
    if is_service(place_of(where)):
        from dobandit.study.remote import RemoteStudy

        with RemoteStudy.opened(place_of(where)) as study:
            return study.verify(head, against)
    with contextlib.closing(open_store(place_of(where))) as store:
        return verified(store, head, against)


def verified(store: Store, head: str | None, against: Place | None) -> Verification:
    """The same of a study whose store is open."""
    known, theirs = None if head is None else _checked(head), None
    if against is not None and is_service(place_of(against)):
        raise DobanditError("compare with a file or a database: a study behind a server is compared beside that server")
    if against is not None:
        with contextlib.closing(open_store(place_of(against))) as other, other.reading() as access:
            theirs = Audit(other.study)
            theirs.add_all(access.rows())
    audit = Audit(store.study)
    try:
        with store.reading() as access:
            _check(access, audit)
    except StudyError as error:
        audit.fault(str(error))
    if known is not None and not any(hash.startswith(known) for hash in audit.hashes):
        audit.fault(
            f"no event has the hash {known}: events were lost after it was written down, or this is another study"
        )
    if theirs is not None and (what := compared(audit, theirs)):
        audit.fault(what)
    return Verification(store.study, audit.events, audit.head, not audit.faults, audit.faults, audit.since)


def _check(access: Access, audit: Audit) -> None:
    for what in access.faults():
        audit.fault(what)
    audit.add_all(access.rows())
    if not audit.faults:
        _check_totals(access, audit)


def _checked(head: str) -> str:
    """A hash as people have written it down, or its first characters."""
    if not isinstance(head, str) or not re.fullmatch(r"[0-9a-fA-F]{8,64}", head.strip()):
        raise DobanditError(f"a head is a hash of 64 characters, or at least its first 8, not {str(head)[:80]!r}")
    return head.strip().lower()


def _check_totals(access: Access, audit: Audit) -> None:
    """The events make sense, and every snapshot holds what they add up to."""
    numbers = list[int]()
    while snapshot := access.snapshot(numbers[-1] - 1 if numbers else LAST):
        numbers.append(snapshot.number)
    books: Books | None = None
    for number in (*reversed(numbers), LAST):
        books = (books and up_to_date(books, access, number)) or from_start(access, number)
        snapshot = access.snapshot(number)
        if snapshot and snapshot.number == number and snapshot.is_current and not _agrees(books, snapshot.text):
            audit.fault(f"the totals that are saved after event {number} are not what the events add up to")


def _agrees(books: Books, text: str) -> bool:
    try:
        return bool(json.loads(text) == json.loads(json.dumps(books.to_plain())))
    except ValueError:
        return False
