"""The totals of a study: what all its events add up to.

`Books.opened(created)` is a new study; then `apply` adds one event after the other, and nothing else changes the
totals. No policy runs here: the event of a decision carries what the policy remembers of it (its state). A correction
(`amended`, `withdrawn`) is about the past, so everything is then added up again from the start, as if the outcome had
been told so, or had never been told. The state is not known after a correction, until the next decision
(dobandit.study.decisions).

Money is counted in pulls: `paid` ones are spent, `open` ones are reserved, the rest of the total is free.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.chance import Chance
from dobandit.policies import Policy
from dobandit.problem import ROUNDING, Problem, Stop
from dobandit.study import facts
from dobandit.study.corrections import corrections
from dobandit.study.events import Event
from dobandit.study.leader import Leader, leader_of
from dobandit.study.outcomes import as_numbers, is_complete
from dobandit.study.stored import ARRAY, AS_IS, BY_PULL, by_pull, restore, stored, to_plain
from dobandit.study.tally import TALLIES, Tally, tallies


class Lease(NamedTuple):
    """An open pull: its arm, who carries it out, and until when (seconds since 1970; None: without a limit)."""

    arm: int
    worker: str
    expires: float | None

    def is_over(self, now: float) -> bool:
        return self.expires is not None and self.expires <= now


LEASES = by_pull(lambda lease: Lease(*lease))
RULE = stored(
    lambda rule: None if rule is None else rule.to_plain(), lambda plain, _: None if plain is None else Stop(**plain)
)


class Money(NamedTuple):
    """spent + reserved + free = total + overdraft. An overdraft comes from late outcomes and unasked experiments."""

    total: float
    spent: float
    reserved: float
    free: float
    overdraft: float


@dataclass
class Books:
    """What has happened so far, added up. Arrays have the axes (one row, arm)."""

    leader: Leader
    seed: int
    total: float = field(metadata=AS_IS)
    paid: Array = field(metadata=ARRAY)
    done: Array = field(metadata=ARRAY)  # pulls whose outcome is known
    pending: Array = field(metadata=ARRAY)  # open pulls
    tallies: tuple[Tally, ...] = field(metadata=TALLIES)  # first what the policy reads, last what arms are judged by
    number: int = field(default=1, metadata=AS_IS)  # events that were applied
    head: str = field(default="", metadata=AS_IS)  # the hash of the last one
    latest: float = field(default=0.0, metadata=AS_IS)  # the time of the last one, by the fastest clock so far
    last: int = field(default=0, metadata=AS_IS)  # the number of the last pull
    time: int = field(
        default=0, metadata=AS_IS
    )  # pulls that were begun; it never goes back, so that no chance is used twice
    incomplete: int = field(default=0, metadata=AS_IS)  # outcomes with unknown values: paid, and no evidence
    open: dict[int, Lease] = field(default_factory=dict, metadata=LEASES)
    # Expired pulls that others got: their arms.
    reassigned: dict[int, int] = field(default_factory=dict, metadata=BY_PULL)
    withdrawn: dict[int, bool] = field(default_factory=dict, metadata=BY_PULL)  # whether they cost nothing
    # Logs by name: rows, digest, whether they count.
    batches: dict[str, dict[str, Any]] = field(default_factory=dict, metadata=AS_IS)
    records: dict[str, int] = field(default_factory=dict, metadata=AS_IS)  # unasked experiments by name: their pulls
    stop: Stop | None = field(default=None, metadata=RULE)  # the stopping rule
    # Additions to the budget by name: how much.
    extensions: dict[str, float] = field(default_factory=dict, metadata=AS_IS)
    arm: int = field(default=0, metadata=AS_IS)  # of the last decision
    again: int = field(default=0, metadata=AS_IS)  # how often it is still to be carried out
    # What the policy remembers, if the events say it.
    state: Mapping[str, Any] | None = field(default=None, metadata=AS_IS)
    memory: Any = None  # the same as dobandit.study.decisions reads it, or works it out where they do not
    assessed: Any = None  # what dobandit.study.assessment makes of all that
    amended: dict[int, Mapping[str, str]] = field(default_factory=dict)  # outcomes that count instead, by pull
    told_late: set[int] = field(default_factory=set)  # of the reassigned pulls that are withdrawn later
    uncounted: list[tuple[int, Mapping[str, str], int]] | None = None  # outcomes: arms, values, numbers of their arms

    # -- adding up -----------------------------------------------------------------------------

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
        """Many events: the same as `apply` to one after the other, in less time, because outcomes are counted
        together."""
        self.uncounted = []
        try:
            for event in events:
                self.apply(event)
            self.count()
        finally:
            self.uncounted = None

    def count(self) -> None:
        """Count the outcomes that `add` has put aside."""
        if self.uncounted:
            seen = as_numbers(self.problem, [values for _, values, _ in self.uncounted])
            arms, numbers = (np.array([each[k] for each in self.uncounted], dtype=np.intp) for k in (0, 2))
            for tally in self.tallies:
                tally.add(arms, seen, numbers)
            self.uncounted = []

    def apply(self, event: Event) -> None:
        fact = event.fact
        match fact:
            case facts.Asked():
                self._ask(fact)
            case facts.Leased():
                if fact.pull in self.open:
                    self.open[fact.pull] = self.open[fact.pull]._replace(worker=fact.worker, expires=fact.expires)
            case facts.Told():
                self._finish(fact.pull, fact.outcome)
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
                pass  # it counts where the outcome was told
            case facts.Withdrawn():
                self._withdraw(fact.pull)
            case _:
                raise ValueError(f"{event.kind} does not belong into the middle of a study")
        if isinstance(fact, facts.Correction):
            self.state = self.memory = None
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
            self._see(arm, values)
        else:
            self.incomplete += 1
        self.done[0, arm] += 1.0
        self.paid[0, arm] += 1.0

    def _see(self, arm: int, values: Mapping[str, str]) -> None:
        """An outcome as evidence: now, or with many others."""
        is_one_of_many = self.uncounted is not None
        self.uncounted = [] if self.uncounted is None else self.uncounted
        self.uncounted.append((arm, values, int(self.done[0, arm])))
        if not is_one_of_many:
            self.count()
            self.uncounted = None

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
            self.count()  # what came before
            for tally in self.tallies:
                tally.add_logged(log.evidence)

    # -- reading -------------------------------------------------------------------------------

    @property
    def problem(self) -> Problem:
        return self.leader.problem

    @property
    def policy(self) -> Policy:
        return self.leader.policy

    @cached_property
    def costs(self) -> Array:
        return np.array([self.problem.costs], dtype=float)

    @cached_property
    def chance(self) -> Chance:
        """The random numbers of the policy."""
        return Chance(self.seed, f"policy:{self.policy.name}")

    @property
    def seen(self) -> Tally:
        return self.tallies[0]

    @property
    def judged(self) -> Tally:
        return self.tallies[-1]

    @property
    def bound(self) -> float:
        """The money that is spent or reserved."""
        return float(((self.paid + self.pending) * self.costs).sum())

    @property
    def money(self) -> Money:
        spent, reserved = float((self.paid * self.costs).sum()), float((self.pending * self.costs).sum())
        rest = self.total - spent - reserved
        if -ROUNDING * self.total <= rest < 0:
            rest = 0.0  # less than this is not money
        return Money(self.total, spent, reserved, max(0.0, rest), max(0.0, -rest))

    def affordable(self) -> Flags:
        """The arms that the free money pays for."""
        return np.asarray(self.costs <= self.total * (1 + ROUNDING) - self.bound)

    # -- snapshots -----------------------------------------------------------------------------

    def to_plain(self) -> dict[str, Any]:
        """Everything but the problem, which the first event holds."""
        return to_plain(self)

    @classmethod
    def restored(cls, created: Event, plain: Mapping[str, Any]) -> Books:
        """The totals as a snapshot holds them."""
        books = cls.opened(created)
        restore(books, plain)
        return books
