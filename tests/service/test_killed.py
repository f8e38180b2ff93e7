"""A server that is killed at any moment while clients work: no acknowledged outcome is lost, no money is spent twice.

`make test` kills it twice, `make stress` (DOBANDIT_SERVER_KILLS=50) more often.
"""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path

import pytest

from dobandit.errors import StorageError
from dobandit.problem import Problem
from dobandit.service.tokens import TokenFile
from dobandit.study import Study
from tests.service.running import free_port, serving

KILLS = int(os.environ.get("DOBANDIT_SERVER_KILLS", "2"))
CLIENTS, PATIENCE = 8, 120.0  # clients; seconds until something must have happened
PROBLEM = Problem("X -> Y; X <-> Y", "Y", budget=10**6, default_cost=2.5)


class Client(threading.Thread):
    """Asks and tells until it is stopped; while the server is away, it tries the same again."""

    def __init__(self, address: str, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.address, self.stopped = address, threading.Event()
        self.told: dict[int, dict[str, str]] = {}

    def run(self) -> None:
        rng, study, done = random.Random(self.name), None, None
        while not self.stopped.is_set():
            try:
                study = study or Study.open(self.address)
                if done is None:
                    (pull,) = study.ask(worker=self.name)
                    done = pull.id, {"X": str(rng.randrange(2)), "Y": str(rng.randrange(2)), **pull.set}
                study.tell(*done)
                self.told[done[0]] = done[1]  # the server has said that it counts
                done = None
            except StorageError:
                time.sleep(0.05)
        if study is not None:
            study.close()


def test_a_killed_server_loses_and_spends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, tokens, port, rng = tmp_path / "studies", tmp_path / "tokens.json", free_port(), random.Random(5)
    folder.mkdir()
    monkeypatch.setenv("DOBANDIT_TOKEN", TokenFile(tokens).add("all of them", "worker"))
    Study.create(folder / "s.db", PROBLEM, "f-kube").close()
    clients = [Client(f"http://127.0.0.1:{port}/s", f"client {i}") for i in range(CLIENTS)]
    for client in clients:
        client.start()
    for _ in range(KILLS):
        before, start = sum(len(client.told) for client in clients), time.monotonic()
        with serving(folder, "--port", port, "--tokens", tokens):
            while sum(len(client.told) for client in clients) <= before and time.monotonic() < start + PATIENCE:
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 0.3))
    for client in clients:
        client.stopped.set()
        client.join(PATIENCE)
    acknowledged = {pull: outcome for client in clients for pull, outcome in client.told.items()}
    assert len(acknowledged) == sum(len(client.told) for client in clients) > KILLS
    with Study.open(folder / "s.db") as study:
        events, money = study.log(), study.budget
        told = {event.pull: event.content["outcome"] for event in events if event.kind == "told"}
        assert len(told) == sum(event.kind == "told" for event in events)  # none is told twice
        assert acknowledged.items() <= told.items()
        arms = {event.pull: event.content["arm"] for event in events if event.kind == "asked"}
        assert money.spent == pytest.approx(sum(PROBLEM.costs[arms[pull]] for pull in told))
        assert money.spent + money.reserved + money.free == pytest.approx(money.total)
        assert len(study.pulls()) <= CLIENTS  # a client that asks again gets the same pull
