"""What can be done with a study over HTTP: for each thing its fields, the role that it needs, and the call.

The answers are the documents that the command line prints with `--json`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from dobandit.service import fields
from dobandit.service.fields import Field
from dobandit.service.refusals import Refusal
from dobandit.service.tokens import Role
from dobandit.service.visitors import Visitor
from dobandit.study import (
    OutcomeRow,
    Receipt,
    Study,
    asked_document,
    best_document,
    explained_document,
    log_document,
    open_pulls_document,
    progress_document,
    status_document,
    verified_document,
)

Document = dict[str, Any]
T = TypeVar("T")
MOST_EVENTS = 1000  # of a page of the log
_warning = Lock()  # warnings are caught for the whole process


class Operation(NamedTuple):
    name: str
    role: Role
    summary: str
    fields: tuple[Field, ...]
    call: Callable[..., Document]  # (study, visitor, **fields)


def ask(
    study: Study,
    visitor: Visitor,
    n: int = 1,
    worker: str | None = None,
    ttl: Any = None,
    force: bool = False,
    anyway: bool = False,
) -> Document:
    return asked_document(study.ask(n, worker or visitor.name, ttl, force=force, anyway=anyway))


def tell(
    study: Study,
    visitor: Visitor,
    id: int | None = None,
    outcome: Document | None = None,
    outcomes: list[Document] | None = None,
    faults: list[str] | None = None,
    by: str | None = None,
) -> Document:
    by = by or visitor.name
    if outcomes is None:
        if id is None or outcome is None:
            raise Refusal(400, "send the id of a pull and its outcome, or a list of outcomes")
        return told(study, [study.tell(id, outcome, by)], is_one=True)
    if id is not None or outcome is not None:
        raise Refusal(400, "send either one id with its outcome, or a list of outcomes")
    if not outcomes and not faults:
        raise Refusal(400, "the list of outcomes is empty")
    if faults or any("place" in row for row in outcomes):
        rows = [OutcomeRow(row["id"], row["outcome"], row.get("place", f"outcome {row['id']}"), "") for row in outcomes]
        return told(study, study.tell_rows(rows, faults or [], by))
    return told(study, study.tell_many([(row["id"], row["outcome"]) for row in outcomes], by))


def told(study: Study, receipts: list[Receipt], is_one: bool = False) -> Document:
    ids = [receipt.id for receipt in receipts]
    missing = study.missing(ids)._asdict()
    return {**receipts[-1]._asdict(), "id": ids[0] if is_one else ids, "missing": missing}


def record(
    study: Study, visitor: Visitor, arm: str, outcome: Document, name: str | None = None, by: str | None = None
) -> Document:
    return study.record(arm, outcome, name, by or visitor.name)._asdict()


def observe(
    study: Study,
    visitor: Visitor,
    rows: dict[str, list[Any]],
    name: str,
    weights: list[float] | None = None,
    by: str | None = None,
) -> Document:
    from dobandit.evidence import open_source

    if weights is not None and len(weights) != len(next(iter(rows.values()))):
        raise Refusal(400, "there must be as many weights as rows")
    return observed(study.observe(open_source(rows, weights), name, by or visitor.name))


def observed(batch: Any) -> Document:
    return {"rows": int(batch), "missing": batch.missing._asdict()}


def amend(study: Study, visitor: Visitor, id: int, outcome: Document, by: str | None = None) -> Document:
    if not outcome:
        raise Refusal(400, "say what changes: the variables that change and their values")
    return {"id": study.amend(id, outcome, by or visitor.name)}


def withdraw(
    study: Study, visitor: Visitor, id: int, refund: bool | None = None, reason: str = "", by: str | None = None
) -> Document:
    return {"id": int(study.withdraw(id, refund, reason, by or visitor.name))}


def extend(study: Study, visitor: Visitor, amount: float, name: str | None = None, by: str | None = None) -> Document:
    return {"total": study.extend(amount, name, by or visitor.name)}


def stop(study: Study, visitor: Visitor, off: bool = False, by: str | None = None, **rule: Any) -> Document:
    if off == bool(rule):
        raise Refusal(400, "send the parts of a stopping rule, or off to have none")
    found = study.stop(None if off else rule, by or visitor.name)
    return {"stop": None if found is None else found.to_plain()}


def log(study: Study, visitor: Visitor, after: int = 0, most: int = MOST_EVENTS, pull: int | None = None) -> Document:
    return log_document(study.log(after, min(most, MOST_EVENTS), pull))


_ID = Field("id", fields.WHOLE, "the number of a pull", required=True)
_BY = Field("by", fields.TEXT, "who did this, for the log; default: the name of the token")
_OUTCOME = Field("outcome", fields.OUTCOME, "every observed variable and its value", required=True)
_NAME = Field("name", fields.TEXT, "it counts once under this name, however often it is sent")

WRITING = (
    Operation(
        "ask", "worker", "Ask for pulls to carry out.",
        (
            Field("n", fields.COUNT, "how many pulls"),
            Field("worker", fields.TEXT, "who asks; default: the name of the token"),
            Field("ttl", fields.TIME, "after this time, such as 2d, a pull may go to another worker"),
            Field("force", fields.FLAG, "take over expired pulls even if the clock may be wrong"),
            Field("anyway", fields.FLAG, "go on even if the stopping rule holds"),
        ), ask,
    ),
    Operation(
        "tell", "worker", "Report the outcome of one pull or of many: all of them count, or none.",
        (
            _ID._replace(required=False),
            _OUTCOME._replace(required=False),
            Field("outcomes", fields.OUTCOMES, "many outcomes; `place` says where one comes from, for errors"),
            Field("faults", fields.TEXTS, "what is known to be wrong already; then nothing is recorded"),
            _BY,
        ), tell,
    ),
    Operation(
        "record", "worker", "Record an experiment that was not asked for.",
        (Field("arm", fields.TEXT, "what was done, such as do(X=1)", required=True), _OUTCOME, _NAME, _BY), record,
    ),
    Operation(
        "observe", "manager", "Add logged rows as evidence.",
        (
            Field("rows", fields.COLUMNS, "a list of values for every column", required=True),
            _NAME._replace(required=True),
            Field("weights", fields.NUMBERS, "how many rows each one stands for"),
            _BY,
        ), observe,
    ),
    Operation("amend", "manager", "Correct the outcome of a pull.", (_ID, _OUTCOME, _BY), amend),
    Operation(
        "withdraw", "manager", "Withdraw a pull: its outcome does not count.",
        (
            _ID,
            Field("refund", fields.FLAG, "give its money back, or take that back; default: as decided before"),
            Field("reason", fields.TEXT, "why, for the log"),
            _BY,
        ), withdraw,
    ),
    Operation(
        "extend", "manager", "Add to the budget.",
        (Field("amount", fields.NUMBER, "how much", required=True), _NAME, _BY), extend,
    ),
    Operation(
        "stop", "manager", "Set when to stop before the budget is spent; it replaces the rule that the study has.",
        (
            Field("probability", fields.NUMBER, "that the answer is the best option, such as 0.95"),
            Field("loss", fields.NUMBER, "that is expected of the answer, in units of the reward"),
            Field("gain_per_cost", fields.FLAG, "stop when the next pull is not expected to earn its cost back"),
            Field("pulls_ahead", fields.NUMBER, "the uses of the answer over which it should"),
            Field("min_pulls", fields.COUNT, "outcomes of the answer before any rule holds; default: 10"),
            Field("off", fields.FLAG, "no rule: the whole budget may be spent"),
            _BY,
        ), stop,
    ),
)  # fmt: skip
READING = (
    Operation(
        "status", "viewer", "The state of the study: budget, pulls and estimates.",
        (Field("anytime", fields.FLAG, "with intervals of own means that hold at all times"),),
        lambda study, _, anytime=False: status_document(study.status(anytime)),
    ),
    Operation("best", "viewer", "The best option, and how sure that is.", (), lambda s, _: best_document(s.best())),
    Operation("pulls", "viewer", "The open pulls: who has them.", (), lambda s, _: open_pulls_document(s.pulls())),
    Operation(
        "progress", "viewer", "The money and the estimates at earlier moments.", (),
        lambda study, _: progress_document(study.progress()),
    ),
    Operation(
        "explain/{id}", "viewer", "Why this pull was made.", (_ID,),
        lambda study, _, id: explained_document(study.explain(id)),
    ),
    Operation(
        "verify", "viewer", "Check the whole history.",
        (Field("head", fields.TEXT, "a head that was written down earlier: it must be part of the history"),),
        lambda study, _, head=None: verified_document(study.verify(head)),
    ),
    Operation(
        "log", "viewer", "A page of the history.",
        (
            Field("after", fields.PLACE, "the number of the event after which the page begins"),
            Field("most", fields.COUNT, f"how many events, at most {MOST_EVENTS:,}"),
            Field("pull", fields.WHOLE, "only what was written about this pull"),
        ), log,
    ),
)  # fmt: skip


def speaking(work: Callable[[Study], T]) -> Callable[[Study], tuple[T, list[str]]]:
    """The work, and what it warns of."""

    def run(study: Study) -> tuple[T, list[str]]:
        with _warning, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = work(study)
        return found, list(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, UserWarning)))

    return run
