"""Who is asking: the owner, who opened the address that the server printed, or the holder of a token."""

from __future__ import annotations

import getpass
import hashlib
import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from threading import Lock
from typing import NamedTuple

from starlette.requests import HTTPConnection

from dobandit.service.refusals import Refusal
from dobandit.service.tokens import ROLES, Role, TokenFile

COOKIE = "dobandit"
CSRF_HEADER = "x-csrf-token"


class Visitor(NamedTuple):
    """A name for the log, a role, and what a form of theirs must carry (nothing if they sent a token themselves)."""

    name: str
    role: Role
    csrf: str | None

    def may(self, role: Role) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)


class Visitors:
    """Tells visitors by what they bring: `Authorization: Bearer TOKEN`, or the cookie of a browser."""

    def __init__(self, tokens: TokenFile, owner: str | None = None) -> None:
        self.tokens = tokens
        self.secret: str | None = secrets.token_urlsafe(24)  # opens the door once
        self._owner, self._session, self._lock = owner or _user(), secrets.token_urlsafe(32), Lock()

    def sign_in_once(self, secret: str) -> str | None:
        """The cookie for the secret that the server printed, the first time that it is shown."""
        with self._lock:
            if self.secret is None or not _same(secret, self.secret):
                return None
            self.secret = None
            return self._session

    def sign_in(self, token: str) -> str | None:
        """The cookie for a token."""
        return token if self.tokens.find(token) else None

    def of(self, connection: HTTPConnection) -> Visitor | None:
        """Who sent this; a token that is wrong is refused, an old cookie is like none."""
        given = connection.headers.get("authorization")
        if given is not None:
            scheme, _, secret = given.partition(" ")
            found = self.tokens.find(secret.strip()) if scheme.lower() == "bearer" else None
            if found is None:
                raise unknown_visitor("this token is not known here, or it was revoked")
            return Visitor(found.name, found.role, None)
        cookie = _cookie(connection)
        if not cookie:
            return None
        csrf = hashlib.sha256(f"csrf {cookie}".encode()).hexdigest()
        if _same(cookie, self._session):
            return Visitor(self._owner, "manager", csrf)
        found = self.tokens.find(cookie)
        return None if found is None else Visitor(found.name, found.role, csrf)


def unknown_visitor(why: str) -> Refusal:
    return Refusal(401, f"{why}; send `Authorization: Bearer TOKEN`", {"WWW-Authenticate": "Bearer"})


def visitor(connection: HTTPConnection, role: Role) -> Visitor:
    """The visitor, who must have this role."""
    found: Visitor | None = connection.scope["visitor"]
    if found is None:
        raise unknown_visitor("nothing says who you are")
    if not found.may(role):
        raise Refusal(403, f"{found.name} is a {found.role}, and this needs a {role}")
    return found


def check_form(found: Visitor, carried: str | None) -> None:
    """What a browser sends must come from a page of ours, not from one that only knows our address."""
    if found.csrf is not None and not _same(carried or "", found.csrf):
        raise Refusal(403, "this form does not come from a page of this server, or it is too old; reload the page")


def _cookie(connection: HTTPConnection) -> str:
    jar = SimpleCookie()
    try:
        jar.load(connection.headers.get("cookie", ""))
    except CookieError:
        return ""
    return jar[COOKIE].value if COOKIE in jar else ""


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(errors="replace"), other.encode(errors="replace"))


def _user() -> str:
    try:
        return getpass.getuser()
    except Exception:  # a process may have no user
        return "owner"
