"""The answers of a study as documents: what `--json` prints, what the HTTP service answers, and what its clients read.

Each kind of answer is written by one function here and, where a client has to read it, read again by the next one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from dobandit.certainty import Interval, Standing
from dobandit.estimate.observational import Bounds, RuledOut
from dobandit.problem import Arm, Stop
from dobandit.study.answers import Alternative, ArmStatus, Best, Status
from dobandit.study.events import Event
from dobandit.study.explanation import ArmNumbers, Explanation
from dobandit.study.facts import KINDS
from dobandit.study.progress import Moment
from dobandit.study.pulls import OpenPull, Pull, Pulls
from dobandit.study.totals import Money
from dobandit.study.verification import Verification

Document = dict[str, Any]
T = TypeVar("T", ArmStatus, Status, Best)
_RANGES: Mapping[str, type[Any]] = {"bounds": Bounds, "ruled_out": RuledOut, "anytime": Interval}
_LEFT_OUT = ("evidence", "state")  # of an event: the tables of a log, and the arrays that a policy remembers


def as_iso(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat(timespec="seconds")


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


# -- pulls -----------------------------------------------------------------------------------------


def asked_document(pulls: Pulls) -> Document:
    rows = [{**pull._asdict(), "arm": str(pull.arm), "expires": as_iso(pull.expires)} for pull in pulls]
    stop = {} if pulls.stop is None else {"stop": _standing_document(pulls.stop)}
    return {"pulls": rows, "reason": pulls.reason, **stop}


def read_asked(document: Document) -> Pulls:
    rows = (
        Pull(**{**row, "arm": Arm.parse(row["arm"]), "expires": _moment(row["expires"])}) for row in document["pulls"]
    )
    return Pulls(rows, document["reason"], _read_standing(document.get("stop")))


def _standing_document(found: Standing | None) -> Document | None:
    """How a stopping rule stands: the rule, and what it is judged by now."""
    return None if found is None else {**found._asdict(), "rule": found.rule.to_plain()}


def _read_standing(document: Document | None) -> Standing | None:
    if document is None:
        return None
    loss = math.nan if document["loss"] is None else document["loss"]
    return Standing(**{**document, "rule": Stop(**document["rule"]), "holds": tuple(document["holds"]), "loss": loss})


def open_pulls_document(held: Iterable[OpenPull]) -> Document:
    return {
        "pulls": [{**pull._asdict(), "begun": as_iso(pull.begun), "expires": as_iso(pull.expires)} for pull in held]
    }


def read_open_pulls(document: Document) -> tuple[OpenPull, ...]:
    times = ({"begun": _moment(row["begun"]), "expires": _moment(row["expires"])} for row in document["pulls"])
    return tuple(OpenPull(**{**row, **moments}) for row, moments in zip(document["pulls"], times, strict=True))


# -- where it stands -------------------------------------------------------------------------------


def status_document(found: Status) -> Document:
    counts = {name: getattr(found, name) for name in ("open", "expired", "told", "incomplete")}
    rest = {name: getattr(found, name) for name in Status._fields if name not in counts}
    return {
        **rest,
        "budget": found.budget._asdict(),
        "pulls": counts,
        "uncounted": list(found.uncounted),
        "stop": _standing_document(found.stop),
        "arms": [_with_ranges(arm._asdict()) for arm in found.arms],
    }


def read_status(document: Document) -> Status:
    parts = {**document, **document["pulls"]}
    parts["budget"], parts["stop"] = Money(**document["budget"]), _read_standing(document.get("stop"))
    parts["arms"] = tuple(_read(ArmStatus, arm) for arm in document["arms"])
    return _read(Status, {name: tuple(v) if isinstance(v, list) else v for name, v in parts.items()})


def best_document(found: Best) -> Document:
    return {**_with_ranges(found._asdict()), "alternatives": [option._asdict() for option in found.alternatives]}


def read_best(document: Document) -> Best:
    others = tuple(Alternative(**option) for option in document["alternatives"])
    return _read(Best, {**document, "warnings": tuple(document["warnings"]), "alternatives": others})


def explained_document(found: Explanation) -> Document:
    return {**found._asdict(), "arms": [_with_ranges(vars(arm)) for arm in found.arms]}


def read_explained(document: Document) -> Explanation:
    arms = tuple(ArmNumbers(**_with_nan(arm)) for arm in document["arms"])
    return Explanation(**{**document, "arms": arms, "warnings": tuple(document["warnings"])})


def _read(kind: type[T], document: Mapping[str, Any]) -> T:
    """The fields that this version knows."""
    return kind(**_with_nan({name: document[name] for name in kind._fields if name in document}))


def _with_nan(document: Mapping[str, Any]) -> Document:
    """Null is no number where a mean or an end of an interval is not known yet."""
    found: Document = {k: math.nan if v is None and k in ("mean", "low", "high") else v for k, v in document.items()}
    return {k: _RANGES[k](**v) if k in _RANGES and v is not None else v for k, v in found.items()}


def _with_ranges(fields: Mapping[str, Any]) -> Document:
    """Bounds, and why an option cannot be the best, as documents of their own."""
    ranges = {name: fields[name] for name in _RANGES if fields.get(name) is not None}
    return {**fields, **{name: vars(r) if isinstance(r, Bounds) else r._asdict() for name, r in ranges.items()}}


def progress_document(moments: Iterable[Moment]) -> Document:
    return {"moments": [moment._asdict() for moment in moments]}


def read_progress(document: Document) -> tuple[Moment, ...]:
    def numbers(found: list[float | None]) -> tuple[float, ...]:
        return tuple(math.nan if number is None else number for number in found)

    of_arms = ("means", "low", "high")
    return tuple(Moment(**{**each, **{name: numbers(each[name]) for name in of_arms}}) for each in document["moments"])


# -- the history -----------------------------------------------------------------------------------


def log_document(events: Iterable[Event]) -> Document:
    return {"events": [event_document(each) for each in events]}


def event_document(happened: Event) -> Document:
    """What happened, without the tables of a log and the arrays that a policy remembers."""
    content = {key: value for key, value in happened.content.items() if key not in _LEFT_OUT}
    about = {name: getattr(happened, name) for name in ("number", "time", "kind", "pull", "hash")}
    return {**about, "content": content}


def read_log(document: Document) -> list[Event]:
    """Events as far as they were written: of a log that was observed, not its tables."""
    return [
        Event(
            each["number"],
            each["time"],
            KINDS[each["kind"]].read(each["pull"], {"evidence": {}, **each["content"]}),
            each.get("hash", ""),
        )
        for each in document["events"]
    ]


def verified_document(found: Verification) -> Document:
    return {**found._asdict(), "faults": list(found.faults)}


def read_verified(document: Document) -> Verification:
    return Verification(**{**document, "faults": tuple(document["faults"])})
