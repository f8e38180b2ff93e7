"""The page of a study: the answer first, then the money, the options, the graph and the time."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from dobandit.errors import DobanditError
from dobandit.report import (
    AT_ALL_TIMES,
    NO_RANGE,
    lost,
    nothing_known,
    said_of_best,
    said_of_ranges,
    sources,
    stop_in_words,
    tied,
)
from dobandit.service.answering import to_study
from dobandit.service.api import served
from dobandit.service.pages import words
from dobandit.service.pages.forms import posted
from dobandit.service.pages.rendering import page
from dobandit.service.pictures import PICTURES, drawn
from dobandit.service.refusals import Refusal, refusal_of
from dobandit.service.shelf import Served
from dobandit.service.visitors import visitor
from dobandit.study import Study


async def show(request: Request) -> Response:
    visitor(request, "viewer")
    return await _shown(request, served(request))


async def _shown(request: Request, found: Served, status: int = 200, fault: str = "", amount: str = "") -> Response:
    anytime = request.query_params.get("anytime") == "1"
    content = await found.read(lambda s: _kept(found, s, anytime))
    return page(request, "study.html", status, study=found.name, tab="study", fault=fault, amount=amount, **content)


def _kept(found: Served, study: Study, anytime: bool) -> dict[str, Any]:
    """What the page shows, worked out again only when the study has changed or a pull has expired."""
    mark = study.last_event, sum(pull.state == "expired" for pull in study.pulls()), anytime
    if found.kept is None or found.kept[0] != mark:
        found.kept = mark, _content(study, anytime)
    return found.kept[1]


def _content(study: Study, anytime: bool) -> dict[str, Any]:
    """All that the page shows, from one look at the study; with intervals that hold at all times, if so wished."""
    problem, found, best = study.problem, study.status(anytime), study.best()
    share = words.is_share(problem)
    good = 1 if problem.goal == "max" else -1
    ranked = sorted(found.arms, key=lambda arm: -good * arm.mean)  # as the picture has them
    return {
        "number": study.last_event,
        "found": found,
        "money": found.budget,
        "problem": problem,
        "is_known": bool(found.told or found.logged),
        "best": best,
        "best_option": words.option(best.arm),
        "mean": words.mean(best.mean, share),
        "ends": words.ends(best.low, best.high, share),
        "loss": lost(best.expected_loss, problem),
        "stop": None if found.stop is None else stop_in_words(found.stop, problem),
        "ties": tied(best, problem),
        "anytime": (AT_ALL_TIMES if problem.has_range else NO_RANGE) if anytime else "",
        "unsure": nothing_known(best, len(problem.arms)),
        "sources": sources(best.observational),
        "options": [
            {
                "arm": arm,
                "option": words.option(arm.arm),
                "mean": words.mean(arm.mean, share),
                "ends": words.ends(*(arm.anytime or (arm.low, arm.high)), share),
                "own": None if arm.own_mean is None else words.mean(arm.own_mean, share),
                "is_best": arm.arm == best.arm,
            }
            for arm in ranked
        ],
        "followed": said_of_best(best),
        "ranges": list(said_of_ranges(found.arms, problem.goal)),
        "warnings": best.warnings,
    }


async def picture(request: Request) -> Response:
    """A picture; its address names the last event, so a browser may keep it."""
    visitor(request, "viewer")
    name = request.path_params["picture"]
    if name not in PICTURES:
        raise Refusal(404, "there is no such picture")
    found = served(request)
    kept = {"Cache-Control": "private, max-age=86400"} if "number" in request.query_params else {}
    return Response(await found.read(lambda s: drawn(found.name, s, name)), headers=kept, media_type="image/svg+xml")


async def extend(request: Request) -> Response:
    who, form = await posted(request, "manager")
    found = served(request)
    try:
        amount = float(form["amount"])
        await found.write(lambda s: s.extend(amount, form["name"] or None, who.name))
    except ValueError:
        return await _shown(request, found, 400, "Write a number.", form["amount"])
    except DobanditError as error:
        refusal = refusal_of(error)
        return await _shown(request, found, refusal.status, f"{refusal.detail}.", form["amount"])
    return to_study(request, found.name)
