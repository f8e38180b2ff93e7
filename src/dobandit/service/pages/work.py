"""What to do next: open pulls, the next one, and outcomes one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from dobandit.errors import DobanditError, OutcomeError
from dobandit.problem import Arm
from dobandit.report import why_nothing
from dobandit.service.answering import to_study
from dobandit.service.api import served
from dobandit.service.pages import words
from dobandit.service.pages.forms import beside_fields, inputs, posted
from dobandit.service.pages.rendering import page
from dobandit.service.refusals import refusal_of
from dobandit.service.shelf import Served
from dobandit.service.visitors import visitor
from dobandit.study import Study, seconds

MOST_OPEN = 50  # pulls with a form on the page
Faults = Mapping[int, Mapping[str, str]]
Given = Mapping[int, Mapping[str, str]]


async def show(request: Request) -> Response:
    visitor(request, "viewer")
    return await shown(request, served(request))


async def shown(
    request: Request,
    found: Served,
    status: int = 200,
    notice: str = "",
    error: str = "",
    faults: Faults | None = None,
    given: Given | None = None,
) -> Response:
    who = visitor(request, "viewer").name
    content = await found.read(lambda s: _content(s, given or {}, who))
    return page(
        request,
        "next.html",
        status,
        study=found.name,
        tab="next",
        notice=notice or _notice(request),
        error=error,
        faults=faults or {},
        **content,
    )


def _notice(request: Request) -> str:
    """What was done just now, if the address says so."""
    done = request.query_params.get("done", "")
    return f"Recorded pull {done}." if done.isdigit() and len(done) < 12 else ""


def _content(study: Study, given: Given, who: str) -> dict[str, Any]:
    """The open pulls, those of the visitor first, each with its form."""
    problem, held = study.problem, sorted(study.pulls(), key=lambda pull: (pull.worker != who, pull.worker, pull.id))
    arms = {str(arm): arm for arm in problem.arms}
    pulls = [
        {
            "pull": pull,
            "option": words.option(pull.arm),
            "inputs": inputs(problem, arms.get(pull.arm, Arm()), given.get(pull.id)),
        }
        for pull in held[:MOST_OPEN]
    ]
    mine = sum(pull.worker == who for pull in held)
    return {"number": study.last_event, "pulls": pulls, "mine": mine, "more": len(held) - len(pulls)}


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
        return await shown(request, found, 400, error=f"{error}.")
    if why:
        return await shown(request, found, error=f"Nothing to hand out: {why}.")
    return to_study(request, found.name, f"/next#pull-{number}" if number else "/next")


async def tell(request: Request) -> Response:
    """The outcome of a pull; what is wrong with it is said beside its field."""
    who, form = await posted(request, "worker")
    found, pull = served(request), int(request.path_params["id"])
    problem = await found.read(lambda s: s.problem)
    told = form.outcome(problem)
    try:
        await found.write(lambda s: s.tell(pull, told, who.name))
    except OutcomeError as error:
        beside = beside_fields(error.faults, problem.graph.variables)
        return await shown(request, found, 422, faults={pull: beside}, given={pull: told})
    except DobanditError as error:
        refusal = refusal_of(error)
        return await shown(request, found, refusal.status, error=f"{refusal.detail}.")
    return to_study(request, found.name, f"/next?done={pull}")
