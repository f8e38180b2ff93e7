"""A study in one SQLite file: what has been answered is on the disk, also if the machine stops the next moment. A study
that lives as long as the program is the same in memory.

The journal is a write-ahead log, so readers never wait; a transaction that writes takes the lock at its beginning
(BEGIN IMMEDIATE) and waits for it in turn; synchronous=FULL puts every transaction on the disk before it is answered.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import RLock

from dobandit.errors import DobanditError, FileError, StorageError, StudyError
from dobandit.files import cannot_write, move
from dobandit.study.damage import damaged, in_words
from dobandit.study.events import Event, from_row, to_row
from dobandit.study.stores.making import made
from dobandit.study.stores.protocol import LAST, SCHEMA, Snapshot

MEMORY = ":memory:"
APPLICATION = 0x646F6261  # "doba", in the header of the file: it tells a study from any other database
PATIENCE = 60.0  # seconds to wait for others

_TABLES = """
CREATE TABLE event (
    number INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, pull INTEGER, content TEXT NOT NULL);
CREATE INDEX event_of_pull ON event (pull) WHERE pull IS NOT NULL;
CREATE TABLE snapshot (
    one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, version TEXT NOT NULL, text TEXT NOT NULL);
"""
_BUSY = ("BUSY", "LOCKED")  # errors as SQLite calls them: SQLITE_BUSY and so on
_FULL = ("FULL", "IOERR", "READONLY", "CANTOPEN", "PERM")
_DAMAGED = ("NOTADB", "CORRUPT", "ERROR", "CONSTRAINT", "MISMATCH", "TOOBIG")
_BESIDE = ("-journal", "-wal", "-shm")  # what SQLite adds to the name of a file for files of its own


class SqliteStore:
    """An open file, or a database in memory."""

    def __init__(self, name: str, connection: sqlite3.Connection) -> None:
        self.name, self._connection, self._lock = name, connection, RLock()

    @classmethod
    def in_memory(cls, created: Event) -> SqliteStore:
        store = cls(MEMORY, _connect(MEMORY))
        _write_first(store._connection, created)
        return store

    @classmethod
    def open(cls, path: Path) -> SqliteStore:
        with _told(str(path)):
            if not path.is_file():
                raise StudyError(f"there is no study {path}; make one with: dobandit study init {path} PROBLEM")
            store = cls(str(path), _connect(path))
            try:
                _prepare(store._connection)
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
        with _told(str(path)):
            if path.exists():
                raise _taken(path)
            if not path.parent.is_dir():
                raise FileError(f"{path}: its folder does not exist")
            _check_alone(path)
            draft = path.with_name(f".dobandit-{secrets.token_hex(8)}")
            try:
                _write_new(draft, created)
                _publish(draft, path)
            finally:
                _remove(draft)
            with made(str(path)):
                _keep_name(path.parent)
                return cls.open(path)

    def _check(self) -> None:
        (application,), (schema,) = (
            self._connection.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
        )
        if application != APPLICATION:
            raise StudyError(f"{self.name} is not a study of dobandit")
        if schema > SCHEMA:
            raise StudyError(f"{self.name} was made by a newer version of dobandit (schema {schema}); install that one")
        if self._connection.execute("SELECT 1 FROM sqlite_master WHERE type IN ('trigger', 'view')").fetchone():
            raise StudyError(f"{self.name} is not a study of dobandit: it has commands in it, and a study has none")
        number, last = self._connection.execute("SELECT count(*), max(number) FROM event WHERE number > 0").fetchone()
        if not number or number != last:
            raise damaged(self.name, "events are missing from its log")

    def writing(self) -> AbstractContextManager[SqliteStore]:
        return self._transaction("BEGIN IMMEDIATE")

    def reading(self) -> AbstractContextManager[SqliteStore]:
        return self._transaction("BEGIN")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[SqliteStore]:
        with self._lock, _told(self.name):
            try:
                self._connection.execute(begin)  # an interruption that waited for the lock as well comes in here
                yield self
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def events(self, after: int = 0, last: int = LAST) -> list[Event]:
        return self._read("WHERE number > ? AND number <= ? ORDER BY number", after, last)

    def events_of(self, pull: int) -> list[Event]:
        return self._read("WHERE pull = ? ORDER BY number", pull)

    def _read(self, where: str, *values: int) -> list[Event]:
        rows = self._connection.execute(f"SELECT number, time, kind, pull, content FROM event {where}", values)
        return [from_row(self.name, *row) for row in rows]

    def append(self, events: Iterable[Event]) -> None:
        _insert(self._connection, events)

    def snapshot(self) -> Snapshot | None:
        row = self._connection.execute("SELECT number, version, text FROM snapshot").fetchone()
        return None if row is None else Snapshot.from_row(*row)

    def save_snapshot(self, snapshot: Snapshot) -> None:
        self._connection.execute("INSERT OR REPLACE INTO snapshot VALUES (1, ?, ?, ?)", snapshot.to_row())

    def close(self) -> None:
        self._connection.close()


def _connect(path: Path | str) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA trusted_schema = OFF")  # the file may be a stranger's


def _write_first(connection: sqlite3.Connection, created: Event) -> None:
    """The tables of a new study, and its first event."""
    connection.executescript(
        f"BEGIN; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA}; {_TABLES} COMMIT"
    )
    _insert(connection, [created])


def _write_new(draft: Path, created: Event) -> None:
    """The file that is to be moved. A write-ahead log would stay behind, so it comes last, while it is empty."""
    with contextlib.closing(_connect(draft)) as connection:
        _prepare(connection)
        _write_first(connection, created)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("SELECT 1 FROM event").fetchone()  # needs the log: a full disk is noticed here
    alone = f"{draft.absolute().as_uri()}?immutable=1"  # without whatever lies beside it
    with contextlib.closing(sqlite3.connect(alone, uri=True)) as connection:
        sound = connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
        if not sound or connection.execute("SELECT count(*) FROM event").fetchone() != (1,):
            raise StorageError(f"{draft.parent}: what was written there cannot be read again; no study was made")


def _publish(draft: Path, path: Path) -> None:
    """Give a study its name, unless it is taken. An interruption may come when that has just been done."""
    mine = draft.stat()
    try:
        move(draft, path)
    except BaseException as error:
        if path.exists() and os.path.samestat(mine, path.stat()):
            with made(str(path)):
                raise
        if isinstance(error, FileExistsError):
            raise _taken(path) from None
        raise


def _insert(connection: sqlite3.Connection, events: Iterable[Event]) -> None:
    connection.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?)", map(to_row, events))


def _check_alone(path: Path) -> None:
    """SQLite takes the log of a file that is gone for that of a new one with its name, and brings the old study back.
    It may be all that is left of a study's outcomes, so it is not removed here."""
    for beside in _names_beside(path):
        if beside.exists():
            raise StudyError(f"{beside} is left of another study; move it away first, or choose another name")


def _taken(path: Path) -> StudyError:
    return StudyError(f"{path} exists already; choose another name")


def _remove(path: Path) -> None:
    """A file, and what SQLite puts beside it."""
    for file in (path, *_names_beside(path)):
        with contextlib.suppress(OSError):
            file.unlink()


def _names_beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in _BESIDE]


def _keep_name(folder: Path) -> None:
    """Put the list of a folder's files on the disk, too, where there is a way to say so."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _told(name: str) -> Iterator[None]:
    """What goes wrong inside SQLite, as a sentence."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explained(name, error) from error
    except OSError as error:
        raise cannot_write(name, error) from error


def _explained(name: str, error: sqlite3.Error) -> DobanditError:
    primary = getattr(error, "sqlite_errorname", "SQLITE_").split("_")[1]
    if primary in _BUSY:
        return StorageError(f"{name}: others have been writing for {PATIENCE:g} seconds; try again")
    if primary in _FULL:
        return StorageError(f"{name}: cannot be written: {error}; nothing was changed")
    if primary in _DAMAGED or (not primary and isinstance(error, sqlite3.OperationalError)):  # a text that is none
        return StudyError(f"{name} is not a study, or it is damaged: {in_words(error)}")
    return StorageError(f"{name}: {error}")
