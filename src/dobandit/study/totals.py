"""The totals of a study, as they are read and saved.

Money is counted in pulls: `paid` ones are spent, `open` ones are reserved, the rest of the total is free.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags
from dobandit.chance import Chance
from dobandit.policies import Policy
from dobandit.problem import ROUNDING, Problem, Stop
from dobandit.study.leader import Leader
from dobandit.study.stored import ARRAY, AS_IS, BY_PULL, by_pull, stored, to_plain
from dobandit.study.tally import TALLIES, Tally


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
class Totals:
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
    def outcomes(self) -> float:
        """The number of outcomes that the policy may see, with logged rows if it reads them."""
        return self.seen.outcomes

    @property
    def bound(self) -> float:
        """The money that is spent or reserved."""
        return self._paid_for(self.paid + self.pending)

    @property
    def money(self) -> Money:
        spent, reserved = self._paid_for(self.paid), self._paid_for(self.pending)
        rest = self.total - spent - reserved
        if -ROUNDING * self.total <= rest < 0:
            rest = 0.0  # less than this is not money
        return Money(self.total, spent, reserved, max(0.0, rest), max(0.0, -rest))

    def _paid_for(self, pulls: Array) -> float:
        """What so many pulls of every arm cost."""
        return math.fsum((pulls * self.costs).ravel().tolist())  # the same on all machines

    def affordable(self) -> Flags:
        """The arms that the free money pays for."""
        return np.asarray(self.costs <= self.total * (1 + ROUNDING) - self.bound)

    def to_plain(self) -> dict[str, Any]:
        """Everything but the problem, which the first event holds."""
        return to_plain(self)
