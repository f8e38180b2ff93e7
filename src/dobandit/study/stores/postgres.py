"""Studies in a PostgreSQL database, for workers on many machines. A URL is the place: postgresql://host/database#name.

All studies of a database share three tables. A transaction that writes locks the row of its study first, so writers
of one study take turns and those of different studies do not meet.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

from dobandit.errors import DobanditError, StorageError, StudyError
from dobandit.study.damage import damaged
from dobandit.study.events import Event, from_row, to_row
from dobandit.study.stores.addresses import Address, address_of
from dobandit.study.stores.making import made
from dobandit.study.stores.protocol import LAST, SCHEMA, Snapshot

PATIENCE = 60  # seconds to wait for others, and after which a transaction that makes others wait is ended

_TABLES = """
CREATE TABLE IF NOT EXISTS dobandit_study (name text PRIMARY KEY, schema integer NOT NULL);
CREATE TABLE IF NOT EXISTS dobandit_event (
    study text NOT NULL REFERENCES dobandit_study, number integer NOT NULL, time double precision NOT NULL,
    kind text NOT NULL, pull integer, content text NOT NULL, PRIMARY KEY (study, number));
CREATE INDEX IF NOT EXISTS dobandit_event_of_pull ON dobandit_event (study, pull) WHERE pull IS NOT NULL;
CREATE TABLE IF NOT EXISTS dobandit_snapshot (
    study text PRIMARY KEY REFERENCES dobandit_study, number integer NOT NULL,
    version text NOT NULL, text text NOT NULL)
"""
# A worker whose machine stops inside a transaction would make all others wait for as long as it sleeps.
_BEGIN_WRITING = f"BEGIN; SET LOCAL idle_in_transaction_session_timeout = '{PATIENCE}s'"
_BROKEN_TABLES = ("42P01", "42703", "XX001", "XX002")  # a table, a column or an index that is not what it was
_SAFE = "a worker who asks again gets the same pulls, and the same outcome or name twice counts once"
_COLUMNS = "number, time, kind, pull, content"


class PostgresStore:
    """A connection to the database of a study."""

    def __init__(self, where: str) -> None:
        self._address = address_of(where)
        self._study, self.name, self._lock = self._address.study, self._address.shown, RLock()
        self._connection = _connect(self._address)
        try:
            with self._told():
                self._check()
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, where: str, created: Event) -> PostgresStore:
        address = address_of(where)
        connection = _connect(address)
        try:
            with _sentences(address.shown):
                connection.execute("BEGIN")
                connection.execute("SELECT pg_advisory_xact_lock(hashtext('dobandit'))")  # tables are made once
                connection.execute(_TABLES)
                inserted = connection.execute(
                    "INSERT INTO dobandit_study VALUES (%s, %s) ON CONFLICT DO NOTHING", (address.study, SCHEMA)
                )
                if not inserted.rowcount:
                    raise StudyError(
                        f"{address.shown} exists already; give the study a name of its own, as in {_example(address)}"
                    )
                _insert(connection, address.study, [created])
                _commit(connection, address.shown, "if the study exists already then, it was made now")
        finally:
            connection.close()
        with made(address.shown):
            return cls(where)

    def _check(self) -> None:
        (table,) = self._connection.execute("SELECT to_regclass('dobandit_study')").fetchone()
        found = None
        if table is not None:
            sql = "SELECT schema FROM dobandit_study WHERE name = %s"
            found = self._connection.execute(sql, (self._study,)).fetchone()
        if found is None:
            raise StudyError(f"there is no study {self._study!r} in this database; make one with: dobandit study init")
        if found[0] > SCHEMA:
            raise StudyError(f"{self.name} was made by a newer version of dobandit; install that one")
        sql = "SELECT count(*), max(number) FROM dobandit_event WHERE study = %s AND number > 0"
        number, last = self._connection.execute(sql, (self._study,)).fetchone()
        if not number or number != last:
            raise damaged(self.name, "events are missing from its log")

    @contextmanager
    def writing(self) -> Iterator[PostgresStore]:
        with self._transaction(_BEGIN_WRITING):
            self._connection.execute("SELECT 1 FROM dobandit_study WHERE name = %s FOR UPDATE", (self._study,))
            yield self
            _commit(self._connection, self.name, _SAFE)

    @contextmanager
    def reading(self) -> Iterator[PostgresStore]:
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"):
            yield self
            self._connection.execute("COMMIT")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._lock, self._told():
            try:
                self._connection.execute(begin)  # an interruption in here leaves no transaction open either
                yield
            except BaseException:
                with contextlib.suppress(Exception):  # a connection that is lost has nothing to take back
                    self._connection.rollback()
                raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        """A lost connection is opened again, once, before a transaction begins."""
        if self._connection.closed:
            self._connection = _connect(self._address)
        with _sentences(self.name):
            yield

    def events(self, after: int = 0, last: int = LAST) -> list[Event]:
        return self._read("AND number > %s AND number <= %s ORDER BY number", after, last)

    def events_of(self, pull: int) -> list[Event]:
        return self._read("AND pull = %s ORDER BY number", pull)

    def _read(self, where: str, *values: int) -> list[Event]:
        sql = f"SELECT {_COLUMNS} FROM dobandit_event WHERE study = %s {where}"
        rows = self._connection.execute(sql, (self._study, *values))
        return [from_row(self.name, *row) for row in rows]

    def append(self, events: Iterable[Event]) -> None:
        _insert(self._connection, self._study, events)

    def snapshot(self) -> Snapshot | None:
        sql = "SELECT number, version, text FROM dobandit_snapshot WHERE study = %s"
        row = self._connection.execute(sql, (self._study,)).fetchone()
        return None if row is None else Snapshot.from_row(*row)

    def save_snapshot(self, snapshot: Snapshot) -> None:
        self._connection.execute(
            "INSERT INTO dobandit_snapshot VALUES (%s, %s, %s, %s) ON CONFLICT (study) DO UPDATE"
            " SET number = excluded.number, version = excluded.version, text = excluded.text",
            (self._study, *snapshot.to_row()),
        )

    def close(self) -> None:
        self._connection.close()


def _example(address: Address) -> str:
    return f"{address.shown.partition('#')[0]}#name"


def _connect(address: Address) -> Any:
    import psycopg

    options = f"-c lock_timeout={PATIENCE}s -c synchronous_commit=on"
    with _sentences(address.shown):
        return psycopg.connect(address.url, autocommit=True, connect_timeout=10, options=options)


def _commit(connection: Any, name: str, after_that: str) -> None:
    """If the connection is lost now, the answer of the database is lost with it."""
    import psycopg

    try:
        connection.execute("COMMIT")
    except psycopg.Error as error:
        if not connection.closed:
            raise
        raise StorageError(
            f"{name}: the connection was lost before the database could confirm, so it is unknown whether this counts; "
            f"do the same again: {after_that}"
        ) from error


def _insert(connection: Any, study: str, events: Iterable[Event]) -> None:
    sql = "INSERT INTO dobandit_event VALUES (%s, %s, %s, %s, %s, %s)"
    rows = [(study, *to_row(event)) for event in events]
    with connection.cursor() as cursor:
        if len(rows) == 1:
            cursor.execute(sql, rows[0])
        else:
            cursor.executemany(sql, rows)


@contextmanager
def _sentences(name: str) -> Iterator[None]:
    """What goes wrong in the database or on the way to it, as a sentence."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise _explained(name, error) from error


def _explained(name: str, error: Any) -> DobanditError:
    what = (str(error) or type(error).__name__).strip().splitlines()[0]
    if error.sqlstate == "55P03":  # lock_not_available
        return StorageError(f"{name}: others have been writing for {PATIENCE} seconds; try again")
    if error.sqlstate in _BROKEN_TABLES:
        return damaged(name, what)
    return StorageError(f"{name}: the database did not answer as it should: {what}; nothing was changed")
