"""Clients that ask and tell while what they talk to fails, and what is in the study afterwards."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

from dobandit.errors import StorageError
from dobandit.study import Study

PATIENCE = 120.0  # seconds until something must have happened


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


class Found(NamedTuple):
    """What was acknowledged and is not there, what is there twice, and clients that did not come to an end."""

    told: int
    lost: int
    doubled: int
    hung: int


def stopped(clients: Sequence[Client], place: str) -> Found:
    """Stop the clients, and compare what they were told with what is in the study."""
    for client in clients:
        client.stopped.set()
    for client in clients:
        client.join(PATIENCE)
    acknowledged = {pull: outcome for client in clients for pull, outcome in client.told.items()}
    with Study.open(place) as study:
        events, money, problem = study.log(), study.budget, study.problem
        told = {event.pull: event.content["outcome"] for event in events if event.kind == "told"}
        arms = {event.pull: event.content["arm"] for event in events if event.kind == "asked"}
        lost = sum(told.get(pull) != outcome for pull, outcome in acknowledged.items())
        doubled = sum(event.kind == "told" for event in events) - len(told)
        doubled += sum(len(client.told) for client in clients) - len(acknowledged)
        doubled += max(len(study.pulls()) - len(clients), 0)  # a client that asks again gets the same pull
        spent = sum(float(problem.costs[arms[pull]]) for pull in told)
        doubled += abs(money.spent - spent) > 1e-6 or not study.verify().ok
    return Found(len(acknowledged), lost, doubled, sum(client.is_alive() for client in clients))
