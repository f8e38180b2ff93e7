"""A study as one process knows it: its totals, brought up to date and changed in transactions of its store."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from dobandit.errors import StudyError
from dobandit.problem import Problem
from dobandit.study import facts
from dobandit.study.books import Books
from dobandit.study.decisions import remembers
from dobandit.study.opening import at, current, up_to_date
from dobandit.study.remembering import remember
from dobandit.study.stores import Access, Store
from dobandit.study.transaction import Transaction

if TYPE_CHECKING:
    from dobandit.study.verification import Place, Verification

T = TypeVar("T")


class _Tried(Exception):
    """The end of a transaction that is not to be written."""


class Session:
    """Opens transactions; what one process has read already is kept for the next."""

    def __init__(self, store: Store, clock: Callable[[], float] | None) -> None:
        self.name, self._clock = store.name, clock
        self.books: Books | None = None
        self._store, self._process = store, os.getpid()
        self.close = weakref.finalize(self, _close, store, self._process)  # when it is no longer used

    def now(self, access: Access) -> float:
        """The time by the clock that was given, else by that of the place."""
        return access.now() if self._clock is None else self._clock()

    @property
    def problem(self) -> Problem:
        """What the study is about. It never changes, so it is read once."""
        self._check_process()
        if self.books is not None:
            return self.books.problem
        with self.reading() as (_, books):
            return books.problem

    def check(self) -> None:
        """Refuse a study that is not whole."""
        with self._store.reading() as access:
            access.check_complete()
            self.books = current(None, access)

    @contextmanager
    def reading(self) -> Iterator[tuple[Access, Books]]:
        self._check_process()
        with self._store.reading() as access:
            known, self.books = self.books, None  # forgotten, should it fail to catch up
            books = self.books = current(known, access)
            yield access, books

    @contextmanager
    def writing(self, deciding: bool = False) -> Iterator[Transaction]:
        """A transaction in which only this process changes the study; after an error its totals are read again.

        What takes long is done before the others have to wait: to add up a whole history, and for a decision to make
        known what the policy remembers.
        """
        self._check_process()
        try:
            while True:
                if self.books is None or (deciding and not remembers(self.books)):
                    with self.reading() as (access, books):
                        if deciding:
                            remember(books, access)
                with self._store.writing() as access:
                    known, self.books = self.books, None
                    found = known and up_to_date(known, access)
                    if found and (not deciding or remembers(found)):
                        transaction = Transaction(found, access, self.now(access))
                        yield transaction
                        self.books = transaction.written()
                        return
        except BaseException:
            self.books = None
            raise

    @contextmanager
    def trying(self) -> Iterator[Transaction]:
        """A transaction that is never written: it only tells what would be refused."""
        with suppress(_Tried), self.writing() as transaction:
            yield transaction
            raise _Tried

    def verified(self, head: str | None, against: Place | None) -> Verification:
        from dobandit.study.verification import verified

        self._check_process()
        return verified(self._store, head, against)

    def correct(self, change: Callable[[Transaction], T]) -> T:
        """Write a correction. If it is about what was added up already, everything is added up with it before it is
        written, so that others need not wait for that, nor do it themselves."""
        prepared: tuple[facts.Correction, Books] | None = None
        while True:
            with self.writing() as transaction:
                answer = change(transaction)
                wanted = transaction.correction
                if wanted is None or (prepared and prepared[0] == wanted and transaction.conclude(prepared[1])):
                    return answer
                transaction.forget()
            with self.reading() as (access, _):
                prepared = wanted, at(access, correction=wanted)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise StudyError("this study was opened by another process: open it again in this one")


def _close(store: Store, process: int) -> None:
    """A process that was forked leaves the connection to its parent."""
    if os.getpid() == process:
        store.close()
