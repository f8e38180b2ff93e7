"""The OpenAPI document, made of what the requests are checked by."""

from __future__ import annotations

from typing import Any

from dobandit import __version__
from dobandit.service.answering import API
from dobandit.service.api import CREATE, EXPORTS, UPLOADS
from dobandit.service.fields import Field
from dobandit.service.operations import READING, WRITING, Operation
from dobandit.service.refusals import TITLES

Part = dict[str, Any]
_PROBLEM: Part = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "the sentence that the command line would print"},
        "error": {"type": "string"},
        "exit_code": {"type": "integer"},
    },
}
_NAME: Part = {
    "name": "study",
    "in": "path",
    "required": True,
    "schema": {"type": "string"},
    "description": "the name of the study: the stem of its file, or its name in the database",
}


def description(root_path: str = "") -> Part:
    one = "/studies/{study}"
    paths: Part = {
        "/openapi.json": {"get": _operation("openapi", "This document.", "", {"security": []})},
        "/studies": {
            "get": _operation("studies", "All studies.", "viewer"),
            "post": _operation("create", "Make a new study.", "manager", _body(CREATE), created=True),
        },
        one: {"parameters": [_NAME], "get": _operation("study", "The state of a study, and what is best.", "viewer")},
    }
    for each in WRITING:
        post = _operation(each.name, each.summary, each.role, _body(each.fields, each.name in ("tell", "observe")))
        paths[f"{one}/{each.name}"] = {"parameters": [_NAME], "post": post}
    for each in READING:
        paths[f"{one}/{each.name}"] = {"parameters": [_NAME], "get": _get(each)}
    for form, kind in EXPORTS.items():
        paths[f"{one}/export.{form}"] = _file(f"export {form}", f"All outcomes as {form.upper()}.", kind)
    paths[f"{one}/plot.svg"] = _file("plot", "The picture of the study.", "image/svg+xml")
    paths[f"{one}/events"] = _file(
        "events", "Server-sent events: the number of the last event, whenever it changes.", "text/event-stream"
    )
    return {
        "openapi": "3.1.0",
        "info": {"title": "dobandit", "version": __version__, "description": _ABOUT},
        "servers": [{"url": f"{root_path}{API}"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": {"Problem": _PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


_ABOUT = (
    "Studies over HTTP: ask what to try next, report the outcome. Answers are the documents that the command line "
    "prints with --json. `ask` and `tell` may be sent again: the same outcome twice counts once."
)


def _operation(name: str, summary: str, role: str, more: Part | None = None, created: bool = False) -> Part:
    needs = f"{summary} Needs a token of a {role}, or of a role above it." if role else summary
    fine = {"description": "done", "content": {"application/json": {"schema": {"type": "object"}}}}
    return {
        "operationId": name.replace("/{id}", "").replace(" ", "_"),
        "summary": summary,
        "description": needs,
        "responses": {"201" if created else "200": fine, **_refusals()},
        **(more or {}),
    }


def _refusals() -> Part:
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        str(status): {"description": title, "content": content} for status, title in TITLES.items() if status != 500
    }


def _body(fields: tuple[Field, ...], takes_files: bool = False) -> Part:
    schema: Part = {
        "type": "object",
        "properties": {field.name: {"description": field.help, **field.kind.schema} for field in fields},
        "additionalProperties": False,
    }
    if required := [field.name for field in fields if field.required]:
        schema["required"] = required
    content: Part = {"application/json": {"schema": schema}}
    if takes_files:
        content |= {kind: {"schema": {"type": "string"}} for kind in UPLOADS}
    found: Part = {"requestBody": {"required": bool(required), "content": content}}
    if takes_files:
        name = {"name": "name", "in": "query", "schema": {"type": "string"}, "description": "of a file that is sent"}
        found["parameters"] = [name]
    return found


def _get(operation: Operation) -> Part:
    parameters = [
        {
            "name": field.name,
            "in": "path" if f"{{{field.name}}}" in operation.name else "query",
            "required": field.required,
            "schema": field.kind.schema,
            "description": field.help,
        }
        for field in operation.fields
    ]
    return _operation(operation.name, operation.summary, operation.role, {"parameters": parameters})


def _file(name: str, summary: str, kind: str) -> Part:
    found = _operation(name, summary, "viewer")
    found["responses"]["200"] = {"description": "the file", "content": {kind: {"schema": {"type": "string"}}}}
    return {"parameters": [_NAME], "get": found}
