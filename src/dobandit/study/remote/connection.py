"""Requests to a server: one connection that is kept open, and errors as the study itself would raise them."""

from __future__ import annotations

import http.client
import json
import time
import warnings
import weakref
from threading import RLock
from typing import Any
from urllib.parse import quote, urlencode

from dobandit import errors
from dobandit.errors import DobanditError, StorageError, StudyError
from dobandit.files import reason
from dobandit.study.remote.addresses import TOKEN, Service, token_for

PATIENCE = 90.0  # seconds for an answer: a server waits up to 60 for its database
MOST_WAITS = 5  # times that the client waits because it asks too often
LOST = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError, http.client.CannotSendRequest)
API = "/api/v1/studies"


class Connection:
    """A study on a server. Threads take turns."""

    def __init__(self, service: Service) -> None:
        self.service, self._token, self._lock = service, token_for(service), RLock()
        self._open: list[http.client.HTTPConnection] = []  # at most one
        weakref.finalize(self, _close, self._open)  # when the study is no longer used

    def get(self, what: str, **asked: Any) -> Any:
        given = urlencode({name: value for name, value in asked.items() if value is not None})
        path = f"/{quote(self.service.study, safe='')}" + (f"/{what}" if what else "")
        return self._request("GET", path + (f"?{given}" if given else ""))

    def post(self, what: str, may_repeat: bool = True, **fields: Any) -> Any:
        """Change the study. What may be sent twice without harm is sent again if the connection was lost."""
        return self._request("POST", f"/{quote(self.service.study, safe='')}/{what}", fields, may_repeat)

    def create(self, **fields: Any) -> Any:
        return self._request("POST", "", {"name": self.service.study, **fields}, may_repeat=False)

    def close(self) -> None:
        with self._lock:
            _close(self._open)

    def _request(self, method: str, path: str, fields: Any = None, may_repeat: bool = True) -> Any:
        body = None if fields is None else json.dumps({k: v for k, v in fields.items() if v is not None}).encode()
        with self._lock:
            for _ in range(MOST_WAITS):
                answer, content = self._sent(method, f"{self.service.prefix}{API}{path}", body, may_repeat)
                if answer.status != 429:
                    break
                time.sleep(min(float(answer.getheader("Retry-After") or 1), 5.0))
        return self._read(answer, content)

    def _sent(
        self, method: str, path: str, body: bytes | None, may_repeat: bool
    ) -> tuple[http.client.HTTPResponse, bytes]:
        if not may_repeat:
            self.close()  # on a new connection it is known whether the request has left
        try:
            try:
                return self._once(method, path, body)
            except LOST:
                self.close()
                if not may_repeat:
                    raise
                return self._once(method, path, body)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            why = reason(error) if isinstance(error, OSError) else type(error).__name__
            raise StorageError(f"{self.service.shown}: the server cannot be reached: {why}") from None

    def _once(self, method: str, path: str, body: bytes | None) -> tuple[http.client.HTTPResponse, bytes]:
        if not self._open:
            kind = http.client.HTTPSConnection if self.service.is_secure else http.client.HTTPConnection
            self._open.append(kind(self.service.host, self.service.port, timeout=PATIENCE))
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        self._open[0].request(method, path, body, headers)
        answer = self._open[0].getresponse()
        return answer, answer.read()

    def _read(self, answer: http.client.HTTPResponse, content: bytes) -> Any:
        try:
            found = json.loads(content)
        except ValueError:
            raise StorageError(f"{self.service.shown}: this server does not answer as dobandit does") from None
        if answer.status >= 400:
            raise self._error(answer.status, found)
        for text in json.loads(answer.getheader("Dobandit-Warnings") or "[]"):
            warnings.warn(text, stacklevel=5)
        return found

    def _error(self, status: int, found: dict[str, Any]) -> DobanditError:
        """The error that the study has raised on the server, or one that fits the status."""
        detail = str(found.get("detail", "the server has refused this"))
        kind = getattr(errors, str(found.get("error", "")), None)
        if isinstance(kind, type) and issubclass(kind, DobanditError):
            return _remade(kind, detail, found)
        if status in (401, 403):
            hint = f" (the token is taken from {TOKEN})" if status == 401 else ""
            return DobanditError(f"{self.service.shown}: {detail}{hint}")
        if status in (404, 409):
            return StudyError(f"{self.service.server}: {detail}")
        return StorageError(f"{self.service.server}: {detail}") if status >= 500 else DobanditError(detail)


def _close(connections: list[http.client.HTTPConnection]) -> None:
    while connections:
        connections.pop().close()


def _remade(kind: type[DobanditError], detail: str, found: dict[str, Any]) -> DobanditError:
    """An error with the text and the attributes that it had on the server."""
    made = kind.__new__(kind)
    Exception.__init__(made, detail)
    for name in ("exit_code", "expected"):
        if name in found:
            setattr(made, name, found[name])
    if "faults" in found:
        made.faults = tuple(found["faults"])  # type: ignore[attr-defined]
    return made
