"""Templates become pages; nothing that comes from a study is ever rendered unescaped."""

from __future__ import annotations

import hashlib
import math
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response

from dobandit.errors import counted
from dobandit.numerals import amount
from dobandit.report import moment
from dobandit.service.answering import path_of
from dobandit.service.refusals import Refusal

STATIC = ("style.css", "page.js")


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("dobandit.service"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "money": amount,
        "percent": percent,
        "ago": ago,
        "url": _quoted,
        "counted": counted,
        "moment": moment,
    }
    made.globals |= {"version": _version()}
    return made


def page(connection: HTTPConnection, template: str, status: int = 200, **content: Any) -> Response:
    """A page: its template, with what every page knows."""
    visitor = connection.scope.get("visitor")
    text = (
        _environment()
        .get_template(template)
        .render(root=connection.scope.get("root_path", ""), visitor=visitor, path=path_of(connection), **content)
    )
    return Response(text, status, media_type="text/html")


def error_page(connection: HTTPConnection, refusal: Refusal) -> Response:
    found = page(connection, "error.html", refusal.status, refusal=refusal)
    found.headers.update(refusal.headers)
    return found


def sign_in_first(connection: HTTPConnection) -> Response:
    """The way to the page for signing in, and from there back to this one."""
    target = quote(path_of(connection), safe="/")
    return RedirectResponse(f"{connection.scope.get('root_path', '')}/sign-in?next={target}", 303)


def _quoted(text: object) -> str:
    return quote(str(text), safe="")


def percent(share: float) -> str:
    """A share for people: it never claims to be certain."""
    if math.isnan(share):
        return "not known yet"
    return ">\u00a099\u00a0%" if share > 0.99 else "<\u00a01\u00a0%" if share < 0.01 else f"{100 * share:.0f}\u00a0%"


def ago(time: float | datetime, now: datetime | None = None) -> str:
    """How long ago, in words.

    >>> ago(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 3, 5, tzinfo=UTC))
    '2 days ago'
    """
    then = time if isinstance(time, datetime) else datetime.fromtimestamp(time, UTC)
    seconds = ((now or datetime.now(UTC)) - then).total_seconds()
    for name, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            return f"{counted(int(seconds // size), name)} ago"
    return "just now" if seconds >= 0 else "in the future"


def _version() -> str:
    """A mark of the style and the script, so that browsers fetch them again when they have changed."""
    return hashlib.sha256(b"".join(map(static, STATIC))).hexdigest()[:8]


@cache
def static(name: str) -> bytes:
    return (files("dobandit.service") / "static" / name).read_bytes()
