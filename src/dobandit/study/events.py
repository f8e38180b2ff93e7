"""What happens in a study, as it is written down: small facts, one after the other, never changed.

kind        pull  content
created     -     problem, policy, seed
asked       yes   arm, worker, expires; repeats (of a new decision, 0 while one is carried out);
                  source: "policy", "extension" (after the plan, with money added later) or the pull it stands in for;
                  why: what a new decision was made by, the index of every arm (and sweep, where its turn came in
                  spite of it) or the phase of a plan
leased      yes   worker, expires (an open pull given back to its worker)
told        yes   outcome
recorded    yes   arm, outcome (of an experiment that was not asked for); name, if it has one
amended     yes   outcome (instead of what was told)
withdrawn   yes   refund, reason
extended    -     amount; name, if it has one
observed    -     name, rows, evidence (counts), digest

Every event is checked against this table when it is written and when it is read, so code that gets one from a store
can rely on what is in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dobandit.errors import DobanditError
from dobandit.study.damage import damaged, reason_of

CORRECTIONS = ("amended", "withdrawn")  # they change what was folded before them
LAST_MOMENT = 253_402_300_799  # the end of the year 9999, in seconds since 1970


class Event(NamedTuple):
    """One fact: its place in the log, when it was written (seconds since 1970), what it is about."""

    number: int
    time: float
    kind: str
    pull: int | None
    content: Mapping[str, Any]


Row = tuple[int, float, str, int | None, str]


def to_row(event: Event) -> Row:
    """An event as the columns of a table."""
    fault = _fault(event)
    if fault:
        raise DobanditError(f"this cannot be written down in a study: {fault}")
    return *event[:4], json.dumps(event.content, separators=(",", ":"))


def from_row(name: str, number: int, time: float, kind: str, pull: int | None, text: str) -> Event:
    """The event that stands in the study of this name."""
    try:
        event = Event(number, time, kind, pull, json.loads(text))
        fault = _fault(event)
    except (ValueError, TypeError, RecursionError) as error:
        fault = reason_of(error)
    if fault:
        raise damaged(name, f"event {number} makes no sense: {fault}")
    return event


def _is_whole(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: object) -> bool:
    return type(value) is int or isinstance(value, float)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_moment(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= LAST_MOMENT


def _is_end(value: object) -> bool:
    return value is None or _is_moment(value)


def _is_outcome(value: object) -> bool:
    return isinstance(value, Mapping) and all(map(_is_text, value.values()))


def _is_source(value: object) -> bool:
    return value in ("policy", "extension") or _is_whole(value)


def _is_amount(value: Any) -> bool:
    return _is_number(value) and 0 < value < float("inf")


_Parts = Mapping[str, Callable[[Any], bool]]
_OF_PULLS: dict[str, _Parts] = {
    "asked": {"arm": _is_whole, "worker": _is_text, "expires": _is_end, "repeats": _is_whole, "source": _is_source},
    "leased": {"worker": _is_text, "expires": _is_end},
    "told": {"outcome": _is_outcome},
    "recorded": {"arm": _is_whole, "outcome": _is_outcome},
    "amended": {"outcome": _is_outcome},
    "withdrawn": {"refund": lambda value: isinstance(value, bool), "reason": _is_text},
}
_OTHERS: dict[str, _Parts] = {
    "created": {"problem": _is_mapping, "policy": _is_text, "seed": lambda value: type(value) is int},
    "extended": {"amount": _is_amount},
    "observed": {"name": _is_text, "rows": _is_whole, "evidence": _is_mapping, "digest": _is_text},
}
_PARTS = _OF_PULLS | _OTHERS
_OPTIONAL: _Parts = {"name": _is_text, "why": lambda value: value is None or _is_mapping(value)}


def _fault(event: Event) -> str | None:
    """What is wrong with the form of an event; None for a kind that is not known here."""
    if not (_is_text(event.kind) and _is_moment(event.time) and _is_mapping(event.content)):
        return "its kind, its time or its content is missing"
    if event.kind not in _PARTS:
        return None
    if event.kind in _OF_PULLS and not (_is_whole(event.pull) and event.pull):
        return f"{event.kind} is about a pull, and {event.pull!r} is none"
    for part in _PARTS[event.kind]:
        if part not in event.content:
            return f"{event.kind} has no {part}"
    for part, value in event.content.items():
        fits = _PARTS[event.kind].get(part) or _OPTIONAL.get(part)
        if fits and not fits(value):
            return f"{event.kind} has the {part} {str(value)[:40]!r}"
    return None
