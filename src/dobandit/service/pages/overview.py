"""All studies, and for managers a form to make a new one."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from dobandit.errors import DobanditError
from dobandit.policies import registered
from dobandit.service.answering import to_study
from dobandit.service.api import new_study, summary
from dobandit.service.fields import checked
from dobandit.service.pages.forms import posted
from dobandit.service.pages.rendering import page
from dobandit.service.pages.words import answer_in_words
from dobandit.service.refusals import Refusal, refusal_of
from dobandit.service.shelf import Shelf
from dobandit.service.visitors import visitor

FIELDS = ("name", "problem", "policy", "seed")


async def show(request: Request) -> Response:
    visitor(request, "viewer")
    return await _shown(request)


async def create(request: Request) -> Response:
    """Make a study of a problem file, or of a text."""
    _, form = await posted(request, "manager")
    given = {name: form[name] for name in FIELDS}
    if form.file is not None:
        given["problem"] = form.file.body.decode("utf-8", errors="replace")
        given["name"] = given["name"] or form.file.name.rpartition(".")[0]
    try:
        name, _ = await new_study(request, _checked(given))
    except Refusal as refusal:
        return await _shown(request, given, refusal)
    except DobanditError as error:
        return await _shown(request, given, refusal_of(error))
    return to_study(request, name)


def _checked(given: dict[str, str]) -> dict[str, object]:
    from dobandit.service.api import CREATE

    if not given["seed"].removeprefix("-").isdigit() and given["seed"]:
        raise Refusal(400, "the seed must be a whole number")
    filled = {name: value for name, value in given.items() if value}
    return checked({**filled, **({"seed": int(given["seed"])} if given["seed"] else {})}, CREATE)


async def _shown(request: Request, given: dict[str, str] | None = None, refusal: Refusal | None = None) -> Response:
    shelf: Shelf = request.app.state.shelf
    names = await asyncio.to_thread(shelf.names)
    found = await asyncio.gather(*(summary(shelf.study(name)) for name in names))
    for each in found:
        if each["error"] is None:
            each["answer"] = answer_in_words(each)
    return page(
        request,
        "studies.html",
        200 if refusal is None else refusal.status,
        studies=found,
        given=given or dict.fromkeys(FIELDS, ""),
        refusal=refusal,
        can_create=shelf.can_create,
        policies=list(registered()),
    )
