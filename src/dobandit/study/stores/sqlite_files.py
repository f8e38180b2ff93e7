"""The file of a study in SQLite: how it is made, so that there is never half a study, and how it is opened."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from dobandit.errors import StorageError, StudyError
from dobandit.files import move
from dobandit.study.chain import identity, linked
from dobandit.study.events import Event, Row, to_row
from dobandit.study.stores.making import made
from dobandit.study.stores.schema import APPLICATION, make_tables
from dobandit.study.stores.sqlite_errors import PATIENCE

LONGEST = 64_000_000  # bytes of a value; a file may be a stranger's

_BESIDE = ("-journal", "-wal", "-shm")  # what SQLite adds to the name of a file for files of its own


def is_study_file(path: Path) -> bool:
    """Whether the header of a file says that it is a study."""
    try:
        with path.open("rb") as file:
            header = file.read(72)
    except OSError:
        return False
    return header.startswith(b"SQLite format 3\0") and header[68:] == APPLICATION.to_bytes(4, "big")


def connect(path: Path | str) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A study where nothing can be written: neither a file beside it nor itself. If its last outcomes are in a log
    beside it, both are copied, because SQLite would have to write to add them up."""
    import shutil
    import tempfile

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


def prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA trusted_schema = OFF")  # the file may be a stranger's
    connection.execute("PRAGMA cell_size_check = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)


def write_first(connection: sqlite3.Connection, created: Event) -> None:
    """The tables of a new study, and its first event."""
    rows = list(linked(identity(to_row(created)), "", [created]))
    make_tables(connection)
    insert(connection, rows)


def write_new(draft: Path, created: Event) -> None:
    """The file that is to be moved. A write-ahead log would stay behind, so it comes last, while it is empty."""
    with contextlib.closing(connect(draft)) as connection:
        prepare(connection)
        write_first(connection, created)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("SELECT 1 FROM event").fetchone()  # needs the log: a full disk is noticed here
    alone = f"{draft.absolute().as_uri()}?immutable=1"  # without whatever lies beside it
    with contextlib.closing(sqlite3.connect(alone, uri=True)) as connection:
        sound = connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
        if not sound or connection.execute("SELECT count(*) FROM event").fetchone() != (1,):
            raise StorageError(f"{draft.parent}: what was written there cannot be read again; no study was made")


def publish(draft: Path, path: Path) -> None:
    """Give a study its name, unless it is taken. An interruption may come when that has just been done."""
    mine = draft.stat()
    try:
        move(draft, path)
    except BaseException as error:
        if path.exists() and os.path.samestat(mine, path.stat()):
            with made(str(path)):
                raise
        if isinstance(error, FileExistsError):
            raise taken(path) from None
        raise


def insert(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    connection.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)", rows)


def check_alone(path: Path) -> None:
    """SQLite takes the log of a file that is gone for that of a new one with its name, and brings the old study back.
    It may be all that is left of a study's outcomes, so it is not removed here."""
    for beside in _names_beside(path):
        if beside.exists():
            raise StudyError(f"{beside} is left over from another study; move it away first, or choose another name")


def taken(path: Path) -> StudyError:
    return StudyError(f"{path} exists already; choose another name")


def remove(path: Path) -> None:
    """A file, and what SQLite puts beside it."""
    for file in (path, *_names_beside(path)):
        with contextlib.suppress(OSError):
            file.unlink()


def _names_beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in _BESIDE]


def keep_name(folder: Path) -> None:
    """Put the list of a folder's files on the disk, too, where there is a way to say so."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
