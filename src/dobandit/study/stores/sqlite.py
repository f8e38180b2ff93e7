"""A study in one SQLite file: what has been answered is on the disk, also if the machine stops the next moment. A study
that lives as long as the program is the same in memory.

The journal is a write-ahead log, so readers never wait; a transaction that writes takes the lock at its beginning
(BEGIN IMMEDIATE) and waits for it in a queue; synchronous=FULL puts every transaction on the disk before its answer.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from threading import RLock

from dobandit.errors import DobanditError, FileError, StorageError, StudyError
from dobandit.files import cannot_write, move
from dobandit.study.chain import identity, linked
from dobandit.study.damage import damaged, in_words
from dobandit.study.events import Event, Row, to_row
from dobandit.study.stores.chained import Chained
from dobandit.study.stores.making import made
from dobandit.study.stores.protocol import LAST, SCHEMA, Snapshot
from dobandit.study.stores.queue import Queue
from dobandit.study.stores.schema import APPLICATION, bring_up_to_date, checked_version, make_tables, version_of

MEMORY = ":memory:"
PATIENCE = 60.0  # seconds to wait for others
LONGEST = 64_000_000  # bytes of a value; a file may be a stranger's

_BUSY = ("BUSY", "LOCKED")  # errors as SQLite calls them: SQLITE_BUSY and so on
_UNWRITABLE = ("CANTOPEN", "READONLY")
_FULL = ("FULL", "IOERR", "READONLY", "CANTOPEN", "PERM")
_DAMAGED = ("NOTADB", "CORRUPT", "ERROR", "CONSTRAINT", "MISMATCH", "TOOBIG")
_BESIDE = ("-journal", "-wal", "-shm")  # what SQLite adds to the name of a file for files of its own


class SqliteStore(Chained):
    """An open file, or a database in memory."""

    def __init__(self, name: str, connection: sqlite3.Connection) -> None:
        self.name, self._connection, self._lock = name, connection, RLock()
        self._schema = SCHEMA
        self._queue = None if name == MEMORY else Queue(Path(name))

    @classmethod
    def in_memory(cls, created: Event) -> SqliteStore:
        store = cls(MEMORY, _connect(MEMORY))
        _write_first(store._connection, created)
        store._identify()
        return store

    @classmethod
    def open(cls, path: Path) -> SqliteStore:
        with _told(str(path)):
            if not path.is_file():
                raise StudyError(f"there is no study {path}; make one with: dobandit study init {path} PROBLEM")
            try:
                return cls._opened(path, _connect(path))
            except sqlite3.OperationalError as error:
                if _primary(error) not in _UNWRITABLE:
                    raise
            return cls._opened(path, _connect_to_read(path))

    @classmethod
    def _opened(cls, path: Path, connection: sqlite3.Connection) -> SqliteStore:
        store = cls(str(path), connection)
        try:
            _prepare(connection)
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
        self._schema = checked_version(self._connection, self.name)
        self._identify()

    def writing(self) -> AbstractContextManager[SqliteStore]:
        return self._transaction(self._begin_in_turn)

    def reading(self) -> AbstractContextManager[SqliteStore]:
        return self._transaction(lambda _: self._connection.execute("BEGIN"))

    @contextmanager
    def _transaction(self, begin: Callable[[ExitStack], object]) -> Iterator[SqliteStore]:
        with self._lock, _told(self.name), ExitStack() as turn:
            try:
                begin(turn)  # an interruption that waited for the lock as well comes in here
                if self._schema < SCHEMA:  # another process may have brought it up to date
                    self._schema = version_of(self._connection)
                yield self
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def _begin_in_turn(self, turn: ExitStack) -> None:
        """Begin at once if nobody is writing or waiting, else when it is our turn."""
        if self._queue is None or not (self._queue.is_empty() and self._begins_at_once()):
            if self._queue is not None:
                turn.enter_context(self._queue.turn())
            self._connection.execute("BEGIN IMMEDIATE")

    def _begins_at_once(self) -> bool:
        self._connection.execute("PRAGMA busy_timeout = 0")
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if _primary(error) not in _BUSY:
                raise
            return False
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}")
        return True

    def now(self) -> float:
        return time.time()

    def rows(self, after: int = 0, last: int = LAST) -> Iterator[Row]:
        return map(Row._make, self._select("number > ? AND number <= ? ORDER BY number", after, last))

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

    def _select(self, where: str, *values: int | str, more: str = "") -> sqlite3.Cursor:
        hashes = "hash" if self._schema == SCHEMA else "NULL"
        sql = f"SELECT number, time, kind, pull, content, {hashes}{more} FROM event WHERE {where}"
        return self._connection.execute(sql, values)

    def _insert(self, rows: Iterable[Row]) -> None:
        self._bring_up_to_date()
        _insert(self._connection, rows)

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


def is_study_file(path: Path) -> bool:
    """Whether the header of a file says that it is a study."""
    try:
        with path.open("rb") as file:
            header = file.read(72)
    except OSError:
        return False
    return header.startswith(b"SQLite format 3\0") and header[68:] == APPLICATION.to_bytes(4, "big")


def _connect(path: Path | str) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """A study where nothing can be written: neither a file beside it nor itself. If its last outcomes are in a log
    beside it, both are copied, because SQLite would have to write to add them up."""
    wal = path.with_name(f"{path.name}-wal")
    place, copies = path, contextlib.ExitStack()
    if wal.exists() and wal.stat().st_size:
        place = Path(copies.enter_context(tempfile.TemporaryDirectory(prefix="dobandit-"))) / path.name
        shutil.copyfile(path, place)
        shutil.copyfile(wal, place.with_name(wal.name))
    with copies:  # SQLite keeps the files open
        mode = "mode=ro&immutable=1" if place == path else "mode=rw"
        connection = sqlite3.connect(
            f"{place.absolute().as_uri()}?{mode}", uri=True, isolation_level=None, check_same_thread=False
        )
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        connection.execute("PRAGMA query_only = ON")
        return connection


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA trusted_schema = OFF")  # the file may be a stranger's
    connection.execute("PRAGMA cell_size_check = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)


def _write_first(connection: sqlite3.Connection, created: Event) -> None:
    """The tables of a new study, and its first event."""
    rows = list(linked(identity(to_row(created)), "", [created]))
    make_tables(connection)
    _insert(connection, rows)


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


def _insert(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    connection.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)", rows)


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


def _primary(error: sqlite3.Error) -> str:
    """The kind of an error, as SQLite calls it."""
    return str(getattr(error, "sqlite_errorname", "SQLITE_")).split("_")[1]


def _explained(name: str, error: sqlite3.Error) -> DobanditError:
    primary = _primary(error)
    if primary in _BUSY:
        return StorageError(f"{name}: others have been writing for {PATIENCE:g} seconds; try again")
    if primary in _FULL:
        return StorageError(f"{name}: cannot be written: {error}; nothing was changed")
    if primary in _DAMAGED or (not primary and isinstance(error, sqlite3.OperationalError)):  # a text that is none
        return StudyError(f"{name} is not a study, or it is damaged: {in_words(error)}")
    return StorageError(f"{name}: {error}")
