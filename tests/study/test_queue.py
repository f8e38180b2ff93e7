"""Writers of one SQLite file are served in the order in which they came."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from threading import Thread

import pytest

from dobandit.study import Study
from dobandit.study.stores import open_store, queue
from dobandit.study.stores.queue import HAS_LOCKS, LOOK, Queue
from tests.study.driving import SMALL

pytestmark = pytest.mark.skipif(not HAS_LOCKS, reason="this system has no locks that a queue can be made of")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No writer goes out of turn because the machine is busy."""
    monkeypatch.setattr(queue, "STALLED", 3600.0)


def test_writers_are_served_in_the_order_in_which_they_came(folder: Path) -> None:
    place = folder / "s.db"
    Study.create(place, SMALL, "f-kube").close()

    def extend(name: str) -> None:
        with Study.open(place) as study:
            study.extend(1.0, name=name)

    names = [f"grant {i}" for i in range(6)]
    writers = [Thread(target=extend, args=(name,), daemon=True) for name in names]
    with Study.open(place) as study:
        store, waiting = open_store(str(place)), Queue(place)
        with store.writing():
            for number, writer in enumerate(writers, 1):
                writer.start()
                while waiting.is_empty() or waiting._counters()[0] < number:
                    time.sleep(0.001)
        for writer in writers:
            writer.join()
        assert [event.content["name"] for event in study.log() if event.kind == "extended"] == names
        store.close()
        waiting.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process is forked")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_one_who_dies_is_not_waited_for(folder: Path) -> None:
    place = folder / "s.db"
    ear, mouth = os.pipe()
    child = os.fork()
    if not child:
        with Queue(place).turn():
            os.write(mouth, b"mine")
            time.sleep(3600)
        os._exit(0)
    assert os.read(ear, 4) == b"mine"
    ours = Queue(place)
    assert not ours.is_empty()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with ours.turn():
        pass
    assert ours.is_empty()
    ours.close()


def test_a_queue_that_others_begin_later_is_found(folder: Path) -> None:
    place = folder / "s.db"
    ours, theirs = Queue(place), Queue(place)
    assert ours.is_empty()
    with theirs.turn():
        time.sleep(2 * LOOK)
        assert not ours.is_empty()
    assert ours.is_empty()
    ours.close()
    theirs.close()
