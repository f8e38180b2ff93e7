"""How the events of a study are added up.

`Books.opened(created)` is a new study; then `apply` adds one event after the other, and nothing else changes the
totals. No policy runs here: the event of a decision carries what the policy remembers of it (its state). A correction
(`amended`, `withdrawn`) is about the past, so everything is then added up again from the start, as if the outcome had
been told so, or had never been told. Where only whole numbers are added up, to `exchange` an outcome leads to the same
totals. The state is not known after a correction, until the next decision (dobandit.study.decisions).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from dobandit.study import facts
from dobandit.study.corrections import corrections
from dobandit.study.events import Event
from dobandit.study.leader import leader_of
from dobandit.study.outcomes import is_complete
from dobandit.study.stored import restore
from dobandit.study.tally import tallies
from dobandit.study.totals import Lease, Totals


class Books(Totals):
    """The totals of a study, and what an event adds to them."""

    @classmethod
    def opened(cls, created: Event) -> Books:
        """A new study."""
        fact = created.fact
        if not isinstance(fact, facts.Created):
            raise ValueError("the first event does not say what the study is about")
        leader = leader_of(fact.problem, fact.policy)
        paid, done, pending = (np.zeros((1, len(leader.problem.arms))) for _ in range(3))
        books = cls(leader, fact.seed, leader.problem.budget, paid, done, pending, tallies(leader))
        books.head, books.latest, books.stop = created.hash, created.time, leader.problem.stop
        return books

    @classmethod
    def folded(cls, events: Iterable[Event]) -> Books:
        """The totals of a whole history, corrections included."""
        created, *later = events
        books = cls.opened(created)
        books.reckon_with(corrections(later))
        books.add(later)
        return books

    @classmethod
    def restored(cls, created: Event, plain: Mapping[str, Any]) -> Books:
        """The totals as a snapshot holds them."""
        books = cls.opened(created)
        restore(books, plain)
        return books

    def can_reckon_with(self, later: Iterable[facts.Correction]) -> bool:
        """Whether these corrections, which come later, are about nothing that was added up already."""
        pulls = (fact.pull for fact in later)
        return all(pull > self.last or pull in self.open or pull in self.reassigned for pull in pulls)

    def reckon_with(self, later: Iterable[facts.Correction]) -> None:
        """From now on, outcomes count as they are corrected later, and pulls that are withdrawn later do not count."""
        for fact in later:
            if isinstance(fact, facts.Amended):
                self.amended[fact.pull] = fact.outcome
            else:
                self.withdrawn[fact.pull] = fact.refund

    def add(self, events: Iterable[Event]) -> None:
        """Many events."""
        for event in events:
            self.apply(event)

    @property
    def is_exact(self) -> bool:
        """Whether every outcome of a pull adds whole numbers: then it can be exchanged without adding up again."""
        return not self.problem.reward_is_real and all(tally.is_exact for tally in self.tallies)

    def exchange(self, arm: int, told: Mapping[str, str], amended: Mapping[str, str]) -> None:
        """An outcome that was added up already counts in another way."""
        self.incomplete += (not is_complete(amended)) - (not is_complete(told))
        for tally in self.tallies:
            if is_complete(told):
                tally.remove(arm, told)
            if is_complete(amended):
                tally.add(arm, amended, 0)

    def apply(self, event: Event) -> None:
        fact = event.fact
        match fact:
            case facts.Asked():
                self._ask(fact)
            case facts.Told():
                self._finish(fact.pull, fact.outcome)
            case facts.Leased():
                if fact.pull in self.open:
                    self.open[fact.pull] = self.open[fact.pull]._replace(worker=fact.worker, expires=fact.expires)
            case facts.Recorded():
                self._record(fact)
            case facts.Extended():
                self.total += fact.amount
                if fact.name is not None:
                    self.extensions[fact.name] = fact.amount
            case facts.Stopping():
                self.stop = self.problem.with_stop(fact.rule).stop
            case facts.Observed():
                self._observe(fact)
            case facts.Amended():
                self.state = self.memory = None  # the outcome counts where it was told
            case facts.Withdrawn():
                self.state = self.memory = None
                self._withdraw(fact.pull)
            case _:
                raise ValueError(f"{event.kind} does not belong into the middle of a study")
        self.assessed = None
        self.number, self.head, self.latest = event.number, event.hash, max(self.latest, event.time)

    def _ask(self, asked: facts.Asked) -> None:
        """A pull is handed out."""
        if asked.is_decision:
            self.arm, self.again = asked.arm, asked.repeats - 1
            self.state = None if asked.state is None else {**(self.state or {}), **asked.state}
            self.memory = None
        elif asked.source == "policy":
            self.again -= 1
        elif asked.source in self.open:
            expired = int(asked.source)
            self.reassigned[expired] = self._close(expired)
        self.time += isinstance(asked.source, str)
        self._open(asked, asked.worker, asked.expires)

    def _record(self, recorded: facts.Recorded) -> None:
        """An experiment that was not asked for: begun and finished at once."""
        self.time += 1
        if recorded.name is not None:
            self.records[recorded.name] = recorded.pull
        self._open(recorded)
        self._finish(recorded.pull, recorded.outcome)

    def _open(self, begun: facts.Begun, worker: str = "", expires: float | None = None) -> None:
        """Reserve the cost of a pull."""
        self.last = begun.pull
        self.open[begun.pull] = Lease(begun.arm, worker, expires)
        self.pending[0, begun.arm] += 1.0

    def _close(self, pull: int) -> int:
        """The pull is no longer open, or its outcome came after it was reassigned; its arm."""
        if pull in self.reassigned:
            return self.reassigned.pop(pull)
        arm = self.open.pop(pull).arm
        self.pending[0, arm] -= 1.0
        return arm

    def _finish(self, pull: int, outcome: Mapping[str, str]) -> None:
        """An outcome arrives. A pull that is withdrawn later counts as open until then."""
        if pull in self.withdrawn:
            if pull in self.reassigned:
                self.told_late.add(pull)
            return
        arm, values = self._close(pull), self.amended.get(pull, outcome)
        if is_complete(values):
            for tally in self.tallies:
                tally.add(arm, values, int(self.done[0, arm]))
        else:
            self.incomplete += 1
        self.done[0, arm] += 1.0
        self.paid[0, arm] += 1.0

    def _withdraw(self, pull: int) -> None:
        """A pull does not count any more; its money may be spent. If it was withdrawn before, only its refund is new,
        and `withdrawn` has it already. The money of a pull that expired moved to the pull that it was reassigned to,
        so it costs something only if it was told late."""
        if pull in self.open or pull in self.reassigned:
            self.withdrawn[pull] |= pull in self.reassigned and pull not in self.told_late
            self.paid[0, self._close(pull)] += not self.withdrawn[pull]

    def _observe(self, log: facts.Observed) -> None:
        """Logged rows count once under each name. If another version has counted them in another way, they do not count
        until they are sent again."""
        if self.batches.get(log.name, {}).get("counts"):
            return
        fits = all(tally.can_add(log.evidence) for tally in self.tallies)
        self.batches[log.name] = {"rows": log.rows, "digest": log.digest, "counts": fits}
        if fits:
            for tally in self.tallies:
                tally.add_logged(log.evidence)
