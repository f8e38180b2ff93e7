"""One transaction of a study: books that are up to date, and what is written down in it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from dobandit.errors import ArmError, Conflict, DobanditError, OutcomeError, StudyError, listing
from dobandit.policies import State
from dobandit.problem import Arm, Value, label
from dobandit.study.books import Books, Lease
from dobandit.study.corrections import withdrawn
from dobandit.study.damage import making_sense_of
from dobandit.study.decisions import Decision
from dobandit.study.events import Event
from dobandit.study.outcomes import Values, checked, written
from dobandit.study.pulls import Pull, Receipt, Withdrawal, amount, as_datetime, numbered
from dobandit.study.stores import Access, Snapshot
from dobandit.study.tally import is_same_log

VERSION = version("dobandit")
SNAPSHOT_EVERY = 64  # events


class Entry:
    """One transaction: its events are applied to the books at once, and written to the log at its end."""

    def __init__(self, books: Books, access: Access, now: float) -> None:
        self.books, self.time, self._access = books, now, access
        self._before, self._events = books.number, list[Event]()

    def add(self, kind: str, pull: int | None, content: Mapping[str, Any], state: State | None = None) -> int:
        """Write an event down; the number of its pull."""
        event = Event(self.books.number + 1, self.time, kind, pull, content)
        self.books.apply(event, state)
        self._events.append(event)
        return pull or 0

    def correct(self, kind: str, pull: int, content: Mapping[str, Any]) -> None:
        """Write down an event about the past; the books are wrong until they are folded again."""
        self._events.append(Event(self.books.number + 1, self.time, kind, int(pull), content))

    def keep(self) -> None:
        """Save the books, so that what led to them need not be folded again."""
        self._access.save_snapshot(Snapshot(self.books.number, VERSION, json.dumps(self.books.to_plain())))

    def written(self) -> Books:
        """The end of the transaction."""
        self._access.append(self._events)
        if self._before // SNAPSHOT_EVERY != self.books.number // SNAPSHOT_EVERY:
            self.keep()
        return self.books

    def own(self, worker: str, n: int, expires: float | None) -> list[int]:
        """The pulls that this worker has open already, with new time to live if there is a new one or none is left."""
        pulls = sorted(pull for pull, lease in self.books.open.items() if lease.worker == worker)[:n]
        for pull in pulls:
            if expires is not None or self._is_over(self.books.open[pull]):
                self.add("leased", pull, {"worker": worker, "expires": expires})
        return pulls

    def expired(self, worker: str, n: int, expires: float | None) -> list[int]:
        """Pulls of others whose time is over, under new numbers: the old ones may still be told, late."""
        mine = sum(lease.worker == worker for lease in self.books.open.values())
        over = sorted(
            pull for pull, lease in self.books.open.items() if lease.worker != worker and self._is_over(lease)
        )
        return [self._hand_on(pull, worker, expires) for pull in over[: max(n - mine, 0)]]

    def _hand_on(self, pull: int, worker: str, expires: float | None) -> int:
        lease = self.books.open[pull]
        content = {"arm": lease.arm, "repeats": 0, "source": pull, "worker": worker, "expires": expires}
        return self.add("asked", self.books.last + 1, content)

    def _is_over(self, lease: Lease) -> bool:
        return lease.expires is not None and lease.expires <= self.time

    def hand_out(self, decision: Decision, worker: str, expires: float | None) -> int:
        content = {"arm": decision.arm, "repeats": decision.repeats, "source": decision.source}
        content |= {"worker": worker, "expires": expires, "why": decision.why}
        return self.add("asked", self.books.last + 1, content, decision.state)

    def tell(self, pull: int, outcome: Mapping[str, Value]) -> int:
        before, arm = self.told(pull)
        pull = int(pull)
        values = self.checked(pull, arm, outcome)
        if before is None:
            self.add("told", pull, {"outcome": values})
        elif before != values:
            raise Conflict(
                f"pull {pull} was told {written(before)} and now {written(values)}; "
                "if the first was wrong, amend the pull"
            )
        return pull

    def record(self, arm: Arm, outcome: Mapping[str, Value], name: str | None) -> int:
        """An experiment that was not asked for, once under its name; its pull."""
        problem = self.books.problem
        arm = arm.within(problem.domains)
        if arm not in problem.arms:
            raise ArmError(f"{arm} is not an arm of this study; its arms are {listing(map(str, problem.arms))}")
        values = checked(problem, arm, outcome)
        if name in self.books.records:
            return self._recorded(str(name), arm, values)
        content = {"arm": problem.arms.index(arm), "outcome": values, **_under(name)}
        return self.add("recorded", self.books.last + 1, content)

    def _recorded(self, name: str, arm: Arm, values: Values) -> int:
        pull = self.books.records[name]
        if pull in self.books.withdrawn:
            raise StudyError(f"the experiment {name!r} is pull {pull}, which was withdrawn; give it another name")
        before, known = self.told(pull)
        if (known, before) != (arm, values):
            raise Conflict(
                f"the experiment {name!r} is pull {pull}, {known} with {written(before or {})}, and now {arm} with "
                f"{written(values)}; if it is another one, give it another name, if the first was wrong, amend the pull"
            )
        return pull

    def extend(self, more: float, name: str | None) -> None:
        """More money, once under its name."""
        total, known = self.books.total, self.books.extensions.get(name or "")
        if known is None:
            if not math.isfinite(total + more):
                raise DobanditError(f"a budget of {total:g} cannot be extended by {more:g}: it is too much")
            self.add("extended", None, {"amount": more, **_under(name)})
        elif known != more:
            raise Conflict(
                f"the extension {name!r} added {label(known)} to the budget, and now it is {label(more)}; "
                "if it is another one, give it another name"
            )

    def withdraw(self, pull: int, refund: bool | None, reason: str) -> Withdrawal:
        """A pull that does not count. The last word on its refund holds; without one, what was decided before."""
        pull = numbered(pull, self.books.last)
        before = [event.content["refund"] for event in self._events_of(pull) if event.kind == "withdrawn"]
        decided = refund if refund is not None else bool(before and before[-1])
        if before and before[-1] == decided:
            return Withdrawal(pull, decided, new=False)
        self.correct("withdrawn", pull, {"refund": decided, "reason": reason})
        if before and not decided:
            self._check_paid_again(pull)
        return Withdrawal(pull, decided, new=True)

    def _check_paid_again(self, pull: int) -> None:
        """A refund may be taken back, unless the money is gone: only facts may overdraw a budget."""
        (arm, *_) = [event.content["arm"] for event in self._events_of(pull) if "arm" in event.content]
        costs_nothing = withdrawn([*self._access.events(), *self._events])[pull]
        if not costs_nothing and not self.books.affordable()[0, arm]:
            cost, free = float(self.books.costs[0, arm]), self.books.money.free
            raise StudyError(
                f"pull {pull} cannot be paid again: its refund of {amount(cost)} has been used, and {amount(free)} is "
                "free; extend the budget first"
            )

    def observe(self, batch: str, content: Mapping[str, Any]) -> bool:
        """Counts of logged rows, once under this name, and whether they are new; those that another version counted may
        be sent again."""
        known = self.books.batches.get(batch)
        if known is None or not known["counts"]:
            self.add("observed", None, {"name": batch, **content})
            return True
        if known["digest"] != content["digest"] and not self._has_log(known["digest"], content):
            raise Conflict(
                f"the batch {batch!r} is in the study already, with {known['rows']} rows; "
                f"these are {content['rows']} others: give them another name"
            )
        return False

    def _has_log(self, digest: str, content: Mapping[str, Any]) -> bool:
        """Whether the log with this digest is the same but for rounding."""
        logs = [event.content for event in self._access.events() if event.kind == "observed"]
        with making_sense_of(self._access.name):
            return any(log["digest"] == digest and is_same_log(log, content) for log in logs)

    def told(self, pull: int) -> tuple[Values | None, Arm]:
        """The outcome of a pull, if there is one, and its arm; a pull that is unknown or withdrawn is refused."""
        books, pull = self.books, numbered(pull, self.books.last)
        if pull in books.open or pull in books.lapsed:
            arm = books.open[pull].arm if pull in books.open else books.lapsed[pull]
            return None, books.problem.arms[arm]
        if pull in books.withdrawn:
            refund = "" if books.withdrawn[pull] else "withdraw it once more with a refund, then "
            raise StudyError(
                f"pull {pull} was withdrawn; if it was carried out after all, {refund}record the experiment"
            )
        with making_sense_of(self._access.name):
            events = self._events_of(pull)
            (outcome, *_) = [e.content["outcome"] for e in reversed(events) if "outcome" in e.content]
            (arm, *_) = [e.content["arm"] for e in events if "arm" in e.content]
            return dict(outcome), books.problem.arms[arm]

    def _events_of(self, pull: int) -> list[Event]:
        """All that was written about a pull, in this transaction too."""
        return [*self._access.events_of(pull), *(event for event in self._events if event.pull == pull)]

    def checked(self, pull: int, arm: Arm, outcome: Mapping[str, Value]) -> Values:
        try:
            return checked(self.books.problem, arm, outcome)
        except OutcomeError as error:
            raise OutcomeError([f"pull {pull}: {error.faults[0]}", *error.faults[1:]], error.expected) from None

    def ticket(self, pull: int) -> Pull:
        """An open pull as it is handed out."""
        books, lease = self.books, self.books.open[pull]
        arm = books.problem.arms[lease.arm]
        setting = {} if arm.variable is None else {arm.variable: str(arm.value)}
        return Pull(pull, arm, setting, float(books.costs[0, lease.arm]), as_datetime(lease.expires))

    def receipt(self, pull: int) -> Receipt:
        money = self.books.money
        return Receipt(pull, money.spent, money.free)


def _under(name: str | None) -> dict[str, str]:
    """The name that makes an event count once, where it has one."""
    return {} if name is None else {"name": name}
