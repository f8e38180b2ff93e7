"""A pull: why it was made, what happened to it, and corrections."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from dobandit.errors import DobanditError, OutcomeError
from dobandit.problem import Arm
from dobandit.report import event_in_words, measure
from dobandit.service.answering import to_study
from dobandit.service.api import served
from dobandit.service.pages import words
from dobandit.service.pages.forms import beside_fields, inputs, posted
from dobandit.service.pages.rendering import page
from dobandit.service.refusals import refusal_of
from dobandit.service.shelf import Served
from dobandit.service.visitors import visitor
from dobandit.study import Study

REFUNDS = {"yes": True, "no": False}


async def show(request: Request) -> Response:
    visitor(request, "viewer")
    return await _shown(request, served(request))


async def _shown(
    request: Request, found: Served, status: int = 200, error: str = "", faults: dict[str, str] | None = None
) -> Response:
    number = int(request.path_params["id"])
    content = await found.read(lambda s: _content(s, number))
    return page(request, "pull.html", status, study=found.name, tab="next", error=error, faults=faults or {}, **content)


def _content(study: Study, number: int) -> dict[str, Any]:
    problem, why = study.problem, study.explain(number)
    share, names = words.is_share(problem), [str(arm) for arm in problem.arms]
    events = study.log(pull=number)
    told = [event.content["outcome"] for event in events if "outcome" in event.content]
    arm = next((arm for arm in problem.arms if str(arm) == why.arm), Arm())
    good = 1 if problem.goal == "max" else -1
    ranked = sorted(why.arms, key=lambda arm: -(good * arm.mean if arm.index is None else arm.index))
    return {
        "problem": problem,
        "why": why,
        "option": words.option(why.arm),
        "options": [
            {
                "arm": each,
                "option": words.option(each.arm),
                "mean": words.mean(each.mean, share),
                "ends": words.ends(each.low, each.high, share),
                "index": None if each.index is None else measure(each.index),
                "is_chosen": each.arm == why.arm,
            }
            for each in ranked
        ],
        "events": [(event, event_in_words(event.content, names)) for event in events],
        "outcome": told[-1] if told else None,
        "is_withdrawn": any(event.kind == "withdrawn" for event in events),
        "inputs": inputs(problem, arm, told[-1]) if told else [],
    }


async def amend(request: Request) -> Response:
    who, form = await posted(request, "manager")
    found, number = served(request), int(request.path_params["id"])
    problem = await found.read(lambda s: s.problem)
    try:
        await found.write(lambda s: s.amend(number, form.outcome(problem), who.name))
    except OutcomeError as error:
        beside = beside_fields(error.faults, problem.graph.variables)
        return await _shown(request, found, 422, faults=beside)
    except DobanditError as error:
        refusal = refusal_of(error)
        return await _shown(request, found, refusal.status, f"{refusal.detail}.")
    return to_study(request, found.name, f"/pulls/{number}")


async def withdraw(request: Request) -> Response:
    who, form = await posted(request, "manager")
    found, number = served(request), int(request.path_params["id"])
    refund, why = REFUNDS.get(form["refund"]), form["reason"][:1000]
    try:
        await found.write(lambda s: s.withdraw(number, refund, why, who.name))
    except DobanditError as error:
        refusal = refusal_of(error)
        return await _shown(request, found, refusal.status, f"{refusal.detail}.")
    return to_study(request, found.name, f"/pulls/{number}")
