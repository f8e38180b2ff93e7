"""The application: routes, and what every request passes through before them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp

from dobandit.errors import DobanditError
from dobandit.service import api
from dobandit.service.answering import on_error
from dobandit.service.door import Door, Hosts
from dobandit.service.pages import routes as page_routes
from dobandit.service.refusals import Refusal
from dobandit.service.shelf import Shelf
from dobandit.service.uploads import Uploads
from dobandit.service.visitors import Visitors

FIRST_COMPRESSED = 1000  # bytes


def application(shelf: Shelf, visitors: Visitors, hosts: Hosts) -> ASGIApp:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        shelf.close()

    handlers = dict.fromkeys((Refusal, DobanditError, HTTPException, Exception), on_error)
    app = Starlette(routes=[*api.routes(), *page_routes()], exception_handlers=handlers, lifespan=lifespan)
    app.state.shelf, app.state.visitors, app.state.uploads, app.state.listening = shelf, visitors, Uploads(), 0
    return Door(GZipMiddleware(app, FIRST_COMPRESSED), visitors, hosts)
