"""A server that is killed at any moment while clients work: no acknowledged outcome is lost, no money is spent twice.

`make test` kills it twice, `make stress` (DOBANDIT_SERVER_KILLS=50) more often.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from dobandit.problem import Problem
from dobandit.service.tokens import TokenFile
from dobandit.study import Study
from tests.service.running import free_port, serving
from tests.stress.clients import PATIENCE, Client, stopped

KILLS = int(os.environ.get("DOBANDIT_SERVER_KILLS", "2"))
CLIENTS = 8
PROBLEM = Problem("X -> Y; X <-> Y", "Y", budget=10**6, default_cost=2.5)


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
    found = stopped(clients, str(folder / "s.db"))
    assert found.told > KILLS
    assert found[1:] == (0, 0, 0)
