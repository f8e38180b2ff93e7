"""The history, newest first, a page at a time, each in the same time however long the history is."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from dobandit.report import event_in_words
from dobandit.service.api import served
from dobandit.service.fields import LAST
from dobandit.service.pages.rendering import page
from dobandit.service.visitors import visitor
from dobandit.study import EVENT_KINDS, Event, Study

ON_A_PAGE = 50
LOOKED_AT = 2000  # events that a page with a filter looks through


async def show(request: Request) -> Response:
    visitor(request, "viewer")
    found, asked = served(request), request.query_params
    before = _whole(asked.get("before", ""))
    kind = asked.get("kind", "") if asked.get("kind", "") in EVENT_KINDS else ""
    who = asked.get("who", "")[:100].strip()
    content = await found.read(lambda s: _content(s, before, kind, who))
    return page(
        request, "history.html", study=found.name, tab="history", kinds=EVENT_KINDS, kind=kind, who=who, **content
    )


def _whole(text: str) -> int | None:
    return min(int(text), LAST) if text.isascii() and text.isdigit() and len(text) < 12 else None


def _content(study: Study, before: int | None, kind: str, who: str) -> dict[str, Any]:
    last = study.last_event
    end = last if before is None else max(min(before - 1, last), 0)
    looked = LOOKED_AT if kind or who else ON_A_PAGE
    start = max(end - looked, 0)
    events = study.log(start, end - start)[::-1] if end > start else []
    found = [event for event in events if (not kind or event.kind == kind) and (not who or _by(event) == who)]
    shown, names = found[:ON_A_PAGE], [str(arm) for arm in study.problem.arms]
    older = shown[-1].number if len(found) > ON_A_PAGE else start + 1
    return {
        "number": last,
        "events": [(event, _by(event), event_in_words(event.content, names)) for event in shown],
        "older": older if older > 1 else None,
        "is_first": before is None,
    }


def _by(event: Event) -> str:
    """Who did it, where the event says so."""
    return str(event.content.get("worker") or event.content.get("by") or "")
