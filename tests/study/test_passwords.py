"""Passwords of a database that do not stand in its address: they work, and nothing shows them."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from dobandit.errors import StorageError
from dobandit.study import Study
from tests.study.driving import SMALL

PASSWORD = "s3cr3t"
ROLE = f"locked_{os.getpid()}"
Gives = Callable[[str], str]  # makes a password known, and returns the address that finds it


@pytest.fixture(scope="module")
def locked(server: str) -> Iterator[str]:
    """The address of the server for a role that needs a password."""
    with psycopg.connect(server, autocommit=True) as connection:
        rules = Path(str(connection.execute("SHOW hba_file").fetchone()[0]))  # type: ignore[index]
        before = rules.read_text()
        rules.write_text(f"local all {ROLE} scram-sha-256\n{before}")
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'")
        connection.execute(f"CREATE SCHEMA {ROLE} AUTHORIZATION {ROLE}")
        connection.execute(f"ALTER ROLE {ROLE} SET search_path = {ROLE}")  # whatever tables others have made before
        yield server.replace("postgres:@", f"{ROLE}@")
        rules.write_text(before)
        connection.execute(f"DROP OWNED BY {ROLE}")
        connection.execute(f"DROP ROLE {ROLE}")
        connection.execute("SELECT pg_reload_conf()")


@pytest.fixture(params=["PGPASSWORD", "PGPASSFILE", "DOBANDIT_URL"])
def gives(request: pytest.FixtureRequest, locked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gives:
    def gives(password: str) -> str:
        if request.param == "DOBANDIT_URL":
            monkeypatch.setenv("DOBANDIT_URL", locked.replace("@", f":{password}@"))
            return "postgresql://"
        if request.param == "PGPASSFILE":
            (tmp_path / "pgpass").write_text(f"*:*:*:{ROLE}:{password}\n")
            (tmp_path / "pgpass").chmod(0o600)  # others are ignored if people may read them
        monkeypatch.setenv(request.param, str(tmp_path / "pgpass") if request.param == "PGPASSFILE" else password)
        return locked

    return gives


def test_a_role_without_its_password_is_refused(locked: str) -> None:
    with pytest.raises(StorageError, match="password"):
        Study.open(f"{locked}#none")


def test_it_is_taken_from_where_operators_keep_it(gives: Gives) -> None:
    place = f"{gives(PASSWORD)}#{os.urandom(4).hex()}"
    with Study.create(place, SMALL, "f-kube") as study:
        study.ask()
        assert PASSWORD not in repr(study) + str(study)
    look = "print(*(open(path).read() for path in glob('/proc/[0-9]*/cmdline')))"  # the list of processes
    code = f"import sys; from glob import glob; from dobandit.study import Study; s = Study.open(sys.argv[1]); {look}"
    code = f"{code}; print(s.last_event)"
    ran = subprocess.run([sys.executable, "-c", code, place], capture_output=True, text=True)
    assert ran.stdout.splitlines()[-1] == "2", ran.stderr
    assert PASSWORD not in ran.stdout + ran.stderr
    shown = subprocess.run(
        [sys.executable, "-m", "dobandit", "study", "status", place, "--debug"], capture_output=True, text=True
    )
    assert shown.returncode == 0
    assert PASSWORD not in shown.stdout + shown.stderr


def test_one_that_is_wrong_is_not_shown(gives: Gives) -> None:
    """Neither by the message nor by the errors behind it, nor by what the functions on the way had in their hands."""
    place = f"{gives('wr0ng')}#none"
    for begin in (Study.open, lambda place: Study.create(place, SMALL, "f-kube")):
        with pytest.raises(StorageError, match="password") as caught:
            begin(place)
        error: BaseException | None = caught.value
        while error is not None:
            told = traceback.TracebackException.from_exception(error, capture_locals=True)
            assert "wr0ng" not in "".join(told.format())
            error = error.__cause__ or error.__context__
