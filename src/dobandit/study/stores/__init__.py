"""Where studies are kept: in memory, in an SQLite file, in a PostgreSQL database."""

from __future__ import annotations

from pathlib import Path

from dobandit.errors import StudyError
from dobandit.study.events import Event
from dobandit.study.stores.addresses import address_of, is_database, is_service, place_of
from dobandit.study.stores.protocol import LAST, VERSION, Access, Snapshot, Store
from dobandit.study.stores.sqlite import MEMORY, SqliteStore
from dobandit.study.stores.sqlite_files import is_study_file


def create_store(where: str, created: Event) -> Store:
    """A new store for a new study, by its place: a path, a URL, or `:memory:`."""
    if where == MEMORY:
        return SqliteStore.in_memory(created)
    if is_database(where):
        from dobandit.study.stores.postgres import PostgresStore

        return PostgresStore.create(where, created)
    return SqliteStore.create(Path(where), created)


def open_store(where: str) -> Store:
    if where == MEMORY:
        raise StudyError("a study in memory cannot be opened again: it is gone with its program")
    if is_database(where):
        from dobandit.study.stores.postgres import PostgresStore

        return PostgresStore(where)
    return SqliteStore.open(Path(where))


def shown(where: str) -> str:
    """A place as it may be shown: without the password that a URL may have."""
    if is_service(where):
        return "***" if "@" in where else where
    return address_of(where).shown if is_database(where) else where


def name_of_place(where: str) -> str:
    """What a study is called by its place: the stem of its file, or its name in the database."""
    return address_of(where).study if is_database(where) else Path(where).stem
