"""The network between a worker and PostgreSQL: a proxy that cuts connections, delays what passes, or stalls."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

from dobandit.problem import Problem
from dobandit.study import Study
from tests.stress.clients import PATIENCE, Client, stopped
from tests.stress.places import database_server
from tests.stress.table import Extent, Line

CLIENTS = 4
PROBLEM = Problem("X -> Y; X <-> Y", "Y", budget=10**6, default_cost=2.5)
CHUNK = 4096


class Proxy:
    """Forwards connections to the socket of a server, and ends each after a random number of bytes in one of its
    directions: at once, or after a while in which nothing passes."""

    def __init__(self, server: str, rng: random.Random) -> None:
        self._server, self._rng, self.faults, self.is_sound = server, rng, 0, False
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                passes, stalls = self._rng.randrange(200, 20_000), self._rng.choice((0.0, 0.0, 0.3))
                is_answer = self._rng.random() < 0.5  # that is cut, or what is asked
                for source, target, cut in ((client, server, not is_answer), (server, client, is_answer)):
                    pump = (source, target, passes if cut else None, stalls)
                    threading.Thread(target=self._pump, args=pump, daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, left: int | None, stalls: float) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK):
                if left is not None and not self.is_sound:
                    if left < len(data):
                        target.sendall(data[:left])  # a part of a message
                        time.sleep(stalls)
                        self.faults += 1
                        break
                    left -= len(data)
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listening.close()


def run(extent: Extent) -> list[Line]:
    number = extent.number(500)
    with database_server() as address:
        folder = parse_qs(urlsplit(address).query)["host"][0]
        place = f"{address}#proxied"
        Study.create(place, PROBLEM, "f-kube").close()
        proxy = Proxy(f"{folder}/.s.PGSQL.5432", random.Random(extent.seed))
        url = f"postgresql://postgres@127.0.0.1:{proxy.port}/postgres?sslmode=disable#proxied"
        clients = [Client(url, f"client {i}") for i in range(CLIENTS)]
        for client in clients:
            client.start()
        _wait(lambda: proxy.faults >= number or extent.is_over or not _all_live(clients))
        proxy.is_sound = True
        before = sum(len(client.told) for client in clients)
        _wait(lambda: sum(len(client.told) for client in clients) > before or not _all_live(clients))  # they come back
        failed = sum(not client.is_alive() for client in clients)
        found = stopped(clients, place)
        proxy.close()
    return [
        Line(
            "cut connections to PostgreSQL",
            proxy.faults,
            found.lost,
            found.doubled,
            found.hung,
            failed=failed,
            measured=f"{found.told:,} outcomes acknowledged",
            goal="0 lost",
            left=max(0, number - proxy.faults),
        )
    ]


def _all_live(clients: list[Client]) -> bool:
    return all(client.is_alive() for client in clients)


def _wait(is_over: Callable[[], bool]) -> None:
    end = time.monotonic() + 10 * PATIENCE
    while not is_over() and time.monotonic() < end:
        time.sleep(0.01)
