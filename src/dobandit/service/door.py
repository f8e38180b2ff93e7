"""What every request passes through: the Host header, the size and the pace of what is sent, who sends it, how often;
and the headers that every answer carries."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time
from collections.abc import Collection
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dobandit.service.answering import refuse
from dobandit.service.refusals import Refusal
from dobandit.service.visitors import Visitors

MOST_BYTES = 32 * 2**20  # of a request
BODY_SECONDS = 20.0  # for the next piece of it
PER_SECOND, AT_ONCE = 200.0, 400.0  # requests of one visitor
STRANGERS_PER_SECOND, STRANGERS_AT_ONCE = 20.0, 100.0  # of one address that shows nothing valid
MOST_REMEMBERED = 10_000  # visitors whose pace is known
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Pace:
    """How often each visitor may come: a bucket that fills at a rate, and a request takes one out."""

    def __init__(self, per_second: float, at_once: float) -> None:
        self._rate, self._most = per_second, at_once
        self._left: dict[str, tuple[float, float]] = {}  # requests that are left, and when that was

    def allows(self, who: str, now: float) -> bool:
        left, before = self._left.pop(who, (self._most, now))
        left = min(self._most, left + (now - before) * self._rate)
        if len(self._left) >= MOST_REMEMBERED:
            del self._left[next(iter(self._left))]  # the one that was here longest ago
        self._left[who] = (max(left - 1, 0.0), now)
        return left >= 1


class Hosts:
    """The names under which the server may be addressed. A page of another site can make its own name mean this machine
    (DNS rebinding), but it cannot change the name that the browser sends."""

    def __init__(self, bound: str, others: Collection[str] = ()) -> None:
        self._names = {name.lower() for name in (bound, *others)}
        self._any_address = bound in ("0.0.0.0", "::", "")
        if bound in LOOPBACK:
            self._names |= set(LOOPBACK)
        elif self._any_address:
            self._names |= {socket.gethostname().lower(), *LOOPBACK}

    def have(self, header: str) -> bool:
        name = header.lower()
        if name.startswith("["):
            name = name[1:].partition("]")[0]
        elif name.count(":") == 1:
            name = name.partition(":")[0]
        return name in self._names or (self._any_address and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Door:
    """The outermost part of the application."""

    def __init__(self, app: ASGIApp, visitors: Visitors, hosts: Hosts) -> None:
        self._app, self._visitors, self._hosts = app, visitors, hosts
        self._known = Pace(PER_SECOND, AT_ONCE)
        self._strangers = Pace(STRANGERS_PER_SECOND, STRANGERS_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        send = _with_headers(send)
        try:
            self._enter(connection, scope)
        except Refusal as refusal:
            await refuse(connection, refusal)(scope, receive, send)
            return
        await self._app(scope, _limited(receive), send)

    def _enter(self, connection: HTTPConnection, scope: Scope) -> None:
        scope["visitor"] = None
        if not self._hosts.have(connection.headers.get("host", "")):
            raise Refusal(400, "this server has another name; `dobandit serve --allow-host NAME` adds one")
        try:
            scope["visitor"] = self._visitors.of(connection)
        finally:
            self._check_pace(scope, connection)
        size = connection.headers.get("content-length", "0")
        if size.isdigit() and int(size[:18]) > MOST_BYTES:
            raise too_large()

    def _check_pace(self, scope: Scope, connection: HTTPConnection) -> None:
        visitor, now = scope["visitor"], time.monotonic()
        if visitor is not None:
            is_fine = self._known.allows(visitor.name, now)
        else:
            is_fine = self._strangers.allows(connection.client.host if connection.client else "", now)
        if not is_fine:
            raise Refusal(429, "that are too many requests; wait a second", {"Retry-After": "1"})


def too_large() -> Refusal:
    return Refusal(413, f"the request is too large: send at most {MOST_BYTES // 2**20} MB")


def _limited(receive: Receive) -> Receive:
    """The body of a request, which may not be too large and may not take for ever."""
    size, is_complete = 0, False

    async def limited() -> Message:
        nonlocal size, is_complete
        if is_complete:
            return await receive()  # only to know when the visitor has left
        try:
            message = await asyncio.wait_for(receive(), BODY_SECONDS)
        except TimeoutError:
            raise Refusal(408, "the request did not arrive in time") from None
        size += len(message.get("body", b""))
        is_complete = not message.get("more_body", False)
        if size > MOST_BYTES:
            raise too_large()
        return message

    return limited


def _with_headers(send: Send) -> Send:
    async def dressed(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return dressed
