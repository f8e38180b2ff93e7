"""What goes wrong inside SQLite, as a sentence."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from dobandit.errors import DobanditError, StorageError, StudyError
from dobandit.files import cannot_write
from dobandit.study.damage import in_words

PATIENCE = 60.0  # seconds to wait for others
BUSY = ("BUSY", "LOCKED")  # errors as SQLite calls them: SQLITE_BUSY and so on
_FULL = ("FULL", "IOERR", "READONLY", "CANTOPEN", "PERM")
_DAMAGED = ("NOTADB", "CORRUPT", "ERROR", "CONSTRAINT", "MISMATCH", "TOOBIG")


@contextmanager
def told(name: str) -> Iterator[None]:
    """What goes wrong inside SQLite, as a sentence."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise explained(name, error) from error


def primary(error: sqlite3.Error) -> str:
    """The kind of an error, as SQLite calls it."""
    return str(getattr(error, "sqlite_errorname", "SQLITE_")).split("_")[1]


def explained(name: str, error: sqlite3.Error | OSError) -> DobanditError:
    if isinstance(error, OSError):
        return cannot_write(name, error)
    kind = primary(error)
    if kind in BUSY:
        return StorageError(f"{name}: others have been writing for {PATIENCE:g} seconds; try again")
    if kind in _FULL:
        return StorageError(f"{name}: cannot be written: {error}; nothing was changed")
    if kind in _DAMAGED or (not kind and isinstance(error, sqlite3.OperationalError)):  # a text that is none
        return StudyError(f"{name} is not a study, or it is damaged: {in_words(error)}")
    return StorageError(f"{name}: {error}")
