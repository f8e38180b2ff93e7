"""A study as one process knows it: its totals, brought up to date and changed in transactions of its store."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from dobandit.errors import StorageError, StudyError
from dobandit.study.books import Books
from dobandit.study.decisions import remember, remembers
from dobandit.study.opening import current, up_to_date
from dobandit.study.stores import Access, Store
from dobandit.study.transaction import Transaction


class Session:
    """Opens transactions; what one process has read already is kept for the next."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self.name, self.clock = store.name, clock
        self.books: Books | None = None
        self._store, self._process = store, os.getpid()
        self.close = weakref.finalize(self, _close, store, self._process)  # when it is no longer used

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
                            remember(books, access.name, access.events)
                with self._store.writing() as access:
                    known, self.books = self.books, None
                    found = known and up_to_date(known, access)
                    if found and (not deciding or remembers(found)):
                        transaction = Transaction(found, access, self.clock())
                        yield transaction
                        self.books = transaction.written()
                        return
        except BaseException:
            self.books = None
            raise

    def add_up_again(self) -> None:
        """After a correction: add everything up once more, and keep the result for the others. The correction is in the
        log already; if the result cannot be kept, it only takes the next one longer."""
        self.books = None
        with suppress(StorageError), self.writing() as transaction:
            transaction.keep()

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise StudyError("this study was opened by another process: open it again in this one")


def _close(store: Store, process: int) -> None:
    """A process that was forked leaves the connection to its parent."""
    if os.getpid() == process:
        store.close()
