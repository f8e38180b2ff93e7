"""The API: requests become calls of a study, answers become JSON."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dobandit.errors import DobanditError
from dobandit.json_text import json_text
from dobandit.problem import parse_problem
from dobandit.service.answering import API, document, json_body
from dobandit.service.fields import LONG_TEXT, TEXT, WHOLE, Field, checked
from dobandit.service.live import events
from dobandit.service.operations import READING, WRITING, Operation, speaking
from dobandit.service.pictures import study_picture
from dobandit.service.refusals import Refusal
from dobandit.service.shelf import Served, Shelf
from dobandit.service.uploads import Upload, What, applied
from dobandit.service.visitors import CSRF_HEADER, Visitor, check_form, visitor
from dobandit.study import Study, best_document, status_document

Endpoint = Callable[[Request], Awaitable[Response]]
WARNINGS = "Dobandit-Warnings"
EXPORTS = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}
UPLOADS = {  # kinds of files that may be sent in place of JSON, and the ending of their names
    "text/csv": ".csv",
    "application/x-ndjson": ".jsonl",
    "application/vnd.apache.parquet": ".parquet",
}
CREATE = (
    Field("name", TEXT, "the name of the study: letters, digits and . _ -", required=True),
    Field("problem", LONG_TEXT, "the problem as TOML text", required=True),
    Field("policy", TEXT, "what chooses the pulls; default: the recommended policy for the objective"),
    Field("seed", WHOLE, "the seed of the policy's random choices"),
)


def served(request: Request) -> Served:
    shelf: Shelf = request.app.state.shelf
    return shelf.study(request.path_params["study"])


def writing(operation: Operation) -> Endpoint:
    """The endpoint that changes a study. A browser must prove that the request comes from a page of ours."""

    async def endpoint(request: Request) -> Response:
        who = visitor(request, operation.role)
        check_form(who, request.headers.get(CSRF_HEADER))
        study = served(request)
        if _kind(request) in UPLOADS and operation.name in ("tell", "observe"):
            return await _upload(request, operation, study, who)
        given = checked(await json_body(request), operation.fields)
        if operation.name != "observe":
            return document(await study.write(lambda s: operation.call(s, who, **given)))
        return _warned(*await study.write(speaking(lambda s: operation.call(s, who, **given))))

    return endpoint


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _upload(request: Request, operation: Operation, study: Served, who: Visitor) -> Response:
    """A file in place of JSON: outcomes with a column `id`, or logged rows."""
    what: What = "tell" if operation.name == "tell" else "observe"
    upload = Upload(request.query_params.get("name", ""), await request.body(), UPLOADS[_kind(request)])
    return _warned(*await study.write(speaking(lambda s: applied(s, what, upload, who.name))))


def _warned(found: dict[str, Any], warnings: list[str]) -> Response:
    return document(found, headers={WARNINGS: json_text(warnings, indent=None)} if warnings else None)


def reading(operation: Operation) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        who = visitor(request, operation.role)
        parse = {field.name: field.kind.parse for field in operation.fields}
        texts = {**request.query_params, **request.path_params}
        del texts["study"]
        given = checked({name: parse.get(name, str)(text) for name, text in texts.items()}, operation.fields)
        return document(await served(request).read(lambda s: operation.call(s, who, **given)))

    return endpoint


async def studies(request: Request) -> Response:
    visitor(request, "viewer")
    shelf: Shelf = request.app.state.shelf
    found = await asyncio.gather(*(summary(shelf.study(name)) for name in shelf.names()))
    return document({"studies": found})


async def summary(study: Served) -> dict[str, Any]:
    """A study in a few words; what is wrong with it if it cannot be read."""
    try:
        return {"study": study.name, "error": None, **await study.read(_summary)}
    except DobanditError as error:
        return {"study": study.name, "error": str(error)}


def _summary(study: Study) -> dict[str, Any]:
    found, problem = study.status(), study.problem
    last = study.log(study.last_event - 1)
    return {
        "policy": found.policy,
        "objective": problem.objective,
        "goal": problem.goal,
        "reward": problem.reward,
        "budget": found.budget._asdict(),
        "best": best_document(study.best()),
        "told": found.told,
        "open": found.open,
        "warnings": found.warnings,
        "last_activity": last[-1].time if last else None,
    }


async def study(request: Request) -> Response:
    visitor(request, "viewer")
    found = served(request)

    def parts(study: Study) -> dict[str, Any]:
        answers = {"status": status_document(study.status()), "best": best_document(study.best())}
        return {"study": found.name, **answers, "last_event": study.last_event}

    return document(await found.read(parts))


async def create(request: Request) -> Response:
    who = visitor(request, "manager")
    check_form(who, request.headers.get(CSRF_HEADER))
    given = checked(await json_body(request), CREATE)
    name, policy = await new_study(request, given)
    address = f"{request.scope.get('root_path', '')}{API}/studies/{quote(name)}"
    return document({"study": name, "policy": policy}, 201, {"Location": address})


async def new_study(request: Request, given: dict[str, Any]) -> tuple[str, str]:
    """Make a study of a problem that was sent; its name and its policy."""
    shelf: Shelf = request.app.state.shelf
    name = given["name"]
    if ":" in given.get("policy", ""):
        raise Refusal(400, "a policy from a module of your own cannot be named here: make the study beside the server")
    problem = await asyncio.to_thread(parse_problem, given["problem"], f"{name}.toml")
    return name, await shelf.create(name, problem, given.get("policy"), given.get("seed", 0))


async def export(request: Request) -> Response:
    visitor(request, "viewer")
    found, form = served(request), request.path_params["form"]
    if form not in EXPORTS:
        raise Refusal(404, "a study is exported as export.csv, export.json or export.parquet")

    def written(study: Study) -> bytes:
        with tempfile.TemporaryDirectory(prefix="dobandit-") as folder:
            path = Path(folder) / f"export.{form}"
            study.export(path)
            return path.read_bytes()

    attached = f"attachment; filename*=UTF-8''{quote(found.name, safe='')}.{form}"
    return Response(await found.read(written), headers={"Content-Disposition": attached}, media_type=EXPORTS[form])


async def plot(request: Request) -> Response:
    visitor(request, "viewer")
    return Response(await served(request).read(study_picture), media_type="image/svg+xml")


async def live(request: Request) -> Response:
    visitor(request, "viewer")
    return events(request, served(request))


async def openapi(request: Request) -> Response:
    from dobandit.service.openapi import description

    return document(description(request.scope.get("root_path", "")))


def routes() -> list[Route]:
    one = f"{API}/studies/{{study}}"
    return [
        Route(f"{API}/openapi.json", openapi),
        Route(f"{API}/studies", studies, methods=["GET"]),
        Route(f"{API}/studies", create, methods=["POST"]),
        Route(one, study),
        *(Route(f"{one}/{each.name}", writing(each), methods=["POST"]) for each in WRITING),
        *(Route(f"{one}/{each.name}", reading(each)) for each in READING),
        Route(f"{one}/export.{{form}}", export),
        Route(f"{one}/plot.svg", plot),
        Route(f"{one}/events", live),
    ]
