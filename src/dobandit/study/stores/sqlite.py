"""A study in one SQLite file: what has been answered is on the disk, also if the machine stops the next moment. A study
that lives as long as the program is the same in memory.

The journal is a write-ahead log, so readers never wait; a transaction that writes takes the lock at its beginning
(BEGIN IMMEDIATE) and waits for it in a queue; synchronous=FULL puts every transaction on the disk before its answer.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import RLock

from dobandit.errors import FileError, StudyError
from dobandit.study.damage import damaged, in_words
from dobandit.study.events import Event, Row
from dobandit.study.stores.chained import Chained
from dobandit.study.stores.making import made
from dobandit.study.stores.protocol import LAST, SCHEMA, Snapshot
from dobandit.study.stores.queue import Queue
from dobandit.study.stores.schema import bring_up_to_date, checked_version, version_of
from dobandit.study.stores.sqlite_errors import BUSY, PATIENCE, explained, primary, told
from dobandit.study.stores.sqlite_files import (
    LONGEST,
    check_alone,
    connect,
    connect_to_read,
    insert,
    keep_name,
    prepare,
    publish,
    remove,
    taken,
    write_first,
    write_new,
)

MEMORY = ":memory:"

_AS_ROW = partial(tuple.__new__, Row)  # `Row._make` in a third of its time
_UNWRITABLE = ("CANTOPEN", "READONLY")


class SqliteStore(Chained):
    """An open file, or a database in memory."""

    def __init__(self, name: str, connection: sqlite3.Connection) -> None:
        self.name, self._connection, self._lock = name, connection, RLock()
        self._schema, self._patience, self._has_wal = SCHEMA, PATIENCE, False
        self._queue = None if name == MEMORY else Queue(Path(name))

    @classmethod
    def in_memory(cls, created: Event) -> SqliteStore:
        store = cls(MEMORY, connect(MEMORY))
        write_first(store._connection, created)
        store._identify()
        return store

    @classmethod
    def open(cls, path: Path) -> SqliteStore:
        with told(str(path)):
            if not path.is_file():
                raise StudyError(f"there is no study {path}; make one with: dobandit study init {path} PROBLEM")
            try:
                return cls._opened(path, connect(path))
            except sqlite3.OperationalError as error:
                if primary(error) not in _UNWRITABLE:
                    raise
            return cls._opened(path, connect_to_read(path))

    @classmethod
    def _opened(cls, path: Path, connection: sqlite3.Connection) -> SqliteStore:
        store = cls(str(path), connection)
        try:
            prepare(connection)
            store._check()
        except UnicodeDecodeError as error:  # in a complaint of SQLite's, which quotes what it has found
            store.close()
            raise damaged(store.name, "its tables cannot be read") from error
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def create(cls, path: Path, created: Event) -> SqliteStore:
        """A new file with its first event. It is made beside its place and then moved there: never half a study. Once
        it is there, others may use it, so it is not removed whatever fails."""
        with told(str(path)):
            if path.exists():
                raise taken(path)
            if not path.parent.is_dir():
                raise FileError(f"{path}: its folder does not exist")
            check_alone(path)
            draft = path.with_name(f".dobandit-{os.urandom(8).hex()}")
            try:
                write_new(draft, created)
                publish(draft, path)
            finally:
                remove(draft)
            with made(str(path)):
                keep_name(path.parent)
                return cls.open(path)

    def _check(self) -> None:
        self._has_wal = self._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)  # as long as it is open
        self._schema = checked_version(self._connection, self.name)
        self._identify()

    def writing(self) -> AbstractContextManager[SqliteStore]:
        return self._transaction(self._begin_in_turn)

    def reading(self) -> AbstractContextManager[SqliteStore]:
        return self._transaction(self._begin_reading)

    @contextmanager
    def _transaction(self, begin: Callable[[ExitStack], object]) -> Iterator[SqliteStore]:
        with self._lock, ExitStack() as turn:
            try:
                begin(turn)  # an interruption that waited for the lock as well comes in here
                if self._schema < SCHEMA:  # another process may have brought it up to date
                    self._schema = version_of(self._connection)
                yield self
                self._connection.execute("COMMIT")
            except BaseException as error:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                if isinstance(error, (sqlite3.Error, OSError)):
                    raise explained(self.name, error) from error
                raise

    def _begin_reading(self, _: ExitStack) -> None:
        self._wait_at_most(PATIENCE)
        self._connection.execute("BEGIN")

    def _begin_in_turn(self, turn: ExitStack) -> None:
        """Begin at once if nobody is writing or waiting, else when it is our turn."""
        if self._queue is None or not (self._queue.is_empty() and self._begins_at_once()):
            if self._queue is not None:
                turn.enter_context(self._queue.turn())
            self._wait_at_most(PATIENCE)
            self._connection.execute("BEGIN IMMEDIATE")

    def _begins_at_once(self) -> bool:
        self._wait_at_most(0)
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if primary(error) not in BUSY:
                raise
            return False
        if not self._has_wal:  # a copy that another program made: its COMMIT has to wait for readers
            self._wait_at_most(PATIENCE)
        return True

    def _wait_at_most(self, seconds: float) -> None:
        """How long a statement waits for others: a setting of this connection, so it is only set where it changes."""
        if seconds != self._patience:
            self._connection.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")
            self._patience = seconds

    def now(self) -> float:
        return time.time()

    def rows(self, after: int = 0, last: int = LAST) -> Iterator[Row]:
        return map(_AS_ROW, self._select("number > ? AND number <= ? ORDER BY number", after, last))

    def is_last(self, number: int, head: str) -> bool:
        found = self._connection.execute(f"SELECT number, {self._hashes} FROM event WHERE number >= ?", (number,))
        return found.fetchmany(2) == [(number, head)]

    def _rows_of(self, pull: int) -> Iterator[tuple[Row, str | None]]:
        return self._with_hash_before("pull = ? ORDER BY number", pull)

    def _rows_like(self, kinds: Sequence[str], after: int, last: int) -> Iterator[tuple[Row, str | None]]:
        marks = ", ".join("?" for _ in kinds)
        where = f"number > ? AND number <= ? AND kind IN ({marks}) ORDER BY number"
        return self._with_hash_before(where, after, last, *kinds)

    def _with_hash_before(self, where: str, *values: int | str) -> Iterator[tuple[Row, str | None]]:
        before = "(SELECT hash FROM event e WHERE e.number = event.number - 1)" if self._schema == SCHEMA else "NULL"
        for *row, previous in self._select(where, *values, more=f", {before}").fetchall():
            yield Row._make(row), previous

    @property
    def _hashes(self) -> str:
        """The column of hashes, which the first studies do not have."""
        return "hash" if self._schema == SCHEMA else "NULL"

    def _select(self, where: str, *values: int | str, more: str = "") -> sqlite3.Cursor:
        sql = f"SELECT number, time, kind, pull, content, {self._hashes}{more} FROM event WHERE {where}"
        return self._connection.execute(sql, values)

    def _insert(self, rows: Iterable[Row]) -> None:
        self._bring_up_to_date()
        insert(self._connection, rows)

    def _bring_up_to_date(self) -> None:
        if self._schema < SCHEMA:
            bring_up_to_date(self._connection)
            self._schema = SCHEMA

    def check_complete(self) -> None:
        number, last = self._connection.execute("SELECT count(*), max(number) FROM event WHERE number > 0").fetchone()
        self._compare(number, last)

    def faults(self) -> list[str]:
        found = [in_words(text) for (text,) in self._connection.execute("PRAGMA integrity_check(20)")]
        return [] if found == ["ok"] else [f"SQLite: {text}" for text in found]

    def snapshot(self, before: int = LAST) -> Snapshot | None:
        if self._schema < SCHEMA:
            return None
        sql = "SELECT number, version, text FROM snapshot WHERE number <= ? ORDER BY number DESC LIMIT 1"
        row = self._connection.execute(sql, (before,)).fetchone()
        return None if row is None else Snapshot.from_row(*row)

    def save_snapshot(self, snapshot: Snapshot, instead_of_after: int = 0) -> None:
        if len(snapshot.text) > LONGEST:
            return  # it could not be read again, and only saves time
        self._bring_up_to_date()
        self._connection.execute("DELETE FROM snapshot WHERE number > ?", (instead_of_after,))
        self._connection.execute("INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?)", snapshot.to_row())

    def close(self) -> None:
        self._connection.close()
        if self._queue is not None:
            self._queue.close()
