"""What to do next: open pulls, the next one, outcomes one by one or from a file."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from dobandit.errors import DobanditError, OutcomeError, counted
from dobandit.problem import Arm
from dobandit.report import why_nothing
from dobandit.service.answering import to_study
from dobandit.service.api import apply_file, served
from dobandit.service.operations import speaking
from dobandit.service.pages import words
from dobandit.service.pages.forms import beside_fields, inputs, posted
from dobandit.service.pages.rendering import page
from dobandit.service.refusals import Refusal, refusal_of
from dobandit.service.shelf import Served
from dobandit.service.visitors import visitor
from dobandit.study import Study, seconds

MOST_OPEN = 50  # pulls with a form on the page
Faults = Mapping[int, Mapping[str, str]]
Given = Mapping[int, Mapping[str, str]]


async def show(request: Request) -> Response:
    visitor(request, "viewer")
    return await _shown(request, served(request))


async def _shown(
    request: Request,
    found: Served,
    status: int = 200,
    notice: str = "",
    error: str = "",
    faults: Faults | None = None,
    given: Given | None = None,
) -> Response:
    content = await found.read(lambda s: _content(s, given or {}))
    return page(
        request,
        "next.html",
        status,
        study=found.name,
        tab="next",
        notice=notice or _notice(request),
        error=error,
        faults=faults or {},
        fresh=secrets.token_hex(8),
        **content,
    )


def _notice(request: Request) -> str:
    """What was done just now, if the address says so."""
    done = request.query_params.get("done", "")
    return f"Recorded pull {done}." if done.isdigit() and len(done) < 12 else ""


def _content(study: Study, given: Given) -> dict[str, Any]:
    problem, held = study.problem, study.pulls()
    arms = {str(arm): arm for arm in problem.arms}
    pulls = [
        {
            "pull": pull,
            "option": words.option(pull.arm),
            "inputs": inputs(problem, arms.get(pull.arm, Arm()), given.get(pull.id)),
        }
        for pull in held[:MOST_OPEN]
    ]
    return {"number": study.last_event, "problem": problem, "pulls": pulls, "more": len(held) - len(pulls)}


async def take(request: Request) -> Response:
    """Take the next pull. The form carries how many pulls the visitor has open, so that sending it twice takes one."""
    who, form = await posted(request, "worker")
    found = served(request)
    ttl = form["ttl"] or None

    def ask(study: Study) -> tuple[int | None, str]:
        seconds(ttl)
        mine = sum(pull.worker == who.name for pull in study.pulls())
        held = form["held"]
        wanted = int(held) + 1 if held.isdigit() and len(held) < 3 else 1
        if mine >= wanted:  # this form was sent before
            return None, ""
        pulls = study.ask(wanted, who.name, ttl)
        return (pulls[-1].id, "") if len(pulls) >= wanted else (None, why_nothing(study, pulls))

    try:
        number, why = await found.write(ask)
    except DobanditError as error:
        return await _shown(request, found, 400, error=f"{error}.")
    if why:
        return await _shown(request, found, error=f"Nothing to hand out: {why}.")
    return to_study(request, found.name, f"/next#pull-{number}" if number else "/next")


async def tell(request: Request) -> Response:
    """The outcome of a pull; what is wrong with it is said beside its field."""
    _, form = await posted(request, "worker")
    found, pull = served(request), int(request.path_params["id"])
    problem = await found.read(lambda s: s.problem)
    told = form.outcome(problem)
    try:
        await found.write(lambda s: s.tell(pull, told))
    except OutcomeError as error:
        beside = beside_fields(error.faults, problem.graph.variables)
        return await _shown(request, found, 422, faults={pull: beside}, given={pull: told})
    except DobanditError as error:
        refusal = refusal_of(error)
        return await _shown(request, found, refusal.status, error=f"{refusal.detail}.")
    return to_study(request, found.name, f"/next?done={pull}")


async def upload(request: Request) -> Response:
    """A file of outcomes, or of logged rows; without a confirmation it is only checked."""
    what = "observe" if (request.query_params.get("what")) == "observe" else "tell"
    _, form = await posted(request, "manager" if what == "observe" else "worker")
    found, file = served(request), form.file
    if file is None:
        return await _shown(request, found, 400, error="Choose a file first.")
    try:
        done, warnings = await found.write(speaking(lambda s: apply_file(s, what, file.body, file.name, ".csv")))
    except Refusal as refusal:
        return await _shown(request, found, refusal.status, error=refusal.detail)
    rows = len(done["id"]) if what == "tell" else done["rows"]
    said = f"Recorded {counted(rows, 'outcome')}" if what == "tell" else f"Added {counted(rows, 'row')} to the evidence"
    return await _shown(request, found, notice=" ".join([f"{said} from {file.name}.", *warnings]))
