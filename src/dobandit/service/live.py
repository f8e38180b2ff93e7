"""Live updates: server-sent events that say when a study has changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from dobandit.errors import DobanditError
from dobandit.service.refusals import Refusal
from dobandit.service.shelf import Served

EVERY = 1.0  # seconds between two looks at a study: others than this server may write to it
ALIVE = 15.0  # seconds after which something is sent, so that a lost connection is noticed
MOST_LISTENING = 200  # connections that stay open


def events(request: Request, study: Served) -> Response:
    """`event: change` with the number of the last event, now and whenever it changes."""
    state = request.app.state
    if state.listening >= MOST_LISTENING:
        raise Refusal(503, "too many pages are open; this one is not updated by itself", {"Retry-After": "30"})

    async def stream() -> AsyncIterator[str]:
        state.listening += 1
        try:
            async for number in _numbers(study):
                yield ": still here\n\n" if number is None else f"id: {number}\nevent: change\ndata: {number}\n\n"
        finally:
            state.listening -= 1

    return StreamingResponse(stream(), headers={"X-Accel-Buffering": "no"}, media_type="text/event-stream")


async def _numbers(study: Served) -> AsyncIterator[int | None]:
    """The number of the last event whenever it is another one; None as a sign of life."""
    last, silent = -1, 0.0
    while True:
        changed = study.changed
        number = await _last_event(study)
        silent += EVERY
        if number is not None and number != last:
            last, silent = number, 0.0
            yield number
        elif silent >= ALIVE:
            silent = 0.0
            yield None
        try:
            await asyncio.wait_for(changed.wait(), EVERY)
        except TimeoutError:
            continue


async def _last_event(study: Served) -> int | None:
    """None while the storage cannot be reached: the page stays, and goes on when it can."""
    try:
        return await study.read(lambda s: s.last_event)
    except (DobanditError, Refusal):
        return None
