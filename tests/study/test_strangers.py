"""Studies and logs of strangers: whatever could compute, grow or lead elsewhere is refused."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from dobandit.errors import FileError, StudyError
from dobandit.evidence import open_source
from dobandit.study import Study
from dobandit.study.stores import sqlite_files
from dobandit.study.stores.postgres import PostgresStore
from tests.conftest import Ran
from tests.study.driving import SMALL, drive, forge, laboratory

Run = Callable[..., Ran]
ADDED = {
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event; END",
    "a view": "CREATE VIEW v AS SELECT randomblob(1000000000) FROM event",
    "a generated column": "ALTER TABLE event ADD COLUMN more TEXT GENERATED ALWAYS AS (upper(content)) VIRTUAL",
    "an index of an expression": "CREATE INDEX i ON event (abs(number))",
    "a partial index": "CREATE INDEX i ON event (number) WHERE kind = 'asked'",
    "a virtual table": "CREATE VIRTUAL TABLE f USING fts5(content)",
    "another table": "CREATE TABLE more (x CHECK (x < 3))",
    "a column with a check": "ALTER TABLE snapshot ADD COLUMN more INTEGER CHECK (more < 3)",
}


@pytest.fixture
def path(folder: Path) -> Path:
    with Study.create(folder / "s.db", SMALL, "f-kube") as study:
        drive(study, laboratory(), most=3)
    return folder / "s.db"


@pytest.mark.parametrize("added", ADDED.values(), ids=ADDED)
def test_a_study_has_our_tables_and_nothing_else(path: Path, added: str, dobandit: Run) -> None:
    with closing(sqlite3.connect(path)) as base, base:
        base.execute(added)
    for command in (["status"], ["best"], ["log"], ["ask"], ["verify"], ["explain", 1]):
        ran = dobandit("study", command[0], path, *command[1:])
        assert (ran.code, ran.out) == (4, "")
        assert "is not a study of dobandit: it has" in ran.err


def test_values_that_are_too_long_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_files, "LONGEST", 100_000)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("UPDATE event SET content = content || ? WHERE number = 3", (" " * 200_000,))
    with pytest.raises(StudyError):
        Study.open(path).log()


def test_a_problem_that_is_too_large_is_refused_when_it_is_opened(path: Path) -> None:
    values = ",".join(f'"{i}"' for i in range(1001))
    with closing(sqlite3.connect(path)) as base, base:
        (content,) = base.execute("SELECT content FROM event WHERE number = 1").fetchone()
        changed = content.replace('"Z":["0","1"]', f'"Z":[{values}]')
        assert changed != content
        base.execute("UPDATE event SET content = ? WHERE number = 1", (changed,))
        forge(base)
    with pytest.raises(StudyError, match="1,001 values; at most 1,000 are possible"):
        Study.open(path)


@pytest.mark.parametrize("place", ["~/log.csv", "http://127.0.0.1:1/log.csv", "s3://bucket/log.csv"])
@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_paths_are_files_here(place: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a home folder nor the network."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "log.csv").write_text("X,Y\n1,1\n")
    with pytest.raises(FileError, match="cannot be read: no such file"):
        open_source(place.replace("csv", form)).group(("X",))


def test_a_server_that_is_silent_is_given_up(server: str) -> None:
    """Connecting, statements and connections whose other end is gone have a limit."""
    address = f"{server}#silent-{os.getpid()}"
    Study.create(address, SMALL, "f-kube").close()
    with closing(PostgresStore(address)) as store:
        known = store._connection.info.get_parameters()
        limits = [store._connection.execute(f"SHOW {name}_timeout").fetchone() for name in ("statement", "lock")]
    assert limits == [("2min",), ("1min",)]
    assert {known[name] for name in ("connect_timeout", "keepalives", "keepalives_idle")} == {"10", "1"}
    assert known["tcp_user_timeout"] == "60000"
