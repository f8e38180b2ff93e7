"""A study behind a server: the same methods, and the same answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dobandit.errors import DobanditError
from dobandit.evidence import INTERVENTION, STANDARD_INPUT, Data, MissingRows, fit, open_source
from dobandit.problem import Arm, Problem, Stop, StopLike, Value, is_null, label
from dobandit.study import documents, facts
from dobandit.study.answers import Best, Status
from dobandit.study.books import Books
from dobandit.study.events import Event, said
from dobandit.study.explanation import Explanation
from dobandit.study.files import OutcomeRow, outcome_columns, shown
from dobandit.study.outcomes import Given, as_pairs
from dobandit.study.problem_text import problem_to_toml
from dobandit.study.progress import Moment
from dobandit.study.pulls import (
    Batch,
    OpenPull,
    Pulls,
    Receipt,
    TimeToLive,
    Withdrawal,
    how_many,
    is_integer,
    more_money,
    named,
    numbered,
    person,
    seconds,
)
from dobandit.study.remote.addresses import service_of
from dobandit.study.remote.connection import Connection
from dobandit.study.study import WORKER, Study
from dobandit.study.tally import count_log
from dobandit.study.totals import Money
from dobandit.study.verification import Place, Verification

PAGE = 1000  # events that are fetched at once


class RemoteStudy(Study):
    """A study whose transactions are made by a server. Its clock is that of the server."""

    def __init__(self, where: str) -> None:
        self._server = Connection(service_of(where))
        self._first: Event | None = None

    @classmethod
    def made(cls, where: str, problem: Problem, policy: str, seed: int) -> RemoteStudy:
        """A new study on a server."""
        study = cls(where)
        study._server.create(problem=problem_to_toml(problem), policy=policy, seed=seed)
        return study

    @classmethod
    def opened(cls, where: str) -> RemoteStudy:
        study = cls(where)
        study._created()  # so that an address without a study is refused now
        return study

    # -- reading -------------------------------------------------------------------------------

    def _created(self) -> Event:
        if self._first is None:
            (self._first,) = documents.read_log(self._server.get("log", most=1))
        return self._first

    @property
    def _books(self) -> Books:
        """The totals of the study when it was new: what is known of it that never changes."""
        return Books.opened(self._created())

    @property
    def problem(self) -> Problem:
        return self._books.problem

    @property
    def policy(self) -> str:
        found = self._created().fact
        assert isinstance(found, facts.Created)
        return found.policy

    @property
    def budget(self) -> Money:
        return self.status().budget

    @property
    def last_event(self) -> int:
        return int(self._server.get("")["last_event"])

    @property
    def id(self) -> str:
        found = self._created().fact
        assert isinstance(found, facts.Created)
        return found.id or ""

    @property
    def head(self) -> str:
        return self.status().head

    def verify(self, head: str | None = None, against: Place | None = None) -> Verification:
        if against is not None:
            raise DobanditError("a study behind a server is compared with a copy on the machine of the server")
        return documents.read_verified(self._server.get("verify", head=head))

    def events(self) -> Iterator[Event]:
        yield from self.log()

    def _outcomes(self) -> dict[str, list[Any]]:
        events = self.log()
        gone = {fact.pull for fact in said(events, facts.Withdrawn)}
        about = [
            (event.pull, event.time, shown(self.problem, event.fact)) for event in events if event.pull is not None
        ]
        return outcome_columns(about, gone, self.problem)

    def status(self, anytime: bool = False) -> Status:
        return documents.read_status(self._server.get("status", anytime="true" if anytime else None))

    def progress(self) -> tuple[Moment, ...]:
        return documents.read_progress(self._server.get("progress"))

    def pulls(self) -> tuple[OpenPull, ...]:
        return documents.read_open_pulls(self._server.get("pulls"))

    def best(self) -> Best:
        return documents.read_best(self._server.get("best"))

    def explain(self, id: int) -> Explanation:
        return documents.read_explained(self._server.get(f"explain/{_id(id)}"))

    def log(self, after: int = 0, most: int | None = None, pull: int | None = None) -> list[Event]:
        found: list[Event] = []
        while most is None or len(found) < most:
            wanted = PAGE if most is None else min(PAGE, most - len(found))
            at = found[-1].number if found else after
            page = documents.read_log(self._server.get("log", after=at, most=wanted, pull=pull))
            found += page
            if len(page) < wanted:
                break
        return found

    # -- spending ------------------------------------------------------------------------------

    def ask(
        self, n: int = 1, worker: str = WORKER, ttl: TimeToLive = None, *, force: bool = False, anyway: bool = False
    ) -> Pulls:
        """As `Study.ask`; a worker without a name is called after its token."""
        n, name = how_many(n), None if worker == WORKER else named(worker, "a worker")
        flags = {flag: True for flag, is_set in (("force", force), ("anyway", anyway)) if is_set}
        return documents.read_asked(self._server.post("ask", n=n, worker=name, ttl=seconds(ttl), **flags))

    def tell_many(self, outcomes: Iterable[tuple[int, Given]], by: str | None = None) -> list[Receipt]:
        rows = [{"id": _id(pull), "outcome": _plain(outcome)} for pull, outcome in as_pairs(outcomes)]
        if not rows:
            return []
        return _receipts(self._server.post("tell", outcomes=rows, by=person(by)))

    def tell_rows(self, rows: Sequence[OutcomeRow], faults: Sequence[str] = (), by: str | None = None) -> list[Receipt]:
        sent = [{"id": row.pull, "outcome": _plain(row.values), "place": row.place} for row in rows]
        return _receipts(self._server.post("tell", outcomes=sent, faults=list(faults), by=person(by)))

    def record(self, arm: Arm | str, outcome: Given, name: str | None = None, by: str | None = None) -> Receipt:
        done = arm if isinstance(arm, Arm) else Arm.parse(arm)
        name = None if name is None else named(name, "an experiment")
        sent = {"arm": str(done), "outcome": _plain(outcome), "name": name, "by": person(by)}
        found = self._server.post("record", name is not None, **sent)
        return Receipt(**found)

    def observe(self, rows: Data, name: str | None = None, by: str | None = None) -> Batch:
        """As `Study.observe`. The rows are counted here first, so that an error says where in your file it is."""
        if name is None and (not isinstance(rows, str | Path) or str(rows) == STANDARD_INPUT):
            raise DobanditError("give this batch of rows a name, so that it counts once even if it is sent again")
        name = Path(str(rows)).name if name is None else named(name, "a batch of rows")
        source, books = open_source(rows), self._books
        fitted = fit(source, books.problem)
        count_log(books.problem, fitted, books.tallies, name)
        columns = [*fitted.column_of.values(), *([INTERVENTION] if INTERVENTION in source.columns else [])]
        found = source.group(columns)
        sent = {c: [_value(v) for v in values] for c, values in zip(columns, found.columns, strict=True)}
        before = self.last_event
        weights = np.asarray(found.weights).tolist()
        answer = self._server.post("observe", rows=sent, weights=weights, name=name, by=person(by))
        is_new = any(log.name == name for log in said(self.log(before), facts.Observed))
        return Batch(answer["rows"], is_new, MissingRows(**answer["missing"]))

    # -- correcting ----------------------------------------------------------------------------

    def amend(self, id: int, outcome: Given, by: str | None = None) -> int:
        by = person(by)
        return int(self._server.post("amend", id=_id(id), outcome=_plain(outcome), by=by)["id"])

    def withdraw(self, id: int, refund: bool | None = None, reason: str = "", by: str | None = None) -> Withdrawal:
        if refund not in (None, True, False):
            raise DobanditError(f"refund: expected True, False or None, not {refund!r}")
        by = person(by)
        sent = None if refund is None else bool(refund)
        before = self.log(pull=_id(id))
        self._server.post("withdraw", id=_id(id), refund=sent, reason=str(reason), by=by)
        found = self.log(pull=_id(id))
        return Withdrawal(_id(id), [*said(found, facts.Withdrawn)][-1].refund, new=len(found) > len(before))

    def extend(self, amount: float, name: str | None = None, by: str | None = None) -> float:
        name, by = None if name is None else named(name, "an extension"), person(by)
        found = self._server.post("extend", name is not None, amount=more_money(amount), name=name, by=by)
        return float(found["total"])

    def stop(self, rule: StopLike | None, by: str | None = None) -> Stop | None:
        stated = self.problem.with_stop(rule).stop
        sent = {"off": True} if stated is None else {k: v for k, v in stated.to_plain().items() if v is not None}
        found = self._server.post("stop", **sent, by=None if by is None else named(by, "a person"))["stop"]
        return None if found is None else Stop(**found)

    def close(self) -> None:
        self._server.close()

    def __repr__(self) -> str:
        return f"<Study {self._server.service.shown}>"


def _receipts(found: dict[str, Any]) -> list[Receipt]:
    return [Receipt(pull, found["spent"], found["free"]) for pull in found["id"]]


def _id(pull: int) -> int:
    return int(pull) if is_integer(pull) else numbered(pull, 0)


def _plain(outcome: Given) -> Any:
    if not isinstance(outcome, Mapping):
        raise DobanditError(f"an outcome maps every variable to its value, and this is {outcome!r}")
    return {str(name): _value(value) for name, value in outcome.items()}


def _value(value: Value | None) -> str | None:
    return None if is_null(value) else label(value)
