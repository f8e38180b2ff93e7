"""A server in a thread of the tests, with a token for each role; or one in a process of its own."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import uvicorn

from dobandit.service.app import application
from dobandit.service.door import Hosts
from dobandit.service.shelf import Shelf
from dobandit.service.tokens import ROLES, TokenFile
from dobandit.service.visitors import Visitors


class Clock:
    """Time that passes when it is told to; the server's time, too, as long as this clock is in use."""

    def __init__(self) -> None:
        self.now = 1_000_000.0
        _clocks.append(self)

    def __call__(self) -> float:
        return self.now


_clocks: list[Clock] = []


def _now() -> float:
    return _clocks[-1]() if _clocks else time.time()


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


class Service(NamedTuple):
    """Where the server is, its tokens by role, and the address that signs in once."""

    address: str
    folder: Path
    tokens: dict[str, str]
    token_file: TokenFile
    secret: str

    def request(
        self,
        method: str,
        path: str,
        fields: object = None,
        role: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        """Send a request as the holder of the token of a role, or without one."""
        place = urlsplit(self.address)
        connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=30)
        sent = {**({"Authorization": f"Bearer {self.tokens[role]}"} if role else {}), **(headers or {})}
        try:
            connection.request(method, path, json.dumps(fields) if fields is not None else body, sent)
            found = connection.getresponse()
            return Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())
        finally:
            connection.close()

    def api(self, method: str, path: str, fields: object = None, role: str | None = "manager", **more: Any) -> Answer:
        return self.request(method, f"/api/v1{path}", fields, role, **more)


@contextmanager
def running(folder: Path, *places: str) -> Iterator[Service]:
    """A server for the studies of a folder, or for these places."""
    _clocks.clear()
    tokens = TokenFile(folder / ".tokens.json")
    secrets: dict[str, str] = {
        role: tokens.add("default" if role == "manager" else f"the {role}", role) for role in ROLES
    }
    visitors = Visitors(tokens, owner="owner")
    app = application(Shelf(places or [str(folder)], _now), visitors, Hosts("127.0.0.1"))
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        yield Service(address, folder, secrets, tokens, f"{address}/sign-in?secret={visitors.secret}")
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


@contextmanager
def serving(*options: object) -> Iterator[str]:
    """The address that `dobandit serve` prints, in a process of its own, which is killed at the end."""
    command = [sys.executable, "-m", "dobandit", "serve", "--quiet", *map(str, options)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1")
            yield address
        finally:
            process.kill()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])
