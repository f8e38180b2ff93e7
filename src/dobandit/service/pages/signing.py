"""Signing in: once with the address that the server prints, or with a token."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from dobandit.service.answering import see_other
from dobandit.service.pages.forms import posted, read_form
from dobandit.service.pages.rendering import page
from dobandit.service.visitors import COOKIE, Visitors

A_MONTH = 30 * 86400


async def show(request: Request) -> Response:
    """The form; or, with the secret in the address, the door opens and the secret is gone from the address."""
    visitors: Visitors = request.app.state.visitors
    secret = request.query_params.get("secret")
    if secret is None:
        return page(request, "sign_in.html", next=_inside(request.query_params.get("next", "/")), error=None)
    cookie = visitors.sign_in_once(secret)
    if cookie is None and request.scope["visitor"] is None:
        used = "This address was used already, or it is of an earlier start of the server. Sign in with a token."
        return page(request, "sign_in.html", 401, next="/", error=used)
    return _let_in(request, cookie, "/")


async def sign_in(request: Request) -> Response:
    """A form without a CSRF token: nothing can be done in the name of a visitor who is not known yet."""
    visitors: Visitors = request.app.state.visitors
    form = await read_form(request)
    target, cookie = _inside(form["next"]), visitors.sign_in(form["token"])
    if cookie is None:
        error = "This token is not known here, or it was revoked."
        return page(request, "sign_in.html", 401, next=target, error=error)
    return _let_in(request, cookie, target)


async def sign_out(request: Request) -> Response:
    await posted(request, "viewer")
    left = see_other(request, "/sign-in")
    left.delete_cookie(COOKIE, path=f"{request.scope.get('root_path', '')}/")
    return left


def _let_in(request: Request, cookie: str | None, target: str) -> Response:
    entered = see_other(request, target)
    if cookie is not None:
        entered.set_cookie(
            COOKIE,
            cookie,
            max_age=A_MONTH,
            path=f"{request.scope.get('root_path', '')}/",
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
    return entered


def _inside(target: str) -> str:
    """A path of this server, never an address of another one."""
    return target if target.startswith("/") and target[1:2] not in ("/", "\\") and target.isprintable() else "/"
