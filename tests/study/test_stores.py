"""What every store must do."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from dobandit.errors import FileProblem, StorageError, StudyError
from dobandit.study import Study
from dobandit.study.events import Event
from dobandit.study.stores import Snapshot, Store, create_store, open_store
from dobandit.study.stores.sqlite import SqliteStore
from tests.study.conftest import Places
from tests.study.driving import SMALL, drive, laboratory

CREATED = Event(1, 0.5, "created", None, {"problem": "ä", "numbers": [0.1, 1e300]})
ASKED = Event(2, 1.25, "asked", 1, {"arm": 0})
TOLD = Event(3, 2.0, "told", 1, {"outcome": {"X": "1"}})


class Broken(Exception):
    pass


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with contextlib.closing(create_store(place, CREATED)) as made:
        yield made


def test_what_is_appended_is_read(store: Store) -> None:
    with store.writing() as access:
        access.append([ASKED, TOLD])
        assert access.events(2) == [TOLD]
    with store.reading() as access:
        assert access.first() == CREATED
        assert access.events() == [CREATED, ASKED, TOLD]
        assert access.events(3) == []
        assert access.events_of(1) == [ASKED, TOLD]
        assert access.events_of(2) == []
        assert access.snapshot() is None


def test_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    with pytest.raises(Broken), store.writing() as access:  # noqa: PT012
        access.append([ASKED])
        access.save_snapshot(Snapshot(2, "1", "x"))
        raise Broken
    with store.reading() as access:
        assert access.events() == [CREATED]
        assert access.snapshot() is None


def test_the_last_snapshot_counts(store: Store) -> None:
    for number in (1, 2):
        with store.writing() as access:
            access.save_snapshot(Snapshot(number, "0.1", f"text {number}"))
    with store.reading() as access:
        assert access.snapshot() == Snapshot(2, "0.1", "text 2")


def test_opened_again_it_is_the_same(lasting: Places) -> None:
    place = lasting()
    with contextlib.closing(create_store(place, CREATED)) as store, store.writing() as access:
        access.append([ASKED])
    with contextlib.closing(open_store(place)) as store, store.reading() as access:
        assert access.events() == [CREATED, ASKED]


def test_a_place_that_is_taken_or_empty(lasting: Places) -> None:
    place = lasting()
    with pytest.raises(StudyError, match="there is no study"):
        open_store(place)
    create_store(place, CREATED).close()
    with pytest.raises(StudyError, match="exists already"):
        create_store(place, CREATED)


# -- SQLite files ----------------------------------------------------------------------------------


def test_files_that_are_no_study(folder: Path) -> None:
    text, base, empty = folder / "a.txt", folder / "b.db", folder / "c.db"
    text.write_text("This is a text and not a database, and it is long enough to have a header.\n" * 30)
    with contextlib.closing(sqlite3.connect(base)) as other:
        other.execute("CREATE TABLE t (x)")
    empty.touch()
    for path in (text, base, empty):
        before = path.read_bytes()
        with pytest.raises(StudyError, match="not a study"):
            Study.open(path)
        assert path.read_bytes() == before


def test_a_damaged_file(folder: Path) -> None:
    path = folder / "s.db"
    with Study.create(path, SMALL, "f-kube") as study:
        drive(study, laboratory())
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(StudyError, match="damaged"):
        Study.open(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("DELETE FROM event", "damaged"),
        ("DELETE FROM event WHERE number = 4", "damaged"),
        ("UPDATE event SET content = '{}' WHERE number = 3", "damaged"),
        ("UPDATE event SET content = 'x' WHERE number = 3", "damaged"),
        ("UPDATE event SET kind = 'mystery' WHERE number = 3", "only a newer version"),
    ],
)
def test_a_log_that_makes_no_sense(folder: Path, change: str, message: str) -> None:
    path = folder / "s.db"
    with Study.create(path, SMALL, "f-kube") as study:
        drive(study, laboratory(), most=5)
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        base.execute(change)
    with pytest.raises(StudyError, match=message):
        Study.open(path)


def test_a_newer_schema_is_refused(folder: Path) -> None:
    path = folder / "s.db"
    Study.create(path, SMALL, "f-kube").close()
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA user_version = 99")
    with pytest.raises(StudyError, match="newer version"):
        Study.open(path)


@pytest.mark.parametrize("pragma", ["max_page_count = 1", "query_only = 1"])
def test_a_full_or_read_only_disk_changes_nothing(folder: Path, pragma: str) -> None:
    """SQLite itself is told to find no room, or to find the file read-only."""
    path = folder / "s.db"
    study = Study.create(path, SMALL, "f-kube")
    drive(study, laboratory(), most=3)
    before, connection = study.status(), study._store._connection  # type: ignore[attr-defined]
    connection.execute(f"PRAGMA {pragma}")
    with pytest.raises(StorageError, match="cannot be written"):
        extend_often(study)
    connection.execute("PRAGMA query_only = 0")
    connection.execute("PRAGMA max_page_count = 1000000")
    extended = sum(event.kind == "extended" for event in study.log())
    assert study.status().budget.total == before.budget.total + extended
    assert arms_and_money(study) == arms_and_money(Study.open(path))


def test_no_half_of_a_study(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happens while it is made: the place stays empty."""

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("disk full")

    monkeypatch.setattr("dobandit.study.stores.sqlite._insert", fail)
    with pytest.raises(StorageError, match="disk full"):
        SqliteStore.create(folder / "s.db", CREATED)
    assert list(folder.iterdir()) == []


def test_a_folder_that_is_not_there(folder: Path) -> None:
    with pytest.raises(FileProblem, match="its folder does not exist"):
        Study.create(folder / "nowhere" / "s.db", SMALL)


def test_an_unreachable_server() -> None:
    with pytest.raises(StorageError, match=r"postgresql://me:\*\*\*@127.0.0.1:1/x: the database did not answer"):
        Study.open("postgresql://me:secret@127.0.0.1:1/x")


def extend_often(study: Study) -> None:
    for _ in range(2000):
        study.extend(1)


def arms_and_money(study: Study) -> object:
    found = study.status()
    return found.budget, [(arm.arm, arm.pulls, arm.open) for arm in found.arms]
