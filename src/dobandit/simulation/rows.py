"""A batch of rows: what each has pulled, earned and spent, and how far its money goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.evidence import Evidence
from dobandit.policies import Choice, rows_of, updated
from dobandit.problem import ROUNDING

NEVER = np.iinfo(np.intp).max  # the next look of rows without a stopping rule
UNANSWERED = -1  # the answer of a row that has not stopped
NEARLY = 1.001  # times the dearest arm: with more money than this, any arm is affordable


@dataclass
class Rows:
    """The rows of a batch. Every field is an array with the row as its first axis, or consists of such."""

    trial: Indices  # place among the trials of the setting
    target: Indices  # which budget the row lives on
    next: Indices  # the smallest budget that has not been split off yet
    costs: Array
    dearest: Array  # the largest cost of each row
    budget: Array
    spent: Array
    evidence: Evidence
    logged: Array  # by arm: outcomes that were known before the first pull
    time: Indices  # pulls made so far
    arm: Indices  # the last choice
    repeats_left: Indices  # how often it is still to be pulled
    look: Indices  # the number of pulls at the next look at a stopping rule
    answer: Indices  # the arm that the row has stopped with; UNANSWERED: it has not
    state: Any

    @property
    def pulls(self) -> Array:
        """The pulls of every arm, all of them paid."""
        return np.asarray(self.evidence.told - self.logged)

    @property
    def price(self) -> Array:
        """What each row pays for its choice."""
        return self.costs[np.arange(len(self.arm)), self.arm]

    def due(self) -> Indices:
        """The rows that need a decision."""
        return np.flatnonzero(self.repeats_left == 0)

    def remember(self, index: Indices, choice: Choice[Any]) -> None:
        """The decision of these rows."""
        repeats = np.ones(len(index), dtype=np.intp) if choice.repeats is None else choice.repeats
        if len(index) == len(self.trial):
            self.arm, self.repeats_left, self.state = choice.arm, repeats, choice.state
            return
        self.arm[index], self.repeats_left[index] = choice.arm, repeats
        self.state = updated(self.state, index, choice.state)

    def affordable(self) -> Flags:
        """The arms that each row can pay."""
        if (self.budget - self.spent >= NEARLY * self.dearest).all():
            return np.ones(self.costs.shape, dtype=bool)
        self.spent = (self.pulls * self.costs).sum(axis=1)  # afresh: many small sums have drifted a little
        return self.costs <= (self.budget * (1 + ROUNDING) - self.spent)[:, np.newaxis]

    def take(self, index: Indices) -> Rows:
        """These rows only, or some of them twice."""
        kept = {name: value[index] for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return Rows(**kept, evidence=self.evidence.take(index), state=rows_of(self.state, index))

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        """The rows of several batches."""
        names = [name for name, value in vars(parts[0]).items() if isinstance(value, np.ndarray)]
        state = (np.concatenate(fields) for fields in zip(*(part.state for part in parts), strict=True))
        fields = {name: np.concatenate([vars(part)[name] for part in parts]) for name in names}
        evidence = Evidence.joined([part.evidence for part in parts])
        return Rows(**fields, evidence=evidence, state=type(parts[0].state)(*state))


def payable(rows: Rows) -> Array:
    """How often each row can pay its arm."""
    return np.floor((rows.budget * (1 + ROUNDING) - rows.spent) / rows.price)


def pulls_at_once(rows: Rows, budgets: Sequence[float]) -> Indices:
    """How often each row pulls its arm before a new decision is due: until the decision is carried out, the money is
    gone, a stopping rule is looked at, or a smaller budget must be split off."""
    smaller = np.array(budgets)[rows.next]
    until = np.floor((smaller - rows.spent - NEARLY * rows.dearest) / rows.price) + 1
    until = np.where(rows.next < rows.target, np.maximum(until, 1), np.inf)
    wanted = np.minimum(rows.repeats_left, np.maximum(rows.look - rows.time, 1))
    return np.asarray(np.minimum(np.minimum(wanted, payable(rows)), until), dtype=np.intp)


def split_off(rows: Rows, budgets: Sequence[float]) -> Rows:
    """Split off the rows whose next smaller budget no longer pays for every arm."""
    amounts = np.array(budgets)
    while len(budgets) > 1:
        waiting = rows.next < rows.target
        due = np.flatnonzero(waiting & (amounts[rows.next] - rows.spent < NEARLY * rows.dearest))
        if not len(due):
            break
        before = len(rows.trial)
        rows = rows.take(np.concatenate([np.arange(before), due]))
        rows.target[before:] = rows.next[before:]
        rows.budget[before:] = amounts[rows.target[before:]]
        rows.next[due] += 1
    return rows


def for_every_budget(rows: Rows, budgets: Sequence[float]) -> Rows:
    """Rows that end here, once for each budget that was not split off: with less money they would end here, too."""
    number = rows.target - rows.next + 1
    if (number == 1).all():
        return rows
    first = np.repeat(np.cumsum(number) - number, number)
    targets = np.repeat(rows.next, number) + np.arange(int(number.sum())) - first
    found = rows.take(np.repeat(np.arange(len(number)), number))
    found.target, found.next, found.budget = targets, targets.copy(), np.array(budgets)[targets]
    return found
