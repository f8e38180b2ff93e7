"""Places and clocks that are not as they should be: read-only media, and machines that do not agree on the time."""

from __future__ import annotations

import os
import shutil
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from dobandit.errors import StorageError
from dobandit.study import Study
from tests.service.running import Clock
from tests.study.conftest import Places
from tests.study.driving import SMALL, drive, laboratory

NOBODY = 65534  # a user who may not write where root may


def as_nobody(work: Callable[[], None]) -> None:
    """Do something in a process that may not write what others made."""
    child = os.fork()
    if not child:
        try:
            if os.getuid() == 0:
                os.setuid(NOBODY)
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(1)
    assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is forked")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("is_in_use", [False, True])
def test_read_only_media(is_in_use: bool, folder: Path) -> None:
    """Everything that only looks works; also if the last outcomes are in a log beside the file."""
    original, place = folder / "s.db", folder / "readonly"
    place.mkdir()
    with Study.create(original, SMALL, "f-kube") as study:
        drive(study, laboratory(), most=5)
        before, path = study.status(), place / "s.db"
        for name in ("s.db", "s.db-wal") if is_in_use else ():
            shutil.copy(folder / name, place / name)
    if not is_in_use:
        shutil.copy(original, path)
    for made in (*place.iterdir(), place):
        made.chmod(0o555)
    folder.chmod(0o755)
    open_to_all = folder / "out"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)

    def look() -> None:
        with Study.open(path) as study:
            assert study.status() == before
            assert study.best().arm
            assert len(study.log()) == before.events
            assert study.explain(1).id == 1
            assert study.export(open_to_all / "out.csv") == 5
            assert study.verify().ok
            with pytest.raises(StorageError, match="cannot be written"):
                study.ask()

    as_nobody(look)
    place.chmod(0o755)


def test_a_clock_that_is_behind_takes_over_nothing(place: str) -> None:
    clock = Clock()
    study = Study.create(place, SMALL, "f-kube", clock=clock)
    study.ask(worker="slow", ttl="1h")
    clock.now += 7200
    study.extend(1.0)
    clock.now -= 2 * 86400
    assert any("the last event is 2 days later than now" in text for text in study.status().warnings)
    with pytest.warns(UserWarning, match="2 days later than now.*expired pulls are not taken over"):
        assert study.ask(worker="quick")[0].id == 2
    assert "asked" in {event.kind for event in study.log()}
    study.ask(2, worker="quick", force=True)
    assert study.log()[-1].content["source"] == 1  # it is forced: the pull of the slow worker
    times = [event.time for event in study.log()]
    assert times == sorted(times)


def test_clocks_that_nearly_agree_are_right(lasting: Places) -> None:
    clock = Clock()
    with Study.create(lasting(), SMALL, "f-kube", clock=clock) as study, warnings.catch_warnings():
        warnings.simplefilter("error")
        study.ask(worker="slow", ttl="1s")
        clock.now += 30
        study.extend(1.0)
        clock.now -= 20
        assert study.ask(worker="quick")[0].id == 2
        assert study.log()[-1].content["source"] == 1


def test_the_clock_of_the_server_decides(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the clock of this machine says."""
    import psycopg

    monkeypatch.setattr("time.time", lambda: 86400.0)

    with psycopg.connect(server) as connection:
        found = connection.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()
    assert found is not None
    with Study.create(f"{server}#clock-{os.getpid()}", SMALL, "f-kube") as study:
        study.extend(1.0)
        assert study.log()[-1].time >= float(found[0])


def test_the_settings_in_an_address_are_respected(server: str) -> None:
    """A schema of one's own: `options=-csearch_path=...`."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS lab")
    place = f"{server}{'&' if '?' in server else '?'}options=-csearch_path%3Dlab#own-{os.getpid()}"
    with Study.create(place, SMALL, "f-kube") as study:
        study.ask()
    with psycopg.connect(server) as connection:
        names = connection.execute("SELECT name FROM lab.dobandit_study").fetchall()
        assert (f"own-{os.getpid()}",) in names
        connection.execute("DROP SCHEMA lab CASCADE")


def test_a_role_that_does_not_own_the_tables_can_use_them(server: str) -> None:
    import psycopg

    Study.create(f"{server}#owned-{os.getpid()}", SMALL, "f-kube").close()
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS worker")
        connection.execute("CREATE ROLE worker")
        tables = "dobandit_study, dobandit_event, dobandit_checkpoint"
        connection.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO worker")
    place = f"{server}{'&' if '?' in server else '?'}options=-crole%3Dworker"
    with Study.open(f"{place}#owned-{os.getpid()}") as study:
        drive(study, laboratory(), most=70)
        assert study.verify().ok
    Study.create(f"{place}#own-{os.getpid()}", SMALL, "f-kube").close()
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP OWNED BY worker")
        connection.execute("DROP ROLE worker")
