"""The books of a study: what all its events add up to.

The books are a fold: `Books.opened(created)`, then one `apply` after the other, and nothing else changes them. Events
say which arms were pulled; what the policy remembers is worked out from them. A correction (`amended`,
`withdrawn`) is about the past, so the books are then folded again from the start, as if the outcome had been told
so, or had never been told.

Money is counted in pulls: `paid` ones are spent, `open` ones are reserved, the rest of the total is free.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.chance import Chance
from dobandit.errors import StudyError
from dobandit.policies import Policy, State, View, policy
from dobandit.problem import ROUNDING, Problem
from dobandit.study.corrections import amended, withdrawn
from dobandit.study.events import CORRECTIONS, Event
from dobandit.study.outcomes import as_numbers
from dobandit.study.plain import array_from_plain, array_to_plain, problem_from_plain
from dobandit.study.tally import Tally, tallies


@dataclass
class Lease:
    """An open pull: its arm, who carries it out, and until when (seconds since 1970; None: for ever)."""

    arm: int
    worker: str
    expires: float | None


class Leases(dict[int, Lease]):
    """The open pulls by their numbers; how many there are of each arm is kept beside them, for batches of thousands."""

    def __init__(self, arms: int) -> None:
        super().__init__()
        self.by_arm = np.zeros((1, arms))

    def __setitem__(self, pull: int, lease: Lease) -> None:
        if pull in self:
            self.by_arm[0, self[pull].arm] -= 1.0
        self.by_arm[0, lease.arm] += 1.0
        super().__setitem__(pull, lease)

    def end(self, pull: int) -> int:
        """The pull is open no more; its arm."""
        arm = self.pop(pull).arm
        self.by_arm[0, arm] -= 1.0
        return arm


class Money(NamedTuple):
    """spent + reserved + free = total + overdraft. An overdraft comes from late outcomes and unasked experiments."""

    total: float
    spent: float
    reserved: float
    free: float
    overdraft: float


class Books:
    """What has happened so far, added up."""

    def __init__(self, problem: Problem, made: Policy, seed: int) -> None:
        arms = len(problem.arms)
        self.problem, self.policy, self.seed = problem, made, seed
        self.chance = Chance(seed, f"policy:{made.name}")
        self.costs = np.array([problem.costs], dtype=float)
        self.number = 0  # events that were applied
        self.total = problem.budget
        self.last = 0  # the last pull's number
        self.time = 0  # pulls that were begun; it never goes back, so that no chance is used twice
        self.open = Leases(arms)
        self.lapsed: dict[int, int] = {}  # pulls that expired and were handed on as another: their arms
        self.withdrawn: dict[int, bool] = {}  # pulls that do not count, and whether they cost nothing
        self.paid = np.zeros((1, arms))
        self.done = np.zeros((1, arms))  # pulls whose outcome is known
        self.gone = np.zeros((1, arms))  # pulls that were withdrawn when their phase was over
        self.batches: dict[str, dict[str, Any]] = {}  # logs by name: how many rows, a digest, whether they count
        self.records: dict[str, int] = {}  # unasked experiments by name: their pulls
        self.extensions: dict[str, float] = {}  # additions to the budget by name: how much
        self.arm, self.again = 0, 0  # the last decision, and how often it is still to be carried out
        self.phase_arms = np.zeros((1, arms), dtype=bool)  # what was pulled in the last phase of a plan
        self.state: State = made.start(problem, 1)
        self.seen, self.judged = tallies(problem, made)
        self._amended: dict[int, Mapping[str, str]] = {}
        self._phases: dict[int, int] = {}  # of pulls that are withdrawn later in the history
        self._remembers = True

    # -- folding -------------------------------------------------------------------------------

    @classmethod
    def opened(cls, created: Event) -> Books:
        content = created.content
        books = cls(problem_from_plain(content["problem"]), policy(content["policy"]), content["seed"])
        books.number = created.number
        return books

    @classmethod
    def folded(cls, events: Iterable[Event], remembers: bool = True) -> Books:
        """The books of a whole history, corrections included. Much quicker without what the policy remembers,
        where it is not asked for a choice."""
        created, *rest = events
        books = cls.opened(created)
        books._remembers = remembers
        books._amended, books.withdrawn = amended(rest), withdrawn(rest)
        for event in rest:
            books.apply(event)
        return books

    def apply(self, event: Event, state: State | None = None) -> None:
        """Enter an event; `state` is what the policy remembers of a decision that was made this moment."""
        pull, content = event.pull, event.content
        match event.kind:
            case "asked":
                self._begin(pull or 0, content, state)
            case "leased":
                if pull is not None and pull in self.open:
                    self.open[pull] = Lease(self.open[pull].arm, content["worker"], content["expires"])
            case "told":
                self._finish(pull or 0, content["outcome"])
            case "recorded":
                self._record(pull or 0, content)
            case "extended":
                self.total += content["amount"]
                if "name" in content:
                    self.extensions[content["name"]] = content["amount"]
            case "observed":
                self._observe(content)
            case "withdrawn":
                self._withdraw(pull or 0)
            case kind if kind not in CORRECTIONS:
                raise StudyError(f"this study has an event {kind!r}, which only a newer version of dobandit knows")
        self.number = event.number

    def _observe(self, content: Mapping[str, Any]) -> None:
        """Logged rows, once under each name; those that another version has counted in another way wait to be sent
        again."""
        if self.batches.get(content["name"], {}).get("counts"):
            return
        fits = all(reader.can_add(content["evidence"]) for reader in self.readers)
        self.batches[content["name"]] = {"rows": content["rows"], "digest": content["digest"], "counts": fits}
        if fits:
            for reader in self.readers:
                reader.add_logged(content["evidence"])

    def _begin(self, pull: int, content: Mapping[str, Any], state: State | None) -> None:
        """A pull is handed out."""
        arm, source = content["arm"], content["source"]
        if source == "policy":
            self._decided(arm, content["repeats"], state)
        elif source in self.open:
            self.lapsed[source] = self.open.end(source)
        self.last, self.time = pull, self.time + (source in ("policy", "extension"))
        self._open(pull, Lease(arm, content["worker"], content["expires"]))

    def _record(self, pull: int, content: Mapping[str, Any]) -> None:
        """An experiment that was not asked for: begun and finished at once."""
        self.last, self.time = pull, self.time + 1
        if "name" in content:
            self.records[content["name"]] = pull
        self._open(pull, Lease(content["arm"], "", None))
        self._finish(pull, content["outcome"])

    def _open(self, pull: int, lease: Lease) -> None:
        """Reserve the cost of a pull."""
        self.open[pull] = lease
        if pull in self.withdrawn:
            self._phases[pull] = _phase(self.state)

    def _withdraw(self, pull: int) -> None:
        """A pull that does not count any more; its money may be gone. A plan makes up for it while its phase runs."""
        if pull not in self._phases:
            return  # it was withdrawn before, and all that is new is the refund
        arm = self.open.end(pull) if pull in self.open else self.lapsed.pop(pull)
        self.paid[0, arm] += not self.withdrawn[pull]
        self.gone[0, arm] += self._phases.pop(pull) != _phase(self.state)

    def _decided(self, arm: int, repeats: int, state: State | None) -> None:
        if not repeats:
            self.again -= 1
            return
        before, self.state = self.state, self._replayed(arm) if state is None else state
        self.arm, self.again = arm, repeats - 1
        if _phase(before) != _phase(self.state):
            self.phase_arms[:] = False
        self.phase_arms[0, arm] = True

    def _replayed(self, arm: int) -> State:
        """What the policy remembers of a decision that is history; the arm was affordable, for it was pulled."""
        if not (self.state and self._remembers):
            return self.state
        affordable = self.affordable()
        affordable[0, arm] = True
        return self.policy.choose(self.view(affordable), self.state, self.chance).state

    def _finish(self, pull: int, outcome: Mapping[str, str]) -> None:
        """An outcome arrives: of an open pull, or late of one that was handed on. One that is withdrawn later is taken
        for open until then."""
        if pull in self.withdrawn:
            return
        arm = self.open.end(pull) if pull in self.open else self.lapsed.pop(pull)
        seen = as_numbers(self.problem, self._amended.get(pull, outcome))
        for reader in self.readers:
            reader.add(arm, seen, int(self.done[0, arm]))
        self.done[0, arm] += 1.0
        self.paid[0, arm] += 1.0

    # -- reading -------------------------------------------------------------------------------

    @property
    def readers(self) -> tuple[Tally, ...]:
        return (self.seen,) if self.judged is self.seen else (self.seen, self.judged)

    @property
    def pending(self) -> Array:
        """Open pulls by arm."""
        return self.open.by_arm

    @property
    def money(self) -> Money:
        spent, reserved = float((self.paid * self.costs).sum()), float((self.pending * self.costs).sum())
        rest = self.total - spent - reserved
        if -ROUNDING * self.total <= rest < 0:
            rest = 0.0  # less than this is not money
        return Money(self.total, spent, reserved, max(0.0, rest), max(0.0, -rest))

    def affordable(self) -> Flags:
        """The arms that the free money pays for."""
        bound = ((self.paid + self.pending) * self.costs).sum(axis=1)
        return np.asarray(self.costs <= (self.total * (1 + ROUNDING) - bound)[:, np.newaxis])

    def view(self, affordable: Flags, tally: Tally | None = None) -> View:
        """What a policy may know: a batch of one row. A plan that depends on the budget keeps that of its creation, and
        what was withdrawn from a phase that is over is not planned again."""
        seen = (self.seen if tally is None else tally).evidence
        budget = np.array([self.total if self.policy.ignores_budget else self.problem.budget])
        return View(
            problem=self.problem,
            evidence=replace(seen, told=seen.told.copy(), rewards=seen.rewards.copy()),
            trials=np.zeros(1, dtype=np.intp),
            times=np.array([self.time]),
            costs=self.costs,
            budget=budget,
            left=budget - ((self.paid + self.pending) * self.costs).sum(axis=1),
            affordable=affordable,
            pulls=seen.told + self.pending + self.gone,
        )

    # -- snapshots -----------------------------------------------------------------------------

    def to_plain(self) -> dict[str, Any]:
        """Everything but the problem, which the first event holds."""
        return {
            **{name: getattr(self, name) for name in _NUMBERS},
            **{name: array_to_plain(getattr(self, name)) for name in _ARRAYS},
            **{name: getattr(self, name) for name in _BY_NAME},
            "open": {str(pull): asdict(lease) for pull, lease in self.open.items()},
            **{name: {str(pull): x for pull, x in getattr(self, name).items()} for name in _BY_PULL},
            "state": {name: array_to_plain(part) for name, part in zip(self.state._fields, self.state, strict=True)},
            "tallies": [reader.to_plain() for reader in self.readers],
        }

    @classmethod
    def restored(cls, created: Event, plain: Mapping[str, Any]) -> Books:
        """The books as a snapshot holds them."""
        books = cls.opened(created)
        for name in _NUMBERS:
            setattr(books, name, plain[name])
        for name in _ARRAYS:
            setattr(books, name, array_from_plain(plain[name]))
        for name in _BY_NAME:
            setattr(books, name, dict(plain[name]))
        for name in _BY_PULL:
            setattr(books, name, {int(pull): x for pull, x in plain[name].items()})
        for pull, lease in plain["open"].items():
            books.open[int(pull)] = Lease(**lease)
        books.state = type(books.state)(*(array_from_plain(plain["state"][name]) for name in books.state._fields))
        for reader, saved in zip(books.readers, plain["tallies"], strict=True):
            reader.restore(saved)
        return books


_NUMBERS = ("number", "total", "last", "time", "arm", "again")
_ARRAYS = ("paid", "done", "gone", "phase_arms")
_BY_NAME = ("batches", "records", "extensions")
_BY_PULL = ("lapsed", "withdrawn")


def caught_up(books: Books | None, events: list[Event]) -> Books | None:
    """The books with these events too, or None if they correct the past, so that all must be folded again."""
    if books is None or any(event.kind in CORRECTIONS for event in events):
        return None
    for event in events:
        books.apply(event)
    return books


def _phase(state: State) -> int:
    """The phase that a policy is in; 0 for one that has none."""
    return int(state.phase[0]) if hasattr(state, "phase") else 0
