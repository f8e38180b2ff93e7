"""Places for studies: in memory, a file, a database on a server that the tests start themselves."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.service.running import Service, running
from tests.stress.places import database_server, quick_folder

Places = Callable[[], str]
_numbers = count()


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty folder, in memory where there is such a thing."""
    with quick_folder() as made:
        yield made


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a PostgreSQL server that lives as long as the tests."""
    with database_server() as address:
        yield address


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """A server with an empty folder for studies."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as started:
        yield started


@pytest.fixture(params=["sqlite", "postgres"])
def lasting(request: pytest.FixtureRequest, folder: Path) -> Places:
    """Makes new places that outlive a process."""
    if request.param == "sqlite":
        return lambda: str(folder / f"study-{next(_numbers)}.db")
    address = request.getfixturevalue("server")
    return lambda: f"{address}#study-{os.getpid()}-{next(_numbers)}"


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def stored(request: pytest.FixtureRequest, folder: Path) -> str:
    """A new place of every kind of store."""
    return _new_place(request.param, request, folder)


@pytest.fixture(params=["memory", "sqlite", "postgres", "http"])
def place(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A new place of every kind; of a study behind a server, its address there."""
    if request.param == "http":
        service: Service = request.getfixturevalue("service")
        monkeypatch.setenv("DOBANDIT_TOKEN", service.tokens["manager"])
        return f"{service.address}/study-{next(_numbers)}"
    return _new_place(request.param, request, folder)


def _new_place(kind: str, request: pytest.FixtureRequest, folder: Path) -> str:
    if kind == "memory":
        return ":memory:"
    if kind == "sqlite":
        return str(folder / "study.db")
    return f"{request.getfixturevalue('server')}#study-{os.getpid()}-{next(_numbers)}"
