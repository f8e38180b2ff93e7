"""The addresses of the pages."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dobandit.service.answering import to_study
from dobandit.service.pages import history, overview, pull, signing, study, upload, work
from dobandit.service.pages.rendering import STATIC, static
from dobandit.service.refusals import Refusal

TYPES = {"css": "text/css", "js": "text/javascript"}


async def style_and_script(request: Request) -> Response:
    name = request.path_params["file"]
    if name not in STATIC:
        raise Refusal(404, "there is nothing at this address")
    kept = {"Cache-Control": "public, max-age=31536000, immutable"}  # its address changes when it does
    return Response(static(name), headers=kept, media_type=TYPES[name.rpartition(".")[2]])


async def short_address(request: Request) -> Response:
    """The address that programs use leads people to the page."""
    return to_study(request, request.path_params["study"])


def routes() -> list[Route]:
    one = "/studies/{study}"
    return [
        Route("/", overview.show),
        Route("/studies", overview.show),
        Route("/studies", overview.create, methods=["POST"]),
        Route("/sign-in", signing.show),
        Route("/sign-in", signing.sign_in, methods=["POST"]),
        Route("/sign-out", signing.sign_out, methods=["POST"]),
        Route("/static/{file}", style_and_script),
        Route(one, study.show),
        Route(f"{one}/pictures/{{picture}}.svg", study.picture),
        Route(f"{one}/extend", study.extend, methods=["POST"]),
        Route(f"{one}/next", work.show),
        Route(f"{one}/next", work.take, methods=["POST"]),
        Route(f"{one}/pulls/{{id:int}}/tell", work.tell, methods=["POST"]),
        Route(f"{one}/upload", upload.check, methods=["POST"]),
        Route(f"{one}/upload/{{upload}}", upload.apply, methods=["POST"]),
        Route(f"{one}/pulls/{{id:int}}", pull.show),
        Route(f"{one}/pulls/{{id:int}}/amend", pull.amend, methods=["POST"]),
        Route(f"{one}/pulls/{{id:int}}/withdraw", pull.withdraw, methods=["POST"]),
        Route(f"{one}/history", history.show),
        Route("/{study}", short_address),
    ]
