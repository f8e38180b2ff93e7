"""The tables of a study in SQLite, to the letter.

A file may be a stranger's, and whatever else SQLite allows in a schema (generated columns, checks, indexes of
expressions, virtual tables, triggers, views) may compute, so a file has the tables below or is refused.
"""

from __future__ import annotations

import re
import sqlite3

from dobandit.errors import StudyError
from dobandit.study.stores.protocol import SCHEMA

APPLICATION = 0x646F6261  # "doba", in the header of the file: it tells a study from any other database

_INDEX = "CREATE INDEX event_of_pull ON event (pull) WHERE pull IS NOT NULL"
_EVENT = "number INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, pull INTEGER, content TEXT NOT NULL"
_SNAPSHOT = "CREATE TABLE snapshot (number INTEGER PRIMARY KEY, version TEXT NOT NULL, text TEXT NOT NULL)"
_FIRST = (
    f"CREATE TABLE event ( {_EVENT})",
    _INDEX,
    "CREATE TABLE snapshot ( one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, version TEXT NOT NULL, "
    "text TEXT NOT NULL)",
)
TABLES = (f"CREATE TABLE event ( {_EVENT}, hash TEXT)", _INDEX, _SNAPSHOT)
_KNOWN = {1: {*_FIRST}, SCHEMA: {*TABLES}}


def make_tables(connection: sqlite3.Connection) -> None:
    """The tables of a new study."""
    head = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA}"
    connection.executescript(f"BEGIN; {head}; {'; '.join(TABLES)}; COMMIT")


def version_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def checked_version(connection: sqlite3.Connection, name: str) -> int:
    """The version of a study's tables; a file that is none, or more than a study, is refused."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION:
        raise StudyError(f"{name} is not a study of dobandit")
    version = version_of(connection)
    if version > SCHEMA:
        raise StudyError(f"{name} was made by a newer version of dobandit (schema {version}); install that one")
    found = {re.sub(r"\s+", " ", str(sql)) for (sql,) in connection.execute("SELECT sql FROM sqlite_master")}
    if more := found - _KNOWN.get(version, set()):
        what = "commands" if any(re.match("CREATE (TRIGGER|VIEW)", sql, re.IGNORECASE) for sql in more) else "tables"
        raise StudyError(f"{name} is not a study of dobandit: it has {what} in it that no study has")
    if found != _KNOWN[version]:
        raise StudyError(f"{name} is not a study, or it is damaged: tables are missing")
    return version


def bring_up_to_date(connection: sqlite3.Connection) -> None:
    """Inside a transaction: the tables of a study of the first version become those of this one."""
    connection.execute("ALTER TABLE event ADD COLUMN hash TEXT")
    connection.execute("DROP TABLE snapshot")  # of a format that is not read any more
    connection.execute(_SNAPSHOT)
    connection.execute(f"PRAGMA user_version = {SCHEMA}")
