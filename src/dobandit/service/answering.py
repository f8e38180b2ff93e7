"""Answers: documents for programs, pages for people, and errors as the one or the other."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response

from dobandit.errors import DobanditError
from dobandit.json_text import json_text
from dobandit.service.refusals import Refusal, bug, refusal_of

API = "/api/v1"


def document(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(json_text(content, indent=None), status, headers, "application/json")


def is_api(connection: HTTPConnection) -> bool:
    return path_of(connection).startswith(f"{API}/")


def path_of(connection: HTTPConnection) -> str:
    """The path inside the application, without the prefix that a proxy may have taken away."""
    path: str = connection.scope["path"]
    return path.removeprefix(connection.scope.get("root_path", ""))


def refuse(connection: HTTPConnection, refusal: Refusal) -> Response:
    if is_api(connection):
        text = json_text(refusal.document(), indent=None)
        return Response(text, refusal.status, refusal.headers, "application/problem+json")
    from dobandit.service.pages.rendering import error_page, sign_in_first

    if refusal.status == 401:
        return sign_in_first(connection)
    return error_page(connection, refusal)


def on_error(request: Request, error: Exception) -> Response:
    """The answer to a request that failed; only a bug leaves a trace on the server's stderr."""
    match error:
        case Refusal():
            return refuse(request, error)
        case DobanditError():
            return refuse(request, refusal_of(error))
        case HTTPException():
            detail = _NOT_FOUND if error.status_code == 404 else str(error.detail).lower()
            return refuse(request, Refusal(error.status_code, detail, error.headers))
    print("".join(traceback.format_exception(error)), file=sys.stderr, flush=True)  # noqa: T201
    return refuse(request, bug(error))


_NOT_FOUND = "there is nothing at this address"


async def json_body(request: Request) -> Any:
    """The JSON that was sent; nothing is an empty object."""
    body = await request.body()
    if not body.strip():
        return {}
    try:
        found = json.loads(body, parse_constant=_no_constant)
        json.dumps(found, ensure_ascii=False).encode()  # half a character could not be written down
        return found
    except (ValueError, RecursionError):
        raise Refusal(400, "the body of this request is not JSON") from None


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def see_other(connection: HTTPConnection, path: str) -> Response:
    return RedirectResponse(connection.scope.get("root_path", "") + path, 303)


def to_study(connection: HTTPConnection, name: str, rest: str = "") -> Response:
    """The way to a page of a study."""
    return see_other(connection, f"/studies/{quote(name, safe='')}{rest}")
