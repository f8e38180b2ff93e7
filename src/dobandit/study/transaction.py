"""One transaction of a study: totals that are up to date, and the events that are written in it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from dobandit.errors import ArmError, Conflict, DataError, DobanditError, FaultyRows, OutcomeError, StudyError, listing
from dobandit.numerals import amount
from dobandit.problem import Arm, StopLike, label
from dobandit.study import facts
from dobandit.study.books import Books
from dobandit.study.corrections import withdrawn
from dobandit.study.damage import making_sense_of
from dobandit.study.decisions import Decision
from dobandit.study.events import Event, said
from dobandit.study.opening import up_to_date
from dobandit.study.outcomes import Given, OutcomeRow, Values, checked, written
from dobandit.study.pulls import Pull, Receipt, Withdrawal, end_of, numbered
from dobandit.study.stores import VERSION, Access, Snapshot
from dobandit.study.tally import is_same_log, is_whole_log

SNAPSHOT_EVERY = 64  # events
KEEP_EVERY = 4096  # events, or more where snapshots are large
EVENT = 64  # characters of an event, fewer than it has


class Transaction:
    """Its events change the totals at once, and are written to the log at its end."""

    def __init__(self, books: Books, access: Access, now: float) -> None:
        self.books, self._access = books, access
        self.behind = books.latest - now  # seconds
        self.time = max(now, books.latest)  # time does not go back in a log
        self._before, self._head = books.number, books.head
        self._events: list[Event] = []
        self.correction: facts.Correction | None = None  # that is not written yet

    def _add(self, fact: facts.Fact) -> None:
        self._events.append(Event(self.books.number + 1, self.time, fact))
        self.books.apply(self._events[-1])

    def _correct(self, fact: facts.Correction) -> None:
        """Write down a fact about the past. If that was added up already, other totals are needed: see `conclude`."""
        if self.books.can_reckon_with([fact]):
            self.books.reckon_with([fact])
            self._add(fact)
        else:
            self.correction = fact

    def conclude(self, corrected: Books) -> bool:
        """Write the correction, after which the totals are these; whether that is possible, because others have not
        corrected the past in another way."""
        assert self.correction is not None
        books = up_to_date(corrected, self._access)
        if books is not None:
            self.books, self._before = books, -1  # so that they are kept
            self._add(self.correction)
        return books is not None

    def forget(self) -> None:
        """Write nothing."""
        assert not self._events, "what was added up cannot be forgotten"

    def keep(self) -> None:
        """Save the totals, so that what led to them need not be added up again. Some of the snapshots before stay, to
        begin at when the past is looked at: their distance is large enough that they take less space than the log."""
        number, text = self.books.number, json.dumps(self.books.to_plain())
        distance = KEEP_EVERY
        while distance * EVENT < len(text):
            distance *= 2
        self._access.save_snapshot(Snapshot(number, VERSION, text), number - number % distance)

    def written(self) -> Books:
        """The end of the transaction."""
        if self._events:
            self.books.head = self._access.append(self._events, self._head)
        if self._before // SNAPSHOT_EVERY != self.books.number // SNAPSHOT_EVERY:
            self.keep()
        return self.books

    # -- handing out ---------------------------------------------------------------------------

    def own(self, worker: str, n: int, expires: float | None) -> list[int]:
        """The pulls that this worker has open already, with a new time to live if there is one or the old one is
        over."""
        pulls = sorted(pull for pull, lease in self.books.open.items() if lease.worker == worker)[:n]
        for pull in pulls:
            if expires is not None or self.books.open[pull].is_over(self.time):
                self._add(facts.Leased(pull, worker, expires))
        return pulls

    def expired(self, worker: str, n: int, expires: float | None) -> list[int]:
        """Expired pulls of others, under new numbers: the old ones may still be told, late."""
        leases = self.books.open.items()
        mine = sum(lease.worker == worker for _, lease in leases)
        pulls = sorted(pull for pull, lease in leases if lease.worker != worker and lease.is_over(self.time))
        found = [Decision(self.books.open[pull].arm, 0, pull) for pull in pulls[: max(n - mine, 0)]]
        return [self.hand_out(decision, worker, expires) for decision in found]

    def hand_out(self, decision: Decision, worker: str, expires: float | None) -> int:
        """Hand out a new pull; its number."""
        arm, repeats, source, why, state, memory = decision
        self._add(facts.Asked(self.books.last + 1, arm, repeats, source, worker, expires, why, state))
        self.books.memory = memory or self.books.memory
        return self.books.last

    def ticket(self, pull: int) -> Pull:
        """An open pull as it is handed out."""
        books, lease = self.books, self.books.open[pull]
        arm = books.problem.arms[lease.arm]
        return Pull(pull, arm, dict(arm.settings), float(books.costs[0, lease.arm]), end_of(lease.expires))

    # -- outcomes ------------------------------------------------------------------------------

    def tell(self, pull: int, outcome: Given, by: str | None = None) -> int:
        before, arm = self._told(pull)
        pull = int(pull)
        values = self._checked(pull, arm, outcome)
        if before is None:
            self._add(facts.Told(pull, values, by))
        elif before != values and any(fact.pull == pull for fact in said(self._events, facts.Told)):
            raise DataError(
                f"this list of outcomes has pull {pull} twice, with {written(before)} and with {written(values)}; "
                "keep the right one"
            )
        elif before != values:
            raise Conflict(
                f"pull {pull} has the outcome {written(before)}, and now {written(values)} is reported; "
                "if the first was wrong, amend the pull"
            )
        return pull

    def tell_rows(self, rows: Sequence[OutcomeRow], faults: Sequence[str], by: str | None = None) -> None:
        """The outcomes of a file, in which these faults were found; they and those of all rows are told together."""
        found, code = list(faults), DataError.exit_code if faults else StudyError.exit_code
        for row in rows:
            try:
                self.tell(row.pull, row.values, by)
            except OutcomeError as error:
                code = error.exit_code
                found.append(f"{row.place}, {'; '.join(error.faults)}")
            except StudyError as error:
                found.append(f"{row.place}: {error}")
        if found:
            raise FaultyRows(found, code)

    def amend(self, pull: int, outcome: Given, by: str | None) -> bool:
        """Another outcome than the one that was told; whether it is another one."""
        told, arm = self._told(pull)
        if told is None:
            raise StudyError(f"pull {pull} has no outcome to amend yet; report it with tell")
        values = self._checked(pull, arm, outcome, told)
        fact = facts.Amended(int(pull), values, by)
        if values != told and self._can_exchange():
            self.books.exchange(self.books.problem.arms.index(arm), told, values)
            self._before = -1  # so that the totals are kept
            self._add(fact)
        elif values != told:
            self._correct(fact)
        return values != told

    def _can_exchange(self) -> bool:
        """Whether all that was added up is whole, so that the difference of two outcomes is exact."""
        return self.books.is_exact and (not self.books.batches or all(map(is_whole_log, self._logs())))

    def _logs(self) -> list[facts.Observed]:
        with making_sense_of(self._access.name):
            return list(said(self._access.logs(), facts.Observed))

    def record(self, arm: Arm, outcome: Given, name: str | None, by: str | None) -> int:
        """An experiment that was not asked for, once under its name; its pull."""
        problem = self.books.problem
        arm = arm.within(problem.domains)
        if arm not in problem.arms:
            raise ArmError(f"{arm} is not an arm of this study; its arms are {listing(map(str, problem.arms))}")
        values = checked(problem, arm, outcome)
        if name in self.books.records:
            return self._recorded(str(name), arm, values)
        self._add(facts.Recorded(self.books.last + 1, problem.arms.index(arm), values, name, by))
        return self.books.last

    def _recorded(self, name: str, arm: Arm, values: Values) -> int:
        pull = self.books.records[name]
        if pull in self.books.withdrawn:
            raise StudyError(f"the experiment {name!r} is pull {pull}, which was withdrawn; give it another name")
        before, known = self._told(pull)
        if (known, before) != (arm, values):
            raise Conflict(
                f"the experiment {name!r} is pull {pull}, {known} with {written(before or {})}, and now {arm} with "
                f"{written(values)}; if it is another one, give it another name, if the first was wrong, amend the pull"
            )
        return pull

    def receipts(self, pulls: Sequence[int]) -> list[Receipt]:
        money = self.books.money
        return [Receipt(pull, money.spent, money.free) for pull in pulls]

    def _told(self, pull: int) -> tuple[Values | None, Arm]:
        """The outcome of a pull, if there is one, and its arm; a pull that is unknown or withdrawn is refused."""
        books, pull = self.books, numbered(pull, self.books.last)
        if pull in books.open:
            return None, books.problem.arms[books.open[pull].arm]
        if pull in books.reassigned:
            return None, books.problem.arms[books.reassigned[pull]]
        if pull in books.withdrawn:
            refund = "" if books.withdrawn[pull] else "withdraw it once more with a refund, then "
            raise StudyError(
                f"pull {pull} was withdrawn; if it was carried out after all, {refund}record the experiment"
            )
        with making_sense_of(self._access.name):
            found = [event.fact for event in self._events_of(pull)]
            (*_, outcome) = [fact.outcome for fact in found if isinstance(fact, facts.Result)]
            return dict(outcome), self.arm_of(pull)

    def arm_of(self, pull: int) -> Arm:
        (begun,) = said(self._events_of(pull), facts.Begun)
        return self.books.problem.arms[begun.arm]

    def _events_of(self, pull: int) -> list[Event]:
        """All that was written about a pull, in this transaction too."""
        return [*self._access.events_of(pull), *(event for event in self._events if event.pull == pull)]

    def _checked(self, pull: int, arm: Arm, outcome: Given, before: Values | None = None) -> Values:
        try:
            return checked(self.books.problem, arm, outcome, before)
        except OutcomeError as error:
            raise OutcomeError([f"pull {pull}: {error.faults[0]}", *error.faults[1:]], error.expected) from None

    # -- money ---------------------------------------------------------------------------------

    def extend(self, more: float, name: str | None, by: str | None) -> None:
        """More money, once under its name."""
        total, known = self.books.total, self.books.extensions.get(name or "")
        if known is None:
            if not math.isfinite(total + more):
                raise DobanditError(
                    f"a budget of {amount(total)} cannot be extended by {amount(more)}: that is too much"
                )
            self._add(facts.Extended(more, name, by))
        elif known != more:
            raise Conflict(
                f"the extension {name!r} added {label(known)} to the budget, and now it is {label(more)}; "
                "if it is another one, give it another name"
            )

    def stop(self, rule: StopLike | None, by: str | None) -> None:
        """Another stopping rule, or none; the same one again changes nothing."""
        found = self.books.problem.with_stop(rule).stop
        if found != self.books.stop:
            self._add(facts.Stopping(None if found is None else found.to_plain(), by))

    def withdraw(self, pull: int, refund: bool | None, reason: str, by: str | None) -> Withdrawal:
        """A pull that does not count. The last decision on its refund holds; without one, the decision before it."""
        pull = numbered(pull, self.books.last)
        before = [fact.refund for fact in said(self._events_of(pull), facts.Withdrawn)]
        decided = refund if refund is not None else bool(before and before[-1])
        if before and before[-1] == decided:
            return Withdrawal(pull, decided, new=False)
        fact = facts.Withdrawn(pull, decided, reason, by)
        if before and not decided:
            self._check_paid_again(fact)
        self._correct(fact)
        return Withdrawal(pull, decided, new=True)

    def _check_paid_again(self, fact: facts.Withdrawn) -> None:
        """A refund may be taken back, unless the money is gone: only facts may overdraw a budget."""
        pull, taken_back = fact.pull, Event(self.books.number + 1, self.time, fact)
        arm = self.books.problem.arms.index(self.arm_of(pull))
        costs_nothing = withdrawn([*self._access.events(), taken_back])[pull]
        if not costs_nothing and not self.books.affordable()[0, arm]:
            cost, free = float(self.books.costs[0, arm]), self.books.money.free
            raise StudyError(
                f"pull {pull} cannot be charged again: its refund of {amount(cost)} has been used, and {amount(free)} "
                "is free; extend the budget first"
            )

    # -- logs ----------------------------------------------------------------------------------

    def observe(self, log: facts.Observed) -> bool:
        """Counts of logged rows, once under their name, and whether they are new; those that another version counted
        may be sent again."""
        known = self.books.batches.get(log.name)
        if known is None or not known["counts"]:
            self._add(log)
            return True
        if known["digest"] != log.digest and not self._has_log(known["digest"], log):
            raise Conflict(
                f"the batch {log.name!r} is already in the study with {known['rows']} rows; "
                f"these {log.rows} rows differ: give them another name"
            )
        return False

    def _has_log(self, digest: str, log: facts.Observed) -> bool:
        """Whether the log with this digest is the same but for rounding."""
        return any(known.digest == digest and is_same_log(known, log) for known in self._logs())
