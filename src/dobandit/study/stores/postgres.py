"""Studies in a PostgreSQL database, for workers on many machines. A URL is the place: postgresql://host/database#name.

All studies of a database share three tables. A transaction that writes locks the row of its study first, so writers
of one study take turns and those of different studies do not meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Any

from dobandit.errors import DobanditError, StorageError, StudyError
from dobandit.study.chain import identity, linked
from dobandit.study.damage import damaged
from dobandit.study.events import Event, Row, to_row
from dobandit.study.stores.addresses import Address, address_of
from dobandit.study.stores.chained import Chained
from dobandit.study.stores.making import made
from dobandit.study.stores.protocol import LAST, SCHEMA, Snapshot

PATIENCE = 60  # seconds to wait for others, and after which a transaction that makes others wait is ended

_TABLES = """
CREATE TABLE dobandit_study (name text PRIMARY KEY, schema integer NOT NULL);
CREATE TABLE dobandit_event (
    study text NOT NULL REFERENCES dobandit_study, number integer NOT NULL, time double precision NOT NULL,
    kind text NOT NULL, pull integer, content text NOT NULL, hash text, PRIMARY KEY (study, number));
CREATE INDEX dobandit_event_of_pull ON dobandit_event (study, pull) WHERE pull IS NOT NULL
"""
_SNAPSHOTS = """
CREATE TABLE dobandit_checkpoint (
    study text NOT NULL REFERENCES dobandit_study, number integer NOT NULL,
    version text NOT NULL, text text NOT NULL, PRIMARY KEY (study, number))
"""
_FROM_FIRST = f"ALTER TABLE dobandit_event ADD COLUMN hash text; {_SNAPSHOTS}"
_BEFORE = "LEFT JOIN dobandit_event b ON b.study = e.study AND b.number = e.number - 1"
_PAGE = 5000  # rows that are fetched together
# A worker whose machine stops inside a transaction would make all others wait for as long as it sleeps.
_BEGIN_WRITING = f"BEGIN; SET LOCAL idle_in_transaction_session_timeout = '{PATIENCE}s'"
_BROKEN_TABLES = ("42P01", "42703", "XX001", "XX002")  # a table, a column or an index that is not what it was
# A server that is gone is noticed, whether it refuses, says nothing, or falls silent in the middle.
_SETTINGS = f"-c lock_timeout={PATIENCE}s -c statement_timeout={2 * PATIENCE}s -c synchronous_commit=on"
_TIMEOUTS = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 1000 * PATIENCE,  # milliseconds
}
_SAFE = "a worker who asks again gets the same pulls, and the same outcome or name twice counts once"
_COLUMNS = "e.number, e.time, e.kind, e.pull, e.content"


class PostgresStore(Chained):
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
                _make_tables(connection, address.shown)
                inserted = connection.execute(
                    "INSERT INTO dobandit_study VALUES (%s, %s) ON CONFLICT DO NOTHING", (address.study, SCHEMA)
                )
                if not inserted.rowcount:
                    raise StudyError(
                        f"{address.shown} exists already; give the study a name of its own, as in {_example(address)}"
                    )
                _insert(connection, address.study, linked(identity(to_row(created)), "", [created]))
                _commit(connection, address.shown, "if the study exists already then, it was made now")
        finally:
            connection.close()
        with made(address.shown):
            return cls(where)

    def _check(self) -> None:
        found = None
        if _has_tables(self._connection):
            sql = "SELECT schema FROM dobandit_study WHERE name = %s"
            found = self._connection.execute(sql, (self._study,)).fetchone()
        if found is None:
            raise StudyError(f"there is no study {self._study!r} in this database; make one with: dobandit study init")
        if found[0] > SCHEMA:
            raise StudyError(f"{self.name} was made by a newer version of dobandit; install that one")
        self._schema, self._has_hashes = found[0], _has_hashes(self._connection)
        self._identify()

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
                with suppress(Exception):  # a connection that is lost has nothing to take back
                    self._connection.rollback()
                raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        """A lost connection is opened again, once, before a transaction begins."""
        if self._connection.closed:
            self._connection = _connect(self._address)
        with _sentences(self.name):
            yield

    def now(self) -> float:
        return float(self._connection.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()[0])

    def rows(self, after: int = 0, last: int = LAST) -> Iterator[Row]:
        while True:
            page = self._select("AND e.number > %s AND e.number <= %s ORDER BY e.number LIMIT %s", after, last, _PAGE)
            for row in page:
                yield Row._make(row[:-1])
            if len(page) < _PAGE:
                return
            after = page[-1][0]

    def _rows_of(self, pull: int) -> Iterator[tuple[Row, str | None]]:
        for *row, before in self._select("AND e.pull = %s ORDER BY e.number", pull):
            yield Row._make(row), before

    def _rows_like(self, kinds: Sequence[str], after: int, last: int) -> Iterator[tuple[Row, str | None]]:
        where = "AND e.number > %s AND e.number <= %s AND e.kind = ANY(%s) ORDER BY e.number"
        for *row, before in self._select(where, after, last, list(kinds)):
            yield Row._make(row), before

    def _select(self, where: str, *values: object) -> list[Any]:
        """Rows, each with the hash of the row before it."""
        self._has_hashes = self._has_hashes or _has_hashes(self._connection)
        hashes, before = ("e.hash, b.hash", _BEFORE) if self._has_hashes else ("NULL, NULL", "")
        sql = f"SELECT {_COLUMNS}, {hashes} FROM dobandit_event e {before} WHERE e.study = %s {where}"
        with _sentences(self.name):  # here, because readers of a history take other errors for damage
            return list(self._connection.execute(sql, (self._study, *values)))

    def _insert(self, rows: Iterable[Row]) -> None:
        self._bring_up_to_date()
        _insert(self._connection, self._study, rows)

    def _bring_up_to_date(self) -> None:
        """The tables, which all studies of the database share, and then this study."""
        if self._schema < SCHEMA:
            _make_tables(self._connection, self.name)
            self._connection.execute("UPDATE dobandit_study SET schema = %s WHERE name = %s", (SCHEMA, self._study))
            self._schema, self._has_hashes = SCHEMA, True

    def check_complete(self) -> None:
        sql = "SELECT count(*), max(number) FROM dobandit_event WHERE study = %s AND number > 0"
        self._compare(*self._connection.execute(sql, (self._study,)).fetchone())

    def faults(self) -> list[str]:
        return []  # a server looks after its pages itself

    def snapshot(self, before: int = LAST) -> Snapshot | None:
        if self._schema < SCHEMA:
            return None
        sql = (
            "SELECT number, version, text FROM dobandit_checkpoint WHERE study = %s AND number <= %s"
            " ORDER BY number DESC LIMIT 1"
        )
        row = self._connection.execute(sql, (self._study, before)).fetchone()
        return None if row is None else Snapshot.from_row(*row)

    def save_snapshot(self, snapshot: Snapshot, instead_of_after: int = 0) -> None:
        self._bring_up_to_date()
        sql = "DELETE FROM dobandit_checkpoint WHERE study = %s AND number > %s"
        self._connection.execute(sql, (self._study, instead_of_after))
        self._connection.execute(
            "INSERT INTO dobandit_checkpoint VALUES (%s, %s, %s, %s) ON CONFLICT (study, number) DO UPDATE"
            " SET version = excluded.version, text = excluded.text",
            (self._study, *snapshot.to_row()),
        )

    def close(self) -> None:
        self._connection.close()


def _example(address: Address) -> str:
    return f"{address.shown.partition('#')[0]}#name"


def _connect(address: Address) -> Any:
    if isinstance(found := _connection(address), DobanditError):
        raise found  # here, where no frame of the traceback holds the password
    return found


def _connection(address: Address) -> Any:
    """A connection, or the error that says why there is none."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    given: dict[str, Any] = conninfo_to_dict(address.url)
    options = " ".join(filter(None, (_SETTINGS, given.pop("options", None))))
    try:
        return psycopg.connect(**{**_TIMEOUTS, **given}, autocommit=True, options=options)
    except psycopg.Error as error:
        return _explained(address.shown, error)


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


def _has_tables(connection: Any) -> bool:
    return bool(connection.execute("SELECT to_regclass('dobandit_study')").fetchone() != (None,))


def _has_hashes(connection: Any) -> bool:
    return bool(connection.execute("SELECT to_regclass('dobandit_checkpoint')").fetchone() != (None,))


def _make_tables(connection: Any, name: str) -> None:
    """Inside a transaction: make the tables, or bring those of the first version up to date. A role that may not do
    that uses those that are there."""
    import psycopg

    connection.execute("SELECT pg_advisory_xact_lock(hashtext('dobandit'))")  # tables are made once
    try:
        if not _has_tables(connection):
            connection.execute(f"{_TABLES}; {_SNAPSHOTS}")
        elif not _has_hashes(connection):
            connection.execute(_FROM_FIRST)
    except psycopg.errors.InsufficientPrivilege as error:
        raise StorageError(
            f"{name}: this role may not make the tables of dobandit; let the owner of the database make a study, or "
            "write to one that an earlier version made, and grant SELECT, INSERT, UPDATE and DELETE on all tables "
            "whose names begin with dobandit_"
        ) from error


def _insert(connection: Any, study: str, rows: Iterable[Row]) -> None:
    sql = "INSERT INTO dobandit_event VALUES (%s, %s, %s, %s, %s, %s, %s)"
    values = [(study, *row) for row in rows]
    with connection.cursor() as cursor:
        if len(values) == 1:
            cursor.execute(sql, values[0])
        else:
            cursor.executemany(sql, values)


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
