"""Studies in a PostgreSQL database, for workers on many machines. A URL is the place: postgresql://host/database#name.

All studies of a database share three tables. A transaction that writes locks the row of its study first, so writers
of one study take turns and those of different studies do not meet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

from dobandit.errors import DobanditError, MissingExtra, StorageError, StudyError
from dobandit.study.events import Event
from dobandit.study.stores.protocol import SCHEMA, Snapshot

PREFIXES = ("postgresql://", "postgres://")
PATIENCE = 60  # seconds to wait for others

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
_COLUMNS = "number, time, kind, pull, content"


class PostgresStore:
    """A connection to the database of a study."""

    def __init__(self, url: str) -> None:
        self._url, self._study = _parts(url)
        self.name, self._lock = _shown(url), RLock()
        self._connection = _connect(self._url)
        try:
            with self._told():
                self._check()
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, url: str, created: Event) -> PostgresStore:
        address, study = _parts(url)
        connection = _connect(address)
        try:
            with _sentences(_shown(url)), connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(hashtext('dobandit'))")  # tables are made once
                connection.execute(_TABLES)
                made = connection.execute(
                    "INSERT INTO dobandit_study VALUES (%s, %s) ON CONFLICT DO NOTHING", (study, SCHEMA)
                )
                if not made.rowcount:
                    raise StudyError(
                        f"{_shown(url)} exists already; add a name of its own, as in {_shown(address)}#name"
                    )
                _insert(connection, study, [created])
        finally:
            connection.close()
        return cls(url)

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

    @contextmanager
    def writing(self) -> Iterator[PostgresStore]:
        with self._lock, self._told(), self._connection.transaction():
            self._connection.execute("SELECT 1 FROM dobandit_study WHERE name = %s FOR UPDATE", (self._study,))
            yield self

    @contextmanager
    def reading(self) -> Iterator[PostgresStore]:
        with self._lock, self._told(), self._connection.transaction():
            self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield self

    @contextmanager
    def _told(self) -> Iterator[None]:
        """A connection that was lost is made anew, once, before a transaction begins."""
        if self._connection.closed:
            self._connection = _connect(self._url)
        with _sentences(self.name):
            yield

    def first(self) -> Event:
        return self._read("AND number = 1")[0]

    def events(self, after: int = 0) -> list[Event]:
        return self._read("AND number > %s ORDER BY number", after)

    def events_of(self, pull: int) -> list[Event]:
        return self._read("AND pull = %s ORDER BY number", pull)

    def _read(self, where: str, *values: int) -> list[Event]:
        sql = f"SELECT {_COLUMNS} FROM dobandit_event WHERE study = %s {where}"
        rows = self._connection.execute(sql, (self._study, *values))
        return [Event(number, time, kind, pull, json.loads(text)) for number, time, kind, pull, text in rows]

    def append(self, events: Iterable[Event]) -> None:
        _insert(self._connection, self._study, events)

    def snapshot(self) -> Snapshot | None:
        sql = "SELECT number, version, text FROM dobandit_snapshot WHERE study = %s"
        row = self._connection.execute(sql, (self._study,)).fetchone()
        return None if row is None else Snapshot(*row)

    def save_snapshot(self, snapshot: Snapshot) -> None:
        self._connection.execute(
            "INSERT INTO dobandit_snapshot VALUES (%s, %s, %s, %s) ON CONFLICT (study) DO UPDATE"
            " SET number = excluded.number, version = excluded.version, text = excluded.text",
            (self._study, *snapshot),
        )

    def close(self) -> None:
        self._connection.close()


def is_url(where: str) -> bool:
    return where.startswith(PREFIXES)


def _parts(url: str) -> tuple[str, str]:
    """The address of the database and the name of the study in it."""
    address, _, study = url.partition("#")
    return address, study or "study"


def _shown(url: str) -> str:
    """A URL without its password."""
    return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", url)


def _connect(url: str) -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("psycopg", "postgres") from None
    with _sentences(_shown(url)):
        return psycopg.connect(
            url, autocommit=True, connect_timeout=10, options=f"-c lock_timeout={PATIENCE}s -c synchronous_commit=on"
        )


def _insert(connection: Any, study: str, events: Iterable[Event]) -> None:
    sql = "INSERT INTO dobandit_event VALUES (%s, %s, %s, %s, %s, %s)"
    rows = [(study, e.number, e.time, e.kind, e.pull, json.dumps(e.content, separators=(",", ":"))) for e in events]
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
    return StorageError(f"{name}: the database did not answer as it should: {what}; nothing was changed")
