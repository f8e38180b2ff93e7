"""Files of outcomes, or of logged rows: first the page shows what a file would change, then it is applied."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from dobandit.errors import counted
from dobandit.numerals import amount
from dobandit.service.api import served
from dobandit.service.operations import speaking
from dobandit.service.pages import words, work
from dobandit.service.pages.forms import Form, posted
from dobandit.service.pages.rendering import page
from dobandit.service.refusals import Refusal
from dobandit.service.uploads import Uploads, What, applied, checked
from dobandit.service.visitors import Visitor
from dobandit.study import LogPreview, OutcomesPreview, Study


async def _posted(request: Request) -> tuple[What, Visitor, Form]:
    what: What = "observe" if request.query_params.get("what") == "observe" else "tell"
    return what, *await posted(request, "manager" if what == "observe" else "worker")


async def check(request: Request) -> Response:
    """What the file would change. Nothing is changed yet."""
    what, who, form = await _posted(request)
    found, upload = served(request), form.file
    if upload is None:
        return await work.shown(request, found, 400, error="Choose a file first.")

    def look(study: Study) -> dict[str, Any]:
        return _content(study, checked(study, what, upload))

    try:
        content, warnings = await found.write(speaking(look))
    except Refusal as refusal:
        return await work.shown(request, found, refusal.status, error=refusal.detail)
    uploads: Uploads = request.app.state.uploads
    return page(
        request,
        "upload.html",
        study=found.name,
        tab="next",
        what=what,
        file=upload.name,
        upload=uploads.keep(who.name, upload),
        warnings=warnings,
        **content,
    )


def _content(study: Study, found: OutcomesPreview | LogPreview) -> dict[str, Any]:
    if isinstance(found, LogPreview):
        rows = [[words.option(arm), f"{number:,}"] for arm, number in found.rows.items()]
        facts = [found.missing.told()] if found.is_new else ["They are in the study already: nothing would change."]
        return {
            "said": counted(sum(found.rows.values()), "row"),
            "facts": facts,
            "head": ["option", "rows"],
            "rows": rows,
        }
    known = found.number - found.new
    facts = [f"{counted(known, 'outcome')} of them is known already." if known == 1 else ""]
    facts += [f"{counted(known, 'outcome')} of them are known already." if known > 1 else ""]
    facts += [f"After this, {amount(found.receipt.spent)} is spent and {amount(found.receipt.free)} is free."]
    facts += [f"The first {len(found.first)}:" if found.number > len(found.first) else ""]
    variables = study.problem.graph.variables
    rows = [
        [str(row.pull), words.option(arm), *(words.value(row.values.get(v)) for v in variables)]
        for row, arm in found.first
    ]
    return {
        "said": counted(found.number, "outcome"),
        "facts": facts,
        "head": ["pull", "option", *variables],
        "rows": rows,
    }


async def apply(request: Request) -> Response:
    """Apply a file that was checked. Sent twice, it counts once."""
    what, who, _ = await _posted(request)
    found, uploads = served(request), request.app.state.uploads
    try:
        upload = uploads.find(who.name, request.path_params["upload"])
        done, warnings = await found.write(speaking(lambda s: applied(s, what, upload, who.name)))
    except Refusal as refusal:
        return await work.shown(request, found, refusal.status, error=refusal.detail)
    rows = len(done["id"]) if what == "tell" else done["rows"]
    said = f"Recorded {counted(rows, 'outcome')}" if what == "tell" else f"Added {counted(rows, 'row')} to the evidence"
    return await work.shown(request, found, notice=" ".join([f"{said} from {upload.name}.", *warnings]))
